"""The commands ingest and corpus: what is read, what is told, and what is deleted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.app import corpus, index
from assay.cli.main import run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path))
    monkeypatch.setenv("ASSAY_DENSE_MODEL", "none")
    monkeypatch.setenv("ASSAY_SPLADE_MODEL", "none")
    monkeypatch.chdir(tmp_path)


def written(rows: list[dict[str, str]]) -> str:
    Path("docs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return "docs.jsonl"


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_documents_without_text_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    path = written([{"id": "a", "text": "words"}, {"id": "b", "text": " "}])
    code, _, problem = said(capsys, "ingest", path)
    assert code == 2
    assert "docs.jsonl:2: the document b has no text" in problem
    assert "--skip-empty" in problem
    code, shown, notes = said(capsys, "ingest", path, "--skip-empty")
    assert (code, shown) == (0, "1 added, 0 replaced, 0 unchanged; 1 chunk written\n")
    assert "the document b has no text: skipped" in notes


def test_what_was_stored_before_an_error_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "BATCH_DOCUMENTS", 2)
    path = written([{"id": f"d{n}", "text": f"words {n}"} for n in range(5)] + [{"id": "x"}])
    code, _, problem = said(capsys, "ingest", path)
    assert code == 2
    assert "note: stopped with 4 documents stored and not indexed" in problem
    assert "docs.jsonl:6: the document x has no text" in problem


def test_an_interruption_while_indexing_tells_what_is_stored(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(index, "updated", interrupted)
    code, _, problem = said(capsys, "ingest", written([{"id": "a", "text": "words"}]))
    assert code == 130
    assert "note: stopped with 1 document stored and not indexed" in problem


def test_show_hides_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    path = written([{"id": "a", "title": "\x1b[31mred", "text": "a \x1b]0;title\x07 b"}])
    assert said(capsys, "ingest", path)[0] == 0
    code, shown, _ = said(capsys, "corpus", "show", "a")
    assert code == 0
    assert "\x1b" not in shown
    assert "\\x1b[31mred" in shown


def test_an_unknown_id_deletes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "ingest", written([{"id": "a", "text": "words"}]))[0] == 0
    code, shown, problem = said(capsys, "corpus", "delete", "a", "b")
    assert (code, shown) == (2, "")
    assert "there is no document 'b'" in problem
    assert said(capsys, "corpus", "delete", "a")[1] == "1 document deleted, 1 chunk\n"


def test_one_broken_file_does_not_stop_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path("mixed")
    folder.mkdir()
    (folder / "a.jsonl").write_text(
        '{"doc_id": "a1", "text": "words"}\n{"doc_id": broken\n{"doc_id": "a2", "text": "more"}\n'
    )
    (folder / "b.nxml").write_text("<article><body><p>cut short")
    (folder / "c.nxml").write_text("<article><body><p>whole</p></body></article>")
    (folder / "d.json").write_text("neither this nor that")
    (folder / "e.jsonl.gz").write_bytes(b"\x1f\x8bdamaged")
    (folder / "f.txt").write_text("A plain text beside them.")
    code, shown, problem = said(capsys, "ingest", str(folder))
    assert (code, shown) == (2, "")
    code, shown, problem = said(capsys, "ingest", "--keep-going", str(folder))
    assert code == 4
    assert shown == "4 added, 0 replaced, 0 unchanged; 4 chunks written; 4 failed\n"
    for place in ("a.jsonl:2: not JSON", "b.nxml:1: not XML", "d.json: not", "e.jsonl.gz: the"):
        assert f"failed: mixed/{place}" in problem
    code, shown, _ = said(capsys, "ingest", "--keep-going", "--json", str(folder))
    assert code == 4
    told = json.loads(shown)
    assert (told["unchanged"], told["failed"], len(told["problems"])) == (4, 4, 4)


def test_nothing_broken_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    path = written([{"id": "a", "text": "words"}])
    code, shown, _ = said(capsys, "ingest", "--keep-going", path)
    assert (code, shown) == (0, "1 added, 0 replaced, 0 unchanged; 1 chunk written\n")


def test_a_document_that_the_store_refuses_does_not_stop_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def chunk(chunk_id: str, doc_id: str) -> dict[str, str]:
        return {"chunk_id": chunk_id, "doc_id": doc_id, "text": f"words of {doc_id}"}

    assert said(capsys, "ingest", written([chunk("c1", "a")]))[0] == 0
    path = written([chunk("c1", "b"), chunk("c2", "c")])
    code, shown, problem = said(capsys, "ingest", path)
    assert (code, shown) == (2, "")
    code, shown, problem = said(capsys, "ingest", "--keep-going", path)
    assert (code, shown) == (4, "1 added, 0 replaced, 0 unchanged; 1 chunk written; 1 failed\n")
    assert "failed: the document b: the chunk c1 belongs to the document a" in problem


def test_an_update_of_medline_replaces_and_deletes(capsys: pytest.CaptureFixture[str]) -> None:
    one = (
        "<PubmedArticle><MedlineCitation><PMID>{}</PMID><Article><ArticleTitle>{}</ArticleTitle>"
        "</Article></MedlineCitation></PubmedArticle>"
    )
    whole = "<PubmedArticleSet>{}</PubmedArticleSet>"
    first = one.format(1, "Itch in adults") + one.format(2, "Itch in children")
    Path("n1.xml").write_text(whole.format(first))
    deleted = "<DeleteCitation><PMID>2</PMID><PMID>7</PMID></DeleteCitation>"
    Path("n2.xml").write_text(whole.format(one.format(1, "Itch in grown-ups") + deleted))
    assert said(capsys, "ingest", "n1.xml")[:2] == (
        0, "2 added, 0 replaced, 0 unchanged; 2 chunks written\n",
    )  # fmt: skip
    assert said(capsys, "ingest", "n2.xml")[:2] == (
        0, "0 added, 1 replaced, 0 unchanged; 1 chunk written; 1 document deleted\n",
    )  # fmt: skip
    found = json.loads(said(capsys, "search", "itch", "--json")[1])
    assert [hit["doc_id"] for hit in found["results"]] == ["1"]


def test_corpus_and_judgments_may_name_documents_by_doi(
    capsys: pytest.CaptureFixture[str],
) -> None:
    itch, fever = "10.1101/2020.01.01.900001", "10.1002/(SICI)1097-0258<1661::AID-SIM968>3.0.CO;2-2"
    Path("papers.csv").write_text(
        f"doi,abstract\n{itch},Itch of the skin\n{fever},Fever at night\n"
    )
    Path("qrels.txt").write_text(f"q1 0 {itch} 1\nq2 0 {fever} 1\n")
    Path("topics.tsv").write_text("q1\titch\nq2\tfever\n")
    assert said(capsys, "ingest", "papers.csv", "--id-field", "doi")[0] == 0
    assert said(capsys, "corpus", "show", fever)[1].startswith(fever)
    imported = said(capsys, "testset", "import", "topics.tsv", "--qrels", "qrels.txt")
    assert imported[0] == 0, imported
    code, shown, notes = said(capsys, "eval", "run", "-t", "topics", "--json")
    assert code == 0, notes
    assert json.loads(shown)["metrics"]["recall_at_5"] == 1.0
