"""Is anything that was found about the query, or is it better to say that nothing is?

Every index has a nearest passage to every query, and ten of them look like ten answers. Nothing is
about a query if none of the passages has the drug or record that it names, or if the best of them
are below the floor: a logistic model of the signals in ``confidence.py``, fitted to tell queries
that a collection can serve from those on other subjects. ``bench/answer_gate.py`` fits it and
prints how well it does (design/036). A dense model without weights is judged by words alone.

Who asks for the doses or adverse events of a drug is hardly served by a trial of another drug that
mentions it: that is said, and the results are shown. Interactions and contraindications are of two
drugs; the label of either has them.

A short query that names no drug is served by a passage that has all of it (``together.py``). Of
what stands side by side in a passage, nothing else is asked: it is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from assay.analysis.asked import Kind, Name, names_asked
from assay.analysis.conditions import short_names
from assay.analysis.drugs import is_drug
from assay.analysis.names import is_name
from assay.analysis.spelling import base
from assay.analysis.words import analyse, vocabulary
from assay.evidence.confidence import (
    ENOUGH,
    LIGHT,
    LOOKED_AT,
    Signals,
    Weights,
    WordsOf,
    logistic,
    signals,
)
from assay.evidence.gather import (
    called_in,
    is_alias,
    is_called,
    is_given_in,
    is_of_another,
    names_of_document,
    own_drugs,
    was_given,
)
from assay.evidence.terms import ORGANS, Term, is_eponym, names_nothing
from assay.evidence.together import (
    NO_INDEX,
    SHORT,
    Index,
    has_all,
    has_side_by_side,
    only_mentioned,
    things_asked,
    why_apart,
)
from assay.model.answers import Passage
from assay.model.sections import section_of

SHOWN = 0.1  # how sure it is at least where something is shown as being about the query
FLOOR = 0.05  # and at most where nothing is
# what is said of a drug in documents about it, by the intents of a query (``data/intents.yaml``)
OF_ITS_OWN = frozenset(
    ("adverse_events", "contraindications", "dosage", "indications", "overdosage", "warnings")
)
CONTRAINDICATIONS = "contraindications"
UNIT = 2  # letters
MOST = 0.8
TOPIC_BY_WORDS = Weights(0.0, 4.90, 3.49, -5.23)
TOPIC_BY_MODEL: Mapping[str, Weights] = {
    "assay-bio": Weights(29.01, 4.29, 0.0, -23.74),
    "assay-bio-fast": Weights(30.67, 5.77, 0.0, -26.90),
    "bge-small-en-v1.5": Weights(27.95, 2.90, 0.0, -21.75),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """How sure it is that something is about a query; ``nothing`` says in words that nothing is.

    ``missing`` are the names in the query that nothing found has. ``only_mentioned`` says in words
    that passages mention what is asked about, and that none is about it.
    """

    confidence: float | None
    nothing: str = ""
    missing: tuple[str, ...] = ()
    only_mentioned: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """The words that say what a query is about, without those that say what it asks for.

    ``unknown`` are words that no document has, each with the word that may be meant, or "".
    ``meant`` is the query with those. ``frequency`` is the number of passages that have each word
    of a short query, where the index can tell. ``others`` are other names for the words of a text.
    ``is_plain`` says that all of it is looked for: of "this OR that", nothing has both.
    """

    words: tuple[str, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
    meant: str = ""
    frequency: Mapping[str, int] = field(default_factory=dict)
    others: Callable[[str], Sequence[str]] = lambda text: ()
    is_plain: bool = True

    @property
    def is_short(self) -> bool:
        """Whether each of the words is what the query is about."""
        return len(self.words) <= SHORT

    @property
    def rarest(self) -> str:
        """The word that fewest passages have; "" where nobody can tell. Codes are no words."""
        words = [word for word in self.frequency if word.isalpha() and len(word) > UNIT]
        return min(words, key=self.frequency.__getitem__, default="")


NO_CONTENT = Content()


def judge(
    query: str,
    passages: Sequence[Passage],
    dense_model: str = "",
    synonyms: Sequence[str] = (),
    intents: Collection[str] = (),
    *,
    content: Content = NO_CONTENT,
    index: Index = NO_INDEX,
) -> Judged:
    """Whether the best passages are about a query; what ``synonyms`` added to it counts as well.

    ``intents`` are the kinds of section that it asks for.
    """
    best = passages[:LOOKED_AT]
    if not best:
        return Judged(None)
    read = signals(query, best, words=index.words)
    found = _judged(
        query, best, dense_model, synonyms, intents, content=content, index=index, read=read
    )
    if not found.nothing or not has_side_by_side(query, index.with_words(best)):
        return found
    sure = topic(read, dense_model)
    asked = things_asked(query, content.others)
    if mentioned := only_mentioned(query, asked, best, index, intents):
        return Judged(_below(sure), only_mentioned=mentioned)
    return Judged(max(sure, SHOWN))


def _judged(
    query: str,
    best: Sequence[Passage],
    dense_model: str,
    synonyms: Sequence[str],
    intents: Collection[str],
    *,
    content: Content,
    index: Index,
    read: Signals,
) -> Judged:
    """The same by names and words, wherever these stand."""
    sure = topic(read, dense_model)
    asked = things_asked(query, content.others) if content.is_plain else ()
    is_plain = content.is_plain
    strange = any(not content.others(word) for word in content.unknown)
    known = (name for passage in best for name in called_in(passage.chunk))
    names = [name for name in names_asked(query, known) if name.kind is not Kind.PEOPLE]
    if any(one.kind is Kind.DRUG for one in names):  # whose other names are known already
        synonyms = ()
    if meant := _says_most(
        synonyms, best, index.words
    ):  # which is what the words of the query mean
        content = NO_CONTENT
    if lacking := _lacking(query, content, sure):
        reason = f"nothing here is about {' or '.join(lacking)}"
        return Judged(_below(sure), _or_meant(reason, content), lacking)
    serving = _serving(best, intents) if any(one.kind is Kind.DRUG for one in names) else best
    called = [name for name in names if _is_called(name, best)]
    met = (n for n in names if _is_met(n, serving) or _was_given(query, n, best))
    there = [*called, *met]
    # a name is looked up wherever it stands; everyday words beside a drug ask something of it
    alone = len(asked) < 2 or (len(names) < 2 and not any(map(_is_subject, asked)))
    enough = there if alone else called
    if (
        is_plain
        and sure < SHOWN
        and not has_all(query, index.with_words(serving), index.words, there)
    ):
        enough, meant = called, meant and not strange  # a name among words that nothing here has
    is_there = any(map(_is_certain, enough)) or (meant and alone) or _has_product(called, best)
    if is_there or names_nothing(query):
        return Judged(max(sure, SHOWN))
    by_synonym = not there and _has_any(synonyms, best, serving, index.words)
    missing = () if there or by_synonym else _missing(names, sure)
    if missing and not any(map(index.is_called, missing)):
        return _without(missing, index.with_words(best), sure)
    if apart := why_apart(asked, sure, best, index):
        return Judged(_below(sure), _or_meant(apart, content))
    if mentioned := only_mentioned(query, asked, best, index, intents):
        return Judged(_below(sure), only_mentioned=mentioned)
    by_words = index.with_words(best)
    # of "this OR that", one of the words is enough
    has_words = has_all(query, by_words, index.words) if is_plain else read.covered > 0.0
    has_words = has_words or read.covered == 1.0
    return _judged_by_words(content, sure, by_words, index.words, has_words=has_words)


def _or_meant(reason: str, content: Content) -> str:
    """Why there is nothing, or what may be meant by words that no document has."""
    misspelt = ", ".join(word for word, other in content.unknown.items() if other)
    return f"no document has {misspelt}: did you mean “{content.meant}”?" if misspelt else reason


def _without(missing: Sequence[Name], passages: Sequence[Passage], sure: float) -> Judged:
    """What is said of names of which no document is, whether or not passages mention them."""
    texts = tuple(name.text for name in missing)
    reason = f"nothing here is about {' or '.join(texts)}"
    if any(_is_met(name, passages) for name in missing):
        return Judged(_below(sure), only_mentioned=f"{reason}, which is only mentioned")
    return Judged(_below(sure), reason, texts)


def _is_subject(one: Term) -> bool:
    """Whether a thing is a subject beside a drug: a disease, a compound, a kind."""
    return one.is_specific or bool(one.near) or one.kind is not None


def _has_product(names: Sequence[Name], passages: Sequence[Passage]) -> bool:
    """Whether one of the names is that of a product whose label is there."""
    return any(name.is_in(own_drugs(one.chunk)) for name in names for one in passages)


def _is_certain(name: Name) -> bool:
    """Whether a name is that of a drug, record or trial, and not just written with a capital."""
    return name.kind is not Kind.NAME or not name.text[1:].islower()


def _missing(names: Sequence[Name], sure: float) -> Sequence[Name]:
    """The names that had to be met; what may be any word counts where little speaks for it."""
    certain = [name for name in names if name.kind is not Kind.NAME]
    return certain or (names if sure < ENOUGH else [])


def _judged_by_words(
    content: Content,
    sure: float,
    passages: Sequence[Passage],
    words: WordsOf,
    *,
    has_words: bool,
) -> Judged:
    """Whether passages are near enough to a query that names nothing which is missing."""
    if _is_without_rarest(content, sure, passages, words):
        return Judged(_below(sure), f"nothing here seems to be about {content.rarest}")
    if sure >= SHOWN:
        return Judged(sure)
    if has_words:
        return Judged(SHOWN)
    return Judged(_below(sure), "nothing here seems to be about this")


def _below(sure: float) -> float:
    return min(sure, FLOOR)


def _lacking(query: str, content: Content, sure: float) -> tuple[str, ...]:
    """The words that no document has and without which nothing is about the query.

    A name that was probably misspelt always is one: the neighbours of a drug are other drugs, and
    diseases are called by names of people. So is the only word that says what the query is about.
    Beside others, the name of a disease is in a short query, and every word is where little speaks
    for what was found.
    """
    unknown = {
        word: other
        for word in content.words
        if (other := content.unknown.get(word)) is not None
        and other not in LIGHT
        and base(word) not in ORGANS  # which has another name
    }
    misspelt = [
        word
        for word, other in unknown.items()
        if other and (is_drug(other) or is_eponym(word, query))
    ]
    if misspelt:
        return tuple(misspelt)
    if any(map(is_drug, content.words)):  # judged by where it stands
        return ()
    lacking = tuple(unknown)
    if len(lacking) == len(content.words):
        return lacking
    unlikely = sure < ENOUGH
    if content.is_short and unlikely:
        return lacking
    return tuple(word for word in lacking if is_name(word) and (content.is_short or unlikely))


def _is_without_rarest(
    content: Content, sure: float, passages: Sequence[Passage], words: WordsOf
) -> bool:
    """Whether little speaks for the passages, and none has the rarest word of a short query."""
    if sure >= ENOUGH or not content.is_short or not content.rarest:
        return False
    rarest = analyse(content.rarest)
    others = frozenset(rarest.forms) | ORGANS.get(base(content.rarest), frozenset())
    asked = others.union(rarest.terms)
    there = (
        words(one.chunk, asked) | vocabulary(names_of_document(one.chunk)).among(asked)
        for one in passages
    )
    return not any(one.issuperset(rarest.terms) or not one.isdisjoint(others) for one in there)


def topic(read: Signals, dense_model: str = "") -> float:
    """How likely it is that passages with these signals are about the query."""
    return logistic(_weights(read, dense_model), read)


def _weights(read: Signals, dense_model: str) -> Weights:
    known = TOPIC_BY_MODEL.get(dense_model)
    return TOPIC_BY_WORDS if known is None or read.closeness is None else known


def _serving(passages: Sequence[Passage], intents: Collection[str]) -> Sequence[Passage]:
    """The passages that serve a query for a drug by mentioning it."""
    if not intents or not OF_ITS_OWN.issuperset(intents):
        return passages
    has_both = CONTRAINDICATIONS in intents
    return [
        one
        for one in passages
        if not is_of_another(one.chunk)
        or (has_both and section_of(one.chunk.section_label) == CONTRAINDICATIONS)
    ]


def _is_called(name: Name, passages: Sequence[Passage]) -> bool:
    return any(
        is_called(name, one.chunk) or is_alias(name, one.chunk) or is_given_in(name, one.chunk)
        for one in passages
    )


def _was_given(query: str, name: Name, passages: Sequence[Passage]) -> bool:
    return name.kind is Kind.DRUG and any(was_given(query, name, one.chunk) for one in passages)


def _is_met(name: Name, passages: Sequence[Passage]) -> bool:
    return any(name.is_in(one.chunk.text) for one in passages)


def _says_most(synonyms: Sequence[str], passages: Sequence[Passage], words_in: WordsOf) -> bool:
    """Whether a passage has most words of a synonym together: deep venous thrombosis for DVT."""
    wanted = [
        frozenset(words)
        for text in synonyms
        if base(text) not in short_names() and (words := analyse(text).terms)
    ]
    return any(
        len(words_in(one.chunk, words)) >= _most(words) and _together(words, one.chunk.text)
        for words in wanted
        for one in passages
    )


def _most(words: Collection[str]) -> int:
    """All words of a long name but a quarter, and two of three; of two words, one says little."""
    return min(len(words), 2) if len(words) <= SHORT else math.ceil(MOST * len(words))


def _together(words: frozenset[str], text: str) -> bool:
    """Whether as many neighbours in a text as there are words are mostly these words."""
    terms = analyse(text).terms
    return any(
        len(words.intersection(terms[at : at + len(words)])) >= _most(words)
        for at, term in enumerate(terms)
        if term in words
    )


def _has_any(
    synonyms: Sequence[str],
    called: Sequence[Passage],
    met: Sequence[Passage],
    words_in: WordsOf,
) -> bool:
    """Whether a document is called by all words of a synonym, or a passage has them."""
    wanted = [frozenset(words) for text in synonyms if (words := analyse(text).terms)]
    return any(
        any(words <= vocabulary(names_of_document(one.chunk)).among(words) for one in called)
        or any(words <= words_in(one.chunk, words) for one in met)
        for words in wanted
    )
