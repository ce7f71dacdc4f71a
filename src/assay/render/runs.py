"""How do stored runs read: one after the other, over time, and query by query?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.evaluation.defaults import HISTORY_MEASURES
from assay.evaluation.history import (
    SHOWN_HASH,
    History,
    Series,
    column_of,
    metric_of,
    trend_of,
)
from assay.evaluation.scope import total_text
from assay.measures.parse import parse_measures
from assay.model.judges import JudgedClaim
from assay.model.runs import QueryOutcome, RunInfo
from assay.plural import counted
from assay.render.tables import Table

SHOWN_RESULTS = 20


def runs_table(runs: Sequence[RunInfo], notes: tuple[str, ...] = ()) -> Table:
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
                ", ".join((info.part, *info.scoring.rule_notes)),
                "figures only" if info.figures_only else _state(info),
                str(info.total),
                *(_value(metrics.get(measure.key)) for measure in shown),
                ", ".join(info.tags),
            )
        )
    ruled = any(info.scoring.rule_notes for info in runs)
    return Table(
        (
            "run",
            "name",
            "test set",
            "part, rule" if ruled else "part",
            "status",
            "queries",
            *map(str, shown),
            "tags",
        ),
        tuple(rows),
        text_columns=frozenset({0, 1, 2, 3, 4, 9}),
        notes=notes,
        optional=(4, 5, 8, 7, 2) if ruled else (3, 4, 5, 8, 7, 2),
        wrapped=frozenset({1, 3, 9}),
    )


def _state(info: RunInfo) -> str:
    return f"{info.status}, {info.unsound}" if info.unsound else str(info.status)


def figures_table(info: RunInfo) -> Table:
    """Figures that were saved without rankings, overall and by speaker, as they were sent."""
    columns: dict[str, Mapping[str, Any]] = {
        "value": info.aggregate.get("metrics", {}),
        **info.aggregate.get("per_speaker", {}),
    }
    names = dict.fromkeys(name for column in columns.values() for name in column)
    return Table(
        ("measure", *columns),
        tuple(
            (name, *(_figure(name, column.get(name)) for column in columns.values()))
            for name in names
        ),
        title=f"{info.suite}, saved figures {info.run_id}, {info.created_at[:10]}",
        notes=(
            f"figures of {total_text(info.total, info.skipped, 'query')}, as they were saved, "
            "without rankings: nothing can be computed from them",
        ),
    )


def _figure(name: str, value: float | None) -> str:
    if name.startswith("num_"):
        return "" if value is None else str(int(value))
    return _value(value)


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def history_tables(history: History) -> list[Table]:
    """A table for each series, that of the newest run first; then the runs that are not sound."""
    shown = [_series_table(history, one) for one in history.series]
    unsound = [info for info in history.runs if info.run_id in history.unsound]
    if unsound:
        shown.append(_unsound_table(history, unsound))
    if history.left_out and shown:
        last = shown[-1]
        shown[-1] = replace(last, notes=(*last.notes, *history.left_out))
    return shown


def _series_table(history: History, series: Series) -> Table:
    """A line for each run; the change against the run before stands behind each value."""
    columns = [column_of(series.runs, m) for m in history.measures]
    rows = tuple(
        (
            info.created_at[:16].replace("T", " "),
            info.run_id,
            ", ".join(filter(None, (info.name, *info.tags))),
            info.config_hash[:SHOWN_HASH],
            *(_changed(column, at) for column in columns),
        )
        for at, info in enumerate(series.runs)
    )
    notes = []
    for measure, column in zip(history.measures, columns, strict=True):
        if (trend := trend_of(column)) is not None:
            notes.append(
                f"{measure}: {trend['first']:.4f} → {trend['last']:.4f}, {trend['direction']}"
            )
    if len(series.configurations) > 1:
        notes.append(
            f"{counted(len(series.configurations), 'configuration')} in this series: "
            "--by-configuration keeps them apart"
        )
    return Table(
        ("date", "run", "name, tags", "configuration", *map(str, history.measures)),
        rows,
        title=_title(history, series),
        text_columns=frozenset({0, 1, 2, 3}),
        notes=tuple(notes),
        optional=(3, 0, *range(len(history.measures) + 3, 5, -1)),
        wrapped=frozenset({2}),
    )


def _title(history: History, series: Series) -> str:
    """What the series is of: the part, engine and rule where they are not the usual ones."""
    what = [f"{history.suite} {series.version}", counted(len(series.runs), "run")]
    if len(history.series) > 1 or series.part != "all":
        what.append(f"part {series.part}")
    if len(history.series) > 1 or series.engine != "embedded":
        what.append(series.engine)
    return ", ".join((*what, *series.rule_notes))


def _unsound_table(history: History, runs: Sequence[RunInfo]) -> Table:
    return Table(
        ("date", "run", "part", "queries that", *map(str, history.measures)),
        tuple(
            (
                info.created_at[:16].replace("T", " "),
                info.run_id,
                info.part,
                history.unsound[info.run_id],
                *(_value(metric_of(info, m)) for m in history.measures),
            )
            for info in runs
        ),
        title=f"{history.suite}, {counted(len(runs), 'run')} in no series",
        text_columns=frozenset({0, 1, 2, 3}),
        notes=("queries failed or were degraded: these figures are not held against others",),
        optional=(0, 2),
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
        *_unsupported(outcome),
        *_claims(outcome),
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


def _claims(outcome: QueryOutcome) -> list[str]:
    """What a judge said of each claim of the answer."""
    return [
        f"{claim.label}: {claim.text}"
        + (f" ({'; '.join(reasons)})" if (reasons := _reasons(claim)) else "")
        for claim in (outcome.judged.claims if outcome.judged is not None else ())
    ]


def _reasons(claim: JudgedClaim) -> list[str]:
    said = (one.reason for one in claim.opinions.values() if one.label == claim.label)
    return [] if claim.supported else list(dict.fromkeys(filter(None, said)))


def _unsupported(outcome: QueryOutcome) -> list[str]:
    if outcome.numbers is None or not outcome.numbers.unsupported:
        return []
    listed = ", ".join(outcome.numbers.unsupported)
    return [f"in the answer, but in no passage that it cites: {listed}"]


def _changed(column: Sequence[float | None], at: int) -> str:
    value, before = column[at], column[at - 1] if at else None
    if value is None:
        return "—"
    return f"{value:.4f}" + (f" ({value - before:+.4f})" if before is not None else "")
