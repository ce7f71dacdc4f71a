"""Does a look at stored runs give the same values, whoever asks and on whichever way?"""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from assay.app import comparison, gate, reports, run_exchange, run_view, runs
from assay.app.comparison import AbRequest, CompareRequest
from assay.app.gate import GateRequest
from assay.app.interface import Assay
from assay.app.statistics import Statistics
from assay.app.workspace import open_workspace
from assay.cli.main import run
from assay.client import Client
from assay.errors import UnknownRunError
from assay.evaluation.history import HistoryOptions
from assay.evaluation.scores import shown
from assay.model.codec import encode
from assay.render.numbers import signed
from assay.render.run_file import trec_run
from tests.unit.http.process import ServiceProcess

KINDS = ("exact_term", "paraphrase", "complex_clinical")
MODELS = {"ASSAY_DENSE_MODEL": "none", "ASSAY_SPLADE_MODEL": "none"}
STATISTICS: dict[str, Any] = {
    "alpha": 0.2, "margin": 0.05, "seed": 7, "resamples": 333, "confidence": 0.8,
    "ci_method": "percentile",
}  # fmt: skip
MEASURES = ("nDCG@5", "Recall@{3,10} MRR")
TARGETS = ("MRR=0.9",)  # a target adds its measure to the report
LIMITS = ("nDCG@10=1%", "Recall@10=0.5")


def query(number: int) -> dict[str, Any]:
    """A query with a judged document (of which any chunk will do) and a judged chunk."""
    return {
        "query_id": f"q{number:02}",
        "query_text": f"question {number}",
        "query_type": KINDS[number % 3],
        "group": f"g{number // 2}",
        "relevant_docs": [
            {"doc_id": f"d{number}", "grade": 3},
            {"doc_id": f"e{number}:chunk_4", "grade": 1},
            {"doc_id": f"f{number}:chunk_0", "grade": 0},
        ],
    }


TEST_SET = {"name": "clinic", "version": "v1", "queries": [query(at) for at in range(24)]}


