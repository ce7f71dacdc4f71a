"""What came out of an evaluation: overall, by type of query, by speaker, and how fast?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import islice
from typing import Any

from assay.evaluation.answers import (
    answer_records,
    answers_to_dict,
    score_answers,
    usual_answer_measures,
)
from assay.evaluation.chunker_match import judged_chunkers
from assay.evaluation.documents import documents_of, doubts
from assay.evaluation.outcomes import (
    Latency,
    component_errors,
    latency,
    query_field,
    score_outcomes,
    usage_of,
    usual_measures,
)
from assay.evaluation.returned import MADE_IDS, RANKED_BY_SCORE
from assay.evaluation.scope import Scope, some
from assay.evaluation.scores import Scores, no_scores, rounded
from assay.hits.live import repeats, repeats_kept
from assay.measures.answers import AnswerRecord
from assay.measures.base import Family, Measure
from assay.measures.claims import UNREAD
from assay.measures.classification import MeasureValue
from assay.measures.parse import parse_measures
from assay.model.answers import Expect, Usage, added_usage
from assay.model.codec import encode
from assay.model.ranking import falling
from assay.model.runs import ASKED_AGAIN, REFUSED_IN_WORDS, WITHHELD, QueryOutcome, RunInfo
from assay.model.scoring import MATCHED_BY, Scoring
from assay.model.tabular import Records, Tabular
from assay.model.testset import TestSet
from assay.plural import counted


@dataclass(frozen=True, eq=False)
class EvaluationResult(Tabular):
    """The scores of one evaluation; values are unrounded until printed or stored.

    ``info`` is the run that was kept, None where none was. ``notes`` are warnings of whoever ran
    it: what is not in the index, for instance.
    """

    name: str
    test_set: TestSet
    outcomes: Sequence[QueryOutcome] = field(repr=False)
    scores: Scores
    answers: Mapping[Measure, MeasureValue]
    scoring: Scoring = field(default_factory=Scoring)
    run_id: str | None = None
    cached: bool = False
    info: RunInfo | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    def __getitem__(self, measure: Measure | str) -> float | None:
        """The mean of a measure: ``result["nDCG@10"]``."""
        return self.scores[measure]

    def by(self, name: str) -> dict[str, Scores]:
        """The scores of each group of queries that share the value of a field."""
        groups = query_field(self.test_set.queries, name)
        return self.scores.by(groups) if groups else {}

    @cached_property
    def by_query_type(self) -> dict[str, Scores]:
        """The scores of each type of query."""
        return self.by("query_type")

    @cached_property
    def by_speaker(self) -> dict[str, Scores]:
        """The scores by whose words a query is about."""
        return self.by("speaker_filter")

    @cached_property
    def by_origin(self) -> dict[str, Scores]:
        """The scores of what people asked, and of what was made from the corpus."""
        return self.by("origin") if self.test_set.synthetic_ids else {}

    @cached_property
    def latency(self) -> Latency:
        """How long queries took."""
        return latency(self.outcomes)

    @cached_property
    def usage(self) -> Usage | None:
        """What the queries cost together, as far as the system says so; None where it does not."""
        return usage_of(self.outcomes)

    @cached_property
    def judge_usage(self) -> Usage | None:
        """What judging the answers took; None where it took nothing that anybody counts."""
        return reduce(
            added_usage, (one.judged.usage for one in self.outcomes if one.judged is not None), None
        )

    def answers_by(self, name: str) -> dict[str, dict[Measure, MeasureValue]]:
        """What the answers scored, for each group of queries that share the value of a field."""
        groups = query_field(self.test_set.queries, name)
        records: dict[str, list[AnswerRecord]] = {}
        for one in answer_records(self.test_set, self.outcomes):
            if one.query_id in groups:
                records.setdefault(groups[one.query_id], []).append(one)
        return {group: score_answers(records[group], self.answers) for group in sorted(records)}

    @cached_property
    def scope(self) -> Scope:
        """The queries by what became of them: scored over, not asked, skipped."""
        return Scope(self.test_set, {one.query_id for one in self.outcomes})

    @property
    def skipped(self) -> tuple[str, ...]:
        """Queries without any ground truth; they were not run."""
        return self.scope.skipped

    @property
    def failed(self) -> tuple[str, ...]:
        """Queries whose search or answer ended in an error."""
        return tuple(one.query_id for one in self.outcomes if one.failed)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Those of them that were searched, and answering failed."""
        return tuple(one.query_id for one in self.outcomes if one.answer_error is not None)

    @property
    def degraded(self) -> tuple[str, ...]:
        """Queries that some component did not answer."""
        return tuple(one.query_id for one in self.outcomes if one.degraded)

    @property
    def empty(self) -> tuple[str, ...]:
        """Queries without results, as EmptyResultRate counts them: also those not asked."""
        found = (one.query_id for one in self.outcomes if not one.results and one.error is None)
        return (*found, *self.scope.unasked)

    @property
    def out_of_order(self) -> tuple[str, ...]:
        """Queries whose scores contradict the order of their results, which is the ranking."""
        return tuple(
            one.query_id
            for one in self.outcomes
            if not falling([result.score for result in one.results])
        )

    @property
    def _put_by_score(self) -> tuple[str, ...]:
        return tuple(one.query_id for one in self.outcomes if RANKED_BY_SCORE in one.warnings)

    @property
    def _read_elsewhere(self) -> dict[str, tuple[str, ...]]:
        """Queries by what is said about ids that a library made."""
        said = sorted({w for one in self.outcomes for w in one.warnings if w.startswith(MADE_IDS)})
        return {
            text: tuple(one.query_id for one in self.outcomes if text in one.warnings)
            for text in said
        }

    @property
    def _unreadable(self) -> tuple[str, ...]:
        judged = ((one.query_id, one.judged) for one in self.outcomes)
        return tuple(name for name, said in judged if said is not None and said.unreadable)

    @property
    def _unread(self) -> tuple[str, ...]:
        records = answer_records(self.test_set, self.outcomes)
        return tuple(one.query_id for one in records if one.unread)

    @property
    def _repeated(self) -> str | None:
        """A sentence about results that repeat an earlier one of the same query."""
        found = [
            repeats([(result.chunk_id, result.spans) for result in one.results])
            for one in self.outcomes
        ]
        return repeats_kept(found) if any(found) else None

    def _first(self, errors: Iterable[tuple[str, str | None]]) -> str:
        """The first error that may be shown; that of a held-out query could quote the query."""
        hidden = self.test_set.held_out_ids
        shown = (error for query, error in errors if error and query not in hidden)
        return next((f" (the first with {error})" for error in shown), "")

    def warnings(self) -> list[str]:
        """What a reader must know before believing the numbers."""
        every = [query.query_id for query in self.scope.queries]
        to_find = [q.query_id for q in self.scope.queries if q.expect is Expect.EVIDENCE]
        broken = tuple(one.query_id for one in self.outcomes if one.error is not None)
        searching = self._first((one.query_id, one.error) for one in self.outcomes)
        answering = self._first((one.query_id, one.answer_error) for one in self.outcomes)
        lacking = component_errors(one for one in self.outcomes if one.degraded)
        withheld = tuple(one.query_id for one in self.outcomes if WITHHELD in one.warnings)
        in_words = tuple(one.query_id for one in self.outcomes if REFUSED_IN_WORDS in one.warnings)
        again = tuple(one.query_id for one in self.outcomes if ASKED_AGAIN in one.warnings)
        asked_to_find = set(to_find).difference(self.scope.unasked)
        missed = tuple(query for query in self.empty if query in asked_to_find)
        by_answer = tuple(
            q.query_id
            for q in self.scope.queries
            if q.expect is Expect.EVIDENCE and q.has_truth and not q.judged
        )
        said = list(filter(None, [self.scope.incomplete, self.scope.skip_note]))
        if self.info is not None and self.info.filters:
            said.append(
                f"searched with filters ({'; '.join(self.info.filters)}): what they leave out "
                "counts as not found"
            )
        for ids, of, what in (
            (broken, every, f"failed, counted as 0{searching}"),
            (self.unanswered, every, f"could not be answered, which counts as wrong{answering}"),
            (self.degraded, every, f"answered without some component ({lacking})"),
            (missed, to_find, "with something to find found nothing, counted as 0"),
            (by_answer, to_find, "name no relevant document: only their answers are measured"),
            (
                self.out_of_order,
                every,
                "with scores that do not fall along the list: ranked as given",
            ),
            (self._put_by_score, every, RANKED_BY_SCORE),
            *((ids, every, said) for said, ids in self._read_elsewhere.items()),
            (again, every, ASKED_AGAIN),
            (withheld, every, WITHHELD),
            (in_words, every, REFUSED_IN_WORDS),
            (
                self._unread,
                every,
                f"cited {UNREAD}, and no measure says whether they support the answer; return "
                "passages with their text",
            ),
            (self._unreadable, every, "judged in part: what the judge said unreadably is left out"),
        ):
            if ids:
                said.append(some(ids, len(of), what))
        said += filter(None, [self._repeated, self._cut_off, self._other_rule, self._uncited])
        said += self.scores.summary.alarms()
        said += filter(None, [self._other_ids])
        return [*said, *self._doubts, *self.test_set.cautions, *self.notes]

    @property
    def _other_ids(self) -> str | None:
        """How the ids of results and those of judgments look, where none of them meet."""
        summary = self.scores.summary
        if not summary.retrieved.any() or summary.relevant_retrieved.any():
            return None
        found = (one.results[0].chunk_id for one in self.outcomes if one.results)
        judged = (one.relevant_docs[0].id for one in self.scope.queries if one.relevant_docs)
        first, second = (
            ", ".join([f"{one:.60}" for one in islice(ids, 3)]) for ids in (found, judged)
        )
        return f"results have ids such as {first}; judgments have ids such as {second}"

    @property
    def _other_rule(self) -> str | None:
        """That the figures are not those of the run itself."""
        if self.info is None or self.info.scoring.match is self.scoring.match:
            return None
        own, here = self.info.scoring.match, self.scoring.match
        return f"matched {MATCHED_BY[here]} here; the run itself is scored {MATCHED_BY[own]}"

    @property
    def _uncited(self) -> str | None:
        """That a judged system names no sources at all, which may not be what it means."""
        judged = [one for one in self.outcomes if one.judged is not None and one.judged.claims]
        if not judged or any(one.answer and one.answer.citations for one in judged):
            return None
        return (
            "no answer cites a passage, so that no claim is supported; where answers rest on "
            "all that was retrieved, return those ids as citations"
        )

    @property
    def _cut_off(self) -> str | None:
        """Which measures look further down than what was kept."""
        config = {} if self.info is None else self.info.config
        kept = config.get("kept", config.get("k"))
        if not isinstance(kept, int):  # as many as came back
            return None
        deeper = [str(m) for m in self.scores.columns if m.cutoff is not None and m.cutoff > kept]
        if not deeper:
            return None
        looks = "looks" if len(deeper) == 1 else "look"
        return (
            f"of each query only {counted(kept, 'result', 'was')} kept, and {', '.join(deeper)} "
            f"{looks} at more"
        )

    @cached_property
    def _doubts(self) -> tuple[str, ...]:
        """Which results may belong to judged documents without saying so."""
        return tuple(
            doubts(
                self.test_set.queries,
                {one.query_id: one for one in self.outcomes},
                documents_of(self.test_set, self.scoring.chunk_separator),
                self.scoring.match,
            )
        )

    def _judged_chunkers(self) -> list[str]:
        """By which chunkers the judged documents were cut that came back."""
        outcomes = {one.query_id: one for one in self.outcomes}
        found = judged_chunkers(self.test_set.queries, outcomes)
        return sorted({version for versions in found.values() for version in versions})

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """JSON-ready: ``metrics`` and ``per_query_type`` first, then everything else."""
        plain = self.scores.to_dict(per_query=per_query)
        origins = self.by_origin
        answers = {m.key: rounded(found.value) for m, found in self.answers.items()}
        return {
            "metrics": {**plain["metrics"], **answers},
            "per_query_type": group_means(self.by_query_type),
            "per_speaker": group_means(self.by_speaker, count=True),
            **({"per_origin": group_means(origins, count=True)} if origins else {}),
            "run_id": self.run_id,
            "name": self.name,
            "test_set": {
                "name": self.test_set.name,
                "version": self.test_set.version,
                "checksum": self.test_set.checksum,
            },
            "cached": self.cached,
            "aggregates": plain["aggregates"],
            "answers": answers_to_dict(self.answers, self.scores.sampling.level),
            **self._answers_by_group(),
            "latency_ms": self.latency.to_dict(),
            "usage": None if self.usage is None else encode(self.usage),
            **self.scope.counts,
            "scored_queries": len(self.scores.queries),
            "failed_queries": len(self.failed),
            "failed_answers": len(self.unanswered),
            "degraded_queries": len(self.degraded),
            "empty_queries": len(self.empty),
            "degraded": bool(self.degraded),
            "warnings": self.warnings(),
            "summary": plain["summary"],
            "sampling": plain["sampling"],
            "scoring": encode(self.scoring),
            "chunker_versions": [] if self.info is None else list(self.info.chunker_versions),
            "judged_chunker_versions": self._judged_chunkers(),
            **({"per_query": plain["per_query"]} if per_query else {}),
        }

    def _answers_by_group(self) -> dict[str, Any]:
        """The answers of each type and speaker, and what judging took, where there are any."""
        if not any(one.was_to_answer for one in self.outcomes):
            return {}
        level = self.scores.sampling.level
        fields = {"query_type": "query_type", "speaker": "speaker_filter"}
        by_field = {
            f"answers_by_{name}": {
                group: answers_to_dict(answers, level)
                for group, answers in self.answers_by(field).items()
            }
            for name, field in fields.items()
        }
        judged = any(one.judged is not None for one in self.outcomes)
        usage = self.judge_usage
        told = {"judge_usage": None if usage is None else encode(usage)} if judged else {}
        return {**by_field, **told}

    def records(self) -> Records:
        """A row for each query that is scored; the words of held-out queries are left out."""
        outcomes = {one.query_id: one for one in self.outcomes}
        hidden = self.test_set.held_out_ids
        columns = {str(measure): self.scores.per_query(measure) for measure in self.scores.columns}
        rows = []
        for name in self.scores.queries:
            query, outcome = self.test_set.by_id[name], outcomes.get(name)
            rows.append(
                {
                    "run": self.name,
                    "query_id": name,
                    "query_text": None if name in hidden else query.query_text,
                    "query_type": query.query_type,
                    "group": query.group,
                    **{measure: values[name] for measure, values in columns.items()},
                    "results": None if outcome is None else len(outcome.results),
                    "latency_ms": None if outcome is None else outcome.latency_ms,
                    "degraded": None if outcome is None else outcome.degraded,
                    "error": None if outcome is None or name in hidden else outcome.error,
                }
            )
        return Records.of(rows, self.name, self.warnings())

    def overview(self) -> Records:
        """The measures, and what to know before believing them."""
        return replace(self.scores.overview(), notes=tuple(self.warnings()))

    def __str__(self) -> str:
        return str(self.scores)

    def __repr__(self) -> str:
        return f"<EvaluationResult {self.scores}, n={len(self.scores.queries)}>"


