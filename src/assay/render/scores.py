"""How do scores read: one run, several runs, by group, by query?"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay.evaluation.answers import answer_interval
from assay.evaluation.leaderboard import failure
from assay.evaluation.scores import DECIMALS, Scores, rounded, shown
from assay.plural import counted
from assay.render.escape import one_line
from assay.render.numbers import between, signed
from assay.render.rulings import P_COLUMNS, RULINGS, legend, p_values, rulings
from assay.render.tables import Table, comma_separated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.errors import AssayError
    from assay.evaluation.decisions import Decisions
    from assay.evaluation.significance import Comparison, Contrast
    from assay.measures.base import Measure
    from assay.measures.classification import MeasureValue

METHODS = {"bca": "BCa", "percentile": "percentile"}
NO_COLUMNS: Mapping[str, Callable[[Measure], str]] = MappingProxyType({})
MOST_NAMES = 8  # of runs in one note
CSV_HEADER = ("run", "group", "query", "measure", "value", "ci_low", "ci_high", "n")


def run_table(scores: Scores, *, ci: bool) -> Table:
    """Measure by measure: mean, interval, median, spread, n."""
    columns = ("measure", "mean", *(("95% CI",) if ci else ()), "median", "std", "n")
    columns = tuple(c.replace("95%", f"{scores.sampling.level:.0%}") for c in columns)
    rows = []
    for measure in scores.measures:
        found = scores.aggregate(measure)
        middle = (between(scores.interval(measure)),) if ci else ()
        rows.append(
            (
                str(measure),
                shown(found.mean),
                *middle,
                shown(found.median),
                shown(found.std),
                str(found.n),
            )
        )
    spare = tuple(columns.index(name) for name in ("std", "median", "n"))
    notes = (*run_notes(scores), *(_substitutes(scores) if ci else ()))
    return Table(columns, tuple(rows), title=scores.name, notes=notes, optional=spare)


def _substitutes(scores: Scores) -> list[str]:
    """Which intervals are of another kind than was asked for, or a single point, and why."""
    found = [(measure, scores.interval(measure)) for measure in scores.measures]
    return [
        f"interval of {measure}: {one.reason}"
        for measure, one in found
        if one.defined
        and (
            one.method != scores.sampling.method
            or (measure in scores.decisions and one.low == one.high)
        )
    ]


def comparison_tables(runs: Sequence[Scores], comparison: Comparison) -> list[Table]:
    """All runs side by side, then each against the first."""
    overview = Table(
        ("measure", *(scores.name for scores in runs)),
        tuple((str(m), *(shown(scores[m]) for scores in runs)) for m in runs[0].measures),
        title=f"{counted(len(runs), 'run')}, {counted(len(runs[0].queries), 'query')}",
        notes=tuple(f"{scores.name}: {note}" for scores in runs for note in run_notes(scores)),
    )
    level = f"{runs[0].sampling.level:.0%}"
    header = ("measure", "baseline", "run", "difference", f"{level} CI", "win/loss")
    details = [
        Table(
            (*header, *P_COLUMNS, *RULINGS),
            tuple(_contrast_row(contrast) for contrast in comparison.of(scores.name)),
            title=f"{scores.name} against {comparison.baseline}",
            text_columns=frozenset({0, 8, 9}),
            notes=tuple(
                f"{c.measure}: {c.ruling.sentence} {c.significance}"
                for c in comparison.of(scores.name)
            ),
            optional=(5, 6, 7, 4),
            below=(8, 9),
        )
        for scores in runs[1:]
    ]
    tests = legend(comparison)
    return [overview, replace(details[0], notes=(*tests, *details[0].notes)), *details[1:]]


def _contrast_row(contrast: Contrast) -> tuple[str, ...]:
    return (
        str(contrast.measure),
        shown(contrast.baseline),
        shown(contrast.value),
        signed(contrast.difference),
        between(contrast.interval, signed=True),
        f"{contrast.wins}/{contrast.losses}",
        *p_values(contrast),
        *rulings(contrast),
    )


def leaderboard_table(runs: Sequence[Scores], *, ci: bool) -> Table:
    """Runs as rows, measures as columns; notes say which runs to look at closely."""
    measures = runs[0].measures
    return Table(
        ("run", *map(str, measures)),
        tuple((s.name, *(_cell_of(s, measure, ci) for measure in measures)) for s in runs),
        title=f"{counted(len(runs), 'run')}, {counted(len(runs[0].queries), 'query')}",
        notes=leaderboard_notes(runs),
    )


def _cell_of(scores: Scores, measure: Measure, ci: bool) -> str:
    mean = shown(scores[measure])
    return f"{mean} {between(scores.interval(measure))}" if ci else mean


def leaderboard_notes(runs: Sequence[Scores]) -> tuple[str, ...]:
    """What a reader should know of each run, one line for each kind of remark."""
    found: dict[str, list[str]] = {}
    for scores in runs:
        for remark in scores.summary.remarks():
            found.setdefault(remark, []).append(scores.name)
    undefined = {
        f"{measure} is undefined for some queries ({aggregate.reason}): left out of its mean"
        for scores in runs
        for measure in scores.measures
        if (aggregate := scores.aggregate(measure)).undefined or aggregate.mean is None
    }
    lines = (f"{remark}: {_some(names, len(runs))}" for remark, names in found.items())
    return (*lines, *sorted(undefined))


def _some(names: Sequence[str], of: int) -> str:
    """The first names, or that it is all of them."""
    if len(names) == of > 1:
        return "all runs"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(map(one_line, names[:MOST_NAMES])) + more


def group_table(groups: Mapping[str, Scores], name: str) -> Table:
    """Groups as rows, measures as columns."""
    measures: tuple[Measure, ...] = next(iter(groups.values())).measures if groups else ()
    return Table(
        ("group", *map(str, measures), "queries"),
        tuple(
            (group, *(shown(scores[m]) for m in measures), str(len(scores.queries)))
            for group, scores in groups.items()
        ),
        title=f"{name} by group",
    )


def per_query_table(scores: Scores) -> Table:
    """Queries as rows, measures as columns."""
    measures = tuple(scores.columns)
    values = [scores.per_query(m) for m in measures]
    return Table(
        ("query", *map(str, measures)),
        tuple((query, *(shown(column[query]) for column in values)) for query in scores.queries),
        title=f"{scores.name} by query",
    )


def run_notes(scores: Scores) -> tuple[str, ...]:
    """What the summary says, and which measures are undefined where."""
    undefined = []
    partly: dict[tuple[int, str | None], list[str]] = {}
    for measure in scores.measures:
        found = scores.aggregate(measure)
        if found.mean is None:
            undefined.append(f"{measure} is undefined: {found.reason}")
        elif found.undefined:
            partly.setdefault((found.undefined, found.reason), []).append(str(measure))
    for (count, reason), names in partly.items():
        verb, means = ("is", "its mean") if len(names) == 1 else ("are", "their means")
        undefined.append(
            f"{', '.join(names)} {verb} undefined for {counted(count, 'query')} ({reason}): "
            f"left out of {means}"
        )
    return (*scores.summary.notes(), *undefined)


def answer_rows(
    answers: Mapping[Measure, MeasureValue], level: float
) -> list[tuple[str, str, str, str]]:
    """Measure, share, interval, and the number of answers."""
    return [
        (str(m), shown(found.value), between(answer_interval(found, level)), str(found.n or 0))
        for m, found in answers.items()
    ]


def trec_columns(scores: Scores, *, per_query: bool, with_run: bool) -> str:
    """trec_eval's three columns: measure (as asked for), query or all, value to 4 decimals."""
    lines = [f"runid\tall\t{one_line(scores.name)}"] if with_run else []
    if per_query:
        columns = [
            (m.asked or str(m), c.values.tolist(), c.defined) for m, c in scores.columns.items()
        ]
        lines += [
            f"{name}\t{query}\t{values[at]:.{DECIMALS}f}"
            for at, query in enumerate(scores.queries)
            for name, values, defined in columns
            if defined[at]
        ]
    for measure in scores.measures:
        value = scores[measure]
        text = "nan" if value is None else f"{value:.{DECIMALS}f}"
        lines.append(f"{measure.asked or measure}\tall\t{text}")
    return "\n".join(lines)


