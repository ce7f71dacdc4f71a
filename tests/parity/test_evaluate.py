"""Does one evaluation give the same values, whoever asks for it and on whichever way?"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from assay.app import comparison
from assay.app.comparison import AbRequest
from assay.app.evaluation_request import EvaluationRequest, request_fields
from assay.app.gate import GateRequest, gate
from assay.app.statistics import Statistics
from assay.app.workspace import open_workspace
from assay.cli.main import run
from assay.client import Client
from assay.model.codec import decode, encode
from assay.model.runs import Timings
from assay.search.request import EVALUATION_NAMES
from tests.unit.http.process import ServiceProcess

DOCUMENTS = {
    "d1": "pembrolizumab caused pneumonitis in several patients",
    "d2": "metformin lowers blood sugar in type two diabetes",
    "d3": "aspirin reduces the risk of heart attack",
    "d4": "pneumonitis is treated with steroids",
    "d5": "sleep problems were reported after the operation",
    "live": "my blood sugar is high since the operation",
}
QUERIES: list[dict[str, Any]] = [
    {"query_id": "q1", "query_text": "pneumonitis", "query_type": "exact_term", "group": "a",
     "relevant_docs": [{"doc_id": "d1", "grade": 3}, {"doc_id": "d4", "grade": 1}]},
    {"query_id": "q2", "query_text": "blood sugar", "query_type": "paraphrase", "group": "a",
     "relevant_docs": [{"doc_id": "d2", "chunk_id": "d2:chunk_7", "grade": 3}]},
    {"query_id": "q3", "query_text": "heart attack risk", "group": "b",
     "relevant_docs": [{"doc_id": "d3:chunk_0", "grade": 2}]},
    {"query_id": "q4", "query_text": "operation", "speaker_filter": "PATIENT", "group": "b",
     "relevant_docs": [{"doc_id": "d5", "grade": 2}, {"doc_id": "live", "grade": 1}]},
    {"query_id": "q5", "query_text": "measles vaccine", "expect": "nothing"},
    {"query_id": "q6", "query_text": "steroids for sleep", "expect": "nothing"},
    {"query_id": "q7", "query_text": "nobody judged this"},
]  # fmt: skip
TEST_SET = {"name": "clinic", "version": "v1", "queries": QUERIES}
ENVIRON = {
    "ASSAY_DENSE_MODEL": "none",
    "ASSAY_SPLADE_MODEL": "none",
    "ASSAY_RESAMPLES": "123",
    "ASSAY_CONFIDENCE": "0.9",
    "ASSAY_BOOSTS": "off",
}
MOVING = frozenset({"run_id", "evaluation_id", "name", "cached", "latency_ms"})
REQUESTS: dict[str, dict[str, Any]] = {
    "as configured": {},
    "judged": {"judge": "words"},
    "drawn otherwise": {
        "resamples": 50, "seed": 7, "confidence": 0.8, "ci_method": "percentile", "by_group": True,
        "match": "doc", "mode": "overall", "per_query": True,
    },
    "every query": {"protocol": "all_queries", "seed": 3, "match": "doc"},
    "other measures": {"measures": "MAP P@{1,3} AUROC", "keep": 3, "max_errors": 0},
    "other options": {"depth": 2, "rrf_k": 10, "boosts": True, "answers": True, "name": "mine"},
    "one speaker": {"mode": "patient", "tag": ["t"]},
    "other ids": {"chunk_separator": "#", "match": "doc", "timeout_s": 60},
    "files and live": {"mode": "cross-mode", "match": "doc", "seed": 5},
}  # fmt: skip

Ask = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def environ() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRON.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def home(environ: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace and a test set, made as people make them."""
    folder = tmp_path_factory.mktemp("parity")
    rows = [
        json.dumps({"_id": name, "text": text, "ingestion_mode": mode(name)})
        for name, text in DOCUMENTS.items()
    ]
    (folder / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (folder / "clinic.json").write_text(json.dumps(TEST_SET), encoding="utf-8")
    home = folder / "home"
    assert run(["--home", str(home), "ingest", str(folder / "corpus.jsonl")]) == 0
    return home


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with ServiceProcess(home, **ENVIRON) as process:
        yield process.address


def mode(name: str) -> str:
    return "LIVE" if name == "live" else "OFFLINE"


def request_of(home: Path, wanted: dict[str, Any]) -> EvaluationRequest:
    options = {name: value for name, value in wanted.items() if name in EVALUATION_NAMES}
    others = {name: value for name, value in wanted.items() if name not in options}
    return EvaluationRequest(
        test_sets=(str(home.parent / "clinic.json"),),
        options=options,
        use_cache=False,
        **request_fields(others),
    )


def flags(wanted: dict[str, Any]) -> list[str]:
    """The same as a command takes it: a flag for each option, under its name."""
    found: list[str] = []
    for name, value in wanted.items():
        flag = f"--{'measure' if name == 'measures' else name}".replace("_", "-")
        if isinstance(value, bool):
            found.append(flag if value else f"--no-{flag[2:]}")
        else:
            for item in value if isinstance(value, list) else [value]:
                found += [flag, str(item)]
    return found


@pytest.fixture
def ways(home: Path, address: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Ask]:
    """Every way to ask for an evaluation."""
    file = str(home.parent / "clinic.json")

    def python(wanted: dict[str, Any]) -> dict[str, Any]:
        with open_workspace(home) as workspace:
            made = workspace.carry_out(request_of(home, wanted))
        return made.to_dict(per_query=bool(wanted.get("per_query")))

    def client(wanted: dict[str, Any]) -> dict[str, Any]:
        with Client(address) as service:
            made = service.carry_out(request_of(home, wanted))
        return made.to_dict(per_query=bool(wanted.get("per_query")))

    def command(*where: str) -> Ask:
        def ask(wanted: dict[str, Any]) -> dict[str, Any]:
            capsys.readouterr()
            assert (
                run([*where, "eval", "run", "-t", file, "--no-cache", *flags(wanted), "--json"])
                == 0
            ), capsys.readouterr().err
            shown: dict[str, Any] = json.loads(capsys.readouterr().out)
            return shown

        return ask

    def post(wanted: dict[str, Any]) -> dict[str, Any]:
        params = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in {**wanted, "cache": False}.items()
        }
        answer = httpx.post(f"{address}/v1/evaluate", json=TEST_SET, params=params, timeout=60)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    return {
        "Python": python,
        "Python with a service": client,
        "command": command("--home", str(home)),
        "command with --server": command("--server", address),
        "HTTP": post,
    }


