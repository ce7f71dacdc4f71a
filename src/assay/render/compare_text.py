"""How does the comparison of two runs read as tables, Markdown or CSV?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.evaluation.compare import CompareReport, ComparisonKind, QueryComparison
from assay.evaluation.defaults import COMPARE_RECIPROCAL_RANK, HIT_DEPTH
from assay.evaluation.scores import shown
from assay.measures.base import Family
from assay.measures.catalog import DEFINITIONS
from assay.plural import counted
from assay.render.escape import markdown_cell
from assay.render.numbers import between, milliseconds, milliseconds_between, signed
from assay.render.rulings import P_COLUMNS, RULINGS, disagreements, legend, p_values, rulings
from assay.render.tables import Table, comma_separated, footnoted, markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.evaluation.ab import ABResult
    from assay.evaluation.claim_changes import ClaimChange
    from assay.evaluation.latency import LatencyChange
    from assay.evaluation.significance import Contrast

CSV_HEADER = ("run_a", "run_b", "query", "kind", "a_hit_rank", "b_hit_rank", "note")
MOST_ROWS = 50
ANSWER_NAMES = {one.key: one.name for one in DEFINITIONS if one.family is Family.ANSWER}
COUNTS = (
    "total_queries",
    "skipped_queries",
    "unasked_queries",
    "failed_queries",
    "degraded_queries",
)
RARE_COUNTS = COUNTS[1:3]
"""Shown where there are any."""
CHANGED = (ComparisonKind.REGRESSION, ComparisonKind.LOSS, ComparisonKind.WIN)


def compare_tables(report: CompareReport, *, most: int = MOST_ROWS) -> list[Table]:
    """Aggregates with their deltas, what differs, then the queries that changed."""
    rows = [
        (row.name, shown(row.a), shown(row.b), signed(row.delta)) for row in measure_rows(report)
    ]
    rows += [
        (name, str(one), str(other), f"{other - one:+d}" if other - one else "0")
        for name, one, other in count_rows(report)
    ]
    tables = [
        Table(
            ("measure", "a", "b", "b − a"),
            tuple(rows),
            title=f"{report.run_b} (b) against {report.run_a} (a), {report.matched}",
        )
    ]
    if report.differences:
        tables.append(
            Table(
                ("kind", "setting", "a", "b"),
                tuple((d.kind, d.key, d.a, d.b) for d in report.differences),
                title="What differs between the runs",
                text_columns=frozenset({0, 1, 2, 3}),
                wrapped=frozenset({1, 2, 3}),
            )
        )
    for kind in CHANGED:
        found = [query for query in report.per_query if query.kind is kind]
        if found:
            tables.append(_queries(kind, found, most))
    if report.claims:
        tables.append(_claims(report.claims, most))
    return tables


def _claims(changes: Sequence[ClaimChange], most: int) -> Table:
    """Claims of judged answers that flipped, or came or went without support."""
    flipped = sum(one.flipped for one in changes)
    rows = tuple(
        (
            one.query_id,
            one.change,
            "" if one.before is None else f"{one.before.label}: {one.before.text}",
            "" if one.after is None else f"{one.after.label}: {one.after.text}",
        )
        for one in sorted(changes, key=lambda one: one.change != "worse")[:most]
    )
    more = len(changes) - len(rows)
    return Table(
        ("query", "change", "claim in a", "claim in b"),
        rows,
        title=f"Claims that changed ({flipped} flipped)",
        text_columns=frozenset({0, 1, 2, 3}),
        wrapped=frozenset({2, 3}),
        notes=(f"and {more} more",) if more else (),
    )


def count_rows(report: CompareReport) -> list[tuple[str, int, int]]:
    """How many queries of each run there are, and how many were skipped, failed and so on."""
    sides = (report.aggregate_a, report.aggregate_b)
    return [
        (name.replace("_", " "), one, other)
        for name in COUNTS
        for one, other in [[int(getattr(side, name)) for side in sides]]
        if one or other or name not in RARE_COUNTS
    ]


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure of both runs, under the name that people know."""

    name: str
    a: float | None
    b: float | None
    delta: float | None
    less_is_better: bool = False


def measure_rows(report: CompareReport) -> list[MeasureRow]:
    """The measures of the runs, what is always reported, what was asked for: each of them once."""
    rows = {
        name: MeasureRow(name, a, b, None if a is None or b is None else b - a)
        for name, (a, b) in report.headline.items()
    }
    flat_a, flat_b = report.aggregate_a.flat(), report.aggregate_b.flat()
    for key, delta in report.deltas.items():
        less = key == "empty_result_rate"
        row = MeasureRow(_name(key), flat_a.get(key), flat_b.get(key), delta, less)
        rows.setdefault(row.name, row)
    return list(rows.values())


def _name(key: str) -> str:
    """A field of the report under the name of its measure."""
    if hit := re.fullmatch(r"hit_at_(\d+)", key):
        return f"Success@{hit[1]}"
    if recall := re.fullmatch(r"recall_at_(\d+)_doc", key):
        return f"Recall@{recall[1]} of documents"
    return COMPARE_RECIPROCAL_RANK if key == "mrr" else ANSWER_NAMES.get(key, key)


