"""Which queries of a test set should be replaced, and why?

    redundant  another query asks nearly the same, or has nearly the same relevant passages
    saturated  every stored run answers it almost perfectly, so it does not separate systems
    oldest     it has been in the set since the earliest version

Queries with more of these reasons are retired first; a hash of the seed breaks ties. The number to
retire is fixed for each query type and, within it, for the held-out part and the rest, so that the
strata keep their shares and no query changes sides. Results on the held-out part are not used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.annotation.similar import jaccard, words_of
from assay.errors import UsageError
from assay.model.answers import Expect
from assay.model.testset import GoldenQuery, TestSet
from assay.plural import counted
from assay.testsets.split import apportion

SATURATED = 0.95
SAME_WORDS = 0.6
SAME_PASSAGES = 0.5
Stratum: TypeAlias = tuple[str, bool]  # query type, held out


@dataclass(frozen=True, slots=True)
class Retirement:
    """A retired query with its stratum and the reasons; none if it was drawn at random."""

    query_id: str
    stratum: Stratum
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a query: its scores in stored runs, and its first version."""

    values: Mapping[str, Sequence[float]]
    entered: Mapping[str, int]


def stratum_of(test_set: TestSet, query: GoldenQuery) -> Stratum:
    """The stratum of a query: its type, and whether it is held out."""
    return str(query.query_type or ""), query.query_id in test_set.held_out_ids


def quotas(test_set: TestSet, replace: int) -> dict[Stratum, int]:
    """The number of queries to retire per stratum, in proportion to its size."""
    sizes: dict[Stratum, int] = {}
    for query in test_set.queries:
        if query.expect is Expect.EVIDENCE:
            stratum = stratum_of(test_set, query)
            sizes[stratum] = sizes.get(stratum, 0) + 1
    total = sum(sizes.values())
    if not 1 <= replace <= total:
        raise UsageError(
            f"{counted(replace, 'query')} of {test_set.name} cannot be replaced",
            hint=f"it has {total} with evidence",
        )
    names = sorted(sizes)
    counts = apportion([replace * sizes[name] / total for name in names], replace)
    return dict(zip(names, counts, strict=True))


def retire(
    test_set: TestSet, counts: Mapping[Stratum, int], evidence: Evidence, *, seed: int
) -> tuple[Retirement, ...]:
    """The queries to retire, in the order of the set."""
    twins = _twins(test_set)
    ranked: dict[Stratum, list[tuple[int, bytes, Retirement]]] = {}
    for query in test_set.queries:
        if query.expect is not Expect.EVIDENCE:
            continue
        stratum = stratum_of(test_set, query)
        reasons = _reasons(query.query_id, stratum[1], twins, evidence)
        draw = hashlib.sha256(f"{seed}:{query.query_id}".encode()).digest()
        row = (-len(reasons), draw, Retirement(query.query_id, stratum, reasons))
        ranked.setdefault(stratum, []).append(row)
    chosen = {
        row[2].query_id: row[2]
        for stratum, rows in ranked.items()
        for row in sorted(rows, key=lambda row: row[:2])[: counts.get(stratum, 0)]
    }
    return tuple(chosen[query_id] for query_id in test_set.by_id if query_id in chosen)


def entered(test_set: TestSet) -> dict[str, int]:
    """How many versions ago each query was added; 0 is the newest."""
    history = test_set.provenance.get("entered", {})
    steps = list(history.values()) if isinstance(history, Mapping) else []
    ages: dict[str, int] = dict.fromkeys(test_set.by_id, len(steps))
    for age, ids in enumerate(reversed(steps)):
        ages |= {str(name): age for name in ids if str(name) in ages}
    return ages


def _reasons(
    query_id: str, held_out: bool, twins: Mapping[str, str], evidence: Evidence
) -> tuple[str, ...]:
    reasons = []
    if query_id in twins:
        reasons.append(f"redundant: {twins[query_id]}")
    values = evidence.values.get(query_id, ())
    if values and not held_out and min(values) >= SATURATED:
        times = counted(len(values), "stored run")
        reasons.append(f"saturated: nDCG@10 of at least {min(values):.2f} in {times}")
    age = evidence.entered.get(query_id, 0)
    if age and age == max(evidence.entered.values(), default=0):
        reasons.append(f"oldest: {counted(age, 'version')} old")
    return tuple(reasons)


def _twins(test_set: TestSet) -> dict[str, str]:
    """For each redundant query, its twin and why; of a pair, the later one is redundant."""
    found: dict[str, str] = {}
    before: list[tuple[str, frozenset[str], frozenset[str]]] = []
    for query in test_set.queries:
        words = words_of(query.query_text)
        passages = frozenset(one.id for one in query.relevant_docs if one.grade > 0)
        for name, other_words, other_passages in before:
            if jaccard(words, other_words) >= SAME_WORDS:
                found.setdefault(query.query_id, f"worded like {name}")
            elif passages and jaccard(passages, other_passages) >= SAME_PASSAGES:
                found.setdefault(query.query_id, f"answered by the same passages as {name}")
        before.append((query.query_id, words, passages))
    return found
