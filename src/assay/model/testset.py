"""What is a golden query, and what is a versioned set of them?"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from assay import limits
from assay.errors import InputError
from assay.model.answers import Expect
from assay.model.codec import as_json
from assay.model.document import IngestionMode
from assay.model.judgments import Qrels, Span
from assay.model.ranking import document_id
from assay.model.tabular import Records, Tabular
from assay.plural import counted

OVERLAP = "overlap"
SKIPPED = "skipped"
JUDGES = "judges"
GRADES = (
    "Convert grades of another scale to 0-3: its highest grade (10), or a mapping "
    "(0-1=0,2-5=1,6-8=2,9-10=3)."
)
JUDGED_BY = "judged_by"
ORIGIN = "origin"
HELD = "held_out"
"""Where a provenance says what of a set is also elsewhere, in sentences."""


class QueryType(StrEnum):
    """How a query is worded, which decides what kind of search finds its answer."""

    EXACT_TERM = "exact_term"
    PARAPHRASE = "paraphrase"
    COMPLEX_CLINICAL = "complex_clinical"


class SpeakerFilter(StrEnum):
    """Whose words a query is about."""

    ALL = "ALL"
    PATIENT = "PATIENT"
    CLINICIAN = "CLINICIAN"


class Level(StrEnum):
    """What a file says an id is the id of."""

    CHUNK = "chunk"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True, init=False)
class Judgment:
    """A judged unit and its grade: a chunk by its id, a document by its id, or spans of one.

    ``id`` is what was judged, and ``owner`` the document of a judged chunk where a file names it
    apart, which is what comparing across chunkers needs. ``level`` is there where the file tells
    chunks from documents and the rest does not show which it is: measures of chunks (hit@k, MRR)
    leave an expected document out. Binary judgments are the grades 1 and 0.
    """

    id: str
    grade: int = 1
    spans: tuple[Span, ...] = ()
    owner: str | None = field(default=None, metadata=as_json("doc_id"))
    level: Level | None = None

    def __init__(
        self,
        id: str,  # noqa: A002 - the name of the field
        grade: int = 1,
        spans: tuple[Span, ...] = (),
        doc_id: str | None = None,
        level: Level | None = None,
        *,
        owner: str | None = None,
    ) -> None:
        if type(grade) is not int and hasattr(grade, "__index__"):
            grade = operator.index(grade)  # True is 1
        most = limits.MAX_GOLDEN_GRADE
        if type(grade) is not int or not 0 <= grade <= most:
            raise InputError(
                f"the grade of {id} is {grade!r:.40}; grades are whole numbers from 0 to {most}"
            )
        named = doc_id or owner
        values = (id, grade, spans, named or None, level)
        for each, value in zip(fields(Judgment), values, strict=True):
            object.__setattr__(self, each.name, value)

    @property
    def doc_id(self) -> str:
        """What a file calls so: the document where it is named apart, else what was judged."""
        return self.id if self.owner is None else self.owner

    @property
    def document(self) -> str | None:
        """The document that is judged or that the judged chunk belongs to; None: nobody said."""
        if self.owner is not None:
            return self.owner
        document = document_id(self.id)
        return None if self.level is Level.CHUNK and document == self.id else document


def level_of_chunk(chunk_id: str, doc_id: str | None) -> Level | None:
    """The level of an expected chunk: said where neither its id nor its document shows it."""
    return Level.CHUNK if doc_id is None and document_id(chunk_id) == chunk_id else None


@dataclass(frozen=True, slots=True)
class Nugget:
    """Something that a right answer says; one that is not ``vital`` is good to have."""

    text: str
    vital: bool = True


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """One query of a test set, with everything that a good answer is held against.

    ``reference`` is a right answer in full, ``nuggets`` are the facts that one is made of.
    ``synthetic`` is there where no person asked it: the passage that it was made from.
    """

    query_id: str
    query_text: str
    query_type: QueryType | None = None
    expect: Expect = Expect.EVIDENCE
    relevant_docs: tuple[Judgment, ...] = ()
    speaker_filter: SpeakerFilter = SpeakerFilter.ALL
    ingestion_mode: IngestionMode | None = None
    must_contain: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    group: str | None = None
    reference: str | None = None
    nuggets: tuple[Nugget, ...] = ()
    synthetic: str | None = None

    @property
    def origin(self) -> str:
        """Who asked: people, or nobody (``synthetic``)."""
        return "people" if self.synthetic is None else "synthetic"

    @property
    def judged(self) -> bool:
        """Whether ranking measures can look at this query."""
        return any(judgment.grade > 0 for judgment in self.relevant_docs)

    @property
    def has_truth(self) -> bool:
        """Whether the set knows what is right: a document, an answer, or that there is none."""
        right = self.judged or self.reference or self.nuggets
        return self.expect is not Expect.EVIDENCE or bool(right)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Which queries are kept back, and by which draw."""

    seed: int
    query_ids: tuple[str, ...]