def values(shown: dict[str, Any]) -> dict[str, Any]:
    """What must be the same, whenever and under which id it was computed."""
    return {
        name: {mode: values(one) for mode, one in value.items()} if name == "modes" else value
        for name, value in shown.items()
        if name not in MOVING
    }


@pytest.mark.parametrize("name", REQUESTS)
def test_every_way_gives_the_same_values(ways: dict[str, Ask], name: str) -> None:
    found = {way: values(ask(REQUESTS[name])) for way, ask in ways.items()}
    first = found["Python"]
    assert found == dict.fromkeys(ways, first)


def test_the_values_are_those_that_were_asked_for(ways: dict[str, Ask]) -> None:
    configured = ways["HTTP"](REQUESTS["as configured"])
    assert configured["sampling"]["resamples"] == 123
    assert configured["sampling"]["level"] == 0.9
    assert {"auroc", "recall_at_10"} <= set(configured["metrics"])
    assert configured["skipped_queries"] == 1
    assert any("d2:chunk_7" in line for line in configured["warnings"])
    drawn = ways["command with --server"](REQUESTS["drawn otherwise"])
    assert drawn["sampling"]["resamples"] == 50
    assert drawn["metrics"]["recall_at_10"] > configured["metrics"]["recall_at_10"]
    assert set(drawn["per_query"]) == {"q1", "q2", "q3", "q4"}
    decided = ways["HTTP"](REQUESTS["every query"])
    assert "recall_at_10" not in decided["metrics"]
    assert decided["metrics"]["auroc"] is not None


