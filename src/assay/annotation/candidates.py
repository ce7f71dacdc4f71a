"""What did people ask, how often, and how did it go?

Candidates come from the query log or from a file: CSV with a header, or JSON lines. ``query`` is
required; ``times``, ``zero_results``, ``top_score`` and ``degraded`` are optional. Rows with the
same words are counted together, and degraded ones are left out: the results of a broken search say
nothing about the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import limits
from assay.delimited import read_table
from assay.errors import FormatError, InputError, LimitError
from assay.plain_file import read_plain
from assay.strict_json import values

TEXT_KEYS = ("query", "query_text", "text")
COUNT_KEYS = ("times", "count", "frequency")
TABLES = frozenset({".csv", ".tsv", ".tab", ".txt"})
TRUE, FALSE = frozenset({"1", "true", "yes"}), frozenset({"", "0", "false", "no"})


@dataclass(frozen=True, slots=True)
class QueryCandidate:
    """One wording: how often it was searched, and how often without any result."""

    text: str
    times: int = 1
    zero_results: int = 0
    top_score: float | None = None

    def plus(self, other: QueryCandidate) -> QueryCandidate:
        """Both combined; scores are averaged, weighted by frequency."""
        scores = [(one.top_score, one.times) for one in (self, other) if one.top_score is not None]
        total = sum(times for _, times in scores)
        return QueryCandidate(
            self.text,
            self.times + other.times,
            self.zero_results + other.zero_results,
            sum(score * times for score, times in scores) / total if total else None,
        )


def gathered(candidates: Iterable[QueryCandidate]) -> tuple[QueryCandidate, ...]:
    """Candidates merged by words, ignoring case and blanks, in order of first use."""
    found: dict[str, QueryCandidate] = {}
    for one in candidates:
        key = " ".join(one.text.casefold().split())
        if key:
            found[key] = found[key].plus(one) if key in found else one
    if len(found) > limits.MAX_CANDIDATES:
        raise LimitError(
            f"{len(found):,} different queries, and {limits.MAX_CANDIDATES:,} are allowed",
            hint="shorten the period, or leave out rare queries",
        )
    return tuple(found.values())


def read_candidates(path: Path) -> tuple[QueryCandidate, ...]:
    """The candidates of a CSV file or of JSON lines; the suffix decides."""
    data = read_plain(path, limits.MAX_YAML_BYTES, hint="check the path")
    rows = (
        read_table(data, str(path), numbers=frozenset({"top_score"}))
        if path.suffix.lower() in TABLES
        else _jsonl(data, str(path))
    )
    found = [_candidate(row, str(path), line) for line, row in rows]
    candidates = gathered(one for one in found if one is not None)
    if not candidates:
        raise InputError(f"{path} holds no query that can be used")
    return candidates


def _jsonl(data: bytes, source: str) -> Iterable[tuple[int, Mapping[str, Any]]]:
    for line, row in values(data, source):
        if not isinstance(row, dict):
            raise FormatError("a query is an object with query", source=source, line=line)
        yield line, row


def _candidate(row: Mapping[str, Any], source: str, line: int) -> QueryCandidate | None:
    """A row as a candidate; None if the search was degraded."""
    text = next((row[key] for key in TEXT_KEYS if key in row), None)
    if not isinstance(text, str):
        raise FormatError(
            "no query", source=source, line=line, hint=f"a column {', '.join(TEXT_KEYS)}"
        )
    if len(text) > limits.MAX_QUERY_CHARS:
        raise FormatError("the query is too long", source=source, line=line)
    if _switch(row.get("degraded", ""), source, line):
        return None
    times = next((row[key] for key in COUNT_KEYS if key in row), 1)
    return QueryCandidate(
        " ".join(text.split()),
        _whole(times, "times", source, line, least=1),
        _whole(row.get("zero_results", 0), "zero_results", source, line),
        _number(row.get("top_score"), source, line),
    )


def _switch(value: object, source: str, line: int) -> bool:
    text = str(value).strip().casefold()
    if text not in TRUE | FALSE:
        raise FormatError(f"degraded is {value!r:.40}", source=source, line=line, hint="1 or 0")
    return text in TRUE


def _whole(value: object, name: str, source: str, line: int, *, least: int = 0) -> int:
    text = str(value).strip() or str(least)
    plain = text.isascii() and text.isdigit() and len(text) <= 12
    if isinstance(value, bool) or not plain or int(text) < least:
        raise FormatError(f"{name} is {value!r:.40}", source=source, line=line, hint="a count")
    return int(text)


def _number(value: object, source: str, line: int) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value) if isinstance(value, (int, float, str)) else float("nan")
    except (ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, bool) or not abs(number) < float("inf"):
        raise FormatError(f"top_score is {value!r:.40}", source=source, line=line, hint="a number")
    return number
