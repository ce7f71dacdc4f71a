"""How does an evaluation read: as a table, by component, stage by stage, by mode?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.evaluation.components import HYBRID, ComponentReport
from assay.evaluation.cross_mode import ModeDifference
from assay.evaluation.defaults import HISTORY_MEASURES, JUDGED_MEASURES
from assay.evaluation.judge_quality import KEY
from assay.evaluation.result import EvaluationResult
from assay.evaluation.scores import Scores, rounded, shown
from assay.evaluation.waterfall import Fate, Stage, Waterfall
from assay.measures.base import Measure
from assay.measures.parse import parse_measures
from assay.model.answers import Expect
from assay.model.runs import RunInfo
from assay.plural import counted
from assay.render.numbers import between
from assay.render.scores import answer_rows, group_table, per_query_table, run_table
from assay.render.tables import Table

WITH_INTERVALS = 2
SHOWN_MISSES = 20


def result_tables(
    result: EvaluationResult, info: RunInfo | None = None, *, per_query: bool = False
) -> list[Table]:
    """The whole run, then by type, speaker and who asked; notes say what to beware of."""
    first = run_table(result.scores, ci=True)
    rows = dict(zip(result.scores.measures, first.rows, strict=True))
    title = f"{result.test_set.name} {result.test_set.version}"
    if info is not None:
        title += f", run {info.run_id}" + (f" ({info.name})" if info.name else "")
    answered = any(one.was_to_answer for one in result.outcomes) or len(result.answers) > 1
    ranked = any(column.defined.any() for column in result.scores.columns.values())
    only_answers = answered and bool(result.scores.columns) and not ranked
    said = (
        *result.warnings(),
        *result.scoring.notes,
        *(() if only_answers else first.notes),
        *_latency(result),
        *_usage(result),
    )
    notes = tuple(dict.fromkeys(said))
    decisions = tuple(row for measure, row in rows.items() if measure in result.scores.decisions)
    ranking = tuple(row for measure, row in rows.items() if measure in result.scores.columns)
    if only_answers:
        ranking = ()
    tables = []
    if ranking or not (decisions or answered):
        tables.append(replace(first, rows=ranking, title=title, notes=notes))
        title, notes = "is there an answer at all?", ()
    if decisions:
        tables.append(_decisions(result, decisions, title, notes))
    if answered:
        of_answers = _answers(result)
        if not tables:
            joined = (*notes, *of_answers.notes)
            of_answers = replace(of_answers, title=f"{title}, answers", notes=joined)
        tables.append(of_answers)
    if any(one.judged is not None for one in result.outcomes):
        tables += _answers_by_group(result)
    for groups, what in (
        (result.by_query_type, "query type"),
        (result.by_speaker, "speaker"),
        (result.by_origin, "who asked"),
    ):
        if len(groups) > 1 and not only_answers:
            tables.append(replace(group_table(groups, result.name), title=f"by {what}"))
    if per_query:
        tables.append(per_query_table(result.scores))
    return tables


def component_table(report: ComponentReport) -> Table:
    """A line for each component, the hybrid last, with what each one brings."""
    whole = report.results[HYBRID]
    measures = _foremost(whole.scores)
    level = f"{whole.scores.sampling.level:.0%}"
    head: list[str] = ["component"]
    for at, measure in enumerate(measures):
        head.append(str(measure))
        if at < WITH_INTERVALS:
            head.append(f"{level} CI")
    rows = []
    for name, result in report.results.items():
        cells = [name]
        for at, measure in enumerate(measures):
            cells.append(shown(result[measure]))
            if at < WITH_INTERVALS:
                cells.append(between(result.scores.interval(measure)))
        rows.append((*cells, *_brought(report, name, measures[0])))
    relevant = max((one.relevant for one in report.contributions.values()), default=0)
    return Table(
        (*head, "found", "only here", "without it"),
        tuple(rows),
        title=f"{whole.test_set.name} {whole.test_set.version} by component, "
        f"{counted(len(whole.scores.queries), 'query')}",
        notes=(
            *whole.warnings(),
            f"found: of {relevant} relevant documents, those in the component's list; only here: "
            f"those in no other list; without it: {measures[0]} of fusion without the component, "
            "against fusion with all",
            *_latency(whole),
        ),
        optional=_spare(head),
    )


def _spare(head: Sequence[str]) -> tuple[int, ...]:
    """Columns of the components to do without: intervals from the last, then later measures."""
    intervals = [at for at, name in enumerate(head) if name.endswith(" CI")]
    second, *first = (*reversed(intervals), len(head))
    later = [at for at in range(len(head) - 1, 2, -1) if at not in intervals and at > second]
    return tuple(at for at in (second, *later, *first) if at < len(head))


def waterfall_tables(found: Waterfall) -> list[Table]:
    """How many relevant documents passed each stage, and the misses with the best grades."""
    total = len(found.fates)
    steps = Table(
        ("stage", "relevant documents", "share"),
        tuple(
            (name, str(count), f"{count / total:.1%}" if total else "—")
            for name, count in found.passed().items()
        ),
        title=f"where relevant documents are lost (top {found.top})",
    )
    missed = [fate for fate in found.fates if fate.stage is not Stage.TOP]
    missed.sort(key=lambda fate: (-fate.grade, fate.query_id, fate.id))
    more = len(missed) - SHOWN_MISSES
    misses = Table(
        ("query", "document", "grade", "lost", "best list", "rank", "fused", "final"),
        tuple(_miss(fate) for fate in missed[:SHOWN_MISSES]),
        title="misses",
        text_columns=frozenset({0, 1, 3, 4}),
        optional=(6, 7),
        wrapped=frozenset({3}),
        notes=(f"{more} more misses: --json has all of them",) if more > 0 else (),
    )
    return [steps, misses] if missed else [steps]


def rescored_table(rows: Sequence[tuple[RunInfo, EvaluationResult]]) -> Table:
    """Each run with its new values; what was stored before stands in brackets where it differs."""
    measures = list(dict.fromkeys(m for _, result in rows for m in result.scores.measures))
    return Table(
        ("run", *map(str, measures)),
        tuple(
            (info.run_id, *(_rescored(info, result, measure) for measure in measures))
            for info, result in rows
        ),
        title="scored again, nothing searched",
    )


def _rescored(info: RunInfo, result: EvaluationResult, measure: Measure) -> str:
    if measure not in result.scores.measures:
        return "—"
    new, old = rounded(result[measure]), info.aggregate.get("metrics", {}).get(measure.key)
    return shown(new) + ("" if old in (None, new) else f" (was {shown(old)})")


def modes_tables(
    results: Mapping[str, EvaluationResult], difference: ModeDifference, *, per_query: bool = False
) -> list[Table]:
    """The same questions, asked of what came from files and of what came live.

    A measure may be computed on one side only, where the other has no query for it.
    """
    first = next(iter(results.values()))
    measures = dict.fromkeys(m for result in results.values() for m in result.scores.measures)
    notes = [f"{name}: {line}" for name, result in results.items() for line in result.warnings()]
    rules = dict.fromkeys(line for result in results.values() for line in result.scoring.notes)
    queries = (str(len(result.scores.queries)) for result in results.values())
    whole = Table(
        ("measure", *results, difference.title),
        (
            *(
                (
                    str(m),
                    *(
                        shown(result[m] if m in result.scores.measures else None)
                        for result in results.values()
                    ),
                    _signed(difference.values.get(m)),
                )
                for m in measures
            ),
            ("queries", *queries, str(len(difference.shared))),
        ),
        title=f"{first.test_set.name} {first.test_set.version} by ingestion mode",
        notes=(*difference.warnings(), *notes, *rules),
    )
    single = [
        replace(per_query_table(result.scores), title=f"{name} by query")
        for name, result in results.items()
    ]
    return [whole, *single] if per_query else [whole]


def _signed(value: float | None) -> str:
    return "—" if value is None else f"{rounded(value):+.4f}"


def _foremost(scores: Scores) -> list[Measure]:
    """The measures that people look at first, among those that were computed."""
    usual = parse_measures(HISTORY_MEASURES)  # columns are scarce; JSON has all measures
    chosen = [measure for measure in usual if measure in scores.columns]
    return chosen or list(scores.columns)[: len(usual)]


def _brought(report: ComponentReport, name: str, measure: Measure) -> tuple[str, str, str]:
    if name not in report.contributions:
        return ("", "", "")
    given = report.contributions[name]
    loss = given.loss.get(measure)
    without = "—" if loss is None else f"{rounded(-loss):+.4f}"
    return (str(given.found), str(given.unique), without)


def _miss(fate: Fate) -> tuple[str, ...]:
    ranks = (fate.best_rank, fate.fused_rank, fate.final_rank)
    return (
        fate.query_id,
        fate.id,
        str(fate.grade),
        fate.stage.value,
        fate.best_component or "—",
        *("—" if rank is None else str(rank) for rank in ranks),
    )


def _latency(result: EvaluationResult) -> tuple[str, ...]:
    took = result.latency
    if took.p50 is None or took.p95 is None:
        return ()
    return (
        f"latency: P50 {took.p50:.1f} ms, P95 {took.p95:.1f} ms over {counted(took.n, 'query')}",
    )


def _usage(result: EvaluationResult) -> tuple[str, ...]:
    """What the system said that its answers cost."""
    usage = result.usage
    if usage is None:
        return ()
    asked = sum(one.usage is not None for one in result.outcomes)
    parts = []
    if usage.cost is not None:
        parts.append(f"{usage.cost:.6g} in all, {usage.cost / asked:.6g} a query")
    if usage.tokens is not None:
        parts.append(f"{usage.tokens:,} tokens")
    return (f"cost, as the system says: {'; '.join(parts)}",) if parts else ()


def _decisions(
    result: EvaluationResult, rows: tuple[tuple[str, ...], ...], title: str, notes: tuple[str, ...]
) -> Table:
    """How well the best score tells queries with evidence from those without."""
    expected = Counter(query.expect for query in result.test_set.queries)
    return Table(
        ("measure", "value", *run_table(result.scores, ci=True).columns[2:3]),
        tuple(row[:3] for row in rows),
        title=title,
        notes=(
            *notes,
            "by the score of the first result, over "
            f"{counted(expected[Expect.EVIDENCE], 'query')} with evidence and "
            f"{expected[Expect.NOTHING]} without (expect: nothing)",
        ),
    )


def _answers_by_group(result: EvaluationResult) -> list[Table]:
    """The measures that a judge made, by type and speaker."""
    chosen = [m for m in result.answers if m in set(parse_measures(JUDGED_MEASURES))]
    tables = []
    for field, what in (("query_type", "query type"), ("speaker_filter", "speaker")):
        groups = result.answers_by(field)
        if len(groups) > 1:
            rows = tuple(
                (name, *(shown(found[m].value) for m in chosen)) for name, found in groups.items()
            )
            tables.append(Table(("group", *map(str, chosen)), rows, title=f"answers by {what}"))
    return tables


def _answers(result: EvaluationResult) -> Table:
    """How good the answers are, and whether they are refused where they should be."""
    level = result.scores.sampling.level
    return Table(
        ("measure", "value", f"{level:.0%} CI", "n"),
        tuple(answer_rows(result.answers, level)),
        title="answers",
        notes=(
            *(f"{m} is undefined: {o.reason}" for m, o in result.answers.items() if o.reason),
            *_judged_by(result),
        ),
    )


def _judged_by(result: EvaluationResult) -> list[str]:
    """Who judged claims, and what is known of that judge."""
    judges = sorted({one.judged.judge for one in result.outcomes if one.judged is not None})
    known = {} if result.info is None else result.info.aggregate.get(KEY) or {}
    return [
        *(f"claims are judged by {judge}" for judge in judges),
        *([f"beside people: {known['verdict']}"] if known.get("verdict") else []),
        *known.get("notes", ()),
    ]
