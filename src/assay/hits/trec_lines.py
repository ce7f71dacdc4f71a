"""What does each line of a TREC file say, and which line is wrong?

This is the careful reader: it looks at every line and reports the first bad one. It reads small
files on its own; for large ones it takes over where the fast reader gives up.

Columns are separated by ASCII blanks only, as in trec_eval: a non-breaking space or U+2028 is part
of an id. Blank lines are ignored, and so are comments: a ``#`` with a blank after it, or alone.
``#7`` is an id, as it is to trec_eval. All lines are parsed at once; only when that fails are they
parsed one by one, to find the first bad one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

from assay import limits
from assay.errors import FormatError, InputError, LimitError

RUN_FORM = "query Q0 document rank score tag"
QRELS_FORM = "query 0 document grade"
BEIR_FORM = "query document grade"
BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
UTF8_MARK = b"\xef\xbb\xbf"
COMMENT = b"#"


@dataclass(frozen=True, slots=True)
class RunRows:
    """The rows of a run file, in file order, with their line numbers."""

    query: list[str]
    doc: list[str]
    score: list[float]
    line: list[int]


@dataclass(frozen=True, slots=True)
class QrelsRows:
    """The rows of a qrels file, in file order, with their line numbers."""

    query: list[str]
    doc: list[str]
    grade: list[int]
    line: list[int]


@dataclass(frozen=True, slots=True)
class _Line:
    """One line that is not ignored, split into columns."""

    columns: list[bytes]
    number: int
    source: str

    def fail(self, message: str, hint: str) -> NoReturn:
        raise FormatError(message, source=self.source, line=self.number, hint=hint)

    def check_columns(self, form: str, *, more: bool) -> None:
        if self.columns[0] == COMMENT:
            self.fail(
                "a comment, or a row of a query with the id '#'?",
                "give the query another id, or the comment other words",
            )
        if any(b"\0" in column for column in self.columns):
            self.fail("a NUL byte", "is this a text file, in UTF-8?")
        wanted, there = len(form.split()), len(self.columns)
        if there == wanted or (more and there > wanted):
            return
        hint = f"a line is: {form}"
        if self.columns[0].startswith(COMMENT):
            hint += "; a comment begins with # and a blank"
        if form == RUN_FORM and there == len(QRELS_FORM.split()):
            hint += "; is this a qrels file?"
        elif form == RUN_FORM and there > wanted:
            hint += "; --extra-columns ignores what follows the tag, as trec_eval does"
        elif form != RUN_FORM and there == len(RUN_FORM.split()):
            hint += "; is this a run?"
        self.fail(f"{there} columns instead of {wanted}", hint)

    def check_id(self, column: int) -> None:
        text = self.columns[column]
        if len(text) > limits.MAX_ID_BYTES:
            raise LimitError(
                f"{self.source}:{self.number}: an id of {len(text)} bytes",
                hint=f"an id has at most {limits.MAX_ID_BYTES}",
            )
        try:
            text.decode()
        except UnicodeDecodeError:
            self.fail(f"the id {text[:40]!r} is not UTF-8", "convert the file to UTF-8")

    def check_score(self, text: bytes) -> None:
        try:
            _finite(text)
        except ValueError:
            self.fail(
                f"the score {_shown(text)} is not a finite number",
                "scores are decimal numbers such as 12.5 or 1e-3",
            )

    def check_grade(self, text: bytes) -> None:
        try:
            grade = whole(text)
        except ValueError:
            self.fail(
                f"the grade {_shown(text)} is not a whole number",
                "grades are whole numbers such as 0, 1, 2, 3; negative means not judged",
            )
        if abs(grade) > limits.MAX_GRADE:
            raise LimitError(
                f"{self.source}:{self.number}: the grade {grade}",
                hint=f"a grade is at most {limits.MAX_GRADE}",
            )


def read_run_lines(
    data: bytes, source: str, *, first_line: int = 1, extra_columns: bool = False
) -> RunRows:
    """Parse the lines of a run; ``extra_columns`` lets columns follow the tag."""
    if first_line == 1:
        _refuse_utf16(data, source)
        data = data.removeprefix(UTF8_MARK)
    refuse_long_lines(data, source, first_line)
    rows, lines = _rows(data, first_line, RUN_FORM)
    if _sound(data, rows, RUN_FORM, more=extra_columns):
        scores = [row[4] for row in rows]
        try:
            score = list(map(float, scores))
            if all(map(math.isfinite, score)) and b"_" not in b" ".join(scores):
                return RunRows(_ids(rows, 0), _ids(rows, 2), score, lines)
        except ValueError:
            pass
    for row, number in zip(rows, lines, strict=True):
        line = _Line(row, number, source)
        line.check_columns(RUN_FORM, more=extra_columns)
        line.check_id(0)
        line.check_id(2)
        line.check_score(row[4])
    raise AssertionError("every line is valid, and yet they were rejected")


def read_qrels_lines(data: bytes, source: str) -> QrelsRows:
    """Parse the lines of a qrels file, TREC's four columns or BEIR's three with their header."""
    _refuse_utf16(data, source)
    data, form, doc = qrels_form(data)
    refuse_long_lines(data, source, 1)
    rows, lines = _rows(data, 1, form)
    if _sound(data, rows, form):
        grades = [row[-1] for row in rows]
        try:
            known = {text: whole(text) for text in set(grades)}
            if all(abs(grade) <= limits.MAX_GRADE for grade in known.values()):
                return QrelsRows(
                    _ids(rows, 0), _ids(rows, doc), [known[text] for text in grades], lines
                )
        except ValueError:
            pass
    for row, number in zip(rows, lines, strict=True):
        line = _Line(row, number, source)
        line.check_columns(form, more=False)
        line.check_id(0)
        line.check_id(doc)
        line.check_grade(row[-1])
    raise AssertionError("every line is valid, and yet they were rejected")


def column(text: str, *, first: bool = False) -> str:
    """An id as a column of a TREC file, the ``first`` of a line or a later one."""
    data = text.encode()
    if data.split() != [data] or b"\0" in data or (first and data == COMMENT):
        raise InputError(
            f"the id {text!r:.80} cannot be written to a TREC file",
            hint="TREC columns contain no spaces and no line starts with '#': use JSON",
        )
    return text


def _refuse_utf16(data: bytes, source: str) -> None:
    if data[:2] in UTF16_MARKS:
        raise FormatError("the file is UTF-16", source=source, line=1, hint="save it as UTF-8")


def qrels_form(data: bytes) -> tuple[bytes, str, int]:
    """The lines without byte order mark and header, what a line is, and the document's column."""
    data = data.removeprefix(UTF8_MARK)
    if data[:200].partition(b"\n")[0].split() != BEIR_HEADER:
        return data, QRELS_FORM, 2
    return b"\n" + data.partition(b"\n")[2], BEIR_FORM, 1


