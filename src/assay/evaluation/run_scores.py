"""What does a stored run score, query by query, under a rule of matching?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.errors import InputError, UsageError
from assay.evaluation.match import Place, Rule, judge_outcomes, ranked_queries
from assay.evaluation.sampling import Sampling
from assay.evaluation.scores import Scores
from assay.evaluation.stored_run import StoredRun
from assay.evaluation.summary import summarise
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.model.testset import GoldenQuery

AB_MEASURES = "nDCG@10 Recall@{5,10,20} MRR"


def run_scores(
    run: StoredRun,
    queries: Sequence[GoldenQuery],
    measures: str | Iterable[str | Measure] = AB_MEASURES,
    *,
    rule: Rule = Rule.EXACT,
    places: Mapping[str, Place] | None = None,
    sampling: Sampling | None = None,
    clustered: bool = False,
) -> Scores:
    """The scores of a run over those queries that should be answered from evidence.

    ``clustered`` draws queries of one group (a post, an interview) together.
    """
    asked = parse_measures(measures)
    for measure in asked:
        if measure.definition.family is not Family.RANKING:
            raise UsageError(f"{measure} is not a measure of rankings", hint="see: assay measures")
    ranked = ranked_queries(queries)
    if not ranked:
        raise InputError(
            f"no query of {run.test_set.name} has a relevant document", hint="judge some first"
        )
    hits = judge_outcomes(ranked, run.by_query, rule, places)
    depths = tuple(dict.fromkeys(m.cutoff for m in asked if m.cutoff is not None))[:3]
    return Scores(
        name=run.name,
        queries=hits.queries,
        columns={measure: measure.column(hits) for measure in asked},
        summary=summarise(hits, depths),
        sampling=sampling or Sampling(),
        clusters=(
            tuple(query.group or f"({query.query_id})" for query in ranked) if clustered else None
        ),
    )


def query_field(queries: Iterable[GoldenQuery], name: str) -> dict[str, str]:
    """What each query has in a field (query_type, speaker_filter ...), for breakdowns."""
    return {
        query.query_id: str(value)
        for query in queries
        if (value := getattr(query, name)) is not None
    }
