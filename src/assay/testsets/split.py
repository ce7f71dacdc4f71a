"""Which queries are held out, and which belong to training, tuning and testing?

Queries that belong together stay on one side: those of one group (a post, an interview, a topic),
and those that ask the same. Both draws order what is drawn by a hash of the seed and its name, so
that neither the order of the file nor the machine matters, and shares are apportioned by largest
remainder. Where every query stands alone counts are exact: of 20, 15 and 15 queries, 20 % are 4, 3
and 3. Otherwise they are as close as whole groups allow.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from assay.errors import ConflictError, UsageError
from assay.model.testset import GoldenQuery, HeldOut, TestSet
from assay.plural import counted, share_of
from assay.testsets.overlap import asked, overlap

HELD_OUT_SHARE = 0.2
PARTS: Mapping[str, float] = {"train": 0.8, "val": 0.1, "test": 0.1}
DEFAULT_SEED = 13
DRAWS = 100  # of whole groups, to come close to the share
Stratum: TypeAlias = tuple[str, str]  # what is expected, and the type of the query


def hold_out(
    test_set: TestSet, *, share: float = HELD_OUT_SHARE, seed: int = DEFAULT_SEED
) -> TestSet:
    """The set with a held-out part of whole groups, stratified by expectation and query type.

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
    strata = Counter(map(_stratum, test_set.queries))
    names = sorted(strata)
    counts = apportion([strata[name] * share for name in names], total)
    chosen = _chosen(units(test_set.queries), dict(zip(names, counts, strict=True)), seed)
    ids = tuple(query.query_id for query in test_set.queries if query.query_id in chosen)
    return replace(test_set, held_out=HeldOut(seed, ids))


def split_notes(test_set: TestSet, share: float) -> tuple[str, ...]:
    """What to know of a held-out part: how far groups moved its size, what both sides share."""
    held, rest = test_set.held_out_queries, test_set.evaluation_queries
    notes = []
    if (wanted := _rounded(len(test_set.queries) * share)) != len(held):
        notes.append(
            f"groups stay whole: {share_of(len(held), len(test_set.queries), 'query', 'is')} held "
            f"out, where {share:.0%} would be {wanted}"
        )
    return (*notes, *overlap(rest, held, ("evaluation", "held_out")).sentences())


def _chosen(every: Sequence[Unit], wanted: Mapping[Stratum, int], seed: int) -> set[str]:
    """The ids of units that bring each stratum as close to the number wanted as draws can.

    Units that stand alone always fit. Where there are groups, several draws are made and the first
    of the closest ones counts.
    """
    if len(every) < 2:
        raise UsageError(
            "all queries belong to one group, which cannot be on both sides",
            hint="give them the groups that they come from",
        )
    best: tuple[int, list[Unit]] | None = None
    for draw in range(DRAWS):
        taken = _taken(every, wanted, seed, draw)
        left = Counter(wanted)
        for unit in taken:
            left.subtract(unit.strata)
        distance = sum(count * count for count in left.values())
        if best is None or distance < best[0]:
            best = distance, taken
        if not distance:
            break
    assert best is not None
    return {query_id for unit in best[1] for query_id in unit.ids}


def _taken(
    every: Sequence[Unit], wanted: Mapping[Stratum, int], seed: int, draw: int
) -> list[Unit]:
    """One draw: each unit in turn, larger ones first, is taken if that brings us closer."""
    salt = "" if draw == 0 else f"{draw}:"
    order = sorted(every, key=lambda unit: (len(unit.ids) == 1, _draw(salt + unit.name, seed)))
    left = Counter(wanted)

    def gain(unit: Unit) -> int:
        """By how much the squared distance shrinks if the unit is taken."""
        return sum(count * (2 * left[stratum] - count) for stratum, count in unit.strata.items())

    taken: list[Unit] = []
    for unit in order:
        if gain(unit) > 0:
            taken.append(unit)
            left.subtract(unit.strata)
    if not taken:
        return [max(order, key=gain)]
    if len(taken) == len(order):
        taken.remove(min(taken, key=lambda unit: len(unit.ids)))
    return taken


