"""Which queries are held out, and which belong to training, tuning and testing?

Both draws order items by a hash of the seed and their id, so that neither the order of the file nor
the machine matters, and shares are apportioned by largest remainder, so that counts are exact: of
20, 15 and 15 queries, 20 % are 4, 3 and 3.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.errors import ConflictError, UsageError
from assay.model.testset import GoldenQuery, HeldOut, TestSet
from assay.plural import counted

HELD_OUT_SHARE = 0.2
PARTS: Mapping[str, float] = {"train": 0.8, "val": 0.1, "test": 0.1}
DEFAULT_SEED = 13


def hold_out(
    test_set: TestSet, *, share: float = HELD_OUT_SHARE, seed: int = DEFAULT_SEED
) -> TestSet:
    """The set with a held-out part, stratified by expectation and query type.

    An earlier held-out part is discarded; ``refuse_redraw`` guards against that.
    """
    if not 0 < share < 1:
        raise UsageError(f"a share of {share} cannot be held out", hint="it is between 0 and 1")
    total = _rounded(len(test_set.queries) * share)
    if not 0 < total < len(test_set.queries):
        raise UsageError(
            f"{share:.0%} of {counted(len(test_set.queries), 'query')} cannot be held out",
            hint="both parts need a query",
        )
    strata: dict[tuple[str, str], list[str]] = {}
    for query in test_set.queries:
        strata.setdefault(_stratum(query), []).append(query.query_id)
    names = sorted(strata)
    counts = apportion([len(strata[name]) * share for name in names], total)
    chosen = {
        query_id
        for name, count in zip(names, counts, strict=True)
        for query_id in _drawn(strata[name], seed)[:count]
    }
    ids = tuple(query.query_id for query in test_set.queries if query.query_id in chosen)
    return replace(test_set, held_out=HeldOut(seed, ids))


def refuse_redraw(before: TestSet, after: TestSet) -> None:
    """Raise an error if a query that people may have tuned on would become held out."""
    if before.held_out is None or before.held_out_ids == after.held_out_ids:
        return
    seen = counted(len(after.held_out_ids - before.held_out_ids), "query")
    raise ConflictError(
        f"{before.name} {before.version} has a held-out part; another draw would hold out {seen} "
        "that people may have tuned on",
        hint="write the next version with assay testset refresh, or give --redraw",
    )


@dataclass(frozen=True, slots=True)
class GroupSplit:
    """Query ids by part; no group is in two parts."""

    seed: int
    parts: Mapping[str, tuple[str, ...]]


def split_by_group(
    test_set: TestSet, shares: Mapping[str, float] = PARTS, *, seed: int = DEFAULT_SEED
) -> GroupSplit:
    """Split by whole groups (posts, interviews, topics); a query without one is its own group."""
    if not shares or min(shares.values()) <= 0 or not math.isclose(sum(shares.values()), 1):
        raise UsageError("the shares of a split are above 0 and sum to 1")
    groups: dict[str, list[str]] = {}
    for query in test_set.queries:
        groups.setdefault(_group(query), []).append(query.query_id)
    if len(groups) < len(shares):
        raise UsageError(
            f"{len(groups)} groups cannot be split into {len(shares)} parts",
            hint="give queries a group, or add more",
        )
    counts = _at_least_one(
        apportion([len(groups) * share for share in shares.values()], len(groups))
    )
    order = _drawn(list(groups), seed)
    members: dict[str, set[str]] = {}
    for name, count in zip(shares, counts, strict=True):
        members[name], order = set(order[:count]), order[count:]
    parts = {
        name: tuple(query.query_id for query in test_set.queries if _group(query) in inside)
        for name, inside in members.items()
    }
    _assert_disjoint(test_set, parts)
    return GroupSplit(seed, parts)


def part(test_set: TestSet, name: str, query_ids: Sequence[str]) -> TestSet:
    """The queries of one part as a test set of its own."""
    wanted = set(query_ids)
    return replace(
        test_set,
        name=f"{test_set.name}-{name}",
        queries=tuple(query for query in test_set.queries if query.query_id in wanted),
        held_out=None,
        provenance={**test_set.provenance, "part_of": test_set.name, "part": name},
    )


def apportion(quotas: Sequence[float], total: int) -> list[int]:
    """Integers close to the quotas that sum to ``total`` (largest remainder)."""
    counts = [_floor(quota) for quota in quotas]
    order = sorted(range(len(quotas)), key=lambda at: (counts[at] - quotas[at], at))
    for at in order[: max(0, total - sum(counts))]:
        counts[at] += 1
    return counts


def _at_least_one(counts: list[int]) -> list[int]:
    """Move one from the largest part to each empty part."""
    counts = list(counts)
    while 0 in counts:
        counts[counts.index(max(counts))] -= 1
        counts[counts.index(0)] += 1
    return counts


def _rounded(value: float) -> int:
    return math.floor(value + 0.5)


def _floor(quota: float) -> int:
    return math.floor(quota + 1e-9)  # 15 times 0.2 is not quite 3


def _stratum(query: GoldenQuery) -> tuple[str, str]:
    return query.expect.value, str(query.query_type or "")


def _group(query: GoldenQuery) -> str:
    return f"query:{query.query_id}" if query.group is None else f"group:{query.group}"


def _drawn(names: Sequence[str], seed: int) -> list[str]:
    """The names in an order that depends only on the seed."""
    return sorted(
        names, key=lambda name: (hashlib.sha256(f"{seed}:{name}".encode()).digest(), name)
    )


def _assert_disjoint(test_set: TestSet, parts: Mapping[str, tuple[str, ...]]) -> None:
    by_id = test_set.by_id
    owners: dict[str, str] = {}
    for name, ids in parts.items():
        for query_id in ids:
            group = _group(by_id[query_id])
            assert owners.setdefault(group, name) == name, f"{group} is in two parts"
    assert sum(map(len, parts.values())) == len(test_set.queries), "a query was lost"
