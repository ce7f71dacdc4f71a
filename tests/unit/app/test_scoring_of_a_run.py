"""What a run is scored by belongs to the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.app import comparison, reports, run_exchange, run_view, runs
from assay.app.evaluation import evaluate
from assay.app.evaluation_request import EvaluationRequest
from assay.app.gate import GateRequest, gate
from assay.app.statistics import Statistics
from assay.app.workspace import Workspace
from assay.errors import AssayError, ConflictError, UsageError
from assay.evaluation import record
from assay.evaluation.execution import TIMEOUT_S, execute
from assay.evaluation.record import Recorded
from assay.evaluation.result import EvaluationResult
from assay.model.codec import encode
from assay.model.ranking import Match
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring
from assay.model.testset import GoldenQuery, Judgment, Level, TestSet
from assay.render.compare_text import compare_tables, render_report_md
from assay.render.runs import history_tables, runs_table
from assay.settings import configure
from tests.unit.search.corpus import filled

CHUNKS = TestSet(
    "chunks",
    "v1",
    tuple(
        GoldenQuery(
            f"q{n}", text, relevant_docs=(Judgment(f"D{n}:chunk_0", 2),), group=f"g{n // 2}"
        )
        for n, text in enumerate(("alpha", "beta", "gamma", "delta"))
    ),
)
DOCUMENTS = {"q0": ["D0"], "q1": ["D1"], "q2": ["X"], "q3": ["D3"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    settings = {"dense_model": "none", "splade_model": "none"}
    return Workspace(configure({"home": tmp_path / "home", **settings}, folder=tmp_path))


@pytest.fixture
def made(workspace: Workspace, tmp_path: Path) -> Iterator[Any]:
    """Evaluate a run that names documents, as the options say."""
    file = tmp_path / "run.json"
    file.write_text(json.dumps(DOCUMENTS))

    def make(**options: Any) -> Recorded:
        request = EvaluationRequest(test_set=CHUNKS, run_file=str(file), **options)
        return evaluate(workspace, request).runs[0]

    with workspace:
        yield make


def shown(workspace: Workspace, run: str, **options: Any) -> EvaluationResult:
    result = run_view.show(workspace, run, **options).result
    assert result is not None
    return result


def test_a_run_made_by_document_is_shown_and_reported_by_document(
    workspace: Workspace, made: Any
) -> None:
    run = made(match="doc", measures="Recall@10").info.run_id
    assert shown(workspace, run)["Recall@10"] == 0.75
    assert shown(workspace, run, match="exact")["Recall@10"] == 0.0
    assert reports.report(workspace, run).result["Recall@10"] == 0.75
    scored = run_view.query_scores(workspace, run).scores
    assert scored is not None
    assert scored["Recall@10"] == 0.75
    assert run_view.query(workspace, run, "q0").judgments[0].rank == 1
    assert run_view.query(workspace, run, "q0", match="exact").judgments[0].rank is None


def test_a_run_is_shown_with_its_own_measures_and_intervals(
    workspace: Workspace, made: Any
) -> None:
    run = made(match="doc", measures="P@1", by_group=True, confidence=0.8, resamples=500, seed=7)
    before = run.result.scores.interval("P@1")
    own = shown(workspace, run.info.run_id).scores
    assert [str(measure) for measure in own.measures] == ["P@1"]
    assert own.sampling == Sampling("bca", 0.8, 500, 7)
    assert own.interval("P@1") == before
    report = reports.report(workspace, run.info.run_id, measures="P@1").result.scores
    assert report.interval("P@1") == before
    single = shown(workspace, run.info.run_id, statistics=Statistics(seed=8))
    assert single.scores.sampling == Sampling("bca", 0.8, 500, 8)


def test_rescoring_by_another_rule_keeps_the_figures_of_the_run(
    workspace: Workspace, made: Any
) -> None:
    run = made(match="doc").info.run_id
    (other,) = runs.rescore(workspace, run, match="exact")
    assert (other.kept, other.result["Recall@10"]) == (False, 0.0)
    assert workspace.runs.run(run).aggregate["metrics"]["recall_at_10"] == 0.75
    (own,) = runs.rescore(workspace, run, measures="P@1")
    assert own.kept
    assert workspace.runs.run(run).aggregate["metrics"]["precision_at_1"] == 0.75


def test_another_rule_makes_another_run_without_searching(workspace: Workspace, made: Any) -> None:
    first, second = made(match="doc"), made(match="exact")
    assert first.info.run_id != second.info.run_id
    assert (second.cached, second.info.reused_from) == (True, first.info.run_id)
    assert (first.result["Recall@10"], second.result["Recall@10"]) == (0.75, 0.0)
    again = made(match="doc")
    assert (again.info.run_id, again.cached) == (first.info.run_id, True)


def test_ids_and_names_that_a_caller_gives_hold_for_an_equal_run(
    workspace: Workspace, made: Any
) -> None:
    first = made(tags=("one",))
    named = made(name="mine", tags=("two",))
    numbered = made(run_id="number-3")
    assert named.info.name == "mine"
    assert numbered.info.run_id == "number-3"
    assert len({one.info.run_id for one in (first, named, numbered)}) == 3
    assert workspace.runs.run("two").run_id == named.info.run_id
    assert workspace.runs.run("one").run_id == first.info.run_id
    assert made(name="mine").info.run_id == named.info.run_id
    assert made(run_id="number-3").cached
    for other in ({"match": "doc"}, {"name": "x"}, {"seed": 5}, {"chunk_separator": "#"}):
        with pytest.raises(ConflictError):
            made(run_id="number-3", **other)


@pytest.mark.req("E7")
def test_the_same_name_again_is_the_same_run_and_that_is_said(
    workspace: Workspace, made: Any
) -> None:
    first = made(name="nightly")
    again = made(name="nightly")
    assert first.note is None
    assert (again.info.run_id, again.repeated) == (first.info.run_id, True)
    assert again.note == (
        f"run {first.info.run_id}, named nightly, has the answer already: nothing was searched and "
        "no new run was made; --no-cache searches again and makes one"
    )
    other = made(name="weekly")
    assert other.note == (
        f"run {first.info.run_id} has the answer already: {other.info.run_id} was made with its "
        "results and nothing was searched; --no-cache searches again"
    )
    last = made(name="weekly")  # its results came from elsewhere, and that is no news
    assert (last.info.run_id, last.repeated) == (other.info.run_id, True)
    assert "was made with" not in str(last.note)
    assert "no new run was made" in str(last.note)
    assert workspace.runs.runs().total == 2
    anew = made(name="weekly", use_cache=False)
    assert anew.note is None
    assert len(runs.history(workspace, "chunks").runs) == 3


def test_an_equal_run_that_was_cut_short_lends_its_results_to_one_of_another_name(
    workspace: Workspace, tmp_path: Path, made: Any
) -> None:
    request = EvaluationRequest(test_set=CHUNKS, run_file=str(tmp_path / "run.json"))

    def stop(step: Any) -> None:
        if step.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(workspace, request, stop)
    named = made(run_id="own")
    assert (named.info.run_id, named.reused, named.cached) == ("own", 2, False)
    assert len(workspace.runs.outcomes("own")) == 4


def test_a_pushed_run_may_not_ask_for_endless_work(workspace: Workspace, made: Any) -> None:
    whole = workspace.stored_run(made().info.run_id)
    for scoring in (
        Scoring(sampling=Sampling(resamples=10**9)),
        Scoring(sampling=Sampling(level=2.0)),
        Scoring(measures="nothing@1"),
        Scoring(chunk_separator=""),
    ):
        content = run_exchange.pack(replace(whole, info=replace(whole.info, scoring=scoring)))
        with pytest.raises(AssayError):
            run_exchange.unpack(content)
    by_document = replace(whole.info, scoring=Scoring(match=Match.DOC), aggregate={})
    content = run_exchange.pack(replace(whole, info=by_document))
    assert run_exchange.unpack(content).info.scoring.match is Match.DOC


def test_two_runs_are_tested_as_they_were_scored(workspace: Workspace, made: Any) -> None:
    a = made(match="doc", by_group=True, resamples=500, seed=3).info.run_id
    b = made(match="doc", by_group=True, resamples=500, seed=3, name="b").info.run_id
    tested = comparison.ab(workspace, comparison.AbRequest(a, b)).result
    assert tested.b.sampling == Sampling(resamples=500, seed=3)
    assert tested.a["Recall@10"] == 0.75
    assert tested.a.clusters is not None
    ruling = gate(workspace, GateRequest(baseline=a, current=b, non_inferiority=True))
    (check,) = ruling.checks
    assert check.interval is not None
    assert (check.interval.resamples, check.interval.seed) == (500, 3)


def test_runs_of_different_protocols_are_not_gated(workspace: Workspace, made: Any) -> None:
    a = made().info.run_id
    b = made(protocol="positives_only").info.run_id
    ruling = gate(workspace, GateRequest(baseline=a, current=b))
    assert ruling.outcome.exit_code == 4
    assert "the protocols differ" in ruling.blockers[0]


def test_runs_that_were_drawn_differently_are_tested_with_a_word(
    workspace: Workspace, made: Any
) -> None:
    a = made(by_group=True, resamples=500).info.run_id
    b = made(name="b").info.run_id
    said = comparison.ab(workspace, comparison.AbRequest(a, b)).result.compared.warnings
    assert f"the runs draw intervals differently: here as {b} does" in said
    assert f"queries of one group are drawn together, since {a} was made so" in said
    own = comparison.AbRequest(a, a)
    assert not [
        one for one in comparison.ab(workspace, own).result.compared.warnings if "draw" in one
    ]


THREADS = TestSet(
    "threads",
    "v1",
    tuple(
        GoldenQuery(f"q{n:02}", "text", relevant_docs=(Judgment(f"D{n}", 1),), group=f"g{n // 5}")
        for n in range(40)
    ),
)


@pytest.fixture
def threads(workspace: Workspace, tmp_path: Path) -> Iterator[Any]:
    """Evaluate a run of posts with five queries each, of which some lost their document."""

    def make(name: str, lost: int = 0, **options: Any) -> str:
        file = tmp_path / f"{name}.json"
        found = {f"q{n:02}": ["X", f"D{n}"] if n < lost else [f"D{n}", "X"] for n in range(40)}
        file.write_text(json.dumps(found))
        request = EvaluationRequest(test_set=THREADS, run_file=str(file), name=name, **options)
        return str(evaluate(workspace, request).runs[0].info.run_id)

    with workspace:
        yield make


def drawn(workspace: Workspace, baseline: str | Path, current: str, **options: Any) -> Any:
    """The ruling on nDCG@10 by interval, and what is said beside it."""
    request = GateRequest(
        baseline=baseline,
        current=current,
        limits=("nDCG@10=9%",),
        **{"non_inferiority": True, **options},
    )
    ruling = gate(workspace, request)
    assert ruling.blockers == ()
    return ruling.checks[0], ruling.warnings


@pytest.mark.req("E9")
@pytest.mark.parametrize("as_file", [False, True])
@pytest.mark.parametrize("clustered", ["baseline", "current", "both"])
def test_a_gate_resamples_groups_where_either_run_does(
    workspace: Workspace, threads: Any, tmp_path: Path, clustered: str, as_file: bool
) -> None:
    alone, _ = drawn(workspace, threads("a"), threads("b", lost=5))
    assert alone.outcome.value == "passed"
    a = threads("a", by_group=clustered != "current")
    b = threads("b", lost=5, by_group=clustered != "baseline")
    baseline: str | Path = a
    if as_file:
        baseline = tmp_path / "show.json"
        shown_run = run_view.show(workspace, a)
        baseline.write_text(
            json.dumps({**encode(shown_run.info), **shown(workspace, a).to_dict(per_query=True)})
        )
    check, said = drawn(workspace, baseline, b)
    assert check.outcome.value == "inconclusive"  # five queries of one post are one observation
    sides = {"baseline": "show.json" if as_file else a, "current": b}
    assert said == tuple(
        f"queries of one group are drawn together, since {name} was made so"
        for side, name in sides.items()
        if side == clustered
    )


@pytest.mark.req("E9")
@pytest.mark.parametrize(
    "options", [{"confidence": 0.8}, {"seed": 7}, {"resamples": 500}, {"ci_method": "percentile"}]
)
def test_a_gate_says_that_runs_were_drawn_differently(
    workspace: Workspace, threads: Any, options: dict[str, Any]
) -> None:
    a, b = threads("a"), threads("b", **options)
    _, said = drawn(workspace, a, b)
    assert said == (f"the runs draw intervals differently: here as {b} does",)
    _, said = drawn(workspace, a, b, non_inferiority=False)
    assert said == (
        f"{a} and {b} draw intervals differently: here the means decide, and no interval is drawn",
    )
    usual: dict[str, Any] = {
        "confidence": 0.95,
        "seed": 42,
        "resamples": 10_000,
        "ci_method": "bca",
    }
    given = Statistics(**{name: usual[name] for name in options})  # one way for both
    assert drawn(workspace, a, b, statistics=given)[1] == ()


def test_no_run_may_be_called_what_the_newest_one_is_called(
    workspace: Workspace, made: Any
) -> None:
    with pytest.raises(ConflictError, match="always means the newest run"):
        made(run_id="latest")


def test_every_view_names_the_rule_of_its_figures(workspace: Workspace, made: Any) -> None:
    a, b = (made(match="doc", measures="Recall@10", name=name).info.run_id for name in "ab")
    exact = made(measures="Recall@10").info.run_id
    compared = comparison.compare(workspace, comparison.CompareRequest(a, b)).report
    assert compared.to_dict()["match"] == "doc"
    assert "matched by document, chunkers: exact" in str(compare_tables(compared)[0].title)
    assert "results matched by document, chunkers: exact" in render_report_md(compared)
    assert (
        "results are matched by document"
        in gate(workspace, GateRequest(baseline=a, current=b)).warnings
    )
    note = "matched by the judged ids here; the run itself is scored by document"
    view = run_view.show(workspace, a, match="exact")
    assert note in view.to_dict()["warnings"]
    assert view.to_dict()["scoring"]["match"] == "exact"  # a file of these figures says so, too
    assert note not in run_view.show(workspace, a).to_dict()["warnings"]
    listed = runs_table(workspace.runs.runs().runs)
    parts = {row[0]: row[3] for row in listed.rows}
    assert parts == {exact: "all", **dict.fromkeys((a, b), "all, results are matched by document")}
    assert 3 not in listed.optional


# Ids of chunks in another form


HASHES = TestSet(
    "hashes",
    "v1",
    tuple(
        GoldenQuery(f"q{n}", "text", relevant_docs=(Judgment(f"D{n}", 1, level=Level.DOCUMENT),))
        for n in range(4)
    ),
)


@pytest.fixture
def hashed(workspace: Workspace, tmp_path: Path) -> Iterator[Any]:
    """Evaluate a run of chunks such as D1#7, as the options say."""
    file = tmp_path / "hashed.json"
    file.write_text(json.dumps({f"q{n}": ["X#1", f"D{n}#7"] for n in range(4)}))

    def make(**options: Any) -> Recorded:
        request = EvaluationRequest(test_set=HASHES, run_file=str(file), **options)
        return evaluate(workspace, request).runs[0]

    with workspace:
        yield make


