"""Which settings do best on the evaluation part, and is that more than luck?

Settings are tried on one part of the queries and reported on another. What is gained where it was
chosen is always flattering; what is left of it on the held-out part is the honest figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from assay.errors import UsageError
from assay.evaluation.match import Listed
from assay.evaluation.score import scores_of
from assay.evaluation.scores import Scores, rounded
from assay.evaluation.significance import Contrast, compare
from assay.measures.base import Family, Measure
from assay.measures.table import JudgedHits, build_table
from assay.model.arrays import IntArray
from assay.model.document import ChunkPlace
from assay.model.sampling import Sampling
from assay.model.testset import TestSet

# settings to the rank of every candidate of each query, in the order of the candidates' ids
Rank: TypeAlias = Callable[[Any, str], IntArray]
SMALLEST_GROUP = 5
KEPT_SHARE = 0.5  # of the gain must be left on the held-out part, else there is a warning


@dataclass(frozen=True)
class Judged:
    """The judged candidates of a test set: what to look up in a ranking to score it.

    ``rows`` points into each query's candidates; a document is found by any of its chunks.
    """

    queries: tuple[str, ...]
    rows: tuple[tuple[tuple[IntArray, int], ...], ...]
    judged: tuple[IntArray, IntArray]
    sizes: IntArray

    def table(self, ranks: Callable[[str], IntArray]) -> JudgedHits:
        """The judged-hits table of rankings, given as ranks of candidates."""
        query, rank, grade = [], [], []
        for at, name in enumerate(self.queries):
            if not self.rows[at]:
                continue
            here = ranks(name)
            for rows, value in self.rows[at]:
                query.append(at)
                rank.append(int(here[rows].min()))
                grade.append(value)
        zeros = np.zeros(len(self.queries), dtype=np.int64)
        return build_table(
            self.queries,
            (
                np.array(query, dtype=np.int64),
                np.array(rank, dtype=np.int64),
                np.array(grade, dtype=np.int64),
            ),
            self.judged,
            retrieved=self.sizes,
            top_score=np.full(len(self.queries), -np.inf),
            tied=zeros,
            missing=zeros.astype(np.bool_),
            extra_queries=0,
        )


def judged(
    test_set: TestSet, candidates: Mapping[str, Sequence[str]], places: Mapping[str, ChunkPlace]
) -> Judged:
    """What of each query's candidates was judged; ``places`` says where they stand."""
    chosen = [query for query in test_set.queries if query.judged]
    if not chosen:
        raise UsageError(f"no query of {test_set.name} has a relevant document")
    rows, owner, grades = [], [], []
    for at, query in enumerate(chosen):
        listed = Listed(candidates.get(query.query_id, ()), places)
        rows.append(
            tuple(
                (np.array(ranks) - 1, one.grade)
                for one in query.relevant_docs
                if (ranks := listed.ranks(one))
            )
        )
        owner += [at] * len(query.relevant_docs)
        grades += [one.grade for one in query.relevant_docs]
    return Judged(
        tuple(query.query_id for query in chosen),
        tuple(rows),
        (np.array(owner, dtype=np.int64), np.array(grades, dtype=np.int64)),
        np.array([len(candidates.get(q.query_id, ())) for q in chosen], dtype=np.int64),
    )


@dataclass(frozen=True)
class Trial:
    """One setting and its mean on the evaluation part."""

    settings: Any
    mean: float


@dataclass(frozen=True)
class BestOfKind:
    """The best setting of one kind, such as a fusion method, and its mean on each part."""

    name: str
    settings: Any
    evaluation: float
    held_out: float | None