def csv_rows(
    runs: Sequence[Scores],
    *,
    ci: bool,
    per_query: bool,
    groups: Mapping[str, Mapping[str, Scores]],
    more: Mapping[str, Callable[[Measure], str]] = NO_COLUMNS,
) -> str:
    """One long table: a line for each run, group or query, and measure; ``more`` adds columns."""
    rows: list[tuple[tuple[str, ...], Measure]] = []
    for scores in runs:
        rows += [(_csv_row(scores.name, "", scores, m, ci), m) for m in scores.measures]
        for group, part in groups.get(scores.name, {}).items():
            rows += [(_csv_row(scores.name, group, part, m, ci), m) for m in part.measures]
        if per_query:
            rows += [
                ((scores.name, "", query, str(m), _cell(value), "", "", ""), m)
                for m in scores.columns
                for query, value in scores.per_query(m).items()
            ]
    return comma_separated(
        (*CSV_HEADER, *more),
        [(*cells, *(column(measure) for column in more.values())) for cells, measure in rows],
    )


def _csv_row(run: str, group: str, scores: Scores, measure: Measure, ci: bool) -> tuple[str, ...]:
    found = scores.aggregate(measure)
    ends = ("", "")
    if ci:
        interval = scores.interval(measure)
        ends = (_cell(interval.low), _cell(interval.high))
    return (run, group, "all", str(measure), _cell(found.mean), *ends, str(found.n))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{rounded(value):.{DECIMALS}f}"


