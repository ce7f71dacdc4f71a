"""Has one passage all that a short query names, and does it do more than mention it?

Words of a query that stand far apart, in two passages, make no answer: "migraine prophylaxis" is
not served by one passage on migraine and another on the prophylaxis of something else. So one
passage, with the names of its document and its heading, must have all that the query names
(``terms.py``), in any spelling or by another name. Where much speaks for the passages, they may put
the rest in other words; a disease is always there by name.

Who asks anything of a disease is hardly served where it is only mentioned: once, among exclusions,
adverse events and the like, in a document with many other passages. A search shows such passages
and says so; nobody answers from them. A name alone is looked up.

Where all words of the query stand side by side, they are there, whatever else is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from assay.analysis.asked import Name
from assay.analysis.conditions import stems
from assay.analysis.spelling import base
from assay.analysis.words import vocabulary
from assay.evidence.confidence import ENOUGH, WordsOf, meaningful, words_of
from assay.evidence.gather import names_of_document, own_drugs, own_texts
from assay.evidence.terms import (
    Term,
    are_beside,
    content_stems,
    is_class_of_drugs,
    lacking,
    units,
)
from assay.model.answers import Passage
from assay.model.document import Chunk
from assay.model.sections import section_of

SHORT = 3  # words or things that a query names
LIKELY = 0.6  # confidence from which passages may put in other words what is asked of a disease
SOMEWHAT_LIKELY = 0.3  # and from which they may where no disease is named
IN_PASSING = frozenset({
    *("abuse", "adverse_events", "appendix", "back_matter", "baseline", "boxed_warning"),
    *("contraindications", "discussion", "drug_interactions", "eligibility", "introduction"),
    *("overdosage", "participant_flow", "patient_information", "specific_populations", "warnings"),
})  # fmt: skip
"""Sections that name many things which a document is not about."""


def is_in_passing(section_label: str) -> bool:
    """Whether a section names many things which its document is not about."""
    return section_of(section_label) in IN_PASSING


@dataclass(frozen=True, slots=True)
class Index:
    """What is known beyond the best passages.

    ``is_called`` says whether further documents are about a name, ``more`` returns the next best
    passages, ``by_words`` the best by words alone, and ``is_long`` says whether the document of a
    passage has many others. ``words`` says which words a passage has.
    """

    is_called: Callable[[Name], bool] = lambda name: False
    more: Callable[[], Sequence[Passage]] = tuple
    by_words: Callable[[], Sequence[Passage]] = tuple
    is_long: Callable[[Passage], bool] = lambda passage: False
    words: WordsOf = words_of

    def with_words(self, best: Sequence[Passage]) -> list[Passage]:
        """These passages and the best by words, each once."""
        return _once([*best, *self.by_words()])

    def every(self, best: Sequence[Passage]) -> list[Passage]:
        """These passages and all others that can be read, each once."""
        return _once([*best, *self.more(), *self.by_words()])


NO_INDEX = Index()


def _once(passages: Sequence[Passage]) -> list[Passage]:
    found: dict[str, Passage] = {}
    for one in passages:
        found.setdefault(one.chunk.chunk_id, one)
    return [*found.values()]


def has_side_by_side(query: str, passages: Sequence[Passage]) -> bool:
    """Whether a passage has all words that say what a query is about, two at least, in a row."""
    words = content_stems(query)
    return len(words) > 1 and any(
        are_beside(words, text) for one in passages for text in own_texts(one.chunk)
    )


def has_all(
    query: str, passages: Sequence[Passage], words_in: WordsOf, names: Sequence[Name] = ()
) -> bool:
    """Whether a passage has all words that say what a query is about, wherever they stand.

    ``names`` are those of the query that may be there by another name.
    """
    known = {stem for name in names for stem in stems(name.text)}
    words = frozenset(content_stems(query)) - known
    return bool(words or names) and any(
        words == words_in(one.chunk, words) | vocabulary(names_of_document(one.chunk)).among(words)
        for one in passages
        if all(any(map(name.is_in, own_texts(one.chunk))) for name in names)
    )


def things_asked(query: str, others: Callable[[str], Sequence[str]]) -> tuple[Term, ...]:
    """All that a query names, each with its other names; empty where it describes something."""
    found = units(query)
    # type 1 diabetes is one thing
    things = [unit for unit in found if unit.kind is None or not unit.kind.number]
    return tuple(_with(unit, others) for unit in found) if len(things) <= SHORT else ()


def _with(unit: Term, others: Callable[[str], Sequence[str]]) -> Term:
    parts = unit.text.split()
    of_parts = {name for part in parts for name in others(part)} if len(parts) > 1 else ()
    names = (" ".join(stems(name)) for name in others(unit.text) if name not in of_parts)
    return replace(unit, phrases=tuple(dict.fromkeys((*unit.phrases, *names))))


def why_apart(
    asked: Sequence[Term], sure: float, best: Sequence[Passage], index: Index = NO_INDEX
) -> str:
    """Why no passage has all that is asked, in words; "" where one has."""
    if not asked or _has_product(asked, best):
        return ""
    if len(asked) == 1 and (sure < ENOUGH or asked[0].is_specific):
        return _not_written(asked[0], best, index)
    if _having(asked, best, index.words):
        return ""
    every = index.every(best)
    if _having(asked, every, index.words):
        return ""
    diseases = [one for one in asked if one.is_specific]
    if sure < (LIKELY if any(one.is_specific or one.near for one in asked) else SOMEWHAT_LIKELY):
        absent = [one for one in asked if not _having([one], every, index.words)]
        together = "" if absent or len(asked) == 1 else " together"
        return f"nothing here is about {_listed(absent or asked)}{together}"
    missing = [one for one in asked if _is_of_another_kind(one, best)]
    if not _having(diseases, every, index.words) and not _is_called(diseases, every):
        missing = [one for one in diseases if not _having([one], every, index.words)] or diseases
    return f"nothing here is about {_listed(missing)}" if missing else ""


def _is_called(diseases: Sequence[Term], passages: Sequence[Passage]) -> bool:
    """Whether a document is called by one of several diseases."""
    names = (names_of_document(one.chunk) for one in passages)
    return len(diseases) > 1 and any(one.is_in(name) for name in names for one in diseases)


def _is_of_another_kind(asked: Term, passages: Sequence[Passage]) -> bool:
    """Whether passages speak of another kind than asked for: of type 2 only, where type 1 is."""
    kind = asked.kind
    if kind is None or not kind.number:
        return False
    texts = [text.lower() for one in passages for text in own_texts(one.chunk)]
    return any(map(kind.another_in, texts)) and not any(map(kind.is_in, texts))


def _not_written(asked: Term, best: Sequence[Passage], index: Index) -> str:
    """Whether passages have only other words with the stem of what is asked."""
    every = index.every(best)
    there = any(asked.is_written_in(text) for one in every for text in own_texts(one.chunk))
    return "" if there else f"nothing here is about {asked.text}"


def only_mentioned(
    query: str,
    asked: Sequence[Term],
    best: Sequence[Passage],
    index: Index = NO_INDEX,
    sections: Collection[str] = (),
) -> str:
    """Whether passages only mention the disease of which something is asked, in words.

    ``sections`` are those that are asked for.
    """
    diseases = [
        one for one in asked if (one.is_specific or one.near) and not is_class_of_drugs(one)
    ]
    if not diseases or not _asks_more(query, diseases) or _has_product(asked, best):
        return ""

    def speaks(having: Sequence[Passage], passages: Sequence[Passage]) -> bool:
        return any(
            all(_speaks_of(one, passage, passages, index, sections) for one in diseases)
            for passage in having
        )

    if speaks(_having(asked, best, index.words), best):
        return ""
    every = index.every(best)
    having = _having(asked, every, index.words) or _having(diseases, every, index.words)
    if not having or speaks(having, every):
        return ""
    return f"nothing here is about {_listed(diseases)}, which is only mentioned"


def _has_product(asked: Sequence[Term], passages: Sequence[Passage]) -> bool:
    """Whether a passage is from the label of a product that is asked for."""
    return any(one.is_in(own_drugs(passage.chunk)) for one in asked for passage in passages)


def _listed(named: Sequence[Term]) -> str:
    return " and ".join(one.text for one in named)


def _having(named: Sequence[Term], passages: Sequence[Passage], words: WordsOf) -> list[Passage]:
    """The passages that have all of it, by themselves or in the names of their documents."""
    return [one for one in passages if all(_has(one.chunk, term, words) for term in named)]


def _has(chunk: Chunk, term: Term, words: WordsOf) -> bool:
    if term.kind is None and words(chunk, term.words | term.members):
        return True
    return not lacking([term], *own_texts(chunk))


def _asks_more(query: str, named: Sequence[Term]) -> bool:
    known = {word for one in named for word in stems(one.text)}
    return len(named) > 1 or any(base(word) not in known for word in meaningful(query).split())


def _speaks_of(
    disease: Term,
    passage: Passage,
    passages: Sequence[Passage],
    index: Index,
    sections: Collection[str],
) -> bool:
    """Whether a passage or its document does more than mention a disease in passing."""
    section = section_of(passage.chunk.section_label)
    if not is_in_passing(section) or section in sections:
        return True
    text, names, heading = own_texts(passage.chunk)
    if disease.is_in(names) or disease.is_in(heading) or disease.count(text) > 1:
        return True
    own = [one for one in passages if one.chunk.doc_id == passage.chunk.doc_id]
    return sum(disease.is_in(one.chunk.text) for one in own) > 1 or not index.is_long(passage)