def ranking(number: int, *, better: bool) -> list[str]:
    """Eleven results; the judged document comes back as its second chunk."""
    found = [f"x{number}_{at}:chunk_0" for at in range(10)]
    found[number % (3 if better else 7)] = f"d{number}:chunk_2"
    if number % 2 or better:
        found[7 + number % 3] = f"e{number}:chunk_4"
    return [*found, f"f{number}:chunk_0"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two runs, made as people make them; the first is the baseline."""
    folder = tmp_path_factory.mktemp("parity")
    (folder / "clinic.json").write_text(json.dumps(TEST_SET), encoding="utf-8")
    home = folder / "home"
    for name, better in (("before", False), ("after", True)):
        rows = [
            f"q{number:02} Q0 {chunk} {rank} {1 - rank / 100} {name}"
            for number in range(24)
            for rank, chunk in enumerate(ranking(number, better=better), 1)
        ]
        (folder / f"{name}.trec").write_text("\n".join(rows), encoding="utf-8")
        words = ["eval", "run", "-t", str(folder / "clinic.json"), "--name", name, "--tag", name]
        assert run(["--home", str(home), *words, "--run", str(folder / f"{name}.trec")]) == 0
    return home


@dataclass(frozen=True)
class Service:
    """A service over the workspace, and the settings of it that differ from the usual ones."""

    address: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        """The same settings for whoever asks from here."""
        return {f"ASSAY_{name.upper()}": str(value) for name, value in self.settings.items()}


@pytest.fixture(scope="module", params=["settings", "request"])
def service(request: pytest.FixtureRequest, home: Path) -> Iterator[Service]:
    """Everybody has the same unusual settings; or the usual ones, and the request says else."""
    settings = STATISTICS if request.param == "settings" else {}
    made = Service("", settings)
    with ServiceProcess(home, **made.environ) as process:
        yield replace(made, address=process.address)


@dataclass(frozen=True)
class Verb:
    """One verb on every surface; ``numbers`` are texts that its page must show."""

    python: Callable[[Assay, Statistics], Any]
    command: list[str]
    method: str
    path: str
    asked: dict[str, Any] = field(default_factory=dict)
    statistics: tuple[str, ...] = ()
    page: str = ""
    numbers: Callable[[Any], list[str]] = lambda plain: []


def of_contrasts(plain: Any) -> list[str]:
    """What the pages of an A/B test say about each measure."""
    rows = plain["contrasts"]
    found = [plain["verdict_text"], f"{plain['sampling']['level']:.0%} CI"]
    for row in rows:
        found += [shown(row["baseline"]), shown(row["value"]), signed(row["difference"])]
        found.append(f"[{row['ci'][0]:+.4f}, {row['ci'][1]:+.4f}]")
    return found


def of_gate(plain: Any) -> list[str]:
    checks = [row["explanation"] for row in plain["checks"]]
    values = [shown(row["current"]) for row in plain["checks"]]
    return [plain["outcome"], *checks, *values]


def of_query(plain: Any) -> list[str]:
    """Each relevant judgment with its rank, as the page has it."""
    return [
        f"rank {one['rank']}" if one["rank"] else 'Why is it not in the first ten?">not found'
        for one in plain["relevant_docs"]
        if one["grade"] > 0
    ]


def means(plain: Any) -> list[str]:
    return [shown(value) for value in plain["metrics"].values()]


def last_run(plain: Any) -> list[str]:
    names = ("ndcg_at_10", "recall_at_10", "mrr")
    return [shown(row["metrics"][name]) for row in plain["runs"] for name in names]


MEASURED = [word for one in MEASURES for word in ("-m", one)]
INTERVALS = ("seed", "resamples", "confidence", "ci_method")
VERBS: dict[str, Verb] = {
    "compare": Verb(
        lambda assay, given: comparison.compare(
            assay, CompareRequest("before", "after", MEASURES, strict_chunker_version=True)
        ).report.to_dict(),
        ["compare", "before", "after", *MEASURED, "--strict-chunker-version"],
        "POST",
        "/v1/compare",
        {"a": "before", "b": "after", "measures": list(MEASURES), "strict_chunker_version": True},
        page="/compare?a=before&b=after",
        numbers=lambda plain: [f"</span> {kind} {n}</a>" for kind, n in plain["counts"].items()],
    ),
    "ab": Verb(
        lambda assay, given: comparison.ab(
            assay, AbRequest("before", "after", statistics=given)
        ).result.to_dict(),
        ["ab", "before", "after"],
        "POST",
        "/v1/ab",
        {"a": "before", "b": "after"},
        (*INTERVALS, "alpha", "margin"),
        "/ab?a=before&b=after",
        of_contrasts,
    ),
    "ab by group": Verb(
        lambda assay, given: comparison.ab(
            assay,
            AbRequest("before", "after", MEASURES, True, by_group=True, statistics=given),
        ).result.to_dict(),
        ["ab", "before", "after", *MEASURED, "--strict-chunker-version", "--by-group"],
        "POST",
        "/v1/ab",
        {
            "a": "before",
            "b": "after",
            "measures": " ".join(MEASURES),
            "by_group": True,
            "strict_chunker_version": True,
        },
        (*INTERVALS, "alpha", "margin"),
    ),
    "gate": Verb(
        lambda assay, given: gate.gate(
            assay,
            GateRequest(
                baseline="after",
                current="before",
                limits=LIMITS,
                non_inferiority=True,
                statistics=given,
            ),
        ).to_dict(),
        [
            "gate",
            "--baseline",
            "after",
            "--current",
            "before",
            "--limit",
            LIMITS[0],
            "--limit",
            LIMITS[1],
            "--non-inferiority",
        ],
        "POST",
        "/v1/gate",
        {"baseline": "after", "current": "before", "limits": LIMITS, "non_inferiority": True},
        ("seed", "resamples", "ci_method", "alpha"),
        "/gate?baseline=after&current=before&limits=nDCG@10%3D1%25+Recall@10%3D0.5"
        "&mode=non-inferiority",
        of_gate,
    ),
    "show": Verb(
        lambda assay, given: run_view.show(
            assay, "after", measures=MEASURES, match="doc", statistics=given
        ).to_dict(per_query=True),
        ["show", "after", *MEASURED, "--match", "doc", "--per-query"],
        "GET",
        "/v1/runs/after/scores",
        {"measure": MEASURES[0], "measures": MEASURES[1], "match": "doc", "per_query": "true"},
        INTERVALS,
    ),
    "show as it was run": Verb(
        lambda assay, given: run_view.show(assay, "after").to_dict(),
        ["show", "after"],
        "GET",
        "/v1/runs/after/scores",
        page="/runs/after",
        numbers=means,
    ),
    "query": Verb(
        lambda assay, given: run_view.query(assay, "before", "q05").to_dict(),
        ["show", "before", "--query", "q05"],
        "GET",
        "/v1/runs/before/queries/q05",
        page="/runs/before/query/q05",
        numbers=of_query,
    ),
    "query not found": Verb(
        lambda assay, given: run_view.query(assay, "before", "q04", match="span").to_dict(),
        ["show", "before", "--query", "q04", "--match", "span"],
        "GET",
        "/v1/runs/before/queries/q04",
        {"match": "span"},
        page="/runs/before/query/q04",
        numbers=of_query,
    ),
    "report": Verb(
        lambda assay, given: reports.report(
            assay, "after", measures=MEASURES, workflow=True, targets=TARGETS, statistics=given
        ).to_dict(),
        ["report", "after", *MEASURED, "--workflow", "--target", TARGETS[0]],
        "GET",
        "/v1/runs/after/report",
        {"measures": list(MEASURES), "workflow": "true", "target": TARGETS},
        INTERVALS,
        "/v1/runs/after/report?format=html&measure=nDCG@5&measure=Recall@{3,10}+MRR",
        means,
    ),
    "history": Verb(
        lambda assay, given: _history(assay),
        ["history", "clinic", "-m", "nDCG@10 Recall@10 MRR", "--limit", "2", "--part", "all"],
        "GET",
        "/v1/history/clinic",
        {"measures": "nDCG@10 Recall@10 MRR", "limit": 2, "part": "all"},
        page="/runs?suite=clinic",
        numbers=last_run,
    ),
    "list": Verb(
        lambda assay, given: _page(assay),
        ["list", "--suite", "clinic", "--status", "complete", "--limit", "1"],
        "GET",
        "/v1/runs",
        {"suite": "clinic", "status": "complete", "limit": 1},
        page="/runs?suite=clinic&status=complete",
        numbers=lambda plain: [plain["runs"][0]["run_id"]],
    ),
}


def _history(assay: Assay) -> Any:
    measures = "nDCG@10 Recall@10 MRR"
    chosen = HistoryOptions(part="all")
    found = runs.history(assay, "clinic", measures=measures, options=chosen, limit=2)
    return found.to_dict()


def _page(assay: Assay) -> Any:
    return encode(runs.list_runs(assay, runs.run_filter("clinic", "complete"), limit=1))


@pytest.fixture
def settled(service: Service, home: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """The settings of the service hold here, too."""
    for name, value in {**MODELS, **service.environ}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home.parent)
    return service


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_says_the_same_on_every_surface(
    name: str, settled: Service, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verb = VERBS[name]
    given = {} if settled.settings else {one: STATISTICS[one] for one in verb.statistics}
    flags = [word for one, value in given.items() for word in (f"--{one.replace('_', '-')}", value)]
    command = ["eval", *verb.command, *map(str, flags), "--json"]

    def said(*where: str) -> Any:
        capsys.readouterr()
        code = run([*where, *command])
        assert code in (0, 3, 4), capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    with open_workspace(home) as workspace:
        plain = json.loads(json.dumps(verb.python(workspace, Statistics(**given))))
    with Client(settled.address) as client:
        far = json.loads(json.dumps(verb.python(client, Statistics(**given))))
    asked = {**verb.asked, **given}
    sent: Any = {"json": asked} if verb.method == "POST" else {"params": asked}
    answer = httpx.request(verb.method, settled.address + verb.path, timeout=60, **sent)
    assert answer.status_code == 200, answer.text
    assert answer.json() == plain
    assert far == plain
    assert said("--home", str(home)) == plain
    assert said("--server", settled.address) == plain
    if verb.page and not given:
        page = httpx.get(settled.address + verb.page, timeout=60)
        assert page.status_code == 200, page.text
        text = html.unescape(page.text)
        assert [one for one in verb.numbers(plain) if one not in text] == []
        assert verb.numbers(plain)


def test_statistics_change_what_they_should(settled: Service, home: Path) -> None:
    """A value that is passed on and then ignored would be the same everywhere, too."""
    with open_workspace(home) as workspace:
        usual = VERBS["ab"].python(workspace, Statistics())
        for one in STATISTICS:
            other: dict[str, Any] = {
                "alpha": 0.3, "margin": 0.02, "seed": 8, "resamples": 50, "confidence": 0.6,
                "ci_method": "percentile",
            }  # fmt: skip
            changed = VERBS["ab"].python(workspace, Statistics(**{one: other[one]}))
            assert changed != usual, one
        own = usual["sampling"] | {"alpha": usual["alpha"], "margin": usual["margin"]}
    wanted = {
        "alpha": 0.05, "margin": 0.01, "seed": 42, "resamples": 10_000, "confidence": 0.95,
        "ci_method": "bca",
    }  # fmt: skip
    for one in ("alpha", "margin"):  # the others are those that the runs were made with
        wanted[one] = settled.settings.get(one, wanted[one])
    names = {"confidence": "level", "ci_method": "method"}
    assert {one: own[names.get(one, one)] for one in STATISTICS} == wanted


def test_a_judged_document_is_found_where_it_was_scored(settled: Service, home: Path) -> None:
    """The ranks of the query page are those that the measures rest on."""
    with open_workspace(home) as workspace:
        scored = run_view.show(workspace, "before", measures="RR@10")
        assert scored.result is not None
        values = scored.result.scores.per_query("RR@10")
        for name, value in values.items():
            found = run_view.query(workspace, "before", name)
            ranks = [one.rank for one in found.relevant if one.rank is not None]
            assert value == pytest.approx(1 / min(ranks))
            number = int(name[1:])
            assert found.judgments[0].rank == number % 7 + 1
            assert (found.judgments[1].rank is None) is (number % 2 == 0)


@pytest.mark.parametrize("documents", [False, True])
def test_a_run_file_is_the_same_on_every_surface(
    settled: Service, home: Path, capsys: pytest.CaptureFixture[str], documents: bool
) -> None:
    with open_workspace(home) as workspace:
        found = run_view.export(workspace, "after")
    text = trec_run(found.outcomes, found.tag, documents=documents) + "\n"
    command = ["eval", "export", "after", "--trec", *(["--documents"] if documents else [])]
    for where in (["--home", str(home)], ["--server", settled.address]):
        capsys.readouterr()
        assert run([*where, *command]) == 0
        assert capsys.readouterr().out == text
    params = {"documents": str(documents).lower()}
    assert httpx.get(f"{settled.address}/v1/runs/after/trec", params=params).text == text


def test_every_verb_over_runs_has_a_row() -> None:
    """Whoever adds a verb adds its row."""
    from assay.cli.eval import app

    named = {one.name for one in app.registered_commands}
    rows = {verb.command[0] for verb in VERBS.values()}
    elsewhere = {
        "run", "tune", "publish",  # evaluation
        "export",  # above
        "tag", "rescore", "push",  # they change runs; their tests are in unit/
        "delete", "restore",  # below
        "bundle", "verify-bundle",  # files of one machine, not over HTTP
    }  # fmt: skip
    assert named == rows | elsewhere


def test_a_deleted_run_comes_back_the_same_way_on_every_surface(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "home"
    shutil.copytree(home, place)
    at = ["--home", str(place)]

    def said(*words: str) -> Any:
        capsys.readouterr()
        assert run([*at, "eval", *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    with open_workspace(place) as workspace:
        wanted = encode(workspace.runs.run("before"))
        packed = run_exchange.packed(workspace, "before")
        deleted = runs.delete(workspace, "before")
        assert [one.run_id for one in runs.deleted(workspace)] == [deleted.run_id]
        assert encode(runs.restore(workspace, deleted.run_id)) == wanted
        assert run_exchange.packed(workspace, "before") == packed
    assert said("delete", "before") == {"deleted": deleted.run_id}
    assert [one["tags"] for one in said("list", "--deleted")["deleted"]] == [["before"]]
    assert said("restore", deleted.run_id)["tags"] == ["before"]
    with ServiceProcess(place, **MODELS) as process, Client(process.address) as client:
        runs.delete(client, "before")
        assert [one.run_id for one in runs.deleted(client)] == [deleted.run_id]
        assert encode(runs.restore(client, deleted.run_id)) == wanted
        runs.delete(client, "before", for_good=True)
        assert runs.deleted(client) == ()
        with pytest.raises(UnknownRunError, match="no deleted run"):
            runs.restore(client, deleted.run_id)
