"""Do documents, the index, models, backups and scores read the same from every surface?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import polars
import pytest

import assay
from assay.app import models, scoring
from assay.app.backup import restore
from assay.app.interface import Assay
from assay.app.keys import create_key, list_keys, revoke_key
from assay.app.layout import Layout
from assay.app.statistics import STATISTICS_OPTIONS, Statistics
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.client import Client
from assay.model.codec import encode
from assay.model.sampling import Sampling
from assay.settings import Settings, configure
from tests.unit.http.process import ServiceProcess

ENVIRON = {
    "ASSAY_DENSE_MODEL": "none",
    "ASSAY_SPLADE_MODEL": "none",
    "ASSAY_MEASURES": "P@2 RR@10",
    "ASSAY_RESAMPLES": "120",
    "ASSAY_CONFIDENCE": "0.9",
    "ASSAY_ALPHA": "0.1",
}
TABLE = '<table><tr><th onclick="x()">Drug</th><td>aspirin</td></tr></table>'
SECTION = {
    "start": 0, "end": 31, "label": "results", "is_table": True, "table_html": TABLE,
}  # fmt: skip
ROWS = [
    {"doc_id": f"d{number:02}", "title": f"Note {number}", "text": f"aspirin note {number}"}
    for number in range(30)
]
MOVING = ("generation", "home", "created_at", "file", "bytes", "files", "seconds", "folder")
Shown = Callable[..., Any]


@pytest.fixture(scope="module")
def environ() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRON.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def settings(environ: None, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A workspace that the verbs themselves made."""
    folder = tmp_path_factory.mktemp("parity")
    found = configure({"home": folder / "home"})
    with Workspace(found) as workspace:
        workspace.add(ROWS)
        workspace.add(
            [
                {
                    "doc_id": "table",
                    "text": "Doses of aspirin. Drug: aspirin",
                    "sections": [SECTION],
                }
            ]
        )
    layout = Layout(found.home)
    layout.configurations.mkdir()
    layout.configuration("mine").write_text("rrf_k: 10\n", encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def address(settings: Settings) -> Iterator[str]:
    with ServiceProcess(settings.home, **ENVIRON) as process:
        yield process.address


@pytest.fixture
def here(settings: Settings) -> Iterator[Assay]:
    with Workspace(settings) as workspace:
        yield workspace


@pytest.fixture
def there(address: str) -> Iterator[Assay]:
    with Client(address) as client:
        yield client


@pytest.fixture
def near(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Shown:
    """The JSON of a command beside the workspace."""
    return lambda *arguments: said(capsys, "--home", str(settings.home), *arguments)


@pytest.fixture
def far(address: str, capsys: pytest.CaptureFixture[str]) -> Shown:
    """The JSON of a command with the service."""
    return lambda *arguments: said(capsys, "--server", address, *arguments)


@pytest.fixture
def http(address: str) -> Iterator[Shown]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield lambda method, path, **more: client.request(method, path, **more).json()


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code = run([*arguments, "--json"])
    shown = capsys.readouterr()
    return json.loads(shown.out if code in (0, 4) else shown.err)


def settled(body: Any) -> Any:
    """Without what differs from call to call."""
    return {name: value for name, value in body.items() if name not in MOVING}


def test_a_page_of_documents(
    here: Assay, there: Assay, near: Shown, far: Shown, http: Shown
) -> None:
    wanted = encode(here.documents(limit=3, offset=7))
    assert [row["doc_id"] for row in wanted["documents"]] == ["d07", "d08", "d09"]
    assert encode(there.documents(limit=3, offset=7)) == wanted
    page = ("corpus", "list", "--limit", "3", "--offset", "7")
    assert near(*page) == far(*page) == wanted
    assert http("GET", "/v1/documents", params={"limit": 3, "offset": 7}) == wanted


def test_documents_by_title(
    here: Assay, there: Assay, near: Shown, far: Shown, http: Shown
) -> None:
    wanted = encode(here.documents(text="note 12"))
    assert wanted["total"] == 1
    assert [row["doc_id"] for row in wanted["documents"]] == ["d12"]
    assert encode(there.documents(text="note 12")) == wanted
    chosen = ("corpus", "list", "--text", "note 12")
    assert near(*chosen) == far(*chosen) == wanted
    assert http("GET", "/v1/documents", params={"text": "note 12"}) == wanted
    assert here.documents(text="%").total == 0


def test_uses_of_a_document(
    here: Assay, there: Assay, near: Shown, far: Shown, http: Shown
) -> None:
    wanted = encode(here.document_uses("d03"))
    assert wanted["all_runs"] == wanted["judged_count"] == 0
    assert encode(there.document_uses("d03")) == wanted
    assert near("corpus", "uses", "d03") == far("corpus", "uses", "d03") == wanted
    assert http("GET", "/v1/documents/d03/uses") == wanted
    assert here.labels(["d03"]) == there.labels(["d03"])


@pytest.mark.parametrize("doc_id", ["d03", "table"])
def test_a_document(
    here: Assay, there: Assay, near: Shown, far: Shown, http: Shown, doc_id: str
) -> None:
    wanted = here.document(doc_id)
    assert there.document(doc_id) == wanted
    shown = ("corpus", "show", doc_id)
    assert near(*shown) == far(*shown) == encode(wanted)
    assert http("GET", f"/v1/documents/{doc_id}") == encode(wanted)


def test_documents_come_in_and_go(
    here: Assay, there: Assay, near: Shown, far: Shown, http: Shown
) -> None:
    new = [{"doc_id": "new", "text": "zolmitriptan"}, {"doc_id": "other", "text": "sumatriptan"}]
    added = settled(encode(here.add(new, profile="text")))
    assert added["added"] == 2
    deleted = settled(encode(here.delete(["new", "other"])))
    assert (deleted["deleted"], deleted["chunks"]) == (2, 2)
    assert settled(encode(there.add(new, profile="text"))) == added
    assert settled(encode(there.delete(["new", "other", "new"]))) == deleted
    frame = polars.DataFrame([{"nr": row["doc_id"], "note": row["text"]} for row in new])
    for way in (here, there):
        assert settled(encode(way.add(iter(new), profile="text"))) == added
        assert settled(encode(way.delete(["new", "other"]))) == deleted
        assert settled(encode(way.add_frame(frame, text="note", id="nr", profile="text"))) == added
        assert settled(encode(way.delete("new")))["deleted"] == 1
        assert settled(encode(way.delete("other")))["deleted"] == 1
    body = {"documents": new, "profile": "text"}
    assert settled(http("POST", "/v1/documents", json=body)) == added
    ids = {"doc_ids": ["new", "other"]}
    assert settled(http("POST", "/v1/documents/delete", json=ids)) == deleted
    for command in (near, far):
        here.add(new, profile="text")
        assert settled(command("corpus", "delete", "new", "other")) == deleted


def test_a_file_is_read_as_a_request_is(settings: Settings, tmp_path: Path, near: Shown) -> None:
    file = tmp_path / "notes.jsonl"
    rows = [{"doc_id": "n1", "text": "rizatriptan"}, {"doc_id": "n2", "text": " "}]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    with Workspace(settings) as workspace:
        options = {"format": "jsonl", "profile": "text", "skip_empty": True, "index": False}
        wanted = encode(workspace.ingest(file, **options))
        workspace.delete(["n1"])
    flags = ("--format", "jsonl", "--profile", "text", "--skip-empty", "--no-index")
    assert settled(near("ingest", str(file), *flags)) == settled(wanted)
    assert (wanted["added"], wanted["generation"]) == (1, None)
    assert settled(near("corpus", "delete", "n1"))["deleted"] == 1


def test_broken_documents_are_passed_over_on_request(
    here: Assay, there: Assay, http: Shown, near: Shown, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [
        {"doc_id": "k1", "text": "rizatriptan"},
        {"doc_id": "k0", "text": " "},
        {"doc_id": "k2", "text": 5},
    ]
    problems = [
        "document 2: the document k0 has no text "
        "(add text, remove it, or pass it over with keep_going)",
        "document 3: text is int, but text is expected",
    ]
    for way in (here, there):
        with pytest.raises(assay.AssayError, match="k0 has no text"):
            way.add(rows)
        made = encode(way.add(rows, keep_going=True))
        assert (made["added"] + made["unchanged"], made["failed"]) == (1, 2)
        assert made["problems"] == problems
    refused = http("POST", "/v1/documents", json={"documents": rows})
    assert refused["status"] == 422
    told = http("POST", "/v1/documents", json={"documents": rows, "keep_going": True})
    assert (told["unchanged"], told["failed"], told["problems"]) == (1, 2, problems)
    with pytest.raises(assay.AssayError) as caught:
        here.add([{"doc_id": "k3", "text": " "}])
    assert str(caught.value) == (
        "document 1: the document k3 has no text "
        "(add text, remove it, or pass it over with keep_going)"
    )
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    shown = near("ingest", str(file), "--keep-going")
    assert (shown["unchanged"], shown["failed"]) == (1, 2)
    assert [text.partition(" (")[0] for text in shown["problems"]] == [
        f"{file}:2: the document k0 has no text",
        f"{file}:3: text is int, but text is expected",
    ]
    here.delete(["k1"])


def test_an_unknown_document_is_refused_and_nothing_is_deleted(
    here: Assay, there: Assay, near: Shown, far: Shown, http: Shown
) -> None:
    message = "there is no document 'nowhere'"
    before = here.documents().total
    for way in (here, there):
        with pytest.raises(assay.AssayError, match=message):
            way.document("nowhere")
        with pytest.raises(assay.AssayError, match=message):
            way.delete(["d01", "nowhere"])
    for command in (near, far):
        for arguments in (("show", "nowhere"), ("delete", "d01", "nowhere")):
            assert message in command("corpus", *arguments)["error"]["message"]
    asked = {"doc_ids": ["d01", "nowhere"]}
    for problem in (
        http("GET", "/v1/documents/nowhere"),
        http("DELETE", "/v1/documents/nowhere"),
        http("POST", "/v1/documents/delete", json=asked),
    ):
        assert (problem["status"], problem["detail"]) == (404, message)
    assert here.documents().total == before


def test_the_index(here: Assay, there: Assay, near: Shown, far: Shown, http: Shown) -> None:
    wanted = encode(here.write_index("compact"))
    assert wanted["segments"] == 1
    assert settled(encode(there.write_index("compact"))) == settled(wanted)
    assert settled(near("index", "compact")) == settled(far("index", "compact")) == settled(wanted)
    body = http("POST", "/v1/index", json={"action": "compact"})
    assert settled(body) == settled(wanted)
    moved = encode(here.write_index("reencode"))  # it has these models already
    assert moved == encode(there.write_index("reencode")) == body
    assert near("index", "reencode") == far("index", "reencode") == moved
    assert http("POST", "/v1/index", json={"action": "reencode"}) == moved
    card = {name: value for name, value in here.index_card().items() if name != "home"}
    assert card["generation"] == body["generation"]
    assert there.index_card() == far("index", "info") == http("GET", "/v1/index") == card
    assert near("index", "info") == here.index_card()
    sound = {"sound": True, "problems": []}
    assert here.check_index() == there.check_index() == []
    assert near("index", "check") == far("index", "check") == sound
    assert http("GET", "/v1/index/check") == sound


def test_models(
    settings: Settings,
    here: Assay,
    there: Assay,
    near: Shown,
    far: Shown,
    http: Shown,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [settled(encode(row)) for row in models.list_models(settings)]
    for found in (
        encode(here.models()),
        encode(there.models()),
        near("models", "list")["models"],
        far("models", "list")["models"],
        http("GET", "/v1/models")["models"],
    ):
        assert [settled(row) for row in found] == rows
    checked = [encode(row) for row in models.check_models(settings, ["splade-tiny"])]
    run(["models", "check", "splade-tiny", "--json"])
    assert json.loads(capsys.readouterr().out)["models"] == checked


def test_keys(settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout = Layout(tmp_path)
    one = create_key(layout, "ci", ["evaluate", "read"], days=3)
    at = ("--home", str(tmp_path), "keys")
    other = said(
        capsys, *at, "create", "ci", "--scope", "read", "--scope", "evaluate", "--days", "3"
    )
    ours = encode(one)
    assert other.keys() == ours.keys()
    for name in ("name", "scopes", "state", "revoked_at"):
        assert other[name] == ours[name]
    assert said(capsys, *at, "list")["keys"] == encode(list_keys(layout))
    revoked = said(capsys, *at, "revoke", other["key_id"])
    assert revoked == encode(revoke_key(layout, other["key_id"]))
    admin = create_key(layout, "chief", ["admin"])
    with (
        ServiceProcess(tmp_path, **ENVIRON) as process,
        Client(process.address, key=admin.key) as client,
    ):
        third = client.call("POST", "/v1/keys", json={"name": "ci", "scopes": ["read"], "days": 3})
        assert third.keys() == ours.keys()
        assert client.call("GET", "/v1/keys")["keys"] == encode(list_keys(layout))
        me = client.call("GET", "/v1/whoami")
        assert (me["name"], me["scopes"]) == ("chief", ["admin"])
        gone = client.call("DELETE", f"/v1/keys/{third['key_id']}")
        assert gone == encode(revoke_key(layout, third["key_id"]))


def test_a_backup(
    settings: Settings, here: Assay, there: Assay, near: Shown, far: Shown, tmp_path: Path
) -> None:
    wanted = settled(encode(here.backup(tmp_path / "a", vectors=True)))
    assert wanted["holds"]["configs"] == 1
    assert wanted["on_server"] == []
    assert settled(encode(there.backup(tmp_path / "b", vectors=True))) == wanted
    assert settled(near("backup", str(tmp_path / "c"), "--vectors")) == wanted
    assert settled(far("backup", str(tmp_path / "d"), "--vectors")) == wanted
    homes = {name: configure({"home": tmp_path / f"home-{name}"}) for name in "abcd"}
    restored = [
        settled(encode(restore(homes[name], tmp_path / name, index=False))) for name in "abcd"
    ]
    assert all(one == restored[0] for one in restored)
    assert restored[0]["documents"] == here.documents().total
    assert (homes["b"].home / "configs" / "mine.yaml").read_text() == "rrf_k: 10\n"


QRELS = {"q1": {"a": 3, "b": 2}, "q2": {"c": 1}, "q3": {"d": 1}, "q4": {"e": 2, "f": 1}}
RUNS: dict[str, dict[str, dict[str, float]]] = {
    "one": {"q1": {"a": 3.0, "z": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q4": {"x": 2.0, "e": 1.0}},
    "two": {"q1": {"z": 3.0}, "q2": {"y": 2.0, "c": 1.0}, "q3": {"d": 1.0}, "q4": {"f": 1.0}},
}
GROUPS = {"q1": "hard", "q2": "easy", "q3": "easy", "q4": "hard"}
SAMPLING = {"confidence": 0.8, "resamples": 60, "seed": 7, "ci_method": "percentile"}
SCORING: dict[str, dict[str, Any]] = {
    "as configured": {},
    "drawn otherwise": {**SAMPLING, "alpha": 0.2, "margin": 0.3, "clusters": GROUPS},
    "cut and grouped": {
        "measures": ["nDCG@2", "MAP"], "depth": 1, "undefined": "zero", "by": GROUPS,
        "score_dtype": "float32", "protocol": "positives_only", "per_query": True, "ci": True,
    },
    "documents": {"match": "doc", "chunk_separator": "#", "measures": ["P@1"]},
}  # fmt: skip


@pytest.mark.parametrize("request_", SCORING.values(), ids=list(SCORING))
@pytest.mark.parametrize("count", [1, 2])
def test_scores(
    settings: Settings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    http: Shown,
    request_: dict[str, Any],
    count: int,
) -> None:
    from assay.render.scores import scores_json

    runs = dict(list(RUNS.items())[:count])
    drawn = {name: value for name, value in request_.items() if name in STATISTICS_OPTIONS}
    shown = {name: bool(request_.get(name)) for name in ("ci", "per_query")}
    rest = {name: request_[name] for name in request_ if name not in drawn and name not in shown}
    asked = scoring.ScoreRequest(qrels=QRELS, runs=runs, statistics=Statistics(**drawn), **rest)
    scored = scoring.score_runs(settings, asked)
    wanted = scores_json(
        scored.runs,
        scored.comparison,
        ci=shown["ci"],
        per_query=shown["per_query"],
        groups=scored.groups,
    )
    body = http("POST", "/v1/score", json={"qrels": QRELS, "runs": runs, **request_})
    assert body.pop("failed") == []
    assert (body["runs"][0] if count == 1 else body) == wanted
    assert said(capsys, "score", *files(tmp_path, runs), *flags(tmp_path, request_)) == wanted
    together = scoring.score_runs(settings, replace(asked, compare=False))
    board = scores_json(
        together.runs, None, groups=together.groups, failed=together.failed, **shown
    )
    sent = {"qrels": QRELS, "runs": runs, "compare": False, **request_}
    assert http("POST", "/v1/score", json=sent) == {**board, "comparison": None}
    places = [place for place in files(tmp_path, runs) if not place.startswith("--")]
    assert said(capsys, "score", *places, *flags(tmp_path, request_)) == board
    assert board["runs"] == (wanted["runs"] if count > 1 else [wanted])
    alone = assay.score(
        QRELS,
        runs["one"],
        rest.get("measures") or ENVIRON["ASSAY_MEASURES"],
        sampling=Sampling("percentile", 0.8, 60, 7) if drawn else Sampling("bca", 0.9, 120, 42),
        **{name: rest[name] for name in rest if name not in ("measures", "by", "alpha", "margin")},
    )
    assert alone.to_dict()["metrics"] == scored.runs[0].to_dict()["metrics"]


def files(folder: Path, runs: dict[str, Any]) -> list[str]:
    """Judgments and runs as JSON files."""
    (folder / "qrels.json").write_text(json.dumps(QRELS), encoding="utf-8")
    found = ["--qrels", str(folder / "qrels.json")]
    for name, run_ in runs.items():
        (folder / name).write_text(json.dumps(run_), encoding="utf-8")
        found += ["--run", str(folder / name)]
    return found


def flags(folder: Path, wanted: dict[str, Any]) -> list[str]:
    """A request as a command takes it."""
    names = {"clusters": "cluster", "measures": "measure"}
    found: list[str] = []
    for name, value in wanted.items():
        flag = f"--{names.get(name, name).replace('_', '-')}"
        if isinstance(value, dict):
            (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
            found += [flag, str(folder / f"{name}.json")]
        elif isinstance(value, bool):
            found.append(flag)
        else:
            for item in value if isinstance(value, list) else [value]:
                found += [flag, str(item)]
    return found


@pytest.mark.parametrize(
    "more", [{}, {"measures": ["AUROC", "PPV(t=0.3)"], **SAMPLING}], ids=["as configured", "drawn"]
)
def test_decisions(
    settings: Settings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    http: Shown,
    monkeypatch: pytest.MonkeyPatch,
    more: dict[str, Any],
) -> None:
    labels, points = [1, 0, 1, 0, 1, 0, 1], [0.9, 0.2, 0.6, 0.7, 0.8, 0.1, 0.4]
    clusters = ["a", "a", "b", "b", "c", "c", "c"]
    drawn = {name: value for name, value in more.items() if name in SAMPLING}
    wanted = scoring.classify_rows(
        settings,
        labels,
        points,
        more.get("measures"),
        clusters=clusters,
        statistics=Statistics(**drawn),
    ).to_dict()
    body = {"labels": labels, "scores": points, "clusters": clusters, **more}
    assert http("POST", "/v1/classify", json=body) == wanted
    file = tmp_path / "labels.csv"
    rows = [f"{a},{b},{c}" for a, b, c in zip(labels, points, clusters, strict=True)]
    file.write_text("\n".join(["label,score,post", *rows]), encoding="utf-8")
    if "ci_method" in more:
        monkeypatch.setenv("ASSAY_CI_METHOD", more["ci_method"])
    options = flags(tmp_path, {name: more[name] for name in more if name != "ci_method"})
    assert said(capsys, "classify", str(file), "--cluster", "post", *options) == wanted
