"""Are the parts of a folder told apart, and what is left out named?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import DuplicateError, FormatError, InputError, MissingFileError
from assay.ingest import read_corpus
from assay.ingest.plan import CorpusPart, plan
from assay.ingest.watch import Watch
from tests.unit.ingest.samples import ARTICLE, LABEL, STUDY, VTT


def planned(folder: Path) -> tuple[list[tuple[str, str]], list[str]]:
    notes: list[str] = []
    parts = plan(folder, Watch(lambda step: notes.append(step.note)))
    return [(part.format, part.path.relative_to(folder).as_posix()) for part in parts], notes


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_one_format_is_one_part(tmp_path: Path) -> None:
    put(tmp_path / "README.md", "# hello")
    assert planned(tmp_path) == ([("text", ".")], [])
    put(tmp_path / "a.xml", ARTICLE)
    put(tmp_path / "more" / "b.xml", ARTICLE)
    left_out = (
        f"{tmp_path}: left out, text about the other files (use assay ingest FILE): README.md"
    )
    assert planned(tmp_path) == ([("jats", ".")], [left_out])


def test_texts_beside_other_formats_are_read_unless_they_are_about_them(tmp_path: Path) -> None:
    put(tmp_path / "a.xml", ARTICLE)
    put(tmp_path / "README.txt", "What this is")
    put(tmp_path / "LICENSE-MIT.txt", "You may")
    put(tmp_path / "sources.txt", "From there")
    for name in ("about_gout.txt", "changes-in-dose.txt", "security of supply.txt"):
        put(tmp_path / name, "Some words.")
    parts, notes = planned(tmp_path)
    read = {path for kind, path in parts if kind == "text"}
    assert read == {"about_gout.txt", "changes-in-dose.txt", "security of supply.txt"}
    assert notes[0].endswith("LICENSE-MIT.txt, README.txt, sources.txt")


def test_several_formats_are_parts_by_folder_and_file(tmp_path: Path) -> None:
    put(tmp_path / "README.md", "# hello")
    put(tmp_path / "articles" / "a.xml", ARTICLE)
    put(tmp_path / "b.xml", LABEL)
    put(tmp_path / "notes" / "n.txt", "Some words.")
    put(tmp_path / "talks" / "1.vtt", VTT)
    put(tmp_path / "talks" / "picture.png", "?")
    put(tmp_path / "trials" / "2019" / "t.json", json.dumps(STUDY))
    assert planned(tmp_path) == (
        [
            ("jats", "articles"), ("spl", "b.xml"), ("text", "notes"),
            ("transcript", "talks"), ("ctgov", "trials"),
        ],
        [
            f"{tmp_path / 'talks'}: left out, not in a known corpus format: picture.png",
            f"{tmp_path}: left out, "
            "text about the other files (use assay ingest FILE): README.md",
        ],
    )  # fmt: skip
    assert len(list(read_corpus(tmp_path))) == 5


def test_a_collection_is_one_part_whatever_lies_beside_it(tmp_path: Path) -> None:
    put(tmp_path / "c" / "corpus.jsonl", '{"_id": "a", "text": "x"}\n')
    put(tmp_path / "c" / "queries.jsonl", '{"_id": "q", "text": "y"}\n')
    put(tmp_path / "b.xml", LABEL)
    assert planned(tmp_path)[0] == [("spl", "b.xml"), ("beir", "c")]


def test_collections_beside_each_other_are_parts(tmp_path: Path) -> None:
    put(tmp_path / "c" / "corpus.jsonl", '{"_id": "a", "text": "x"}\n')
    put(tmp_path / "d" / "corpus.jsonl", '{"_id": "b", "text": "y"}\n')
    assert planned(tmp_path)[0] == [("beir", "c"), ("beir", "d")]
    assert [document.doc_id for document, _ in read_corpus(tmp_path)] == ["a", "b"]


def test_files_of_the_format_under_other_names_are_read(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", '{"_id": "a", "text": "x"}\n')
    put(tmp_path / "b.json", '[{"_id": "b", "text": "y"}]')
    put(tmp_path / "sub" / "c.json", '{\n "_id": "c",\n "text": "z"\n}')
    put(tmp_path / "sub" / "package.json", "{}")
    parts, notes = planned(tmp_path)
    assert parts == [("jsonl", "."), ("jsonl", "b.json"), ("jsonl", "sub/c.json")]
    assert "package.json" in notes[0]
    assert [document.doc_id for document, _ in read_corpus(tmp_path)] == ["a", "b", "c"]


def test_ids_do_not_depend_on_what_else_is_there(tmp_path: Path) -> None:
    put(tmp_path / "a" / "notes.txt", "Notes of a.")
    put(tmp_path / "b" / "notes.txt", "Notes of b.")
    alone = [document.doc_id for document, _ in read_corpus(tmp_path)]
    put(tmp_path / "c" / "talk.vtt", VTT)
    assert [document.doc_id for document, _ in read_corpus(tmp_path)] == [*alone, "c.talk"]
    assert alone == ["a.notes", "b.notes"]


def test_an_office_file_is_left_out_and_an_archive_refused(tmp_path: Path) -> None:
    put(tmp_path / "a.xml", ARTICLE)
    put(tmp_path / "appendix.xlsx", "PK\x03\x04 and so on")
    parts, notes = planned(tmp_path)
    assert parts == [("jats", ".")]
    assert "appendix.xlsx" in notes[0]
    put(tmp_path / "b.zip", "PK\x03\x04 and so on")
    with pytest.raises(FormatError, match=r"b\.zip: the archive is damaged"):
        list(read_corpus(tmp_path))


def test_broken_files_of_the_format_are_not_left_out(tmp_path: Path) -> None:
    """The reader refuses them with their place, which is better than a note."""
    put(tmp_path / "a.json", json.dumps(STUDY))
    put(tmp_path / "b.json", "{}")
    assert planned(tmp_path) == ([("ctgov", ".")], [])
    with pytest.raises(Exception, match=r"b\.json"):
        list(read_corpus(tmp_path))


@pytest.mark.parametrize("foreign", ["build.xml", "meta/build.xml", "meta/deep/build.xml"])
def test_what_is_left_out_is_not_read_with_the_folder(tmp_path: Path, foreign: str) -> None:
    put(tmp_path / "articles" / "a.xml", ARTICLE)
    put(tmp_path / "more" / "b.xml", ARTICLE)
    put(tmp_path / foreign, "<project/>")
    parts, (note,) = planned(tmp_path)
    assert parts == [("jats", "articles"), ("jats", "more")]
    assert note.endswith("not in a known corpus format: build.xml")
    assert [document.doc_id for document, _ in read_corpus(tmp_path)] == ["PMC77"]


def test_a_broken_file_is_refused_also_where_another_is_left_out(tmp_path: Path) -> None:
    put(tmp_path / "a.json", json.dumps(STUDY))
    put(tmp_path / "b.json", "{}")
    put(tmp_path / "web" / "package.json", "{}")
    assert planned(tmp_path)[0] == [("ctgov", "a.json"), ("ctgov", "b.json")]
    with pytest.raises(FormatError, match=r"b\.json"):
        list(read_corpus(tmp_path))


def test_many_files_left_out_are_counted(tmp_path: Path) -> None:
    put(tmp_path / "a.xml", ARTICLE)
    for number in range(7):
        put(tmp_path / f"{number}.png", "?")
    _, (note,) = planned(tmp_path)
    assert note.endswith("0.png, 1.png, 2.png, 3.png, 4.png, 2 more (in all 7 .png)")


def test_ids_are_checked_across_parts(tmp_path: Path) -> None:
    put(tmp_path / "one" / "a.jsonl", '{"id": "PMC7", "text": "other words"}\n')
    put(tmp_path / "two" / "a.xml", ARTICLE)
    put(tmp_path / "two" / "b.jsonl", '{"id": "x", "text": "one"}\n{"id": "x", "text": "two"}\n')
    with pytest.raises(DuplicateError, match="x has another title, text or metadata"):
        list(read_corpus(tmp_path))


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder is empty"):
        plan(tmp_path, Watch())
    put(tmp_path / "a.bin", "x")
    with pytest.raises(InputError, match="no file in a known corpus format"):
        plan(tmp_path, Watch())
    with pytest.raises(MissingFileError, match="does not exist"):
        plan(tmp_path / "absent", Watch())
    put(tmp_path / "a.jsonl", '{"id": "a", "text": "x"}\n')
    assert plan(tmp_path / "a.jsonl", Watch()) == [CorpusPart("jsonl", tmp_path / "a.jsonl")]
