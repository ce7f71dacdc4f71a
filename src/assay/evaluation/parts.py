"""Which queries of a test set are run, and with which filters?

A test set with a held-out part is run without it, unless that part is asked for. A set that is
itself a part of another one (train, val, test) keeps that name. Modes narrow it further:
``overall`` asks everything without filters, ``patient`` and ``clinician`` ask what is about the
words of one speaker, ``offline`` and ``live`` ask the same questions of what came from files and of
what came while an interview was going on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from assay.errors import UsageError
from assay.model.document import IngestionMode
from assay.model.testset import OVERLAP, GoldenQuery, SpeakerFilter, TestSet
from assay.testsets.overlap import overlap

Modes = Callable[[Collection[str]], Mapping[str, IngestionMode]]


class Split(StrEnum):
    """Which side of the held-out split."""

    EVALUATION = "evaluation"
    HOLDOUT = "holdout"
    ALL = "all"


class Mode(StrEnum):
    """Which queries, with which filters; ``as-written`` takes the filters of the test set."""

    AS_WRITTEN = "as-written"
    OVERALL = "overall"
    PATIENT = "patient"
    CLINICIAN = "clinician"
    OFFLINE = "offline"
    LIVE = "live"


@dataclass(frozen=True)
class SetPart:
    """The queries to run, under the name of the part, and the filters they are asked with."""

    test_set: TestSet
    label: str
    mode: Mode
    touches_held_out: bool

    def asked(self, query: GoldenQuery) -> GoldenQuery:
        """The query as the retriever sees it."""
        if self.mode is Mode.OVERALL:
            return replace(query, speaker_filter=SpeakerFilter.ALL, ingestion_mode=None)
        if self.mode in (Mode.OFFLINE, Mode.LIVE):
            return replace(query, ingestion_mode=IngestionMode(self.mode.value.upper()))
        return query


def part_of(
    test_set: TestSet,
    split: Split | None = None,
    mode: Mode = Mode.AS_WRITTEN,
    *,
    modes_of: Modes | None = None,
    speakers: Collection[SpeakerFilter] = (),
) -> SetPart:
    """The part of a test set that is meant; None leaves the held-out part out, if there is one.

    ``speakers`` keeps the queries with one of these filters, and the filters as they are written.
    """
    label = part_label(test_set, split, mode, speakers)
    if split is None:
        split = _usual(test_set)
    if split is not Split.ALL and test_set.held_out is None:
        raise UsageError(
            f"{test_set.name} has no held-out part", hint="assay testset split makes one"
        )
    held = test_set.held_out_ids

    def chosen(queries: Iterable[GoldenQuery], held: Collection[str]) -> list[GoldenQuery]:
        side = [
            query
            for query in queries
            if (split is Split.ALL or (query.query_id in held) == (split is Split.HOLDOUT))
            and (not speakers or query.speaker_filter in speakers)
        ]
        return _of_mode(side, mode, modes_of)

    queries = chosen(test_set.queries, held)
    skipped = chosen(test_set.unjudged, test_set.unjudged_held_out)
    if not queries:
        raise UsageError(f"{test_set.name} has no query for {label}")
    return SetPart(
        replace(
            test_set,
            queries=tuple(queries),
            provenance=_provenance(test_set),
            skipped=tuple(query.query_id for query in skipped),
        ),
        label,
        mode,
        touches_held_out=any(query.query_id in held for query in queries),
    )


def part_label(
    test_set: TestSet,
    split: Split | None = None,
    mode: Mode = Mode.AS_WRITTEN,
    speakers: Collection[SpeakerFilter] = (),
) -> str:
    """What a part is called: ``all``, ``evaluation``, ``holdout, patient``, ``val``."""
    everyone = frozenset(speakers) == frozenset(SpeakerFilter)
    named = [one.value.lower() for one in SpeakerFilter if one in speakers and not everyone]
    side = split or _usual(test_set)
    words = (
        test_set.part or "",
        "" if side is Split.ALL else side.value,
        " + ".join(named),
        "" if mode is Mode.AS_WRITTEN else mode.value,
    )
    return ", ".join(filter(None, words)) or Split.ALL.value


def filters_of_part(label: str) -> str:
    """The mode that asks queries with filters of its own, if a part by this name is of one."""
    last = label.rpartition(", ")[2]
    return last if last in (Mode.OVERALL, Mode.OFFLINE, Mode.LIVE) else ""


def _usual(test_set: TestSet) -> Split:
    """What is run unless a side is named: everything but what is held out."""
    return Split.ALL if test_set.held_out is None else Split.EVALUATION


def _provenance(test_set: TestSet) -> dict[str, Any]:
    """That of the set, and what of it is on both sides of its held-out split."""
    found = dict(test_set.provenance)
    if test_set.held_out is not None:
        sides = (test_set.evaluation_queries, test_set.held_out_queries)
        crossing = overlap(*sides, ("evaluation", "held_out")).sentences(documents=False)
        if crossing:
            found[OVERLAP] = [*test_set.overlap, *crossing]
    return found


def _of_mode(queries: list[GoldenQuery], mode: Mode, modes_of: Modes | None) -> list[GoldenQuery]:
    if mode in (Mode.PATIENT, Mode.CLINICIAN):
        wanted = SpeakerFilter(mode.value.upper())
        return [query for query in queries if query.speaker_filter is wanted]
    if mode in (Mode.OFFLINE, Mode.LIVE):
        return _ingested(queries, IngestionMode(mode.value.upper()), modes_of)
    return queries


def _ingested(
    queries: list[GoldenQuery], wanted: IngestionMode, modes_of: Modes | None
) -> list[GoldenQuery]:
    """Judgments of what was ingested the other way cannot be found, and must not count."""
    chosen = [query for query in queries if query.ingestion_mode in (None, wanted)]
    ids = {judgment.id for query in chosen for judgment in query.relevant_docs}
    modes = {} if modes_of is None else modes_of(ids)
    kept = []
    for query in chosen:
        judged = tuple(j for j in query.relevant_docs if modes.get(j.id, wanted) is wanted)
        if any(judgment.grade > 0 for judgment in judged) or not query.judged:
            kept.append(replace(query, relevant_docs=judged))
    return kept
