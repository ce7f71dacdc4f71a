"""Which questions does a document answer, as far as its form shows?

No model is asked. Titles, sections, captions of tables and MeSH headings are put into questions
that people ask of such documents; what a section of a label, a trial or an article answers is
written down in ``OF_SECTIONS``. Every question knows the chunk that it was made from, and is
synthetic for ever: whoever wrote the document chose its words. Whether a question is any good,
searching decides (``app/suggestions.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from assay.model.document import Chunk, MetadataValue, StoredDocument

Kind = Literal["section", "table", "mesh", "title"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What a question may be made from."""
OF_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "dosage": ("How much {subject} should be taken?", "What is the usual dose of {subject}?"),
    "dosage_forms": ("In which strengths does {subject} come?",),
    "contraindications": ("Who must not take {subject}?",),
    "boxed_warning": ("What is the most serious danger of {subject}?",),
    "warnings": ("What should be watched for during treatment with {subject}?",),
    "adverse_events": ("Which side effects does {subject} have?",),
    "indications": ("What is {subject} used for?",),
    "drug_interactions": ("Which medicines do not go together with {subject}?",),
    "specific_populations": ("Is {subject} safe in pregnancy, for children and for old people?",),
    "overdosage": ("What happens after too much {subject}?",),
    "clinical_pharmacology": ("How does {subject} work in the body?",),
    "how_supplied": ("How should {subject} be stored?",),
    "eligibility": ("Who could take part in the study of {subject}?",),
    "outcomes": ("What was measured in the study of {subject}?",),
    "interventions": ("What was compared with what in the study of {subject}?",),
    "baseline": ("What kind of patients were in the study of {subject}?",),
    "methods": ("How was the study of {subject} carried out?",),
    "results": ("What did the study of {subject} find?",),
    "conclusions": ("What follows for practice from the study of {subject}?",),
}
OF_TABLE = "What are the figures for {caption} with {subject}?"
OF_MESH = "What is known about {first} in connection with {second}?"
OF_TITLE = "What is known about {topic}?"
_CAPTION = re.compile(
    r"^(?:table|primary outcome|secondary outcome)\s*[\w.]*\s*[.:]\s*", re.IGNORECASE
)
_BRACKETS = re.compile(r"\s*\([^)]*\)")
_STUDY = re.compile(r"\b(randomi[sz]ed|controlled|trial|cohort|study|protocol)\b", re.IGNORECASE)
UNTOLD = ("turn", "boxed_warning", "indications", "package_label")
MOST_WORDS = 14
LEAST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, the chunk it was made from, and how."""

    text: str
    chunk: Chunk
    kind: str
    made_by: str


def suggestions(document: StoredDocument, kinds: Sequence[str] = KINDS) -> Iterator[Suggestion]:
    """The questions that a document answers, as far as its form shows."""
    subjects = tuple(_subjects(document))
    makers = {"section": _of_sections, "table": _of_tables, "mesh": _of_mesh, "title": _of_title}
    seen: set[str] = set()
    for kind in kinds:
        for one in makers[kind](document, subjects):
            if one.text.casefold() not in seen and len(one.text.split()) <= 2 * MOST_WORDS:
                seen.add(one.text.casefold())
                yield one


def _of_sections(document: StoredDocument, subjects: Sequence[str]) -> Iterator[Suggestion]:
    first: dict[str, Chunk] = {}
    for chunk in document.chunks:
        if not chunk.is_table and chunk.section_label in OF_SECTIONS:
            first.setdefault(chunk.section_label, chunk)
    for label, chunk in first.items():
        for at, subject in enumerate(subjects):
            form = OF_SECTIONS[label][at % len(OF_SECTIONS[label])]
            yield Suggestion(form.format(subject=subject), chunk, "section", f"section {label}")


def _of_tables(document: StoredDocument, subjects: Sequence[str]) -> Iterator[Suggestion]:
    for chunk in document.chunks:
        if chunk.is_table and subjects:
            caption = _CAPTION.sub("", chunk.text.partition("\n")[0]).strip(" .")
            if len(caption) >= LEAST_LETTERS and "|" not in caption:
                text = OF_TABLE.format(caption=_lowered(caption), subject=subjects[-1])
                yield Suggestion(text, chunk, "table", "table caption")


def _of_mesh(document: StoredDocument, subjects: Sequence[str]) -> Iterator[Suggestion]:
    del subjects
    terms = [_turned(term) for term in _texts(document.metadata, "mesh", "mesh_terms")]
    chunk = _about(document)
    if len(terms) >= 2 and chunk is not None:
        text = OF_MESH.format(first=_lowered(terms[0]), second=_lowered(terms[1]))
        yield Suggestion(text, chunk, "mesh", "MeSH headings")


def _of_title(document: StoredDocument, subjects: Sequence[str]) -> Iterator[Suggestion]:
    del subjects
    chunk, title = _about(document), document.title.strip()
    if chunk is None or len(title) < LEAST_LETTERS or chunk.section_label in UNTOLD:
        return  # the title of an interview or a label says nothing to ask about
    if title.endswith("?"):
        yield Suggestion(title, chunk, "title", "title")
    elif topic := _topic(title):
        yield Suggestion(OF_TITLE.format(topic=topic), chunk, "title", "title")


def _subjects(document: StoredDocument) -> Iterator[str]:
    """What the document is about: names of the drug, the treatment and its disease, the topic."""
    about = document.metadata
    drugs = _texts(about, "generics", "brands")
    if drugs:
        yield from dict.fromkeys(name.lower() if name.isupper() else name for name in drugs[:2])
        return
    treated = [name for name in _texts(about, "interventions") if "placebo" not in name.lower()]
    conditions = _texts(about, "conditions")
    if treated and conditions:
        yield f"{_lowered(treated[0])} for {_lowered(_turned(conditions[0]))}"
    elif topic := _topic(document.title):
        yield topic


def _topic(title: str) -> str:
    """The title without its subtitle and what stands in brackets; empty where it is too long."""
    main, _, rest = _BRACKETS.sub("", title).partition(":")
    topic = rest.strip() if _STUDY.search(main) and rest and not _STUDY.search(rest) else main
    words = topic.strip(" .").split()
    if not 0 < len(words) <= MOST_WORDS or words[0].lower() in ("does", "is", "are", "can", "do"):
        return ""
    return _lowered(" ".join(words))


def _about(document: StoredDocument) -> Chunk | None:
    """The chunk that says what a document is about: its abstract or summary, else its first."""
    named = (one for one in document.chunks if one.section_label in ("abstract", "summary"))
    return next(named, document.chunks[0] if document.chunks else None)


def _texts(metadata: Mapping[str, MetadataValue], *names: str) -> list[str]:
    found: list[str] = []
    for name in names:
        value = metadata.get(name, ())
        for one in value if isinstance(value, tuple) else (value,):
            text = str(one).strip()
            if len(text) >= LEAST_LETTERS:
                found.append(text)
    return found


def _turned(term: str) -> str:
    """``Pulmonary Disease, Chronic Obstructive`` as people say it."""
    head, comma, rest = term.partition(", ")
    return f"{rest} {head}" if comma and ", " not in rest else term


def _lowered(text: str) -> str:
    """The text as it reads within a sentence; abbreviations and names of letters stay."""
    words = text.split()
    capitals = [word[:1].isupper() and word[1:].islower() for word in words]
    long = [capital for word, capital in zip(words, capitals, strict=True) if len(word) > 3]
    titled = all(long)  # Written Like a Heading
    return " ".join(
        word.lower() if capital and (titled or not at) else word
        for at, (word, capital) in enumerate(zip(words, capitals, strict=True))
    )