def result_of(
    test_set: TestSet,
    outcomes: Sequence[QueryOutcome],
    scoring: Scoring | None = None,
    *,
    name: str = "run",
    run_id: str | None = None,
    cached: bool = False,
) -> EvaluationResult:
    """Score outcomes and their answers, wherever they come from."""
    scoring = scoring or Scoring()
    usual = usual_measures(test_set, outcomes, scoring.protocol)
    asked = parse_measures(usual if scoring.measures is None else scoring.measures)
    of_answers = [m for m in asked if m.definition.family is Family.ANSWER]
    of_runs = [m for m in asked if m.definition.family is not Family.ANSWER]
    if expects_nothing(test_set):
        scores = no_scores(name, scoring.sampling)
    else:
        scores = score_outcomes(
            test_set,
            outcomes,
            of_runs or usual,
            name=name,
            protocol=scoring.protocol,
            match=scoring.match,
            documents=documents_of(test_set, scoring.chunk_separator),
            sampling=scoring.sampling,
            by_group=scoring.by_group,
        )
    return EvaluationResult(
        name=name,
        test_set=test_set,
        outcomes=outcomes,
        scores=scores,
        answers=score_answers(
            answer_records(test_set, outcomes),
            of_answers or usual_answer_measures(outcomes),
        ),
        scoring=scoring,
        run_id=run_id,
        cached=cached,
    )


def result_of_run(
    info: RunInfo,
    test_set: TestSet,
    outcomes: Sequence[QueryOutcome],
    scoring: Scoring,
    *,
    cached: bool = False,
) -> EvaluationResult:
    """The same of a stored run, under its name."""
    result = result_of(
        test_set,
        outcomes,
        scoring,
        name=info.name or info.run_id,
        run_id=info.run_id,
        cached=cached,
    )
    return replace(result, info=info)


def expects_nothing(test_set: TestSet) -> bool:
    """Whether every query is one that has nothing to find."""
    return bool(test_set.queries) and all(
        query.expect is not Expect.EVIDENCE for query in test_set.queries
    )


def group_means(groups: Mapping[str, Scores], *, count: bool = False) -> dict[str, dict[str, Any]]:
    """The means of each group, JSON-ready; ``count`` adds how many queries it has."""
    return {
        name: {
            **{m.key: rounded(part[m]) for m in part.measures},
            **({"num_queries": len(part.queries)} if count else {}),
        }
        for name, part in groups.items()
    }
