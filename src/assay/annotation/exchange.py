"""Which grades did an annotator give in another tool: a spreadsheet, or Label Studio?

CSV has the columns ``query_id, chunk_id, grade, comment``; others are ignored. Label Studio exports
JSON: a list of tasks with ``data`` as we wrote it and ``annotations`` with a choice (or a rating)
named ``grade`` and a text named ``comment``. Rows without a grade are not done yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay import limits
from assay.delimited import read_table
from assay.errors import FormatError, LimitError, Problem, ProblemsError
from assay.strict_json import values

CANNOT_JUDGE = "cannot judge"
CSV_COLUMNS = ("query_id", "query", "chunk_id", "title", "section", "text", "grade", "comment")
NOT_DONE = "not graded yet"
_DEFUSED = ("'=", "'+", "'-", "'@", "'\t", "'\r")


@dataclass(frozen=True, slots=True)
class Said:
    """One grade from a file; None means that it cannot be judged."""

    query_id: str
    chunk_id: str
    grade: int | None
    comment: str
    line: int


def read_grades(data: bytes, source: str) -> tuple[Said, ...]:
    """The grades of a CSV file or of a Label Studio export; every bad row is listed."""
    if len(data) > limits.MAX_YAML_BYTES:
        raise LimitError(f"{source} is larger than {limits.MAX_YAML_BYTES:,} bytes")
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    rows = _label_studio(data, source) if start in (b"[", b"{") else _csv(data, source)
    found: dict[tuple[str, str], Said] = {}
    problems: list[Problem] = []
    for line, row in rows:
        grade, reason = _grade(row["grade"])
        if reason == NOT_DONE:
            continue
        query_id, chunk_id = str(row["query_id"]), str(row["chunk_id"])
        if not query_id or not chunk_id:
            reason = "query_id or chunk_id is missing"
        elif (query_id, chunk_id) in found:
            reason = f"{chunk_id} is graded twice"
        if reason is None:
            said = Said(query_id, chunk_id, grade, str(row["comment"]), line)
            found[query_id, chunk_id] = said
        else:
            problems.append(Problem(reason, source, line, query_id or None))
    if problems:
        raise ProblemsError(source, problems)
    return tuple(found.values())


def _grade(value: object) -> tuple[int | None, str | None]:
    """A grade, and what is wrong with it."""
    text = "" if value is None else str(value).strip().casefold().replace("_", " ")
    if not text:
        return None, NOT_DONE
    if text in (CANNOT_JUDGE, "x"):
        return None, None
    if len(text) == 1 and text in "0123"[: limits.MAX_GOLDEN_GRADE + 1]:
        return int(text), None
    return None, f"{str(value)!r:.40} is not a grade: 0 to 3, or {CANNOT_JUDGE}"


def _csv(data: bytes, source: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    needed = ("query_id", "chunk_id", "grade")
    for line, row in read_table(data, source, frozenset(needed)):
        yield line, {name: _restored(row.get(name, "")) for name in (*needed, "comment")}


def _restored(cell: str) -> str:
    """A cell without the quote that protects it from being read as a formula."""
    return cell[1:] if cell.startswith(_DEFUSED) else cell


def _label_studio(data: bytes, source: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, value in values(data, source):
        for number, task in enumerate(value if isinstance(value, list) else [value], 1):
            if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
                raise FormatError(
                    f"task {number} has no data", source=source, line=line, hint="export as JSON"
                )
            given = task.get("annotations")
            done = [
                one
                for one in (given if isinstance(given, list) else [])
                if isinstance(one, dict) and not one.get("was_cancelled")
            ]
            if len(done) > 1:
                raise FormatError(
                    f"task {number} has {len(done)} annotations",
                    source=source,
                    line=line,
                    hint="export one annotator at a time",
                )
            answers = done[0].get("result") if done else []
            yield (
                number,
                {
                    "query_id": task["data"].get("query_id", ""),
                    "chunk_id": task["data"].get("chunk_id", ""),
                    **_answers(answers if isinstance(answers, list) else []),
                },
            )


def _answers(result: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"grade": "", "comment": ""}
    for one in result:
        value = one.get("value") if isinstance(one, dict) else None
        name = one.get("from_name") if isinstance(one, dict) else None
        if not isinstance(value, dict) or not isinstance(name, str) or name not in found:
            continue
        chosen = value.get("choices") or value.get("text") or value.get("rating")
        if chosen is None:
            chosen = ""
        found[name] = " ".join(map(str, chosen)) if isinstance(chosen, list) else chosen
    return found