def _rows(data: bytes, first_line: int, form: str) -> tuple[list[list[bytes]], list[int]]:
    """The lines that are not ignored, split into columns, and their numbers.

    A comment that reads as a row is kept, so that it is refused where no line before it is.
    """
    rows = list(map(bytes.split, data.split(b"\n")))
    if rows and not rows[-1]:
        rows.pop()  # what follows the last newline
    lines = list(range(first_line, first_line + len(rows)))
    if all(rows) and COMMENT not in data:
        return rows, lines
    kept = [
        at
        for at, row in enumerate(rows)
        if row and (row[0] != COMMENT or _reads_as_a_row(row, form))
    ]
    return [rows[at] for at in kept], [lines[at] for at in kept]


def _reads_as_a_row(row: list[bytes], form: str) -> bool:
    """Whether a line that begins with ``#`` would be a row of the query ``#``."""
    if len(row) != len(form.split()):
        return False
    try:
        _finite(row[4] if form == RUN_FORM else row[-1])
    except ValueError:
        return False
    return True


def _sound(data: bytes, rows: list[list[bytes]], form: str, *, more: bool = False) -> bool:
    """Does every line have the right number of columns, no NUL byte, and a query's id?"""
    wanted = len(form.split())
    if COMMENT in data and any(row[0] == COMMENT for row in rows):
        return False
    widths = set(map(len, rows))
    if b"\0" in data and any(b"\0" in column for row in rows for column in row):
        return False
    return widths <= {wanted} or (more and min(widths) >= wanted)


def refuse_long_lines(data: bytes, source: str, first_line: int) -> None:
    """Reject lines above the size limit, by looking for a newline in each stretch of that size."""
    start = 0
    while start + limits.MAX_LINE_BYTES < len(data):
        end = data.rfind(b"\n", start, start + limits.MAX_LINE_BYTES + 1)
        if end < 0:
            number = first_line + data.count(b"\n", 0, start)
            raise LimitError(
                f"{source}:{number}: a line of more than {limits.MAX_LINE_BYTES:,} bytes",
                hint="is this a TREC file?",
            )
        start = end + 1


def _ids(rows: list[list[bytes]], column: int) -> list[str]:
    """One column as text; ``ValueError`` if an id is too long or not UTF-8."""
    texts = [row[column].decode() for row in rows]
    # no character takes more than four bytes
    if max(map(len, texts), default=0) > limits.MAX_ID_BYTES // 4 and (
        max(len(row[column]) for row in rows) > limits.MAX_ID_BYTES
    ):
        raise ValueError("an id is too long")
    return texts


def _finite(text: bytes) -> float:
    """A finite decimal number; ``float`` would also accept 1_000."""
    value = float(text)
    if b"_" in text or not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def whole(text: bytes) -> int:
    """A whole number of at most nine digits; ``ValueError`` if it is not one."""
    digits = text[1:] if text[:1] in (b"-", b"+") else text
    if not digits.isdigit() or len(digits) > 9:
        raise ValueError("not a whole number")
    return int(text)


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "replace"))
