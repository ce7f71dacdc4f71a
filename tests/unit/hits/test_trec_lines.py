"""What does the careful reader say of lines that it is handed alone?"""

from __future__ import annotations

import pytest

from assay import limits
from assay.errors import FormatError, LimitError
from assay.hits.trec_lines import read_qrels_lines, read_run_lines, refuse_long_lines


def test_rows_and_their_lines() -> None:
    rows = read_run_lines(b"\n# x\nq Q0 d 1 2 t\n\nq Q0 e 1 1 t", "a", first_line=10)
    assert rows.query == ["q", "q"]
    assert rows.doc == ["d", "e"]
    assert rows.score == [2.0, 1.0]
    assert rows.line == [12, 14]


def test_lines_of_a_later_piece_keep_their_mark() -> None:
    """A byte order mark begins a file; anywhere else it is part of an id."""
    data = "\ufeffq Q0 d 1 2 t\n".encode()
    assert read_run_lines(data, "a").query == ["q"]
    assert read_run_lines(data, "a", first_line=2).query == ["\ufeffq"]


def test_nothing() -> None:
    assert read_run_lines(b"", "a").line == []
    assert read_run_lines(b"\n \n#\n", "a", extra_columns=True).line == []
    assert read_qrels_lines(b"", "a").line == []


def test_faults_are_found_in_the_order_of_lines() -> None:
    data = b"q Q0 d 1 2 t\nq Q0 \xff 1 2 t\nq Q0 d 1 nan t\nq Q0 d 1\n"
    with pytest.raises(FormatError, match=r"^a:22: the id b'\\xff' is not UTF-8"):
        read_run_lines(data, "a", first_line=21)
    with pytest.raises(FormatError, match=r"^a:2: the grade 'x'"):
        read_qrels_lines(b"q 0 d 1\nq 0 d x\nq 0\nq 0 \xff 1\n", "a")


def test_the_cap_on_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 4)
    for data in (b"", b"abcd", b"abcd\n", b"abcd\nabcd\n\n\nabcd", b"\n" * 50, b"ab\n" * 50):
        refuse_long_lines(data, "a", 1)
    for data, line in (
        (b"abcde", 1),
        (b"abcde\n", 1),
        (b"abcd\nabcde", 2),
        (b"a\n\nabcde\nabcde\n", 3),
        (b"a\n" * 9 + b"abcdefgh\n", 10),
    ):
        with pytest.raises(LimitError, match=rf"^a:{line + 6}: a line of more than 4 bytes"):
            refuse_long_lines(data, "a", 7)
