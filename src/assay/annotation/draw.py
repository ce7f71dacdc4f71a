"""Which of the queries that people ask go into the next test set?

    random          every wording has the same chance
    frequency       chance in proportion to how often it was asked, without replacement (PPTSS)
    top             the most frequent
    zero-result     those that found nothing, in proportion to how often
    low-confidence  the lowest mean score of the best result first

The draw without replacement orders wordings by ``u^(1/weight)`` with u a hash of seed and words
(Efraimidis and Spirakis 2006): neither the order of the log nor the machine matters. Each query
type keeps its share of the current set. Wordings that resemble an existing query, or consist of
identifiers only, are left out.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assay.annotation.candidates import QueryCandidate, gathered
from assay.annotation.similar import Encode, Known
from assay.errors import InputError, UsageError
from assay.model.answers import Expect
from assay.model.identifiers import placeholders, scrubbed, without_placeholders
from assay.model.testset import QueryType, TestSet
from assay.testsets.split import apportion

DEFAULT_SEED = 13
_NUMBERED = re.compile(r"q(\d{1,9})")


class Strategy(StrEnum):
    """How wordings are drawn."""

    RANDOM = "random"
    FREQUENCY = "frequency"
    TOP = "top"
    ZERO_RESULT = "zero-result"
    LOW_CONFIDENCE = "low-confidence"


@dataclass(frozen=True, slots=True)
class DrawnQuery:
    """A query of the sample; ``scrubbed`` names the kinds of identifiers that were removed."""

    query_id: str
    query_text: str
    query_type: QueryType
    candidate: QueryCandidate
    scrubbed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A wording that was drawn but not used, and why."""

    query_text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sample:
    """The drawn queries; ``wanted`` is the number needed of each type."""

    strategy: Strategy
    seed: int
    candidates: int
    wanted: Mapping[QueryType, int]
    queries: tuple[DrawnQuery, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def missing(self) -> dict[QueryType, int]:
        """The number of queries still missing of each type."""
        found = Counter(query.query_type for query in self.queries)
        return {kind: n - found[kind] for kind, n in self.wanted.items() if n > found[kind]}


def draw(
    candidates: Iterable[QueryCandidate],
    test_set: TestSet,
    classify: Callable[[str], QueryType],
    *,
    count: int,
    strategy: Strategy = Strategy.RANDOM,
    seed: int = DEFAULT_SEED,
    encode: Encode | None = None,
    taken: Collection[str] = (),
    every: bool = False,
) -> Sample:
    """Draw ``count`` queries that the set does not have; ``taken`` are ids in use.

    With ``every``, all of them come in, whatever their types.
    """
    if count < 1:
        raise UsageError("a sample has at least one query")
    clean, kinds, left_out = cleaned(candidates)
    ordered = order(clean, strategy, seed)
    if not ordered:
        raise InputError(
            f"there is no query to draw (strategy: {strategy})",
            hint="check that the setting query_log is text and that somebody has searched",
        )
    quotas = (
        dict(Counter(classify(one.text) for one in ordered)) if every else wanted(test_set, count)
    )
    known = Known(encode)
    for query in test_set.queries:
        known.add(query.query_id, query.query_text)
    ids = iter(next_ids(test_set, sum(quotas.values()), taken))
    drawn: list[DrawnQuery] = []
    open_places = dict(quotas)
    for one in ordered:
        kind = classify(one.text)
        if not open_places.get(kind):
            continue
        if likeness := known.like(one.text):
            left_out.append(LeftOut(one.text, str(likeness)))
            continue
        name = next(ids)
        known.add(name, one.text)
        drawn.append(DrawnQuery(name, one.text, kind, one, kinds.get(one.text, ())))
        open_places[kind] -= 1
        if not any(open_places.values()):
            break
    return Sample(strategy, seed, len(clean), quotas, tuple(drawn), tuple(left_out))


def order(
    candidates: Iterable[QueryCandidate], strategy: Strategy, seed: int
) -> list[QueryCandidate]:
    """The candidates that a strategy allows, first drawn first."""
    every = list(candidates)
    if strategy is Strategy.TOP:
        return sorted(every, key=lambda one: (-one.times, one.text))
    if strategy is Strategy.LOW_CONFIDENCE:
        scored = [(one.top_score, one) for one in every if one.top_score is not None]
        return [one for _, one in sorted(scored, key=lambda row: (row[0], row[1].text))]
    if strategy is Strategy.ZERO_RESULT:
        failed = [one for one in every if one.zero_results]
        return _drawn(failed, seed, lambda one: one.zero_results)
    weight = (lambda one: one.times) if strategy is Strategy.FREQUENCY else (lambda _: 1)
    return _drawn(every, seed, weight)


def wanted(test_set: TestSet, count: int) -> dict[QueryType, int]:
    """The number of queries of each type that keeps the set's proportions."""
    kinds = Counter(
        query.query_type
        for query in test_set.queries
        if query.query_type is not None and query.expect is Expect.EVIDENCE
    )
    if not kinds:
        raise UsageError(
            f"no query of {test_set.name} has a query_type",
            hint="set it on the queries: a sample keeps the proportions of the types",
        )
    names = sorted(kinds)
    total = sum(kinds.values())
    shares = apportion([count * kinds[name] / total for name in names], count)
    return dict(zip(names, shares, strict=True))


def next_ids(test_set: TestSet, count: int, taken: Collection[str] = ()) -> list[str]:
    """Ids that neither the set nor an earlier version has used."""
    used = {*test_set.by_id, *taken, *earlier_ids(test_set)}
    numbers = [int(found[1]) for name in used if (found := _NUMBERED.fullmatch(name))]
    first = max(numbers, default=0) + 1
    return [f"q{number:03}" for number in range(first, first + count)]


def earlier_ids(test_set: TestSet) -> tuple[str, ...]:
    """The ids of queries that were retired in earlier versions."""
    listed = test_set.provenance.get("retired_before", ())
    return tuple(str(one) for one in listed) if isinstance(listed, (list, tuple)) else ()


def cleaned(
    candidates: Iterable[QueryCandidate],
) -> tuple[tuple[QueryCandidate, ...], dict[str, tuple[str, ...]], list[LeftOut]]:
    """Candidates without identifiers, what was removed, and candidates that nothing is left of."""
    kinds: dict[str, tuple[str, ...]] = {}
    kept: list[QueryCandidate] = []
    left_out: list[LeftOut] = []
    for one in candidates:
        text, taken = scrubbed(one.text)
        text = " ".join(text.split())
        found = tuple(sorted({*taken, *placeholders(text)}))
        if found and not without_placeholders(text):
            left_out.append(LeftOut(text, "nothing but identifiers"))
            continue
        if found:
            kinds[text] = found
        kept.append(QueryCandidate(text, one.times, one.zero_results, one.top_score))
    return gathered(kept), kinds, left_out


def _drawn(
    candidates: Sequence[QueryCandidate], seed: int, weight: Callable[[QueryCandidate], int]
) -> list[QueryCandidate]:
    def key(one: QueryCandidate) -> tuple[float, str]:
        digest = hashlib.sha256(f"{seed}:{one.text}".encode()).digest()
        uniform = (int.from_bytes(digest[:8], "big") + 1) / 2**64
        return math.log(uniform) / weight(one), one.text  # log u / w orders as u^(1/w) does

    return sorted(candidates, key=lambda one: (-key(one)[0], key(one)[1]))
