"""Does a search component keep its contract?

Call ``check_component`` with a function that builds your component over the chunks it is given; it
raises ``AssertionError`` at the first broken promise. Every component of assay passes it, and so
must one on another engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.model.conditions import read_condition
from assay.model.document import Chunk, IngestionMode, KeyedChunk, SpeakerRole
from assay.model.query import Component, Filters, Hit, blocking

CONDITIONS = (
    "year>=2030",
    "year<2018",
    "year=2012..2024",
    "year=2011|2022|2033",
    "year!=2011..2030",
    "phase=phase 3",
    "phase!=PHASE3",
)
HOSTILE = (
    "",
    "   ",
    "the of and",
    'AND OR NOT "unclosed (title:x^2 +[a TO b] \\ *?~',
    "\x00\x01\ufffd",
    "𝒽𝑒𝒶𝓇𝓉 💊 قلب שלום",
    "a" * 100_000,
    "heart " * 20_000,
)


@dataclass(frozen=True, slots=True)
class Case:
    """The chunks that a component is built over."""

    chunks: tuple[KeyedChunk, ...]


def sample() -> tuple[KeyedChunk, ...]:
    """Thirty small chunks that differ in every field a filter knows."""
    subjects = ("heart failure", "renal impairment", "migraine aura", "asthma attack", "skin rash")
    details = (
        "adverse events were frequent in the treatment arm",
        "patients were eligible when older than eighteen years",
        "the daily dose was reduced to five milligrams",
        "no difference between the groups was seen",
        "symptoms improved within two weeks of therapy",
        "blood pressure was measured at every visit",
    )
    rows = []
    for number in range(30):
        subject, detail = subjects[number % 5], details[number % 6]
        chunk = Chunk(
            chunk_id=f"doc{number // 3}:chunk_{number % 3}",
            doc_id=f"doc{number // 3}",
            text=f"In {subject} {detail}. Observation {number} of the report.",
            title=f"Report on {subject}",
            section_label=("results", "methods", "eligibility")[number % 3],
            is_table=number % 7 == 0,
            spans=((0, 10),),
            speaker_role=(SpeakerRole.PATIENT, SpeakerRole.CLINICIAN)[number % 2],
            ingestion_mode=IngestionMode.LIVE if number % 5 == 0 else IngestionMode.OFFLINE,
            interview_id=f"interview_{number % 4}",
            source=("registry", "label")[number % 2],
            metadata={"year": 2010 + number, "phase": ("PHASE2", "PHASE3")[: 1 + number % 2]}
            if number % 5
            else {},
        )
        rows.append(KeyedChunk(100 + 7 * number, chunk))
    return tuple(rows)


def check_component(build: Callable[[Sequence[KeyedChunk]], Component]) -> None:
    """Raise ``AssertionError`` where a component breaks a promise."""
    rows = sample()
    component = build(rows)
    for check in (
        _answers_in_order,
        _respects_k,
        _is_repeatable,
        _filters_before_ranking,
        _survives_hostile_queries,
    ):
        check(component, rows)
    _finds_the_obvious(build)
    assert build(()).search("heart failure", 10) == [], "an empty index finds nothing"


def _answers_in_order(component: Component, rows: Sequence[KeyedChunk]) -> None:
    hits = component.search("renal impairment daily dose", 20)
    assert hits, "a query with known words finds something"
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id)), "score, then id"
    ids = {row.key: row.chunk.chunk_id for row in rows}
    assert len({hit.key for hit in hits}) == len(hits), "no chunk comes twice"
    assert all(ids[hit.key] == hit.chunk_id for hit in hits), "key and id belong together"


def _respects_k(component: Component, rows: Sequence[KeyedChunk]) -> None:
    every = component.search("heart failure patients", 1_000)
    assert len(every) <= len(rows)
    for k in (0, 1, 3, len(rows)):
        assert component.search("heart failure patients", k) == every[:k], f"k={k} is a prefix"


def _is_repeatable(component: Component, rows: Sequence[KeyedChunk]) -> None:
    first = component.search("asthma attack dose", 10)
    assert all(component.search("asthma attack dose", 10) == first for _ in range(3))


def _filters_before_ranking(component: Component, rows: Sequence[KeyedChunk]) -> None:
    query = "heart failure adverse events dose patients"
    everything = component.search(query, len(rows))
    by_key = {row.key: row.chunk for row in rows}
    for filters in (
        Filters(speaker_role=(SpeakerRole.PATIENT,)),
        Filters(section_label=("results", "methods")),
        Filters(is_table=True),
        Filters(is_table=False, source=("label",)),
        Filters(interview_id=("interview_1",), ingestion_mode=(IngestionMode.OFFLINE,)),
        Filters(doc_id=("doc3", "doc4")),
        *(Filters(metadata=(read_condition(text),)) for text in CONDITIONS),
        Filters(
            is_table=False,
            metadata=(read_condition("year>2014"), read_condition("phase!=Phase 3")),
        ),
    ):
        wanted = [hit for hit in everything if _passes(by_key[hit.key], filters)]
        found = component.search(query, 4, filters)
        assert _same(found, wanted[:4]), (
            f"{filters}: the best that pass, not what passes of the best"
        )
    assert component.search(query, 10, Filters(section_label=("nowhere",))) == []
    assert component.search(query, 10, Filters(metadata=(read_condition("year>2999"),))) == []
    assert component.search(query, 10, Filters(metadata=(read_condition("colour=red"),))) == []


def _same(found: list[Hit], wanted: list[Hit]) -> bool:
    return [hit.key for hit in found] == [hit.key for hit in wanted]


def _passes(chunk: Chunk, filters: Filters) -> bool:
    return not blocking(chunk, filters)


def _survives_hostile_queries(component: Component, rows: Sequence[KeyedChunk]) -> None:
    for query in HOSTILE:
        assert len(component.search(query, 5)) <= 5


def _finds_the_obvious(build: Callable[[Sequence[KeyedChunk]], Component]) -> None:
    rows = sample()
    component = build(rows)
    for row in rows[::5]:
        best = component.search(f"{row.chunk.title} {row.chunk.text}", 1)
        assert best, "a chunk's own text finds it"
        assert best[0].key == row.key, f"{row.chunk.chunk_id}'s own text finds it first"
