"""How good is a retrieval function on a test set?"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from typing import Any, Literal

from assay import limits
from assay.errors import UsageError
from assay.evaluation.execution import (
    MAX_ERRORS,
    TIMEOUT_S,
    Retries,
    Retrieve,
    execute,
    require_an_answer,
)
from assay.evaluation.parts import Split, part_of
from assay.evaluation.result import EvaluationResult, result_of
from assay.evaluation.scope import answerable
from assay.evaluation.score import Protocol, choice, protocol_named
from assay.evaluation.systems import asked
from assay.evaluation.verdicts import Finish, judged_outcome
from assay.measures.base import Measure
from assay.measures.parse import measures_text, parse_measures
from assay.model.judges import Judge
from assay.model.ranking import CHUNK_SEPARATOR, Match, MatchName, RankBy, RankByName
from assay.model.runs import QueryOutcome
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring
from assay.model.testset import TestSet
from assay.plural import counted
from assay.testsets.load import load_test_set

log = logging.getLogger("assay.evaluation")


def evaluate(
    retrieval_fn: Callable[[Any], Any] | Any,
    test_set: TestSet | str | os.PathLike[str],
    measures: str | Iterable[str | Measure] | None = None,
    *,
    part: Split | Literal["evaluation", "holdout", "all"] | None = None,
    protocol: Protocol | str | None = None,
    match: Match | MatchName = Match.EXACT,
    chunk_separator: str = CHUNK_SEPARATOR,
    wants: Literal["text", "query"] = "text",
    rank_by: RankBy | RankByName | None = None,
    name: str = "run",
    max_errors: int | None = MAX_ERRORS,
    timeout_s: float = TIMEOUT_S,
    concurrency: int = 1,
    retries: int = 0,
    sampling: Sampling | None = None,
    by_group: bool = False,
    judge: Judge | Callable[[str, str, str], Any] | str | None = None,
    progress: Callable[[QueryOutcome], None] | None = None,
) -> EvaluationResult:
    """Ask the queries of a test set and score what comes back.

    ``retrieval_fn`` takes a query's text (or, with ``wants="query"``, the whole ``GoldenQuery``)
    and returns ids, ``(id, score)`` pairs, dicts, ``Result``, a data frame or a search response; it
    may be a coroutine function. Retrievers, query engines and pipelines of LangChain, LlamaIndex
    and Haystack are taken as they are, and so is ``(encoder, index of faiss, ids)``; clients of
    qdrant, Chroma, LanceDB and OpenSearch come as ``assay.system(client, "collection", ...)``.
    The order of what it returns is the ranking, whatever the scores (they may be distances);
    ``rank_by="score"`` ranks by score, the highest first. ``{id: score}`` is ranked by score.
    ``concurrency`` queries are asked at the same time; latencies are then those under that load. A
    query that fails is asked ``retries`` times more, after pauses that grow.
    ``test_set`` may be a name or path: then its held-out part is left out, as ``assay eval run``
    does. Of a ``TestSet`` that is handed over every query is asked. ``part`` chooses either
    way: evaluation, holdout or all. Without ``measures``, those usual for the set are computed
    (Recall@{5,10,20}, nDCG@10, MRR). A query that raises is recorded with its error and counts as
    0; ``TooManyErrorsError`` is raised where all do, or more than ``max_errors`` (never with None).
    A query without ground truth is not asked. ``match`` says when a result is what was judged
    (``assay.Match``). ``chunk_separator`` separates document and chunk in the ids of chunks, where
    results do not name their document (``doc_id``). ``by_group`` resamples queries of one group
    together; ``progress`` is called with each outcome. ``judge`` reads what the system answers
    claim by claim: words, entailment, an address, module:function, a function that takes the kind
    of a task, a text and a passage (``judges/custom.py``), or a ``Judge``.

    >>> from assay.model.testset import GoldenQuery, Judgment, TestSet
    >>> queries = (GoldenQuery("q1", "aspirin", relevant_docs=(Judgment("d1", 3),)),)
    >>> evaluate(lambda text: ["d7", "d1"], TestSet("tiny", "v1", queries), "MRR")["MRR"]
    0.5
    """
    chosen = _chosen(test_set, part)
    if not chunk_separator:
        raise UsageError("chunk_separator is empty", hint="such as '#', for ids such as doc7#3")
    if wants not in ("text", "query"):
        raise UsageError(f"wants={wants!r} is not one of: text, query")
    for option, value, least, most in (
        ("concurrency", concurrency, 1, limits.MAX_CONCURRENCY),
        ("retries", retries, 0, limits.MAX_RETRIES),
    ):
        if not least <= value <= most:
            raise UsageError(f"{option} is {value}", hint=f"a number from {least} to {most}")
    if not 0 < timeout_s <= limits.MAX_QUERY_SECONDS:
        hint = f"seconds, up to {limits.MAX_QUERY_SECONDS:g}"
        raise UsageError(f"timeout_s is {timeout_s}", hint=hint)
    ask = asked(retrieval_fn)
    retrieve: Retrieve = ask if wants == "query" else lambda query: ask(query.query_text)
    outcomes = []
    for outcome in execute(
        retrieve,
        answerable(chosen),
        max_errors=max_errors,
        timeout_s=timeout_s,
        rank_by=None if rank_by is None else choice(RankBy, rank_by, "rank_by"),
        concurrency=concurrency,
        retries=Retries(retries),
        finish=None if judge is None else _judging(judge),
    ):
        outcomes.append(outcome)
        if progress is not None:
            progress(outcome)
    if max_errors is not None:
        require_an_answer(outcomes, chosen.held_out_ids)
    chosen_protocol = protocol_named(protocol)
    scoring = Scoring(
        measures=None if measures is None else measures_text(parse_measures(measures)),
        protocol=None if chosen_protocol is None else chosen_protocol.value,
        match=Match(match),
        sampling=sampling or Sampling(),
        by_group=by_group,
        chunk_separator=chunk_separator,
    )
    result = result_of(chosen, outcomes, scoring, name=name)
    for warning in result.warnings():
        log.warning("%s: %s", chosen.name, warning)
    return result


def _judging(judge: Any) -> Finish:
    """What a judge adds to an outcome; names and functions are ``assay.evaluate``'s to resolve."""
    if isinstance(judge, str) or not hasattr(judge, "judge"):
        raise UsageError(f"{judge!r:.80} is not a judge", hint="call assay.evaluate")
    return lambda query, outcome: judged_outcome(judge, query, outcome)


def _chosen(test_set: TestSet | str | os.PathLike[str], part: str | None) -> TestSet:
    """The queries to ask, with a warning about held-out ones that nobody asked for by name."""
    if part is not None and part not in list(Split):
        raise UsageError(f"part={part!r:.40} is not one of: {', '.join(Split)}")
    split = None if part is None else Split(part)
    if split is not None or not isinstance(test_set, TestSet):
        whole = test_set if isinstance(test_set, TestSet) else load_test_set(test_set)
        return part_of(whole, split).test_set
    held = len(test_set.held_out_queries)
    if 0 < held < len(test_set.queries):
        asked = counted(held, "held-out query", "was")
        log.warning('%s: %s asked, too; part="evaluation" leaves them out', test_set.name, asked)
    return test_set