@dataclass(frozen=True, slots=True)
class Unit:
    """Queries that stay on one side of every split."""

    name: str
    ids: tuple[str, ...]
    strata: Mapping[Stratum, int]


def units(queries: Sequence[GoldenQuery]) -> list[Unit]:
    """The queries that share a group or ask the same, put together; all others alone."""
    owner: dict[str, str] = {}

    def root(key: str) -> str:
        while (above := owner.setdefault(key, key)) != key:
            key = above
        return key

    for query in queries:
        for key in (f"text:{asked(query)}", *_grouped(query)):
            owner[root(key)] = root(f"query:{query.query_id}")
    members: dict[str, list[GoldenQuery]] = {}
    for query in queries:
        members.setdefault(root(f"query:{query.query_id}"), []).append(query)
    return [
        Unit(
            _unit_name(together),
            tuple(query.query_id for query in together),
            Counter(map(_stratum, together)),
        )
        for together in members.values()
    ]


def _grouped(query: GoldenQuery) -> tuple[str, ...]:
    return () if query.group is None else (f"group:{query.group}",)


def _unit_name(together: Sequence[GoldenQuery]) -> str:
    """A name that does not depend on the order of the file."""
    if len(together) == 1:
        return together[0].query_id
    names = sorted({key for query in together for key in _grouped(query)})
    return names[0] if names else min(query.query_id for query in together)


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
    """Query ids by part; no group and no text is in two parts."""

    seed: int
    parts: Mapping[str, tuple[str, ...]]


def split_by_group(
    test_set: TestSet, shares: Mapping[str, float] = PARTS, *, seed: int = DEFAULT_SEED
) -> GroupSplit:
    """Split by whole groups (posts, interviews, topics); a query without one is its own group.

    Queries that ask the same count as one group, too.
    """
    if not shares or min(shares.values()) <= 0 or not math.isclose(sum(shares.values()), 1):
        raise UsageError("the shares of a split are above 0 and sum to 1")
    groups = sorted(
        units(test_set.queries), key=lambda unit: _draw(_group_name(unit, test_set), seed)
    )
    if len(groups) < len(shares):
        raise UsageError(
            f"{counted(len(groups), 'group')} cannot be split into {len(shares)} parts",
            hint="give queries a group, or add more",
        )
    counts = _at_least_one(
        apportion([len(groups) * share for share in shares.values()], len(groups))
    )
    members: dict[str, set[str]] = {}
    for name, count in zip(shares, counts, strict=True):
        members[name] = {query_id for unit in groups[:count] for query_id in unit.ids}
        groups = groups[count:]
    parts = {
        name: tuple(query.query_id for query in test_set.queries if query.query_id in inside)
        for name, inside in members.items()
    }
    _assert_disjoint(test_set, parts)
    return GroupSplit(seed, parts)


def _group_name(unit: Unit, test_set: TestSet) -> str:
    """The name of the group that a unit is; a query without one is its own."""
    if len(unit.ids) > 1 or (group := test_set.by_id[unit.ids[0]].group) is None:
        return unit.name if unit.name.startswith("group:") else f"query:{unit.name}"
    return f"group:{group}"


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


def _stratum(query: GoldenQuery) -> Stratum:
    return query.expect.value, str(query.query_type or "")


def _draw(name: str, seed: int) -> tuple[bytes, str]:
    """Where a name comes in the order of a seed, whatever else is drawn."""
    return hashlib.sha256(f"{seed}:{name}".encode()).digest(), name


def _assert_disjoint(test_set: TestSet, parts: Mapping[str, tuple[str, ...]]) -> None:
    sides = {name: [test_set.by_id[one] for one in ids] for name, ids in parts.items()}
    for (one, queries), (other, others) in combinations(sides.items(), 2):
        assert overlap(queries, others, (one, other)).disjoint, f"{one} and {other} overlap"
    assert sum(map(len, parts.values())) == len(test_set.queries), "a query was lost"
