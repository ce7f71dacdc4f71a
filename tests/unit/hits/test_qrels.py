"""Are judgments read from every form, and is each fault of theirs named?"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from assay import limits
from assay.errors import (
    AssayError,
    DuplicateError,
    FormatError,
    InputError,
    LimitError,
    UsageError,
)
from assay.hits import sources
from assay.hits.qrels import load_qrels

pytestmark = pytest.mark.usefixtures("loops")

Write = Callable[[str, bytes | str], Path]

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 x 3\n"
TABLE = {"q1": {"a": 1, "b": 0}, "q2": {"x": 3}}


def error(kind: type[AssayError], write: Write, content: bytes | str) -> str:
    path = write("a.qrels", content)
    with pytest.raises(kind) as caught:
        load_qrels(path)
    assert caught.type is kind
    return str(caught.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize(
    "content",
    [
        QRELS,
        QRELS.replace(" ", "\t"),
        QRELS.replace(" ", "   "),
        QRELS.replace("\n", "\r\n"),
        QRELS.rstrip("\n"),
        "\ufeff" + QRELS,
        "# by hand\n\n" + QRELS + "  \n",
        "  " + QRELS.replace("\n", " \n"),
        QRELS.replace("1\n", "+1\n"),
        QRELS.replace(" 0 ", " whatever "),
        "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tx\t3\n",
        "\ufeffquery-id\tcorpus-id\tscore\r\nq1\ta\t1\r\nq1\tb\t0\r\nq2\tx\t3\r\n",
    ],
    ids=repr,
)
def test_a_file(write: Write, content: str) -> None:
    assert load_qrels(write("a.qrels", content)).by_query == TABLE
    packed = gzip.compress(content.encode())
    assert load_qrels(write("a.qrels", packed)).by_query == TABLE
    packed = zstandard.ZstdCompressor().compress(content.encode())
    assert load_qrels(str(write("a.qrels", packed))).by_query == TABLE


def test_negative_grades_are_kept(write: Write) -> None:
    assert load_qrels(write("q", "q1 0 a -1\nq1 0 b -2\n")).grade.tolist() == [-1, -2]


def test_scattered_queries_keep_their_first_place(write: Write) -> None:
    qrels = load_qrels(write("q", "q2 0 x 1\nq1 0 a 1\nq2 0 y 2\n"))
    assert qrels.queries == ("q2", "q1")
    assert qrels.by_query == {"q2": {"x": 1, "y": 2}, "q1": {"a": 1}}


@pytest.mark.parametrize("char", ["\u00a0", "\u2028", "\u0085"])
def test_blanks_beyond_ascii_are_part_of_an_id(write: Write, char: str) -> None:
    assert load_qrels(write("q", f"q1 0 a{char}b 1\n")).docs == (f"a{char}b",)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("q2 0 w", "3 columns instead of 4 (a line is: query 0 document grade)"),
        ("q2 0 w 1 t", "5 columns instead of 4"),
        ("q2 Q0 w 1 7.0 t", "6 columns instead of 4"),
        ("q2 0 w 1.0", "the grade '1.0' is not a whole number (grades are whole numbers such as"),
        ("q2 0 w true", "the grade 'true' is not a whole number"),
        ("q2 0 w 1_0", "the grade '1_0' is not a whole number"),
        ("q2 0 w １", "the grade '１' is not a whole number"),
        ("q2 0 w ²", "the grade '²' is not a whole number"),
        ("q2 0 w --1", "the grade '--1' is not a whole number"),
        ("q2 0 w -", "the grade '-' is not a whole number"),
        ("q2 0 w nan", "the grade 'nan' is not a whole number"),
        (f"q2 0 w {'9' * 5000}", "the grade '9999999999999999999999999999999999999999' is not"),
        (f"q2 0 w {2**63}", "the grade '9223372036854775808' is not a whole number"),
        ("q2 0 w\0 1", "a NUL byte (is this a text file, in UTF-8?)"),
    ],
)
def test_a_bad_line(write: Write, line: str, says: str) -> None:
    message = error(FormatError, write, QRELS + line + "\nq3 0 bad\n")
    assert message.startswith(f"a.qrels:4: {says}")


def test_a_run_in_the_place_of_qrels(write: Write) -> None:
    assert "is this a run?" in error(FormatError, write, "q2 Q0 w 1 7.0 t\n")


@pytest.mark.parametrize("grade", [1001, -1001, 999999999])
def test_a_grade_beyond_the_cap(write: Write, grade: int) -> None:
    message = error(LimitError, write, QRELS + f"q2 0 w {grade}\n")
    assert message == f"a.qrels:4: the grade {grade} (a grade is at most {limits.MAX_GRADE})"


def test_a_bad_line_in_beir_form(write: Write) -> None:
    message = error(FormatError, write, "query-id corpus-id score\nq1 a 1\nq1 b x\n")
    assert message.startswith("a.qrels:3: the grade 'x' is not a whole number")
    message = error(FormatError, write, "query-id corpus-id score\nq1 0 a 1\n")
    assert message.startswith("a.qrels:2: 4 columns instead of 3 (a line is: query document grade")


def test_latin1_and_utf16(write: Write) -> None:
    message = error(FormatError, write, QRELS.encode() + b"q2 0 \xe9 1\n")
    assert message == "a.qrels:4: the id b'\\xe9' is not UTF-8 (convert the file to UTF-8)"
    message = error(FormatError, write, QRELS.encode("utf-16"))
    assert message == "a.qrels:1: the file is UTF-16 (save it as UTF-8)"


@pytest.mark.parametrize("again", ["q1 0 a 1", "q1 0 a 2"])
def test_a_document_judged_twice(write: Write, again: str) -> None:
    message = error(DuplicateError, write, QRELS + f"# x\n{again}\n")
    assert message == (
        "a.qrels:5: query 'q1' judges document 'a' again (first on line 1) (keep one judgment)"
    )


@pytest.mark.parametrize("content", ["", "\n\n", "# x\n", "query-id corpus-id score", "{}", "[]"])
def test_nothing_judged(write: Write, content: str) -> None:
    message = error(InputError, write, content)
    assert message == "a.qrels: the qrels hold no judgment (check that it is the right one)"


def test_a_long_line_and_a_long_id(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 100)
    monkeypatch.setattr(limits, "MAX_ID_BYTES", 10)
    message = error(LimitError, write, QRELS + f"q2 {'0' * 100} w 1\n")
    assert message == "a.qrels:4: a line of more than 100 bytes (is this a TREC file?)"
    message = error(LimitError, write, QRELS + "q2 0 wwwwwwwwwww 1\n")
    assert message == "a.qrels:4: an id of 11 bytes (an id has at most 10)"


def test_compressed_data_cut_off_and_bombs(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    for packed in (
        gzip.compress(QRELS.encode())[:-4],
        zstandard.ZstdCompressor().compress(QRELS.encode())[:-4],
    ):
        message = error(FormatError, write, packed)
        assert message.startswith("a.qrels: the compressed data is damaged or truncated")
    monkeypatch.setattr(limits, "BOMB_FLOOR_BYTES", 1 << 16)
    monkeypatch.setattr(sources, "STEP", 1 << 14)
    for packed in (
        gzip.compress(b"\n" * (1 << 21)),
        zstandard.ZstdCompressor().compress(b"\n" * (1 << 21)),
        gzip.compress(b"{" + b" " * (1 << 21)),
    ):
        assert error(LimitError, write, packed).startswith("a.qrels unpacks to more than")


def test_more_than_can_be_held(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_JSON_BYTES", 10)
    monkeypatch.setattr("assay.hits.sources.HEAD_BYTES", 4)
    assert "more than 10 bytes, too many to hold at once" in error(LimitError, write, QRELS)


# Mappings


def test_a_mapping() -> None:
    qrels = load_qrels(TABLE)
    assert qrels.by_query == TABLE
    assert load_qrels(qrels) is qrels
    assert load_qrels({"q": {"a": np.int32(2)}}).grade.tolist() == [2]


def test_a_query_without_judgments_counts() -> None:
    assert load_qrels({"q1": {}, "q2": {"x": 1}}).queries == ("q1", "q2")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({1: {"a": 1}}, "the query id 1 is a int, not text"),
        ({"q": {1: 1}}, "the document id 1 is a int, not text"),
        ({"q": {b"a": 1}}, "the document id b'a' is a bytes, not text"),
        ({None: {"a": 1}}, "the query id None is a NoneType, not text"),
        ({"q": ["a"]}, "query 'q': judgments are {document: grade}, not a list"),
        ({"q": None}, "query 'q': judgments are {document: grade}, not a NoneType"),
        ({"q": {"a": True}}, "query 'q', document 'a': the grade True is not a whole number"),
        ({"q": {"a": "3"}}, "query 'q', document 'a': the grade '3' is not a whole number"),
        ({"q": {"a": 2.5}}, "query 'q', document 'a': the grade 2.5 is not a whole number"),
        ({"q": {"a": 2.0}}, "query 'q', document 'a': the grade 2.0 is not a whole number"),
        ({"q": {"a": None}}, "query 'q', document 'a': the grade None is not a whole number"),
        ({"q": {"a": 2**63}}, "the grade 9223372036854775808 is not a whole number up to 1000"),
        ({"q": {"a": 10**5000}}, "the grade with too many digits to show is not a whole"),
        ({}, "the qrels hold no judgment"),
    ],
)
def test_a_bad_mapping(value: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        load_qrels(value)
    assert says in str(caught.value)
    assert caught.value.hint or "{document: grade}" in says


@pytest.mark.parametrize("value", [None, 5, ["q1"], {"q1"}, b"path", iter([])])
def test_what_qrels_cannot_be(value: Any) -> None:
    with pytest.raises(UsageError, match="qrels cannot be a"):
        load_qrels(value)
