"""Do synonyms find what other words say, and are bad files refused by line?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import FormatError, LimitError, MissingFileError
from assay.model.document import Chunk
from assay.search.synonyms import Synonyms, read_synonyms
from tests.unit.search.corpus import filled

FILE = """\
# heart
Heart Attack, myocardial infarction, MI   # both ways
tumour => tumor, neoplasm

coeliac, celiac
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "synonyms.txt"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("query", "added"),
    [
        ("treatment after heart attack", ("myocardial infarction", "mi")),
        ("mi in women", ("heart attack", "myocardial infarction")),
        ("tumour growth", ("tumor", "neoplasm")),
        ("neoplasm growth", ()),
        ("heart attacked", ()),
        ("mitral valve", ()),
        ("", ()),
    ],
)
def test_what_is_added(path: Path, query: str, added: tuple[str, ...]) -> None:
    assert read_synonyms(path).expansions(query) == added


@pytest.mark.parametrize("line", ["alone", "a =>", "=> b", ", ,", "a, , "])
def test_a_line_that_is_no_rule_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(f"a, b\n{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"bad\.txt:2: "):
        read_synonyms(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        read_synonyms(tmp_path / "none.txt")
    with pytest.raises(MissingFileError):
        read_synonyms(tmp_path)
    latin = tmp_path / "latin.txt"
    latin.write_bytes("ménière, x".encode("latin-1"))
    with pytest.raises(FormatError, match="UTF-8"):
        read_synonyms(latin)
    large = tmp_path / "large.txt"
    large.write_bytes(b"#" * ((16 << 20) + 1))
    with pytest.raises(LimitError):
        read_synonyms(large)


@pytest.mark.slow
def test_a_search_finds_what_other_words_say(tmp_path: Path, path: Path) -> None:
    rows = [
        Chunk("a:chunk_0", "a", "Myocardial infarction was confirmed by troponin.", "One"),
        Chunk("b:chunk_0", "b", "The attack of asthma began at night.", "Two"),
    ]
    with filled(tmp_path / "home", rows, synonyms=path) as opened:
        answer = opened.search("heart attack", components="bm25")
        plain = opened.search("heart attack", components="bm25", synonyms=False)
    assert answer.results[0].chunk.doc_id == "a"
    assert answer.synonyms == ("myocardial infarction", "mi")
    assert [hit.chunk.doc_id for hit in plain.results] == ["b"]


def test_a_word_inside_another_does_not_count_as_said() -> None:
    rules = Synonyms({("heart", "attack"): ("myocardial infarction", "mi")})
    assert rules.expansions("heart attack in the family") == ("myocardial infarction", "mi")
    assert rules.expansions("heart attack or mi") == ("myocardial infarction",)
