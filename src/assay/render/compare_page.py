"""How does the comparison of two runs look as a page?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.evaluation.ab import ABResult
from assay.evaluation.chunker_match import own_matching
from assay.evaluation.compare import (
    CompareReport,
    ComparisonKind,
    QueryComparison,
    cross_mode,
)
from assay.evaluation.match import graded_ranks
from assay.evaluation.significance import Contrast
from assay.evaluation.stored_run import StoredRun
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery
from assay.render.compare_text import count_rows, measure_rows
from assay.render.numbers import tone
from assay.render.pages import render
from assay.render.svg import ForestRow, Point, forest_plot, scatter

DEPTH = 10
WORST = 15
NEVER = 1_000  # the rank of a hit that is not there, where ranks are compared


@dataclass(frozen=True, slots=True)
class ComparedQuery:
    """One query with the rankings of both runs."""

    query: GoldenQuery
    compared: QueryComparison
    a: QueryOutcome
    b: QueryOutcome
    grades_a: dict[int, int]
    grades_b: dict[int, int]


@dataclass(frozen=True, slots=True)
class KindRow:
    """One type of query: its verdicts and their picture."""

    name: str
    contrasts: tuple[Contrast, ...]
    chart: Markup

    @property
    def contrast(self) -> Contrast:
        """The first measure."""
        return self.contrasts[0]


def compare_page(
    a: StoredRun, b: StoredRun, report: CompareReport, ab: ABResult | None = None
) -> str:
    """One file of HTML; with an A/B result it has the statistics too."""
    return render(
        "compare.html",
        report=report,
        ab=ab,
        suite=f"{b.test_set.name} {b.test_set.version}",
        level=f"{ab.a.sampling.level:.0%}" if ab else "",
        forest=_forest(ab.contrasts, ab.margin) if ab else None,
        by_type=_kinds(ab) if ab else (),
        points=_points(ab, b) if ab else None,
        measures=measure_rows(report),
        counts=count_rows(report),
        worst=[_compared_query(a, b, report, query) for query in worst_queries(report)],
        depth=DEPTH,
    )


def worst_queries(report: CompareReport, limit: int = WORST) -> list[QueryComparison]:
    """Regressions by the rank that was lost, then losses by how far they fell."""

    def badness(query: QueryComparison) -> tuple[int, int, str]:
        before, after = query.a_hit_rank or NEVER, query.b_hit_rank or NEVER
        lost = query.kind is ComparisonKind.REGRESSION
        return (0 if lost else 1, before if lost else before - after, query.query_id)

    bad = (ComparisonKind.REGRESSION, ComparisonKind.LOSS)
    return sorted((q for q in report.per_query if q.kind in bad), key=badness)[:limit]


def _compared_query(
    a: StoredRun, b: StoredRun, report: CompareReport, compared: QueryComparison
) -> ComparedQuery:
    query = b.test_set.by_id[compared.query_id]
    of_a = a.test_set.by_id[compared.query_id] if cross_mode(a.info, b.info) else query
    match = report.matching or own_matching(b)
    one, other = (run.outcome(compared.query_id) for run in (a, b))
    return ComparedQuery(
        query,
        compared,
        one,
        other,
        graded_ranks(of_a, one, match.rule, match.places, match.documents),
        graded_ranks(query, other, match.rule, match.places, match.documents),
    )


def _forest(contrasts: Sequence[Contrast], margin: float) -> Markup:
    return forest_plot(
        [
            ForestRow(
                str(contrast.measure),
                contrast.difference,
                contrast.interval.low,
                contrast.interval.high,
                {"better": "good", "worse": "bad"}.get(contrast.ruling.verdict.value, ""),
            )
            for contrast in contrasts
        ],
        margin=margin,
    )


def _kinds(ab: ABResult) -> list[KindRow]:
    return [
        KindRow(kind, contrasts, _forest(contrasts, ab.margin))
        for kind, contrasts in ab.by_type.items()
    ]


def _points(ab: ABResult, b: StoredRun) -> Markup:
    """Each query by the first measure, a across and b up."""
    measure = ab.primary.measure
    before, after = ab.a.per_query(measure), ab.b.per_query(measure)
    points = [
        Point(
            one,
            other,
            f"{query}: {one:.4f} → {other:.4f}  {b.test_set.by_id[query].query_text}"[:200],
            tone(other - one),
        )
        for query in ab.a.queries
        if (one := before[query]) is not None and (other := after[query]) is not None
    ]
    return scatter(points, x_label=f"A: {measure}", y_label=f"B: {measure}")