@dataclass(frozen=True)
class Tuning:
    """The best setting, compared with the present one on both parts, and the best of each kind."""

    measure: Measure
    trials: tuple[Trial, ...]
    best: Any
    evaluation: Contrast
    held_out: Contrast | None
    kinds: tuple[BestOfKind, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons not to believe the gain, or not to want it."""
        return (*self._doubts(), *self._rivals())

    def _rivals(self) -> Iterator[str]:
        """Kinds that were only compared, and did better than every setting that was tried."""
        best = self.trials[0].mean
        for one in self.kinds:
            if one.evaluation > best:
                yield (
                    f"{one.name} is better than any fusion on these queries: "
                    f"{one.evaluation:.4f} against {best:.4f}"
                )

    def _doubts(self) -> tuple[str, ...]:
        gain = self.evaluation.difference or 0.0
        if self.held_out is None:
            return ("there is no held-out part: the gain is that of the queries it was chosen on",)
        kept = self.held_out.difference or 0.0
        if gain <= 0:
            return ()
        said = []
        if kept <= 0:
            said.append(
                f"overfitting: +{gain:.4f} where it was chosen, {kept:+.4f} on the held-out part"
            )
        elif kept < KEPT_SHARE * gain:
            said.append(
                f"overfitting: of +{gain:.4f} only {kept:+.4f} is left on the held-out part"
            )
        if self.held_out.ruling.verdict.value == "inconclusive":
            said.append(
                f"{self.held_out.n} held-out queries cannot tell whether the gain is real "
                f"(they would see {rounded(self.held_out.detectable)})"
            )
        return tuple(said)


def best_by_group(
    settings: Sequence[Any],
    measure: Measure,
    evaluation: tuple[Judged, Rank],
    groups: Mapping[str, str],
) -> dict[str, Any]:
    """The setting that does best on the queries of each group, the first of equal ones.

    A group with fewer than ``SMALLEST_GROUP`` queries is left out: it would be tuned to luck.
    """
    part, rank = evaluation
    names = [groups.get(query, "") for query in part.queries]
    large = {name for name in names if name and names.count(name) >= SMALLEST_GROUP}
    rows = {name: np.array([one == name for one in names]) for name in sorted(large)}
    best: dict[str, tuple[float, Any]] = {}
    for one in settings:
        column = measure.column(part.table(partial(rank, one)))
        for name, members in rows.items():
            counted = members & column.defined
            mean = float(column.values[counted].mean()) if counted.any() else 0.0
            if name not in best or mean > best[name][0]:
                best[name] = mean, one
    return {name: setting for name, (_, setting) in best.items()}


def tune(
    settings: Sequence[Any],
    present: Any,
    measure: Measure,
    *,
    evaluation: tuple[Judged, Rank],
    held_out: tuple[Judged, Rank] | None = None,
    sampling: Sampling | None = None,
    kind: Callable[[Any], str] = lambda _: "",
    others: Mapping[str, Any] = MappingProxyType({}),
) -> Tuning:
    """Try every setting on the evaluation part; compare the best with the present one on both.

    ``kind`` names what kind of setting one is: the best of each is reported on both parts. So are
    ``others``, by their names; they are measured, but never chosen.
    """
    if measure.definition.family is not Family.RANKING:
        raise UsageError(f"{measure} is not a measure of rankings", hint="such as nDCG@10")
    part, rank = evaluation
    trials = [Trial(one, _mean(measure, part, rank, one)) for one in settings]
    if not trials:
        raise UsageError("there is no setting to try")
    # the first of equal ones, so that the grid's order decides and nothing else
    best = max(enumerate(trials), key=lambda pair: (pair[1].mean, -pair[0]))[1].settings
    found = sorted(enumerate(trials), key=lambda pair: (-pair[1].mean, pair[0]))
    first: dict[str, Trial] = {}
    for _, trial in found:
        first.setdefault(kind(trial.settings), trial)
    kinds = [(name, first[name]) for name in dict.fromkeys(map(kind, settings)) if name]
    kinds += [(name, Trial(one, _mean(measure, part, rank, one))) for name, one in others.items()]

    def contrast(where: tuple[Judged, Rank]) -> Contrast:
        part, rank = where

        def scores(name: str, chosen: Any) -> Scores:
            hits = part.table(lambda query: rank(chosen, query))
            return scores_of(hits, [measure], name=name, sampling=sampling or Sampling())

        return compare(scores("present", present), scores("best", best)).contrasts[0]

    return Tuning(
        measure,
        tuple(trial for _, trial in found),
        best,
        contrast(evaluation),
        None if held_out is None else contrast(held_out),
        tuple(
            BestOfKind(
                name,
                trial.settings,
                trial.mean,
                None if held_out is None else _mean(measure, *held_out, trial.settings),
            )
            for name, trial in kinds
        ),
    )


def _mean(measure: Measure, part: Judged, rank: Rank, settings: Any) -> float:
    column = measure.column(part.table(lambda query: rank(settings, query)))
    return float(column.values[column.defined].mean()) if column.defined.any() else 0.0
