"""What does the next version of a test set look like?

Kept queries stay as they are and on their side of the held-out split: a query that anybody tuned on
never becomes held out. New queries replace retired ones within the same type and side. The old set
is not changed; the new one records who judged it, when, how well they agreed, and its parent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.annotation.adjudicate import Settled
from assay.annotation.draw import earlier_ids
from assay.annotation.retire import Retirement, Stratum, quotas
from assay.errors import InputError, UsageError
from assay.model.annotation import Item, RoundQuery
from assay.model.answers import Expect
from assay.model.ranking import document_id
from assay.model.testset import JUDGED_BY, SKIPPED, GoldenQuery, HeldOut, Judgment, TestSet
from assay.plural import counted

_VERSION = re.compile(r"(.*?)(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Ready:
    """Which queries of a round can enter a test set, and why the others cannot."""

    queries: tuple[GoldenQuery, ...]
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which queries are replaced and by which, in numbers that the round can fill."""

    counts: Mapping[Stratum, int]
    added: tuple[GoldenQuery, ...]


def ready_queries(queries: Sequence[RoundQuery], items: Sequence[Item], settled: Settled) -> Ready:
    """The queries whose passages all have a grade, or are known to have none."""
    waiting = {query_id for query_id, _ in settled.open}
    found: list[GoldenQuery] = []
    left_out: dict[str, str] = {}
    for query in queries:
        judged = tuple(
            judgment(item, settled.grades[item.key])
            for item in items
            if item.query_id == query.query_id and item.key in settled.grades
        )
        if query.query_id in waiting:
            left_out[query.query_id] = "a passage is awaiting a grade or a decision"
        elif not any(one.grade > 0 for one in judged):
            left_out[query.query_id] = "no passage of its pool is relevant"
        else:
            found.append(golden(query, judged))
    return Ready(tuple(found), left_out)


def golden(query: RoundQuery, judged: Sequence[Judgment]) -> GoldenQuery:
    """A query of a round with its judgments, best first."""
    return GoldenQuery(
        query.query_id,
        query.query_text,
        query.query_type,
        relevant_docs=tuple(sorted(judged, key=lambda one: (-one.grade, one.id))),
        synthetic=query.synthetic,
    )


def judgment(item: Item, grade: int) -> Judgment:
    """A graded item as a judgment, with its document if the chunk's id does not show it."""
    named = document_id(item.chunk_id) == item.doc_id
    return Judgment(item.chunk_id, grade, item.spans, None if named else item.doc_id)


def most_replaced(test_set: TestSet, ready: Iterable[GoldenQuery], most: int) -> int:
    """How many queries can be replaced and keep the shares of the types, up to ``most``."""
    by_type = _by_type(test_set, ready)
    judged = sum(query.expect is Expect.EVIDENCE for query in test_set.queries)
    sizes = range(min(most, judged), 0, -1)
    return next((n for n in sizes if not _shortage(quotas(test_set, n), by_type)), 0)


def plan(test_set: TestSet, ready: Sequence[GoldenQuery], count: int) -> Plan:
    """Which of the ready queries are added, type by type; an error if they do not suffice."""
    by_type = _by_type(test_set, ready)
    counts = quotas(test_set, count)
    if short := _shortage(counts, by_type):
        most = most_replaced(test_set, ready, count - 1)
        raise UsageError(
            f"{counted(count, 'query')} cannot be replaced and keep the shares of the types: "
            f"{short}",
            hint=f"--replace {most} is possible" if most else "judge more queries",
        )
    wanted = _per_type(counts)
    added = tuple(
        query for kind in sorted(wanted) for query in by_type.get(kind, ())[: wanted[kind]]
    )
    return Plan(counts, tuple(sorted(added, key=lambda query: query.query_id)))


def _by_type(test_set: TestSet, ready: Iterable[GoldenQuery]) -> dict[str, list[GoldenQuery]]:
    """The new queries by type; a set without types gets queries without types."""
    found: dict[str, list[GoldenQuery]] = {}
    typed = any(query.query_type is not None for query in test_set.queries)
    for one in ready:
        query = one if typed else replace(one, query_type=None)
        if query.query_id in test_set.by_id:
            raise InputError(f"{query.query_id} is in {test_set.name} already")
        found.setdefault(str(query.query_type or ""), []).append(query)
    return found


