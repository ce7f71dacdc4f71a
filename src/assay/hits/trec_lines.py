"""What does each line of a TREC file say, and which line is wrong?

The careful reader: every line is looked at, and the first bad one is named with what to do. It
reads small files alone; for large ones it is the second opinion when the fast reader stumbles.

Columns are parted by ASCII blanks only, as trec_eval does: a non-breaking space or U+2028 is part
of an id. Blank lines and lines that begin with ``#`` say nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

from assay import limits
from assay.errors import FormatError, LimitError

RUN_FORM = "query Q0 document rank score tag"
QRELS_FORM = "query 0 document grade"
BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
UTF8_MARK = b"\xef\xbb\xbf"


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


def read_run_lines(
    data: bytes, source: str, *, first_line: int = 1, extra_columns: bool = False
) -> RunRows:
    """Parse the lines of a run; ``extra_columns`` lets columns follow the tag."""
    rows, lines = _rows(data, source, first_line, RUN_FORM, more=extra_columns)
    scores = [row[4] for row in rows]
    try:
        score = list(map(float, scores))
        sound = all(map(math.isfinite, score)) and b"_" not in b" ".join(scores)
    except ValueError:
        sound = False
    if not sound:
        _bad_score(scores, lines, source)
    query, doc = _text(rows, 0, lines, source), _text(rows, 2, lines, source)
    return RunRows(query, doc, score, lines)


def read_qrels_lines(data: bytes, source: str) -> QrelsRows:
    """Parse the lines of a qrels file, TREC's four columns or BEIR's three with their header."""
    head = data[:200].removeprefix(UTF8_MARK).partition(b"\n")[0].split()
    beir = head == BEIR_HEADER
    if beir:
        data = b"\n" + data.partition(b"\n")[2]
    form = "query document grade" if beir else QRELS_FORM
    rows, lines = _rows(data, source, 1, form, more=False)
    column = 1 if beir else 2
    grade = [_grade(row[-1], line, source) for row, line in zip(rows, lines, strict=True)]
    return QrelsRows(
        _text(rows, 0, lines, source), _text(rows, column, lines, source), grade, lines
    )


def _rows(
    data: bytes, source: str, first_line: int, form: str, *, more: bool
) -> tuple[list[list[bytes]], list[int]]:
    """The split lines that say something, and their numbers."""
    refuse_unreadable(data, source, first_line)
    if first_line == 1:
        data = data.removeprefix(UTF8_MARK)
    split = list(map(bytes.split, data.split(b"\n")))
    lines = list(range(first_line, first_line + len(split)))
    wanted = len(form.split())
    if set(map(len, split)) != {wanted} or b"#" in data:
        kept = [(row, line) for row, line in zip(split, lines, strict=True) if _says(row)]
        split, lines = [row for row, _ in kept], [line for _, line in kept]
        for row, line in kept:
            if len(row) != wanted and not (more and len(row) > wanted):
                _bad_columns(row, line, source, form)
    return split, lines


def _says(row: list[bytes]) -> bool:
    return bool(row) and not row[0].startswith(b"#")


def refuse_unreadable(data: bytes, source: str, first_line: int = 1) -> None:
    """UTF-16 and NUL bytes are never in a TREC file."""
    if first_line == 1 and data[:2] in UTF16_MARKS:
        raise FormatError("the file is UTF-16", source=source, line=1, hint="save it as UTF-8")
    if (at := data.find(b"\0")) >= 0:
        line = first_line + data.count(b"\n", 0, at)
        raise FormatError("a NUL byte", source=source, line=line, hint="is this a text file?")


def _bad_columns(row: list[bytes], line: int, source: str, form: str) -> NoReturn:
    wanted = len(form.split())
    hint = f"a line is: {form}"
    if form == RUN_FORM and len(row) > wanted:
        hint += "; --extra-columns ignores what follows the tag, as trec_eval does"
    raise FormatError(
        f"{len(row)} columns where {wanted} belong", source=source, line=line, hint=hint
    )


def _bad_score(scores: list[bytes], lines: list[int], source: str) -> NoReturn:
    for score, line in zip(scores, lines, strict=True):
        shown = score[:40].decode("utf-8", "replace")
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or b"_" in score:
            raise FormatError(
                f"the score {shown!r} is not a finite number",
                source=source,
                line=line,
                hint="scores are decimal numbers such as 12.5 or 1e-3",
            )
    raise AssertionError("called without a bad score")


def _grade(text: bytes, line: int, source: str) -> int:
    digits = text[1:] if text[:1] in (b"-", b"+") else text
    if not digits.isdigit() or len(digits) > 9:
        raise FormatError(
            f"the grade {text[:40].decode('utf-8', 'replace')!r} is not a whole number",
            source=source,
            line=line,
            hint="grades are whole numbers such as 0, 1, 2, 3; negative means not judged",
        )
    grade = int(text)
    if grade > limits.MAX_GRADE:
        raise LimitError(f"{source}:{line}: the grade {grade} is above {limits.MAX_GRADE}")
    return grade


def _text(rows: list[list[bytes]], column: int, lines: list[int], source: str) -> list[str]:
    """One column as text."""
    try:
        texts = [row[column].decode() for row in rows]
    except UnicodeDecodeError:
        _bad_encoding(rows, column, lines, source)
    longest = max(map(len, texts), default=0)
    if longest > limits.MAX_ID_BYTES:
        at = next(i for i, text in enumerate(texts) if len(text) == longest)
        raise LimitError(
            f"{source}:{lines[at]}: an id of {longest} characters (at most {limits.MAX_ID_BYTES})"
        )
    return texts


def _bad_encoding(rows: list[list[bytes]], column: int, lines: list[int], source: str) -> NoReturn:
    for row, line in zip(rows, lines, strict=True):
        try:
            row[column].decode()
        except UnicodeDecodeError:
            raise FormatError(
                f"the id {row[column][:40]!r} is not UTF-8",
                source=source,
                line=line,
                hint="convert the file to UTF-8",
            ) from None
    raise AssertionError("called without a bad id")
