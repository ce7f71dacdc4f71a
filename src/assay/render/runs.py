"""How do stored runs read: one after the other, over time, and query by query?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.evaluation.defaults import HISTORY_MEASURES
from assay.measures.base import Measure
from assay.measures.parse import parse_measures
from assay.model.runs import QueryOutcome, RunInfo
from assay.plural import counted
from assay.render.tables import Table

SHOWN_RESULTS = 20


def runs_table(runs: Sequence[RunInfo]) -> Table:
    """A line for each run, with the measures that most runs have."""
    shown = parse_measures(HISTORY_MEASURES)
    rows = []
    for info in runs:
        metrics = info.aggregate.get("metrics", {})
        rows.append(
            (
                info.run_id,
                info.name,
                f"{info.suite} {info.test_set_version}",
                info.part,
                str(info.status),
                str(info.queries),
                *(_value(metrics.get(measure.key)) for measure in shown),
                ", ".join(info.tags),
            )
        )
    return Table(
        (
            "run",
            "name",
            "test set",
            "part",
            "status",
            "queries",
            *map(str, shown),
            "tags",
        ),
        tuple(rows),
        text_columns=frozenset({0, 1, 2, 3, 4, 9}),
        optional=(3, 4, 5, 8, 7, 2),
        wrapped=frozenset({1, 9}),
    )


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def history_json(
    suite: str, runs: Sequence[RunInfo], measures: Sequence[Measure]
) -> dict[str, Any]:
    """The runs of a suite from the oldest to the newest, with the trend of each measure."""
    values = {m.key: [_metric(info, m) for info in runs] for m in measures}
    return {
        "suite": suite,
        "runs": [
            {
                "run_id": info.run_id,
                "name": info.name,
                "created_at": info.created_at,
                "test_set_version": info.test_set_version,
                "part": info.part,
                "tags": list(info.tags),
                "metrics": {key: column[at] for key, column in values.items()},
            }
            for at, info in enumerate(runs)
        ],
        "trend": {key: _trend(column) for key, column in values.items()},
    }


def history_table(suite: str, runs: Sequence[RunInfo], measures: Sequence[Measure]) -> Table:
    """A line for each run; the change against the run before stands behind each value."""
    columns = [[_metric(info, m) for info in runs] for m in measures]
    rows = tuple(
        (
            info.created_at[:16].replace("T", " "),
            info.run_id,
            ", ".join(filter(None, (info.name, *info.tags))),
            *(_changed(column, at) for column in columns),
        )
        for at, info in enumerate(runs)
    )
    notes = []
    for measure, column in zip(measures, columns, strict=True):
        if (trend := _trend(column)) is not None:
            notes.append(
                f"{measure}: {trend['first']:.4f} → {trend['last']:.4f}, {trend['direction']}"
            )
    if len({info.test_set_checksum for info in runs}) > 1:
        notes.append("the queries were not the same in all runs: compare with care")
    return Table(
        ("date", "run", "name, tags", *map(str, measures)),
        rows,
        title=f"{suite}, {counted(len(runs), 'run')}",
        text_columns=frozenset({0, 1, 2}),
        notes=tuple(notes),
        optional=(0, *range(len(measures) + 2, 4, -1)),
        wrapped=frozenset({2}),
    )


def query_table(outcome: QueryOutcome, grades: Mapping[int, int], missed: Sequence[str]) -> Table:
    """A query's ranking with the grades of what was judged, by rank; what was missed below it."""
    components = tuple(dict.fromkeys(name for r in outcome.results for name in r.ranks))
    rows = [
        (
            str(rank),
            result.chunk_id,
            str(grades.get(rank, "")),
            "—" if result.score is None else f"{result.score:.4f}",
            *(str(result.ranks.get(name, "—")) for name in components),
        )
        for rank, result in enumerate(outcome.results[:SHOWN_RESULTS], 1)
    ]
    notes = [
        *([f"failed: {outcome.error}"] if outcome.error else []),
        *([f"not answered: {outcome.answer_error}"] if outcome.answer_error else []),
        *outcome.warnings,
    ]
    if outcome.component_errors:
        notes.append(f"degraded: {', '.join(outcome.component_errors)}")
    if missed:
        notes.append(f"relevant and not found: {', '.join(missed)}")
    return Table(
        ("rank", "id", "grade", "score", *components),
        tuple(rows),
        text_columns=frozenset({1}),
        notes=tuple(notes),
    )


def _metric(info: RunInfo, measure: Measure) -> float | None:
    value = info.aggregate.get("metrics", {}).get(measure.key)
    return value if isinstance(value, (int, float)) else None


def _changed(column: Sequence[float | None], at: int) -> str:
    value, before = column[at], column[at - 1] if at else None
    if value is None:
        return "—"
    return f"{value:.4f}" + (f" ({value - before:+.4f})" if before is not None else "")


def _trend(column: Sequence[float | None]) -> dict[str, Any] | None:
    """From the first to the last run that has the measure."""
    known = [value for value in column if value is not None]
    if len(known) < 2:
        return None
    change = round(known[-1] - known[0], 4)
    direction = "up" if change > 0 else "down" if change < 0 else "level"
    return {"first": known[0], "last": known[-1], "change": change, "direction": direction}
