"""Is a request for an evaluation checked once, kept whole, and carried out as it says?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay import limits
from assay.app import engine
from assay.app.evaluation import EvaluationStep, evaluate
from assay.app.evaluation_request import EvaluationRequest, written_options
from assay.app.jobs import problem_of
from assay.app.saved import SaveRequest, save_evaluation
from assay.app.search import options_of_caller
from assay.app.workspace import Workspace, open_workspace
from assay.errors import AssayError, ConflictError, CorruptError, TooManyErrorsError, UsageError
from assay.evaluation.record import config_hash
from assay.model.codec import decode, encode
from assay.model.runs import RunStatus
from assay.model.testset import GoldenQuery, HeldOut, TestSet
from assay.testsets.load import parse_test_set
from tests.unit.http.conftest import (  # noqa: F401 - fixtures
    SETTINGS,
    MakeService,
    client_of,
    home,
    log,
    make_service,
    small_home,
)
from tests.unit.http.small import TEST_SET

OLD_KEYS: dict[str, Any] = {
    "options": {"depth": 7, "components": "bm25"},
    "measures": "Recall@10 MRR",
    "mode": "overall",
    "name": "old",
    "per_query": True,
}


def small_set() -> TestSet:
    return parse_test_set(json.dumps(TEST_SET).encode()).sound()


@pytest.fixture
def workspace(home: Path) -> Workspace:  # noqa: F811
    return open_workspace(home, **SETTINGS)


def test_a_request_survives_as_json() -> None:
    request = EvaluationRequest(
        test_set=small_set(),
        options={"components": ("bm25",), "weights": {"bm25": 1.0}},
        seed=0,
        confidence=0.8,
        part="all",
        tags=("a", "b"),
        use_cache=False,
    )
    read = decode(EvaluationRequest, json.loads(json.dumps(encode(request))))
    assert read == replace(request, options={"components": ["bm25"], "weights": {"bm25": 1.0}})
    assert sorted(written_options(read)) == [
        ("cache", "false"), ("confidence", "0.8"), ("part", "all"), ("seed", "0"), ("tag", "a"),
        ("tag", "b"),
    ]  # fmt: skip


def test_what_names_files_or_code_is_never_read_from_json() -> None:
    request = EvaluationRequest(test_set=small_set())
    content = {**encode(request), "retriever": "os:system", "run_file": "/etc/passwd",
               "test_sets": ["/etc/passwd"], "resume": "x", "run_id": "y"}  # fmt: skip
    assert decode(EvaluationRequest, content) == request


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"test_set": None}, "no test set"),
        ({"measures": "nDCGG@10"}, "nDCGG"),
        ({"measures": "MRR", "protocol": "all_queries"}, "leaves out"),
        ({"mode": "sideways"}, "mode: must be"),
        ({"part": "half"}, "part: must be"),
        ({"kept": 0}, "keep: must be"),
        ({"resamples": 0}, "resamples: must be"),
        ({"confidence": 1.0}, "confidence: must be"),
        ({"name": "a\nb"}, "name: must be"),
        ({"name": "a\u202eb"}, "name: must be"),
        ({"tags": ("a b",)}, "tag: must be"),
        ({"commit_hash": "a b"}, "commit"),
        ({"options": {"odd": 1}}, "odd"),
        ({"retriever": "a:b", "run_file": "x"}, "exclude"),
        ({"run_file": "x", "answers": True}, "own engine"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_when_it_is_asked(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        EvaluationRequest(**{"test_set": small_set(), **values})


def test_a_run_of_the_same_id_goes_on_and_one_of_another_request_is_refused(
    workspace: Workspace,
) -> None:
    request = EvaluationRequest(test_set=small_set(), run_id="mine", use_cache=False)

    def stop(step: EvaluationStep) -> None:
        if step.done == 2:
            raise KeyboardInterrupt

    with workspace:
        with pytest.raises(KeyboardInterrupt):
            evaluate(workspace, request, stop)
        assert evaluate(workspace, request).runs[0].reused == 2
        assert evaluate(workspace, request).runs[0].cached
        with pytest.raises(ConflictError, match="another test set, other options or another name"):
            evaluate(workspace, replace(request, options={"depth": 3}))
        metrics = {"recall_at_10": 1.0}
        save_evaluation(workspace, SaveRequest("saved", "small", metrics, 3))
        with pytest.raises(ConflictError):
            evaluate(workspace, replace(request, run_id="saved"))


def test_an_unfinished_run_of_a_version_without_modes_in_its_configuration_goes_on(
    workspace: Workspace,
) -> None:
    request = EvaluationRequest(test_set=small_set(), run_id="old", mode="overall")

    def stop(step: EvaluationStep) -> None:
        if step.done == 2:
            raise KeyboardInterrupt

    with workspace:
        with pytest.raises(KeyboardInterrupt):
            evaluate(workspace, request, stop)
        runs = workspace.runs
        outcomes, test_set, info = runs.outcomes("old"), runs.test_set("old"), runs.delete("old")
        config = {name: value for name, value in info.config.items() if name != "mode"}
        for run_id in ("old", "older"):
            older = replace(info, run_id=run_id, config=config, config_hash=config_hash(config))
            runs.begin(older, test_set)
            runs.append(run_id, outcomes)
            runs.finish(run_id, {}, status=RunStatus.INTERRUPTED)
        with pytest.raises(ConflictError):
            evaluate(workspace, replace(request, mode="as-written"))
        (made,) = evaluate(workspace, request).runs
        assert (made.info.run_id, made.reused, made.info.part) == ("old", 2, "overall")
        asked: list[str] = []
        _, resumed = (
            evaluate(workspace, EvaluationRequest(resume="older"), lambda step: asked.append("")),
            workspace.runs.run("older"),
        )
        assert (len(asked), resumed.status) == (1, RunStatus.COMPLETE)


def test_an_error_that_ends_a_run_does_not_quote_a_held_out_query(workspace: Workspace) -> None:
    held = replace(small_set(), held_out=HeldOut(1, ("q1", "q2")))
    request = EvaluationRequest(
        test_set=held, retriever=f"{__name__}:quoting", part="holdout", max_errors=1
    )
    with workspace, pytest.raises(TooManyErrorsError, match=r"^2 queries failed \(fix") as caught:
        evaluate(workspace, request)
    assert "--max-errors" in (caught.value.hint or "")


def quoting(query: GoldenQuery) -> list[str]:
    """A retriever that fails and quotes what it was asked."""
    raise ValueError(query.query_text)


def test_test_sets_of_runs_are_not_kept_forever(workspace: Workspace) -> None:
    with workspace:
        for number in range(limits.MAX_CACHED_TEST_SETS + 2):
            test_set = replace(small_set(), name=f"set{number}")
            (made,) = evaluate(workspace, EvaluationRequest(test_set=test_set)).runs
            assert workspace.stored_run(made.info.run_id).test_set == test_set
        assert len(workspace._test_sets) == limits.MAX_CACHED_TEST_SETS


@pytest.mark.parametrize(
    "name", ["..", ".", "", "a/..", "../x/y", "/etc", "~", "--", "m\n", "here", "owner/here"]
)
def test_a_caller_names_no_folder_as_a_model(
    workspace: Workspace, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = next(root for _, root in engine.model_shelf(workspace.settings).places())
    for folder in (tmp_path, tmp_path / "owner", root):
        (folder / "here").mkdir(parents=True)
    with workspace, pytest.raises(UsageError, match="not a model of this service"):
        options_of_caller(workspace.settings, {"reranker": name})


def test_a_caller_names_a_model_that_was_pulled(workspace: Workspace) -> None:
    root = next(root for _, root in engine.model_shelf(workspace.settings).places())
    (root / "some--model").mkdir(parents=True)
    given = {"reranker": "some/model"}
    assert options_of_caller(workspace.settings, given) == given


def test_an_id_that_is_a_tag_of_another_run_is_refused(workspace: Workspace) -> None:
    request = EvaluationRequest(test_set=small_set(), run_id="first", tags=("second",))
    with workspace:
        evaluate(workspace, request)
        again = replace(request, run_id="second", options={"depth": 3}, tags=())
        with pytest.raises(ConflictError, match="'second' is a tag of the run first"):
            evaluate(workspace, again)


def test_a_job_of_an_older_version_is_done(
    make_service: MakeService,  # noqa: F811
    home: Path,  # noqa: F811
) -> None:
    service = make_service(home=home)
    from assay.model.testset_json import to_plain

    with client_of(service) as client:
        content = {"test_set": to_plain(small_set()), **OLD_KEYS}
        service.jobs.submit("old_job", "evaluation", content, owner="o")
        assert "event: complete" in client.get("/v1/jobs/old_job/events").text
        result = client.get("/v1/jobs/old_job").json()["result"]
        assert set(result["metrics"]) >= {"recall_at_10", "mrr"}
        assert set(result["per_query"]) == {"q1", "q2", "q3"}
        run = client.get("/v1/runs/old_job").json()
        assert (run["name"], run["part"], run["config"]["depth"]) == ("old", "overall", 7)


def test_cross_mode_over_http_is_two_runs(
    make_service: MakeService,  # noqa: F811
    home: Path,  # noqa: F811
) -> None:
    body = json.loads(json.dumps(TEST_SET))
    with client_of(make_service(home=home)) as client:
        answer = client.post("/v1/evaluate?mode=cross-mode&evaluation_id=both", json=body)
        assert answer.status_code == 400, "everything came from files: there is nothing live"
        assert "no query for live" in answer.json()["detail"]


def test_the_problem_of_a_job_names_no_folder() -> None:
    found = problem_of(CorruptError("/srv/secret/home/index/x.npy is damaged", hint="rebuild"))
    assert found == {
        "status": 500, "code": "corrupt", "detail": "x.npy is damaged", "hint": "rebuild",
    }  # fmt: skip
    assert problem_of(AssayError("no"))["code"] == "internal"


@pytest.mark.parametrize("name", ["doc_id", "offset", "k", "speaker", "component_timeout_ms"])
def test_options_that_a_run_would_ignore_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name}: not part of a configuration"):
        EvaluationRequest(test_set=small_set(), options={name: 1})


def test_measures_on_this_machine_may_be_many() -> None:
    measures = " ".join(f"Recall@{cutoff}" for cutoff in range(100, 299))
    assert len(measures) > 2_000
    assert EvaluationRequest(test_set=small_set(), measures=measures).measures == measures


def test_an_intent_that_the_lexicon_lacks_is_refused_before_any_query(workspace: Workspace) -> None:
    request = EvaluationRequest(test_set=small_set(), options={"query_intent": "phase2"})
    with workspace, pytest.raises(UsageError, match="there is no intent 'phase2'") as caught:
        evaluate(workspace, request)
    assert "eligibility" in (caught.value.hint or "")