@pytest.mark.req("K2")
def test_the_separator_of_chunks_belongs_to_the_run(workspace: Workspace, hashed: Any) -> None:
    usual, own = hashed(), hashed(chunk_separator="#")
    assert usual.info.run_id != own.info.run_id
    assert (usual.result["Recall@10"], own.result["Recall@10"]) == (0.0, 1.0)
    run = own.info.run_id
    assert shown(workspace, run)["Recall@10"] == 1.0
    assert reports.report(workspace, run).result["Recall@10"] == 1.0
    assert run_view.query(workspace, run, "q1").judgments[0].rank == 2
    assert workspace.runs.run(run).aggregate["recall_at_k_doc"] == {
        "1": 0.0, "3": 1.0, "5": 1.0, "10": 1.0,
    }  # fmt: skip
    assert runs.rescore(workspace, run)[0].kept
    history = runs.history(workspace, "hashes")
    assert sorted(len(one.runs) for one in history.series) == [1, 1]
    titles = {str(table.title) for table in history_tables(history)}
    assert len(titles) == 2
    assert any('begin with their document and "#"' in title for title in titles)
    (line,) = [one for one in usual.result.warnings() if "chunk_separator" in one]
    assert line.startswith("4 retrieved ids may be of judged documents")


@pytest.mark.req("K2")
def test_runs_of_different_separators_are_not_gated_or_compared_silently(
    workspace: Workspace, hashed: Any
) -> None:
    a, b = hashed().info.run_id, hashed(chunk_separator="#").info.run_id
    ruling = gate(workspace, GateRequest(baseline=a, current=b))
    assert ruling.outcome.exit_code == 4
    assert "make both with the same --chunk-separator" in ruling.blockers[0]
    report = comparison.compare(workspace, comparison.CompareRequest(a, b)).report
    assert report.aggregate_a.recall_at_k_doc[10] == 1.0
    assert f"here both are read as {b} does" in report.warnings[0]
    other = comparison.compare(workspace, comparison.CompareRequest(b, a)).report
    assert other.aggregate_a.recall_at_k_doc[10] == 0.0
    doubtful = [line for line in other.warnings if "may be of judged documents" in line]
    assert len(doubtful) == 2
    same = gate(workspace, GateRequest(baseline=a, current=a))
    assert any("may be of judged documents" in line for line in same.warnings)