def test_a_test_set_of_the_workspace_is_the_same_by_name(
    ways: dict[str, Ask], home: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = [one for one in QUERIES if one["query_id"] != "q7"]
    judged = {**TEST_SET, "name": "kept", "queries": queries}
    stored = httpx.post(f"{address}/v1/testsets", json=judged, timeout=60)
    assert stored.status_code in {200, 201}, stored.text
    shown = []
    for where in (["--home", str(home)], ["--server", address]):
        capsys.readouterr()
        assert run([*where, "eval", "run", "-t", "kept", "--no-cache", "--json"]) == 0
        shown.append(values(json.loads(capsys.readouterr().out)))
    answer = httpx.post(
        f"{address}/v1/evaluate?cache=false", json={"dataset_id": "kept"}, timeout=60
    )
    shown.append(values(answer.json()))
    assert shown[0] == shown[1] == shown[2]
    uploaded = ways["HTTP"]({})
    assert shown[0]["metrics"] == uploaded["metrics"]


@pytest.mark.req("E8")
def test_two_configurations_are_timed_in_turn_on_every_surface(
    home: Path, address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The times differ from one measurement to the next; how they are judged does not."""
    sides = ["boosts=on", "boosts=off"]
    asked = ["eval", "ab", *sides, "-t", str(home.parent / "clinic.json"), "--json"]
    for where in (["--home", str(home)], ["--server", address]):
        capsys.readouterr()
        assert run([*where, *asked]) == 0, capsys.readouterr().err
        shown = json.loads(capsys.readouterr().out)
        assert (shown["latency"]["measured_together"], shown["latency"]["repeats"]) == (True, 3)
        assert shown["latency"]["ci"] is not None
        assert shown["latency"]["verdict"] in ("slower", "faster", "inconclusive")
        assert "asked of both sides in turn, 3 times" in shown["verdict_text"]
    runs = {"a": shown["run_a"], "b": shown["run_b"]}
    body = {**runs, "latency_repeats": 2, "seed": 7}
    answer = httpx.post(f"{address}/v1/ab", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    timed = answer.json()
    assert timed["latency"]["repeats"] == 2
    assert set(timed["latency"]["pairs"]) == {f"q{n}" for n in range(1, 7)}
    # a gate times the configurations in the same way
    limits = ("latency_mean=100%", "latency_p95<60000ms")
    flags = [word for one in limits for word in ("--limit", one)]
    gated = ["eval", "gate", "--baseline", runs["a"], "--current", runs["b"], *flags]
    ruled = []
    for where in (["--home", str(home)], ["--server", address]):
        capsys.readouterr()
        run([*where, *gated, "--latency-repeats", "2", "--json"])
        ruled.append(json.loads(capsys.readouterr().out))
    asked_gate = {"baseline": runs["a"], "current": runs["b"], "limits": limits}
    sent = httpx.post(f"{address}/v1/gate", json={**asked_gate, "latency_repeats": 2}, timeout=60)
    assert sent.status_code == 200, sent.text
    for one in (*ruled, sent.json()):
        slower, ceiling = one["checks"]
        assert (slower["measure"], slower["ci"] is not None) == ("latency_mean", True)
        assert "not measured together" not in slower["explanation"]
        assert (ceiling["limit"], ceiling["outcome"]) == ("<60000ms", "passed")
    untimed = httpx.post(f"{address}/v1/gate", json=asked_gate, timeout=60).json()
    with Client(address) as service:
        held = GateRequest(baseline=runs["a"], current=runs["b"], limits=limits)
        assert gate(service, held).to_dict() == untimed
    page = httpx.get(f"{address}/gate", params={**asked_gate, "limits": " ".join(limits)})
    assert untimed["checks"][0]["explanation"] in html.unescape(page.text)
    # the same times again, through Python with a service
    pairs = decode(Timings, {"pairs": timed["latency"]["pairs"], "repeats": 2})
    monkeypatch.setattr(Client, "timings", lambda self, a, b, **options: pairs)
    with Client(address) as service:
        request = AbRequest(runs["a"], runs["b"], latency_repeats=2, statistics=Statistics(seed=7))
        assert comparison.ab(service, request).result.to_dict() == timed


def test_runs_are_not_timed_unless_that_is_asked_for(home: Path, address: str) -> None:
    with Client(address) as service:
        first, second = (
            service.carry_out(request_of(home, {"depth": depth})).runs[0].info.run_id
            for depth in (5, 6)
        )
        usual = comparison.ab(service, AbRequest(first, second)).result
        assert usual.latency.repeats is None
        assert "pairs" not in usual.latency.to_dict()
        timed = comparison.ab(service, AbRequest(first, second, latency_repeats=1)).result
        assert timed.latency.repeats == 1
        assert set(timed.latency.pairs) == {f"q{n}" for n in range(1, 7)}


def test_the_clock_is_set_the_same_way_on_every_surface(
    home: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is asked for is stored alike; the id, the owner and the moment are of each entry."""
    wanted: dict[str, Any] = {
        "rrf_k": 10, "boosts": True, "answers": True, "tag": ["t"], "name": "mine", "seed": 3,
        "measures": "MAP P@{1,3}", "part": "all",
    }  # fmt: skip
    near, far = ["--home", str(home)], ["--server", address]

    def said(*words: str) -> Any:
        capsys.readouterr()
        assert run([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    def asked(entry: dict[str, Any]) -> dict[str, Any]:
        return {name: entry[name] for name in ("when", "test_set", "request")}

    request = replace(request_of(home, wanted), test_sets=("clock",), use_cache=True)
    add = ["schedule", "add", "0 3 * * 1", "-t", "clock", *flags(wanted)]
    with open_workspace(home) as workspace, Client(address) as client:
        client.call(
            "POST", "/v1/testsets", json={**TEST_SET, "name": "clock", "queries": QUERIES[:3]}
        )
        one = encode(workspace.schedule("0  3 * * 1", request))
        assert (one["when"], one["test_set"]) == ("0 3 * * 1", "clock")
        others = [
            encode(client.schedule("0 3 * * 1", request)),
            said(*near, *add),
            said(*far, *add),
        ]
        assert [asked(other) for other in others] == [asked(one)] * 3
        every = encode(workspace.schedules())
        assert len(every["own"]) == 4
        assert encode(client.schedules()) == every
        assert said(*near, "schedule", "list") == said(*far, "schedule", "list") == every
        for way, other in zip((near, far), others, strict=False):
            words = ["schedule", "add", "5 * * * *", "-t", "clock", "--instead-of"]
            changed = said(*way, *words, other["entry_id"])
            assert (changed["entry_id"], changed["when"]) == (other["entry_id"], "5 * * * *")
        assert (
            encode(client.schedule("5 * * * *", request, entry_id=one["entry_id"]))["request"]
            == (one["request"])
        )
        names = [entry["entry_id"] for entry in every["own"]]
        workspace.unschedule(names[0])
        client.unschedule(names[1])
        assert said(*near, "schedule", "remove", names[2])["entry_id"] == names[2]
        assert said(*far, "schedule", "remove", names[3])["entry_id"] == names[3]
        assert encode(client.schedules())["own"] == []
    for way in (near, far):
        assert run([*way, "schedule", "remove", names[0]]) == 2
        assert "may have been removed" in capsys.readouterr().err
        assert run([*way, "schedule", "add", "0 3 * *", "-t", "clock"]) == 2
        assert "minute hour day month weekday" in capsys.readouterr().err
        assert run([*way, "schedule", "add", "0 3 * * *", "-t", "no_such_set"]) == 2
        assert "no_such_set" in capsys.readouterr().err