def counts_line(report: CompareReport) -> str:
    """How many queries there are of each kind and what decides it, in one line."""
    counts = report.counts
    kinds = ", ".join(counted(counts[kind], kind.value.lower()) for kind in ComparisonKind)
    return f"{kinds}, by the rank of the first relevant result in the top {HIT_DEPTH}"


def render_report_md(report: CompareReport) -> str:
    """The comparison as one Markdown file, for people."""
    lines = [
        f"# Comparison: {markdown_cell(report.run_b)} against {markdown_cell(report.run_a)}",
        "",
        f"{counts_line(report)}; results {report.matched}.",
    ]
    if report.warnings:
        lines += ["", *(f"> **Note:** {markdown_cell(line)}" for line in report.warnings)]
    return footnoted("\n".join([*lines, "", markdown(compare_tables(report)), ""]))


def compare_csv(report: CompareReport) -> str:
    """One line for each query."""
    return comma_separated(
        CSV_HEADER,
        [
            (
                report.run_a,
                report.run_b,
                query.query_id,
                query.kind.value,
                _rank(query.a_hit_rank, ""),
                _rank(query.b_hit_rank, ""),
                query.note or "",
            )
            for query in report.per_query
        ],
    )


def ab_tables(result: ABResult) -> list[Table]:
    """Each measure, each measure by type, and the latency."""
    first = _contrasts(result.contrasts, "All queries", result)
    tables = [replace(first, notes=(*legend(result), *first.notes))]
    if len(result.by_type) > 1:
        tables += [_of_type(kind, found, result) for kind, found in result.by_type.items()]
    return [*tables, _latency(result.latency)]


def _of_type(kind: str, contrasts: tuple[Contrast, ...], result: ABResult) -> Table:
    table = _contrasts(contrasts, kind, result)
    return replace(table, notes=tuple(f"{kind}, {note}" for note in table.notes))


def _latency(latency: LatencyChange) -> Table:
    sides = (
        ("a", latency.a, False),
        ("b", latency.b, False),
        ("b − a", latency.difference, True),
    )
    rows: list[tuple[str, ...]] = [
        (name, *(milliseconds(time, sign=sign) for time in (took.mean, took.p50, took.p95)))
        for name, took, sign in sides
    ]
    columns = ["run", "mean", "P50", "P95"]
    if latency.repeats is not None:
        columns.append(f"{latency.interval.level:.0%} CI of the mean")
        ends = ("", "", milliseconds_between(latency.interval))
        rows = [(*row, end) for row, end in zip(rows, ends, strict=True)]
    return Table(
        tuple(columns),
        tuple(rows),
        title=f"Latency of {counted(latency.n, 'query')}",
        notes=(f"latency: {latency.remark}",) if latency.n else (),
    )


def ab_markdown(result: ABResult) -> str:
    """The A/B result as one Markdown file, with the comparison below it."""
    head = f"# A/B: {markdown_cell(result.compared.run_b)} against "
    head += markdown_cell(result.compared.run_a)
    verdict = f"**{result.primary.ruling.verdict.value}**: {markdown_cell(result.verdict)}"
    tables = (markdown(ab_tables(result)), render_report_md(result.compared))
    return footnoted("\n\n".join([head, verdict, *tables]))


def _contrasts(contrasts: tuple[Contrast, ...], title: str, result: ABResult) -> Table:
    level = f"{result.a.sampling.level:.0%}"
    return Table(
        ("measure", "a", "b", "b − a", f"{level} CI", "MDE", *P_COLUMNS, *RULINGS),
        tuple(
            (
                str(c.measure),
                shown(c.baseline),
                shown(c.value),
                signed(c.difference),
                between(c.interval, signed=True),
                shown(c.detectable),
                *p_values(c),
                *rulings(c),
            )
            for c in contrasts
        ),
        title=f"{title} ({counted(contrasts[0].n, 'query')})",
        notes=disagreements(contrasts),
        text_columns=frozenset({0, 8, 9}),
        optional=(5, 6, 7, 4),
        below=(8, 9),
    )


def _queries(kind: ComparisonKind, found: list[QueryComparison], most: int) -> Table:
    """Queries of one kind; what the runs differ in as a whole is not said again for each."""
    plural = {"Win": "Wins", "Loss": "Losses", "Regression": "Regressions"}[kind.value]
    shown_ones = found[:most]
    noted = any(q.own for q in shown_ones)
    return Table(
        ("query", "rank in a", "rank in b", *(("note",) if noted else ())),
        tuple(
            (
                q.query_id,
                _rank(q.a_hit_rank),
                _rank(q.b_hit_rank),
                *((q.own or "",) if noted else ()),
            )
            for q in shown_ones
        ),
        title=f"{plural} ({len(found)})",
        text_columns=frozenset({0, 3}),
        wrapped=frozenset({3}),
        notes=(f"{len(found) - most} more are not shown",) if len(found) > most else (),
    )


def _rank(rank: int | None, none: str = "—") -> str:
    return none if rank is None else str(rank)