def test_a_setting_names_the_separator_of_every_run(tmp_path: Path) -> None:
    file = tmp_path / "hashed.json"
    file.write_text(json.dumps({f"q{n}": [f"D{n}#7"] for n in range(4)}))
    settings = configure({"home": tmp_path / "home", "chunk_separator": "#"}, folder=tmp_path)
    with Workspace(settings) as workspace:
        request = EvaluationRequest(test_set=HASHES, run_file=str(file))
        (run,) = evaluate(workspace, request).runs
    assert run.info.scoring.chunk_separator == "#"
    assert run.result["Recall@10"] == 1.0


# How another engine is asked


def rising(text: str) -> list[tuple[str, float]]:
    """The judged chunk second, with the higher score."""
    return [("X", 0.5), (f"D{('alpha', 'beta', 'gamma', 'delta').index(text)}:chunk_0", 0.9)]


@pytest.mark.req("E5")
def test_what_ranks_results_and_how_long_they_may_take_are_part_of_the_run(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float | None] = []

    def noted(retrieve: Any, queries: Any, *, timeout_s: float | None, **more: Any) -> Any:
        limits.append(timeout_s)
        return execute(retrieve, queries, timeout_s=timeout_s, **more)

    monkeypatch.setattr(record, "execute", noted)
    request = EvaluationRequest(
        test_set=CHUNKS, retriever=f"{__name__}:rising", measures="P@1", timeout_s=77.0
    )
    with workspace:
        (given,) = evaluate(workspace, request).runs
        (by_score,) = evaluate(workspace, replace(request, rank_by="score")).runs
        (usual,) = evaluate(workspace, replace(request, timeout_s=None)).runs
        (again,) = evaluate(workspace, replace(request, rank_by="score")).runs
        resumed = EvaluationRequest(resume=by_score.info.run_id, measures="P@1")
        assert evaluate(workspace, resumed).runs[0].info.run_id == by_score.info.run_id
    assert limits == [77.0, 77.0, TIMEOUT_S]
    assert (given.result["P@1"], by_score.result["P@1"], usual.result["P@1"]) == (0.0, 1.0, 0.0)
    assert given.info.config["timeout_s"] == 77.0
    assert by_score.info.config["rank_by"] == "score"
    assert len({one.info.cache_key for one in (given, by_score, usual)}) == 3
    assert (again.info.run_id, again.cached) == (by_score.info.run_id, True)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"rank_by": "score"}, "own search ranks"),
        ({"rank_by": "rank", "run_file": "x"}, "rank_by"),
        ({"timeout_s": 0.0}, "timeout_s"),
        ({"timeout_s": 1e9}, "timeout_s"),
        ({"chunk_separator": ""}, "chunk_separator"),
    ],
)
def test_how_another_engine_is_asked_is_checked(option: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        EvaluationRequest(test_set=CHUNKS, **option)


def test_the_scores_of_a_run_file_rank_its_lists_where_that_is_asked(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "run.json"
    file.write_text(
        json.dumps({"q0": [{"id": "X", "score": 1.0}, {"id": "D0:chunk_0", "score": 2.0}]})
    )
    one = replace(CHUNKS, queries=CHUNKS.queries[:1])
    with workspace:
        found = {
            rank_by: evaluate(
                workspace,
                EvaluationRequest(test_set=one, run_file=str(file), rank_by=rank_by),
            ).runs[0].result["MRR"]
            for rank_by in (None, "order", "score")
        }  # fmt: skip
    assert found == {None: 0.5, "order": 0.5, "score": 1.0}


def test_measures_that_look_further_than_what_was_kept_are_named(tmp_path: Path) -> None:
    with filled(tmp_path / "home") as workspace:
        chunk = workspace.search("aspirin", k=1, floor=False).results[0].chunk
        query = GoldenQuery("q1", "aspirin", relevant_docs=(Judgment(chunk.chunk_id, 1),))
        request = EvaluationRequest(
            test_set=TestSet("t", "v1", (query,)), measures="P@1 Recall@{3,5} MRR", kept=3
        )
        (few,) = evaluate(workspace, request).runs
        (all_,) = evaluate(workspace, replace(request, kept=5)).runs
        again = run_view.show(workspace, few.info.run_id).result
    said = "of each query only 3 results were kept, and Recall@5 looks at more"
    assert few.result.warnings().count(said) == 1
    assert again is not None
    assert said in again.warnings()
    assert not [line for line in all_.result.warnings() if "were kept" in line]
