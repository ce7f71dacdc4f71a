"""How do test sets, their problems and their differences read in a terminal?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from assay.cli.console import emit_columns, emit_text
from assay.errors import Problem
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.testsets.diff import FieldChange, JudgmentChange, TestSetDiff

PREVIEW = 70


def problem_json(problem: Problem) -> dict[str, Any]:
    """One problem as values for JSON."""
    return {
        "file": problem.source,
        "line": problem.line,
        "query_id": problem.query_id,
        "message": problem.message,
        "hint": problem.hint,
    }


def summary(test_set: TestSet) -> dict[str, Any]:
    """The figures of a test set as values for JSON."""
    grades = Counter(item.grade for query in test_set.queries for item in query.relevant_docs)
    return {
        "name": test_set.name,
        "version": test_set.version,
        "checksum": test_set.checksum,
        "counts": {
            "queries": len(test_set.queries),
            "judgments": sum(grades.values()),
            "held_out": len(test_set.held_out_ids),
            "skipped": len(test_set.skipped),
            "by_query_type": _counted(_type(query) for query in test_set.queries),
            "by_expect": _counted(query.expect.value for query in test_set.queries),
            "by_speaker": _counted(str(query.speaker_filter) for query in test_set.queries),
            "by_grade": {str(grade): grades[grade] for grade in sorted(grades)},
        },
    }


def print_set(test_set: TestSet, shown: Sequence[GoldenQuery]) -> None:
    """The figures of the whole set, and a line for each query as it may be shown."""
    counts = summary(test_set)["counts"]
    emit_text(f"{test_set.name}  version {test_set.version}  checksum {test_set.checksum[:12]}")
    if test_set.description:
        emit_text(test_set.description)
    rows = [("queries", _listed(counts["by_query_type"], counts["queries"]))]
    rows.append(("expect", _listed(counts["by_expect"])))
    rows.append(("speaker", _listed(counts["by_speaker"])))
    rows.append(("judgments", _listed(counts["by_grade"], counts["judgments"], "grade ")))
    if test_set.held_out is not None:
        rows.append(("held out", f"{counts['held_out']} (seed {test_set.held_out.seed})"))
    if test_set.skipped:
        rows.append(("skipped", f"{len(test_set.skipped)} without ground truth"))
    emit_columns(rows)
    emit_text("")
    held = test_set.held_out_ids
    emit_columns(
        [
            ("query", "type", "expect", "relevant", "held out", "text"),
            *(
                _row(
                    query,
                    held_out=query.query_id in held,
                    masked=query != test_set.by_id[query.query_id],
                )
                for query in shown
            ),
        ]
    )


def print_query(query: GoldenQuery, *, held_out: bool) -> None:
    """One query with its judgments."""
    emit_text(f"{query.query_id}  {query.query_text}")
    marks = [_type(query), f"expect {query.expect.value}", f"speaker {query.speaker_filter}"]
    if query.ingestion_mode is not None:
        marks.append(f"ingestion {query.ingestion_mode}")
    if query.group is not None:
        marks.append(f"group {query.group}")
    if held_out:
        marks.append("held out")
    emit_text(" · ".join(marks))
    for label, texts in (("must contain", query.must_contain), ("forbidden", query.forbidden)):
        if texts:
            emit_text(f"{label}: {', '.join(map(repr, texts))}")
    ordered = sorted(query.relevant_docs, key=lambda item: (-item.grade, item.id))
    if ordered:
        emit_columns([(f"  grade {item.grade}", item.id, _spans(item)) for item in ordered])


def print_diff(before: TestSet, after: TestSet, found: TestSetDiff) -> None:
    """Every difference, a line each; sets and differences come as they are to be shown."""
    emit_text(f"{before.name} {before.version} -> {after.name} {after.version}")
    if found.same:
        emit_text("the same queries, judged alike")
        return
    for query_id in found.removed:
        emit_text(f"- {query_id}  {_short(before.by_id[query_id].query_text)}")
    for query_id in found.added:
        emit_text(f"+ {query_id}  {_short(after.by_id[query_id].query_text)}")
    for change in found.changed:
        emit_text(f"~ {change.query_id}  {change.name}: {_values(change)}")
    for item in found.judgments:
        emit_text(f"~ {item.query_id}  {_grades(item)}")
    if found.held_out_in or found.held_out_out:
        emit_text(f"~ held out: +{len(found.held_out_in)} -{len(found.held_out_out)}")
    if found.reordered:
        emit_text("~ the queries stand in another order")


def _row(query: GoldenQuery, *, held_out: bool, masked: bool) -> tuple[str, ...]:
    relevant = sum(item.grade > 0 for item in query.relevant_docs)
    return (
        query.query_id,
        _type(query),
        query.expect.value,
        "—" if masked else str(relevant),
        "yes" if held_out else "",
        _short(query.query_text),
    )


def _type(query: GoldenQuery) -> str:
    return str(query.query_type or "untyped")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= PREVIEW else f"{text[: PREVIEW - 3]}..."


def _spans(item: Judgment) -> str:
    return ", ".join(f"{start}-{end}" for start, end in item.spans)


def _values(change: FieldChange) -> str:
    if change.before == change.after:
        return str(change.after)
    return f"{change.before!r} -> {change.after!r}"


def _grades(item: JudgmentChange) -> str:
    if item.masked:
        return f"judgments: {item.id}"
    return f"{item.id}: {_graded(item.before)} -> {_graded(item.after)}"


def _graded(item: Judgment | None) -> str:
    if item is None:
        return "not judged"
    return f"grade {item.grade}" + (f" at {_spans(item)}" if item.spans else "")


def _counted(values: Any) -> dict[str, int]:
    counts = Counter(values)
    return {name: counts[name] for name in sorted(counts, key=lambda one: (-counts[one], one))}


def _listed(counts: dict[str, int], total: int | None = None, lead: str = "") -> str:
    parts = ", ".join(f"{count} {lead}{name}" for name, count in counts.items())
    return parts if total is None else f"{total}: {parts}" if parts else str(total)