def scores_json(
    runs: Sequence[Scores],
    comparison: Comparison | None,
    *,
    ci: bool,
    per_query: bool,
    groups: Mapping[str, Mapping[str, Scores]],
    failed: Mapping[str, AssayError] | None = None,
) -> dict[str, Any]:
    """One object for one run, ``runs`` and ``comparison`` for several.

    With ``failed``, runs were not to be compared: ``runs`` and ``failed``, however many there are.
    """
    entries = []
    for scores in runs:
        entry = scores.to_dict(intervals=ci, per_query=per_query)
        if scores.name in groups:
            entry["groups"] = {
                group: {**part.to_dict(intervals=ci)["aggregates"], "n": len(part.queries)}
                for group, part in groups[scores.name].items()
            }
        entries.append(entry)
    if failed is not None:
        reasons = [failure(name, problem) for name, problem in failed.items()]
        return {"runs": entries, "failed": reasons}
    if comparison is None:
        return entries[0]
    return {"runs": entries, "comparison": comparison.to_dict()}


def decision_table(decisions: Decisions, name: str) -> Table:
    """Measure by measure: value and interval; DeLong's interval of the AUROC in the notes."""
    level = f"{decisions.sampling.level:.0%}"
    intervals = decisions.intervals.values()
    methods = sorted({METHODS[one.method] for one in intervals if one.defined})
    notes = []
    if decisions.delong.interval.defined:
        notes.append(f"AUROC by DeLong: {level} CI {between(decisions.delong.interval)}")
    if methods:
        notes.append(f"intervals: {' and '.join(methods)} bootstrap")
    notes += [
        f"{measure} is undefined: {outcome.reason}"
        for measure, outcome in decisions.outcomes.items()
        if outcome.value is None
    ]
    notes += [
        f"interval of {measure}: {one.reason}"
        for measure, one in decisions.intervals.items()
        if one.defined and one.reason
    ]
    return Table(
        ("measure", "value", f"{level} CI"),
        tuple(
            (str(measure), shown(outcome.value), between(decisions.intervals[measure]))
            for measure, outcome in decisions.outcomes.items()
        ),
        title=f"{name}: {decisions.positives} of {decisions.n} positive",
        notes=tuple(notes),
    )
