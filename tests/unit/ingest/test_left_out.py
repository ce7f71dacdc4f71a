"""Is every file of a folder read or named, and is no markup read as prose?"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.errors import FormatError, InputError, UsageError
from assay.ingest import read_documents
from assay.ingest.detect import detect, format_of
from assay.ingest.text import markup_of
from assay.ingest.watch import Progress
from assay.settings import configure
from tests.unit.ingest.samples import ARTICLE

XML = '<?xml version="1.0"?>\n<records><record>aspirin</record></records>'


def names(path: Path, form: str = "auto", *, strict: bool = False) -> tuple[list[str], str]:
    """The documents, and every note."""
    notes: list[str] = []

    def told(step: Progress) -> None:
        notes.append(step.note)

    found = [one.document.doc_id for one in read_documents(path, form, told, strict=strict)]
    return found, "\n".join(filter(None, notes))


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.txt").write_text("Aspirin eases pain.")
    (folder / "b.csv").write_text("id,text\nb1,Metformin lowers glucose.\n")
    (folder / "c.bin").write_bytes(b"\x00\x01")
    (folder / "d.xml").write_text(XML)
    return folder


def test_what_is_not_read_is_named(mixed: Path) -> None:
    found, notes = names(mixed)
    assert set(found) == {"a", "b1"}
    assert "c.bin" in notes
    assert "d.xml" in notes


def test_strict_refuses_a_folder_with_such_a_file(mixed: Path) -> None:
    with pytest.raises(InputError, match=r"c\.bin, d\.xml") as caught:
        names(mixed, strict=True)
    assert "--strict" in (caught.value.hint or "")
    for name in ("c.bin", "d.xml"):
        (mixed / name).unlink()
    assert set(names(mixed, strict=True)[0]) == {"a", "b1"}


@pytest.mark.parametrize("name", ["README.md", "empty.csv", "empty.jsonl", "sheet.xlsx"])
def test_strict_counts_everything_that_brings_nothing(mixed: Path, name: str) -> None:
    for other in ("c.bin", "d.xml"):
        (mixed / other).unlink()
    (mixed / name).write_text("about the other files" if name.startswith("R") else "")
    with pytest.raises(InputError, match=name):
        names(mixed, strict=True)


def test_strict_counts_links_that_lead_out(mixed: Path, tmp_path: Path) -> None:
    for other in ("c.bin", "d.xml"):
        (mixed / other).unlink()
    (tmp_path / "secret.txt").write_text("x")
    os.symlink(tmp_path / "secret.txt", mixed / "link.txt")
    with pytest.raises(InputError, match=r"link\.txt"):
        names(mixed, strict=True)


def test_a_reader_that_was_named_tells_what_it_does_not_take(mixed: Path) -> None:
    found, notes = names(mixed, "text")
    assert found == ["a"]
    assert "b.csv, c.bin, d.xml" in notes
    with pytest.raises(InputError, match=r"b\.csv"):
        names(mixed, "text", strict=True)


def test_strict_stores_nothing(mixed: Path, tmp_path: Path) -> None:
    only = {"splade_model": "none", "dense_model": "none"}
    with Workspace(configure({"home": tmp_path / "home", **only})) as workspace:
        with pytest.raises(InputError):
            workspace.ingest(mixed, strict=True)
        assert workspace.store.counts()["documents"] == 0
        with pytest.raises(UsageError, match="exclude each other"):
            workspace.ingest(mixed, strict=True, keep_going=True)


def test_the_command_refuses_too(
    mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path / "home")]
    assert run([*home, "ingest", str(mixed), "--strict", "--no-index"]) == 2
    assert "c.bin" in capsys.readouterr().err
    assert run([*home, "ingest", str(mixed), "--no-index"]) == 0


def test_every_file_that_is_not_read_is_in_the_answer(
    mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(9):
        (mixed / f"f{number}.png").write_bytes(b"\x89PNG\0")
    (mixed / "empty.jsonl").write_text("")
    home = ["--home", str(tmp_path / "home")]
    assert run([*home, "ingest", str(mixed), "--no-index", "--json"]) == 0
    shown = capsys.readouterr()
    left_out = {f"f{number}.png" for number in range(9)} | {"c.bin", "d.xml", "empty.jsonl"}
    assert {Path(name).name for name in json.loads(shown.out)["left_out"]} == left_out
    assert "9 .png" in shown.err


def test_the_pdf_beside_the_xml_of_an_article_is_left_out(tmp_path: Path) -> None:
    """As packages of PubMed Central have both: nobody wants to find an article twice."""
    (tmp_path / "itch.nxml").write_text(ARTICLE)
    (tmp_path / "itch.pdf").write_bytes(b"%PDF-1.4 never opened")
    found, notes = names(tmp_path)
    assert len(found) == 1
    assert "left out, the article is read from its XML (use assay ingest FILE): itch.pdf" in notes


MARKUP = {
    "x.xml": (XML, "XML"),
    "root.txt": ('<set version="2"><a>b</a></set>', "XML or HTML"),
    "page.txt": ("<!DOCTYPE html><p>x</p>", "HTML"),
    "page.md": ("<html><body>x</body></html>", "HTML"),
    "rich.txt": (r"{\rtf1\ansi hello}", "RTF"),
    "row.txt": ('{"a": 1, "b": [2]}', "JSON"),
    "rows.txt": ('{"a": 1}\n{"a": 2}\n', "JSON"),
    "list.txt": ('[\n {"a": 1}\n]', "JSON"),
    "doc.txt": ("%PDF-1.4 ...", "a PDF"),
    "comment.txt": ("<!-- c -->\n<!-- d --><div>x</div>", "XML or HTML"),
    "broken.json": ('{"a": "x", "b": ', "JSON"),
    "broken.txt": ('[{"a": "x"}, {"b"', "JSON"),
    "a.eml": ("From: a@example.org\nSubject: Itch\n\nIt itches.", "e-mail"),
    "mail.txt": ("From: a@example.org\nReceived: by x\n\tat noon\n\nIt itches.", "e-mail"),
    "a.nbib": ("PMID- 5\nTI  - Itch\n", "MEDLINE"),
    "a.ris": ("TY  - JOUR\nTI  - Itch\n", "RIS"),
    "a.tex": ("% mine\n\\documentclass{article}", "TeX"),
    "a.yaml": ("a: 1\nb: 2\n", "YAML"),
    "documents.txt": ("id\ttext\na\tItch.\n", "a table"),
    "cells.txt": ("arm,n,mean\ndrug,12,3\nplacebo,11,4\n", "a table"),
    "bom.txt": ("\ufeff<?xml version='1.0'?><a/>", "XML"),
}


@pytest.mark.parametrize("name", MARKUP)
def test_markup_is_never_read_as_prose(tmp_path: Path, name: str) -> None:
    text, kind = MARKUP[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=f"this is {kind}, not prose"):
        names(tmp_path / name, "text")


PROSE = {
    "plain.txt": "Aspirin eases pain.",
    "angle.txt": "<Patient interview 3>\nShe said x < 5 and y > 3.",
    "time.txt": "[00:01] Doctor: How are you?\n[00:04] Patient: Well.",
    "cited.txt": "[1] A reference.",
    "brace.txt": "{note} what was said",
    "number.txt": "[1, 2, 3]",
    "logo.md": '<p align="center"><img src="x.png"></p>\n\n# Aspirin\n\nIt eases pain.',
    "code.md": '{"a": 1}',
    "listed.txt": "Aspirin, ibuprofen, naproxen\nPain, fever, itch\nNose, ear, eye",
    "said.txt": "From: the ward\nTo: the clinic\n\nShe is well.",
    "mail.txt": "<someone@example.org> wrote: it hurts.",
}


@pytest.mark.parametrize("name", PROSE)
def test_prose_that_looks_a_little_like_it_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(PROSE[name], encoding="utf-8")
    assert len(names(tmp_path / name)[0]) >= 1
    assert markup_of(PROSE[name], marked=name.endswith(".md")) == ""


@pytest.mark.parametrize("name", [name for name in MARKUP if name.startswith("a.")])
def test_no_hint_names_text_for_what_is_no_prose(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(MARKUP[name][0])
    if name == "a.nbib":
        assert detect(tmp_path / name) == "medline"
        return
    with pytest.raises(FormatError) as caught:
        detect(tmp_path / name)
    assert not (caught.value.hint or "").endswith("text")


@pytest.mark.parametrize(
    ("text", "ids"),
    [("id\ttext\na\tItch.\n", ["a"]), ("PMID- 5\nTI  - Itch\n\nPMID- 6\nTI  - Rash\n", ["5", "6"])],
)
def test_records_in_a_text_file_are_read_as_such(tmp_path: Path, text: str, ids: list[str]) -> None:
    (tmp_path / "export.txt").write_text(text)
    assert names(tmp_path / "export.txt", strict=True)[0] == ids


def test_the_hint_does_not_lead_to_markup_read_as_prose(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(XML)
    with pytest.raises(FormatError) as caught:
        detect(tmp_path / "x.xml")
    assert "text" not in (caught.value.hint or "")
    (tmp_path / "x.txt").write_text(XML)
    assert format_of(tmp_path / "x.txt") is None
