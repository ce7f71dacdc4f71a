"""How do test sets, their problems, their differences and their upkeep read in a terminal?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.annotation.overfit import Fit, Overfitting
from assay.annotation.reanchor import Anchor
from assay.errors import Problem
from assay.model.run_store import HeldOutUse
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.plural import counted
from assay.render.tables import aligned
from assay.stats.paired import PairedT
from assay.testsets.diff import FieldChange, JudgmentChange, TestSetDiff
from assay.testsets.write import as_plain, query_as_plain

PREVIEW = 70
VERDICTS = {
    Fit.NO_GAIN: "the evaluation queries did not improve, so there is nothing to check",
    Fit.GENERAL: "the held-out queries improved, too",
    Fit.POSSIBLE: "ALARM: the evaluation queries improved and the held-out ones did not; it may be"
    " chance",
    Fit.LIKELY: "ALARM: the evaluation queries improved, the held-out ones did not or by less, and"
    " chance does not explain it: the system is probably fitted to the questions",
}


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
    grades = Counter(
        judgment.grade for query in test_set.queries for judgment in query.relevant_docs
    )
    return {
        "name": test_set.name,
        "version": test_set.version,
        "checksum": test_set.checksum,
        "counts": {
            "queries": len(test_set.queries),
            "judgments": sum(grades.values()),
            "held_out": len(test_set.held_out_ids),
            "skipped": len(test_set.skipped),
            "by_query_type": _most_first(_type(query) for query in test_set.queries),
            "by_expect": _most_first(query.expect.value for query in test_set.queries),
            "by_speaker": _most_first(str(query.speaker_filter) for query in test_set.queries),
            "by_grade": {str(grade): grades[grade] for grade in sorted(grades)},
        },
    }


def set_json(test_set: TestSet, shown: TestSet) -> dict[str, Any]:
    """The figures of the whole set, and the set as it may be shown, as values for JSON."""
    return {**summary(test_set), **as_plain(shown)}


def query_json(query: GoldenQuery, *, held_out: bool) -> dict[str, Any]:
    """One query as values for JSON."""
    return {**query_as_plain(query), "held_out": held_out}


def size(test_set: TestSet) -> str:
    """How many queries and judgments there are."""
    judged = sum(len(query.relevant_docs) for query in test_set.queries)
    skipped = len(test_set.skipped)
    more = f", {counted(skipped, 'query')} skipped for want of ground truth" if skipped else ""
    return f"{counted(len(test_set.queries), 'query')}, {counted(judged, 'judgment')}{more}"


def set_text(test_set: TestSet, shown: Sequence[GoldenQuery]) -> str:
    """The figures of the whole set, and a line for each query as it may be shown."""
    counts = summary(test_set)["counts"]
    head = [f"{test_set.name}  version {test_set.version}  checksum {test_set.checksum[:12]}"]
    if test_set.description:
        head.append(test_set.description)
    rows = [
        ("queries", _listed(counts["by_query_type"], counts["queries"])),
        ("expect", _listed(counts["by_expect"])),
        ("speaker", _listed(counts["by_speaker"])),
        ("judgments", _listed(counts["by_grade"], counts["judgments"], "grade ")),
    ]
    if test_set.held_out is not None:
        rows.append(("held out", f"{counts['held_out']} (seed {test_set.held_out.seed})"))
    if test_set.skipped:
        rows.append(("skipped", f"{len(test_set.skipped)} without ground truth"))
    rows += [("note", line) for line in test_set.cautions]
    queries = [("query", "type", "expect", "relevant", "held out", "text")]
    for query in shown:
        masked = query != test_set.by_id[query.query_id]
        relevant = sum(judgment.grade > 0 for judgment in query.relevant_docs)
        queries.append(
            (
                query.query_id,
                _type(query),
                query.expect.value,
                "—" if masked else str(relevant),
                "yes" if query.query_id in test_set.held_out_ids else "",
                _short(f"(synthetic) {query.query_text}" if query.synthetic else query.query_text),
            )
        )
    return "\n".join([*head, aligned(rows), "", aligned(queries)])


def query_text(query: GoldenQuery, *, held_out: bool) -> str:
    """One query with its judgments."""
    marks = [_type(query), f"expect {query.expect.value}", f"speaker {query.speaker_filter}"]
    if query.ingestion_mode is not None:
        marks.append(f"ingestion {query.ingestion_mode}")
    if query.group is not None:
        marks.append(f"group {query.group}")
    if query.synthetic is not None:
        marks.append(f"synthetic, made from {query.synthetic}")
    if held_out:
        marks.append("held out")
    lines = [f"{query.query_id}  {query.query_text}", " · ".join(marks)]
    for label, texts in (("must contain", query.must_contain), ("forbidden", query.forbidden)):
        if texts:
            lines.append(f"{label}: {', '.join(map(repr, texts))}")
    if query.reference is not None:
        lines.append(f"right answer: {query.reference}")
    lines += [f"  {'vital' if one.vital else 'okay '}  {one.text}" for one in query.nuggets]
    ordered = sorted(query.relevant_docs, key=lambda judgment: (-judgment.grade, judgment.id))
    if ordered:
        rows = [(f"  grade {one.grade}", one.id, _spans(one)) for one in ordered]
        lines.append(aligned(rows))
    return "\n".join(lines)


def diff_text(before: TestSet, after: TestSet, changes: TestSetDiff) -> str:
    """Every difference, a line each; sets and differences come as they may be shown."""
    lines = [f"{before.name} {before.version} -> {after.name} {after.version}"]
    if changes.same:
        return "\n".join([*lines, "the same queries, judged alike"])
    lines += [f"- {name}  {_short(before.by_id[name].query_text)}" for name in changes.removed]
    lines += [f"+ {name}  {_short(after.by_id[name].query_text)}" for name in changes.added]
    lines += [f"~ {one.query_id}  {one.name}: {_values(one)}" for one in changes.changed]
    lines += [f"~ {one.query_id}  {_regraded(one)}" for one in changes.judgments]
    if changes.held_out_in or changes.held_out_out:
        lines.append(f"~ held out: +{len(changes.held_out_in)} -{len(changes.held_out_out)}")
    if changes.reordered:
        lines.append("~ the queries are in another order")
    return "\n".join(lines)


def looks_text(test_set: TestSet, uses: Sequence[HeldOutUse]) -> str:
    """How often people looked at the held-out part, when and what for."""
    head = f"{test_set.name}: {counted(len(test_set.held_out_ids), 'query', 'is')} held out"
    if not uses:
        return f"{head}\nnobody has looked at them here"
    rows = [(use.at, use.version, use.purpose, use.run_id) for use in uses]
    often = f"looked at {counted(len(uses), 'time')}; each look makes them less of a surprise"
    return "\n".join([head, often, aligned(rows)])


def overfitting_text(found: Overfitting) -> str:
    """The verdict first, then the figures behind it."""
    rows = [
        (found.measure, "queries", "gain", "95% CI", "p"),
        ("evaluation", *_gain(found.evaluation)),
        ("held out", *_gain(found.held_out)),
    ]
    lines = [VERDICTS[found.fit], aligned(rows)]
    low, high = found.gap_interval.low, found.gap_interval.high
    between = "" if low is None or high is None else f", 95% CI [{low:+.4f}, {high:+.4f}]"
    if found.gap is not None:
        lines.append(f"gap between the gains {found.gap:+.4f}{between}")
    return "\n".join(lines)


def anchor_text(anchor: Anchor) -> str:
    """What became of one judgment: from where to where, and why."""
    goal = ", ".join(anchor.after) or "nowhere"
    why = f": {anchor.why}" if anchor.why else ""
    moved = f"{anchor.before} -> {goal} (grade {anchor.grade}){why}"
    return f"{anchor.fate}  {anchor.query_id}  {moved}"


def _type(query: GoldenQuery) -> str:
    return str(query.query_type or "untyped")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= PREVIEW else f"{text[: PREVIEW - 3]}..."


def _spans(judgment: Judgment) -> str:
    return ", ".join(f"{start}-{end}" for start, end in judgment.spans)


def _values(change: FieldChange) -> str:
    if change.before == change.after:
        return str(change.after)
    return f"{change.before!r} -> {change.after!r}"


def _regraded(change: JudgmentChange) -> str:
    if change.masked:
        return f"judgments: {change.id}"
    return f"{change.id}: {_graded(change.before)} -> {_graded(change.after)}"


def _graded(judgment: Judgment | None) -> str:
    if judgment is None:
        return "not judged"
    return f"grade {judgment.grade}" + (f" at {_spans(judgment)}" if judgment.spans else "")


def _gain(side: PairedT) -> tuple[str, str, str, str]:
    low, high = side.interval.low, side.interval.high
    return (
        str(side.n),
        "—" if side.difference is None else f"{side.difference:+.4f}",
        "—" if low is None or high is None else f"[{low:+.4f}, {high:+.4f}]",
        "—" if side.p is None else f"{side.p:.4f}",
    )


def _most_first(values: Iterable[str]) -> dict[str, int]:
    counts = Counter(values)
    return {name: counts[name] for name in sorted(counts, key=lambda name: (-counts[name], name))}


def _listed(counts: Mapping[str, int], total: int | None = None, lead: str = "") -> str:
    parts = ", ".join(f"{count} {lead}{name}" for name, count in counts.items())
    return parts if total is None else f"{total}: {parts}" if parts else str(total)
