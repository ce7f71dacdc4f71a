"""How are several test sets combined into one?

Queries keep their ids, so no two sets may use the same one. Held-out parts stay held out. What the
sets have in common beside is kept in the provenance, which every result that comes of them quotes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from assay.errors import UsageError
from assay.model.testset import JUDGED_BY, OVERLAP, HeldOut, TestSet, with_skipped
from assay.testsets.overlap import overlap

ALL = "all"  # the part that a set is, where it is no part of another
MARK = ":"  # allowed wherever the name of a suite is used
SHOWN_IDS = 3


def join(sets: Sequence[TestSet]) -> TestSet:
    """One set with the queries of all, named after them: ``test_set_v1:extras``."""
    if len(sets) == 1:
        return sets[0]
    _refuse_twins(sets)
    held = [one.held_out for one in sets if one.held_out is not None]
    versions = list(dict.fromkeys(one.version for one in sets))
    return TestSet(
        name=MARK.join(_shortly(one.name, sets[0].name) for one in sets),
        version=MARK.join(versions),
        queries=tuple(query for one in sets for query in one.queries),
        description="; ".join(one.description for one in sets if one.description),
        held_out=HeldOut(held[0].seed, tuple(sorted(i for one in held for i in one.query_ids)))
        if held
        else None,
        provenance=_provenance(sets),
        skipped=tuple(query for one in sets for query in one.skipped),
    )


def _provenance(sets: Sequence[TestSet]) -> dict[str, Any]:
    found: dict[str, Any] = {"joined": [[one.name, one.version, one.checksum] for one in sets]}
    parts = list(dict.fromkeys(one.part or ALL for one in sets))
    if parts != [ALL]:
        found["part"] = MARK.join(parts)
    shared: list[str] = []
    for a, b in combinations(sets, 2):
        apart = a.part != b.part  # sets of one part are run as one: nobody tuned on either
        common = overlap(a.queries, b.queries, (a.name, b.name))
        shared += common.sentences(groups=apart, documents=apart)
    if shared:
        found[OVERLAP] = shared
    if judged := [line for one in sets for line in one.carried_judged_by]:
        found[JUDGED_BY] = judged
    held = frozenset[str]().union(*(one.unjudged_held_out for one in sets))
    return with_skipped(found, [query for one in sets for query in one.unjudged], held)


def joined_version(test_set: TestSet, name: str) -> str | None:
    """The version of a set that this one was joined of; None where it is not among them."""
    listed = test_set.provenance.get("joined")
    rows = listed if isinstance(listed, (list, tuple)) else ()
    return next((str(row[1]) for row in rows if len(row) > 1 and row[0] == name), None)


def may_join(suite: str, name: str) -> bool:
    """Whether a suite of this name may be joined of several sets, one of them called ``name``."""
    first, *others = suite.split(MARK)
    return bool(others) and name in {first, *others, *(f"{first}_{one}" for one in others)}


def _shortly(name: str, first: str) -> str:
    return name.removeprefix(f"{first}_")


def _refuse_twins(sets: Sequence[TestSet]) -> None:
    owner: dict[str, str] = {}
    for one in sets:
        twins = [query.query_id for query in one.queries if query.query_id in owner]
        if twins:
            more = ", ..." if len(twins) > SHOWN_IDS else ""
            raise UsageError(
                f"{owner[twins[0]]} and {one.name} both have {', '.join(twins[:SHOWN_IDS])}{more}",
                hint="run them one after the other, or rename queries",
            )
        owner |= dict.fromkeys(one.by_id, one.name)
