"""The command search: what people read, what programs read, and how it ends."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.errors import EngineError
from tests.unit.search.corpus import filled

WORDS_ONLY = ("--components", "bm25")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A workspace; the command finds no model in it, since it asks for none."""
    folder = tmp_path_factory.mktemp("cli") / "home"
    with filled(folder):
        pass
    return str(folder)


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path))
    monkeypatch.setenv("ASSAY_COMPONENT_TIMEOUT_MS", "20000")  # the machine may be busy
    monkeypatch.chdir(tmp_path)


def test_a_person_reads_what_was_found_by_whom_and_why(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--home", home, "search", "asthma adverse events", *WORDS_ONLY, "-k", "3"]) == 0
    shown = capsys.readouterr().out
    assert "3 of 10 candidates · bm25 · one component" in shown
    assert 'asks for tables: lifted ×2.8 ("adverse events")' in shown
    assert "Report on asthma attack" in shown
    assert "bm25 1" in shown
    assert len(shown.splitlines()) < 25


def test_what_lifted_nothing_does_not_read_as_if_it_had(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    search = ["--home", home, "search", "asthma adverse events", *WORDS_ONLY, "-k", "1"]
    assert run([*search, "--is-table"]) == 0
    shown = capsys.readouterr().out
    assert 'asks for tables: lifted ×2.8 ("adverse events")' in shown
    assert "asks for adverse events: lifted nothing of what is shown" in shown
    assert "tabular" not in shown


def test_explain_accounts_for_every_score(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["search", "heart failure results", *WORDS_ONLY, "-k", "1", "--explain"]
    assert run(["--home", home, *arguments]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "fused 0.0164 = bm25 0.0164 (rank 1, its score" in shown
    assert "boost results ×" in shown


def test_json_has_the_fields_of_the_api(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--home", home, "search", "asthma", *WORDS_ONLY, "--json", "-k", "2"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert set(body) >= {
        "results",
        "fusion_metadata",
        "components_used",
        "component_errors",
        "degraded",
        "timings_ms",
        "generation",
    }
    assert set(body["results"][0]) >= {
        "doc_id",
        "chunk_id",
        "score",
        "component_scores",
        "ranks",
        "normalized",
        "contributions",
        "boosts",
        "text",
        "spans",
    }
    assert body["fusion_metadata"]["method"] == "rrf"
    assert body["components_used"] == ["bm25"]


def test_a_missing_model_is_loud_and_ends_with_4(
    home: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DENSE_MODEL", "bge-small-en-v1.5")
    monkeypatch.setenv("ASSAY_SPLADE_MODEL", "splade-tiny")
    assert run(["--home", home, "search", "asthma"]) == 4
    captured = capsys.readouterr()
    assert "DEGRADED: splade_unavailable, dense_unavailable" in captured.err
    assert "assay models pull" in captured.err
    assert "Report on asthma attack" in captured.out


def test_why(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--home", home, "search", "asthma", *WORDS_ONLY, "--why"]
    assert run([*arguments, "nothing-of-the-kind"]) == 0
    assert "not in index" in capsys.readouterr().out
    assert run([*arguments, "doc0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] in ("in_results", "not_found")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-k", "0"], "k:"),
        (["-k", "1000000000"], "k:"),
        (["--components", "xyz"], "components"),
        (["--fusion-method", "RRF2"], "fusion_method: must be rrf or weighted"),
        (["--weights", "bm25"], "weights"),
        (["--weights", "bm25=0", *WORDS_ONLY], "weights"),
        (["--rrf-k", "0"], "rrf_k"),
        (["--query-intent", "poetry", *WORDS_ONLY], "query_intent"),
        (["--speaker", "ALIEN"], "speaker: must be PATIENT"),
        (["--ingestion-mode", "never"], "ingestion_mode"),
        (["--query-type", "sonnet"], "query_type"),
        (["--synonyms", "no-such-file"], "no-such-file"),
    ],
)
def test_what_cannot_be_ends_with_2_and_names_it(
    home: str, capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    assert run(["--home", home, "search", "asthma", *arguments]) == 2
    assert named in capsys.readouterr().err


def test_without_a_workspace_it_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--home", str(tmp_path / "none"), "search", "asthma"]) == 2
    assert "assay ingest" in capsys.readouterr().err


def test_filters_and_pages(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["--home", home, "search", "report", *WORDS_ONLY, "--json"]

    def results(*more: str) -> list[dict[str, object]]:
        assert run([*base, *more]) == 0
        found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["results"]
        return found

    assert {row["section_label"] for row in results("--section", "methods")} == {"methods"}
    assert {row["is_table"] for row in results("--is-table")} == {True}
    assert {row["is_table"] for row in results("--no-is-table")} == {False}
    assert {row["doc_id"] for row in results("--doc-id", "doc1", "--doc-id", "doc2")} == {
        "doc1",
        "doc2",
    }
    assert {row["speaker_role"] for row in results("--speaker", "PATIENT")} == {"PATIENT"}
    assert {row["source"] for row in results("--source", "label")} == {"label"}
    assert {row["ingestion_mode"] for row in results("--ingestion-mode", "LIVE")} == {"LIVE"}
    whole = [row["chunk_id"] for row in results("-k", "6")]
    assert [row["chunk_id"] for row in results("-k", "3", "--offset", "3")] == whole[3:]


def test_a_section_that_no_document_has_is_answered_with_the_known_ones(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    search = ["--home", home, "search", "asthma", *WORDS_ONLY]
    assert run([*search, "--section", "foo"]) == 0
    err = capsys.readouterr().err
    assert "no document has a section 'foo'; known: " in err
    assert "results" in err
    assert run([*search, "--section", "results"]) == 0
    assert "known: " not in capsys.readouterr().err


def test_filters_that_leave_nothing_say_what_there_is(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    search = ["--home", home, "search", "asthma", *WORDS_ONLY]
    assert run([*search, "--filter", "year=1066"]) == 0
    assert "no document has year=1066; year is " in capsys.readouterr().out
    assert run([*search, "--filter", "yaer=2020"]) == 2
    assert "no document has 'yaer'" in capsys.readouterr().err


def test_groups_and_facets_stand_in_the_text(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    search = ["--home", home, "search", "report", *WORDS_ONLY, "--facets", "phase,source"]
    assert run([*search, "--group-by", "document"]) == 0
    out = capsys.readouterr().out
    assert "phase: PHASE2 (" in out
    assert "source: " in out
    assert "folded under others" in out
    assert "more passage" in out


def test_documents_are_listed_in_pages(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--home", home, "corpus", "list", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["total"] == len(whole["documents"])
    assert [one["doc_id"] for one in whole["documents"]] == sorted(
        one["doc_id"] for one in whole["documents"]
    )
    assert run(["--home", home, "corpus", "list", "--limit", "1", "--offset", "1"]) == 0
    out, err = capsys.readouterr()
    second = whole["documents"][1]
    assert [line.split(maxsplit=2) for line in out.splitlines()] == [
        ["id", "chunks", "title"],
        [second["doc_id"], str(second["chunks"]), second["title"]],
    ]
    assert f"1 of {whole['total']} documents" in err
    assert run(["--home", home, "corpus", "show", "nobody"]) == 2
    assert "assay corpus list" in capsys.readouterr().err


def test_documents_that_are_not_indexed_yet_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_DENSE_MODEL", "none")
    monkeypatch.setenv("ASSAY_SPLADE_MODEL", "none")
    for name in ("a", "b"):
        row = {"doc_id": name, "title": name, "text": "aspirin lowers fever"}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert run(["--home", "w", "ingest", "a.jsonl"]) == 0
    assert run(["--home", "w", "search", "aspirin"]) == 0
    assert "not indexed" not in capsys.readouterr().err
    assert run(["--home", "w", "ingest", "b.jsonl", "--no-index"]) == 0
    capsys.readouterr()
    for command in (["search", "aspirin"], ["answer", "does aspirin lower fever?"]):
        assert run(["--home", "w", *command]) == 0
        told = capsys.readouterr().err
        assert "note: 1 document change is not indexed yet (assay index update)" in told

    def unreachable(_: Workspace) -> int:
        raise EngineError("no node answers")

    monkeypatch.setattr(Workspace, "changes_behind", unreachable)
    assert run(["--home", "w", "search", "aspirin"]) == 0
    assert "aspirin" in capsys.readouterr().out


OWN = """
from assay import Hit

class Newest:
    name = "newest"

    def __init__(self, chunks):
        self.rows = sorted(chunks, key=lambda row: -row.key)

    def search(self, query, k, filters=None):
        return [Hit(row.key, row.chunk.chunk_id, float(row.key)) for row in self.rows[:k]]

class Confused(Newest):
    def search(self, query, k, filters=None):
        return super().search(query, k)[::-1]
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A component in the working folder, as settings name it."""
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "assay.yaml"))
    (tmp_path / "newest_first.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "assay.yaml").write_text(
        "own_components:\n  newest: newest_first:Newest\n  confused: newest_first:Confused\n"
        "components: [bm25, newest]\n"
        "type_weights: {exact_term: {bm25: 1, newest: 3, confused: 1}}\n",
        encoding="utf-8",
    )
    paths = list(sys.path)
    yield
    sys.path[:] = paths
    sys.modules.pop("newest_first", None)


@pytest.mark.usefixtures("own")
def test_a_component_of_the_working_folder(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--home", home, "search", "asthma attack", "-k", "2", "--explain"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "bm25 + newest · rrf k=60 bm25=0.50 newest=1.50 for exact term" in shown
    assert re.search(
        r"fused 0\.0\d+ = bm25 0\.0\d+ .* \+ newest 0\.0\d+ \(rank \d, its score", shown
    )
    assert run(["--home", home, "search", "asthma attack", "--components", "bm25,confused"]) == 4
    degraded = capsys.readouterr()
    assert "DEGRADED: confused_error (left out of this answer)" in degraded.out + degraded.err
    assert run(["--home", home, "search", "asthma attack", "--components", "bm25,other"]) == 2
    refused = capsys.readouterr().err
    assert "components: there is no component 'other'" in refused
    assert "known: bm25, splade, dense, confused, newest" in refused