@dataclass(frozen=True)
class TestSet(Tabular):
    """A named, versioned list of golden queries; ``checksum`` changes with anything that counts.

    ``skipped`` names queries of the file that were left out because nobody judged them. A set made
    here follows the rules that hold for every file: every id once, as queries and as judgments.
    """

    __test__ = False  # pytest looks for classes of this name

    name: str
    version: str
    queries: tuple[GoldenQuery, ...]
    description: str = ""
    held_out: HeldOut | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = list(_problems(self.queries))
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise InputError(f"test set {self.name}: {problems[0]}{more}")

    def records(self) -> Records:
        """A row for each query; those that are held out keep their words to themselves."""
        held = frozenset(() if self.held_out is None else self.held_out.query_ids)
        return Records(
            ("query_id", "query_text", "query_type", "expect", "judged", "relevant", "held_out"),
            [
                (
                    query.query_id,
                    None if query.query_id in held else query.query_text,
                    query.query_type,
                    query.expect,
                    len(query.relevant_docs),
                    sum(one.grade > 0 for one in query.relevant_docs),
                    query.query_id in held,
                )
                for query in self.queries
            ],
            f"{self.name} {self.version}",
            self.cautions,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: everything that the set holds."""
        from assay.model.testset_json import to_plain

        return to_plain(self)

    @cached_property
    def by_id(self) -> Mapping[str, GoldenQuery]:
        """The queries by their ids."""
        return {query.query_id: query for query in self.queries}

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over name, version, queries, the held-out part, and what was skipped."""
        return self._checksum(*([sorted(self.skipped)] if self.skipped else []))

    def has_checksum(self, text: str) -> bool:
        """Whether this is its checksum, maybe of a time when skipped queries did not count."""
        return text in (self.checksum, self._checksum())

    def _checksum(self, *more: Any) -> str:
        content = [
            self.name,
            self.version,
            [_plain(query) for query in self.queries],
            None if self.held_out is None else sorted(self.held_out.query_ids),
            *more,
        ]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def part(self) -> str | None:
        """Which part of another set this is (train, val, test), where its provenance says so."""
        found = self.provenance.get("part")
        return None if found is None else str(found)

    @property
    def overlap(self) -> tuple[str, ...]:
        """What of the set is also elsewhere, as far as its provenance knows."""
        found = self.provenance.get(OVERLAP, ())
        return tuple(map(str, found)) if isinstance(found, (list, tuple)) else ()

    @property
    def synthetic_ids(self) -> tuple[str, ...]:
        """The queries that nobody asked: they were made from the corpus."""
        return tuple(query.query_id for query in self.queries if query.synthetic is not None)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What every reader of a figure must know: synthetic queries, one judge, overlap."""
        said = []
        if made := len(self.synthetic_ids):
            which = "all" if made == len(self.queries) else f"{made} of {len(self.queries)}"
            said.append(f"{which} queries are synthetic: made from the corpus, not asked by people")
        return (*said, *self.judged_by, *self.overlap)

    @property
    def judged_by(self) -> tuple[str, ...]:
        """That one person judged it, alone or checked by a second one; also of its parents."""
        return (*_judged_by(self.provenance), *self._judged_before)

    @property
    def carried_judged_by(self) -> tuple[str, ...]:
        """The same for a set made from this one: each line names the set that it is about."""
        own = (f"{self.name} was {line}" for line in _judged_by(self.provenance))
        return (*own, *self._judged_before)

    @property
    def _judged_before(self) -> tuple[str, ...]:
        """What was said of the sets that this one was made from."""
        listed = self.provenance.get(JUDGED_BY, ())
        return tuple(map(str, listed)) if isinstance(listed, (list, tuple)) else ()

    @property
    def unjudged(self) -> tuple[GoldenQuery, ...]:
        """The skipped queries, with what the provenance knows of their filters."""
        return tuple(_unjudged(name, self._skip_notes.get(name)) for name in self.skipped)

    @property
    def unjudged_held_out(self) -> frozenset[str]:
        """Those of them that the file keeps back."""
        notes = self._skip_notes
        return frozenset(name for name in self.skipped if _mapping(notes.get(name)).get(HELD))

    @property
    def _skip_notes(self) -> Mapping[str, Any]:
        return _mapping(self.provenance.get(SKIPPED))

    @property
    def held_out_ids(self) -> frozenset[str]:
        """The queries that are kept back; none where the set was never split."""
        return frozenset() if self.held_out is None else frozenset(self.held_out.query_ids)

    @property
    def evaluation_queries(self) -> tuple[GoldenQuery, ...]:
        """What may be looked at while a system is being worked on."""
        kept_back = self.held_out_ids
        return tuple(query for query in self.queries if query.query_id not in kept_back)

    @property
    def held_out_queries(self) -> tuple[GoldenQuery, ...]:
        """What is touched only on purpose, to see whether the rest was overfitted."""
        kept_back = self.held_out_ids
        return tuple(query for query in self.queries if query.query_id in kept_back)

    def qrels(self) -> Qrels:
        """The judgments of queries with evidence, with each query's fields for breakdowns."""
        chosen = [query for query in self.queries if query.judged]
        grades = {
            query.query_id: {judgment.id: judgment.grade for judgment in query.relevant_docs}
            for query in chosen
        }
        plain = Qrels.from_mapping(grades, fields=_fields(chosen))
        judgments = [judgment for query in chosen for judgment in query.relevant_docs]
        return replace(
            plain,
            spans={row: one.spans for row, one in enumerate(judgments) if one.spans},
            documents={row: one.owner for row, one in enumerate(judgments) if one.owner},
        )


def _problems(queries: tuple[GoldenQuery, ...]) -> Iterator[str]:
    """What no test set may hold, wherever it comes from; ``testsets/rules.py`` has the rest."""
    seen: set[str] = set()
    for query in queries:
        if query.query_id in seen:
            yield f"the query_id {query.query_id!r:.80} appears twice"
        seen.add(query.query_id)
        judged: set[str] = set()
        for one in query.relevant_docs:
            if one.id in judged:
                yield f"{query.query_id}: {one.id} is judged twice"
            judged.add(one.id)


def with_skipped(
    provenance: Mapping[str, Any], skipped: Iterable[GoldenQuery], held_out: Collection[str]
) -> dict[str, Any]:
    """A provenance that knows the filters of skipped queries, so that parts count their own."""
    notes = dict(_mapping(provenance.get(SKIPPED)))
    for query in skipped:
        note: dict[str, Any] = {}
        if query.speaker_filter is not SpeakerFilter.ALL:
            note["speaker_filter"] = query.speaker_filter.value
        if query.ingestion_mode is not None:
            note["ingestion_mode"] = query.ingestion_mode.value
        if query.query_id in held_out:
            note[HELD] = True
        if note:
            notes[query.query_id] = note
    return {**provenance, SKIPPED: notes} if notes else dict(provenance)


def _judged_by(provenance: Mapping[str, Any]) -> Iterator[str]:
    """That one person judged a set, alone or checked by a second one on a sample."""
    judges = provenance.get(JUDGES)
    if not isinstance(judges, (list, tuple)) or not judges:
        return
    if len(judges) == 1:
        yield f"judged by one person ({judges[0]}): how far another would agree is not known"
    elif "judged_by_both" in provenance and provenance.get("purpose") == "first":
        kappa = _mapping(provenance.get("kappa")).get("value")
        agreed = "kappa undefined" if kappa is None else f"kappa {kappa:.2f}"
        if undecided := provenance.get("undecided"):
            agreed += f", {counted(undecided, 'difference')} undecided"
        seen = provenance.get("judged", 0) + provenance.get("without_grade", 0)
        yield (
            f"judged by {judges[0]}; {judges[1]} checked {provenance['judged_by_both']} of "
            f"{counted(seen, 'passage')} ({agreed})"
        )


def _unjudged(name: str, noted: object) -> GoldenQuery:
    note = _mapping(noted)
    speaker, mode = note.get("speaker_filter"), note.get("ingestion_mode")
    return GoldenQuery(
        name,
        name,
        speaker_filter=next((one for one in SpeakerFilter if one == speaker), SpeakerFilter.ALL),
        ingestion_mode=next((one for one in IngestionMode if one == mode), None),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _plain(query: GoldenQuery) -> list[Any]:
    return [
        query.query_id,
        query.query_text,
        query.query_type,
        query.expect.value,
        [
            [j.id, j.grade, j.spans, j.owner, *([j.level] if j.level else [])]
            for j in query.relevant_docs
        ],
        query.speaker_filter,
        query.ingestion_mode,
        query.must_contain,
        query.forbidden,
        query.group,
        *_right_answer(query),
        *([["synthetic", query.synthetic]] if query.synthetic else []),
    ]


def _right_answer(query: GoldenQuery) -> list[Any]:
    """What a right answer is; nothing for a query without, whose checksum is that of before."""
    if query.reference is None and not query.nuggets:
        return []
    return [query.reference, [[one.text, one.vital] for one in query.nuggets]]


def _fields(queries: list[GoldenQuery]) -> dict[str, dict[str, str]]:
    """What is known of each query, by field; a query without a value is not in that field."""
    fields: dict[str, dict[str, str]] = {}
    for query in queries:
        for name in ("query_type", "speaker_filter", "ingestion_mode", "group"):
            value = getattr(query, name)
            if value is not None:
                fields.setdefault(name, {})[query.query_id] = str(value)
    if any(query.synthetic for query in queries):
        fields[ORIGIN] = {query.query_id: query.origin for query in queries}
    return fields
