"""Is the format of a corpus told by what it holds?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.errors import FormatError, MissingFileError, UsageError
from assay.ingest import READERS, detect, reader_named
from tests.unit.ingest.samples import ARTICLE, CITATIONS, LABEL, STUDY, VTT, entries

CONTENTS = {
    "jats": ARTICLE,
    "spl": LABEL,
    "medline": CITATIONS,
    "ctgov": json.dumps(STUDY),
    "transcript": VTT,
    "jsonl": '{"id": "a", "text": "x"}\n',
}


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("packed", [False, True])
def test_files_are_told_by_content(tmp_path: Path, kind: str, packed: bool) -> None:
    path = tmp_path / "some.dat"
    data = CONTENTS[kind].encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    assert detect(path) == kind


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (json.dumps(STUDY, indent=2), "ctgov"),
        (json.dumps({"studies": [STUDY], "nextPageToken": "x"}), "ctgov"),
        (json.dumps([STUDY], indent=1), "ctgov"),
        ('{"_id": "a", "turns": []}', "transcript"),
        ('{"interview_id": "a", "segments": []}', "transcript"),
        ('[{"segment_id": "a", "text": "x"}]', "transcript"),
        ('{"chunk_id": "a", "doc_id": "b", "text": "x"}', "jsonl"),
        ('{"_id": "a", "text": "he said \\"turns\\": no"}', "jsonl"),
        ("<pmc-articleset><article/></pmc-articleset>", "jats"),
        ('<x:document xmlns:x="urn:hl7-org:v3"/>', "spl"),
    ],
)
def test_shapes_of_files(tmp_path: Path, content: str, kind: str) -> None:
    path = tmp_path / "some.dat"
    path.write_text(content)
    assert detect(path) == kind


@pytest.mark.parametrize(
    "content",
    [
        b"<article class='x'><h1>Web</h1><p>words</p></article>",
        b"<!-- saved from <article id=1> --><!DOCTYPE html><html><body>words</body></html>",
        b"<div><h2>Dose</h2><p>5 mg</p></div>",
        "<p>Sjögren</p>".encode("utf-16"),
    ],
)
def test_a_page_is_told_by_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(content)
    assert detect(path) == "html"


def test_a_comment_does_not_name_the_format(tmp_path: Path) -> None:
    path = tmp_path / "some.dat"
    path.write_text("<!-- as in <article id=1> -->\n<!DOCTYPE html><html><body>words</body></html>")
    assert detect(path) == "html"


@pytest.mark.parametrize("rows", [1, 5_000])
def test_rows_may_be_wrapped_under_any_name(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "page.json"
    found = [{"pmid": str(at), "abstract": "Itch."} for at in range(rows)]
    path.write_text(json.dumps({"next": None, "data": found}))
    assert detect(path) == "jsonl"
    assert len(entries("jsonl", path)) == rows


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("old.doc", b"\xd0\xcf\x11\xe0", "save it as .docx"),
        ("old.dat", b"\xd0\xcf\x11\xe0\0\0", "Office before 2007, or with a password"),
        ("a.xlsx", b"PK\x03\x04", "save the sheet as CSV"),
        ("slides.pptx", b"PK\x03\x04", "save it as PDF"),
        ("fake.pdf", b"<html>404</html>", "not a PDF"),
        ("nothing.json", b" \n", "an empty file"),
        ("other.json", b'{"a": 1}', "--id-field and --text-field"),
    ],
)
def test_what_to_do_is_said(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match=said):
        detect(path)


@pytest.mark.parametrize(
    "content",
    [
        "[00:01] Doctor: hello",
        '[![x](y)](z) with "text": in it',
        "<p>logo</p>\n# Drug",
        "{x} it was",
    ],
)
def test_a_text_may_begin_with_a_bracket(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(content)
    assert detect(path) == "text"


def test_what_cannot_be_told_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_text("hello")
    with pytest.raises(FormatError, match="--format names it: jsonl, beir, jats"):
        detect(path)
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    with pytest.raises(FormatError, match="neither text nor a known binary format"):
        detect(path)
    with pytest.raises(MissingFileError, match="does not exist"):
        detect(tmp_path / "absent")
    with pytest.raises(UsageError, match=r"there is no corpus format 'doc' .*known: auto, jsonl"):
        reader_named("doc")


def test_every_reader_says_what_it_is() -> None:
    assert list(READERS) == [
        "jsonl", "beir", "jats", "medline", "ctgov", "fhir", "spl", "transcript", "table", "html",
        "pdf", "docx", "archive", "text",
    ]  # fmt: skip
    assert all(reader.help and reader.recognised for reader in READERS.values())