def swapped(
    parent: TestSet,
    retired: Sequence[Retirement],
    added: Sequence[GoldenQuery],
    provenance: Mapping[str, Any],
    *,
    seed: int,
) -> TestSet:
    """The next version: kept queries, then new ones, with the same share held out."""
    gone = {one.query_id for one in retired}
    kept = [query for query in parent.queries if query.query_id not in gone]
    fresh = _held_out(retired, added, seed)
    held = None
    if parent.held_out is not None:
        names = (parent.held_out_ids - gone) | fresh
        ordered = tuple(q.query_id for q in (*kept, *added) if q.query_id in names)
        held = HeldOut(parent.held_out.seed, ordered)
    return successor(
        parent,
        (*kept, *added),
        held,
        {
            **provenance,
            "entered": _entered(parent, [query.query_id for query in added]),
            "retired": {one.query_id: "; ".join(one.reasons) or "drawn" for one in retired},
            "retired_before": sorted({*earlier_ids(parent), *gone}),
        },
    )


def filled(
    parent: TestSet, items: Sequence[Item], settled: Settled, provenance: Mapping[str, Any]
) -> TestSet:
    """The next version with judgments for unjudged passages; the queries stay the same."""
    new: dict[str, list[Judgment]] = {}
    for item in items:
        if item.key in settled.grades:
            new.setdefault(item.query_id, []).append(judgment(item, settled.grades[item.key]))
    queries = []
    for query in parent.queries:
        known = {one.id for one in query.relevant_docs}
        more = [one for one in new.get(query.query_id, ()) if one.id not in known]
        queries.append(replace(query, relevant_docs=(*query.relevant_docs, *more)))
    kept = {
        name: parent.provenance[name]
        for name in ("entered", "retired_before")
        if name in parent.provenance
    }
    return successor(parent, tuple(queries), parent.held_out, {**kept, **provenance})


def successor(
    parent: TestSet,
    queries: tuple[GoldenQuery, ...],
    held_out: HeldOut | None,
    provenance: Mapping[str, Any],
) -> TestSet:
    """A set with the next name and version, whose provenance records its parent."""
    name, version = next_name(parent.name, parent.version)
    origin = {"name": parent.name, "version": parent.version, "checksum": parent.checksum}
    kept = {SKIPPED: parent.provenance[SKIPPED]} if SKIPPED in parent.provenance else {}
    if any(query.query_id in parent.by_id for query in queries) and parent.judged_by:
        kept[JUDGED_BY] = list(parent.carried_judged_by)
    made = TestSet(
        name=name,
        version=version,
        queries=queries,
        description=parent.description,
        held_out=held_out,
        provenance={**kept, **provenance, "parent": origin},
        skipped=tuple(one for one in parent.skipped if one not in {q.query_id for q in queries}),
    )
    return replace(made, provenance={**made.provenance, "checksum": made.checksum})


def next_name(name: str, version: str) -> tuple[str, str]:
    """``test_set_v1`` at ``v1`` is followed by ``test_set_v2`` at ``v2``."""
    found = _VERSION.fullmatch(version)
    following = f"{found[1]}{int(found[2]) + 1}" if found else f"{version}.2"
    if name.endswith(version):
        return f"{name.removesuffix(version)}{following}", following
    return f"{name}_{following}", following


def _shortage(counts: Mapping[Stratum, int], by_type: Mapping[str, Sequence[GoldenQuery]]) -> str:
    wanted = _per_type(counts)
    return ", ".join(
        f"{len(by_type.get(kind, ()))} of {need} {kind or 'untyped'}"
        for kind, need in sorted(wanted.items())
        if len(by_type.get(kind, ())) < need
    )


def _per_type(counts: Mapping[Stratum, int]) -> dict[str, int]:
    wanted: dict[str, int] = {}
    for (kind, _), count in counts.items():
        wanted[kind] = wanted.get(kind, 0) + count
    return wanted


def _held_out(retired: Sequence[Retirement], added: Sequence[GoldenQuery], seed: int) -> set[str]:
    """For each type, as many new queries as held-out ones were retired, drawn by seed."""
    chosen: set[str] = set()
    for kind in {str(query.query_type or "") for query in added}:
        places = sum(one.stratum == (kind, True) for one in retired)
        names = [query.query_id for query in added if str(query.query_type or "") == kind]
        order = sorted(names, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())
        chosen |= set(order[:places])
    return chosen


def _entered(parent: TestSet, added: Sequence[str]) -> dict[str, list[str]]:
    """Which queries were added in which version, oldest first."""
    history = parent.provenance.get("entered", {})
    before = dict(history) if isinstance(history, Mapping) else {}
    _, version = next_name(parent.name, parent.version)
    return {**before, version: list(added)}
