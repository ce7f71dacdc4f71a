"""What does a query mean to this index, beyond its words?

An identifier stands for a document, which is then the only one that is searched. Phrases and
exclusions keep passages out. Codes and exact numbers (I21.4, 0.82, 50000 IU) lift the passages that
have them all above those that do not. What is not understood, or is in no document, is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from assay.analysis.conditions import diseases_in
from assay.analysis.drugs import has_stem_of_others, is_drug
from assay.analysis.identifiers import TRIAL, Mention, code_of, known_in, mentions
from assay.analysis.language import language_of, small_words
from assay.analysis.misspelt import one_mistake
from assay.analysis.names import is_listed, is_meant, may_be_meant
from assay.analysis.query import MAX_JOINED_WORDS, NAMES, TITLE, Asked, read
from assay.analysis.spelling import base
from assay.analysis.words import analyse, joined, tokens, written_words
from assay.evidence.confidence import STOP_WORDS
from assay.evidence.terms import is_eponym
from assay.model.document import Chunk
from assay.model.query import Filters, Hit, WordIndex
from assay.search.exact import BETWEEN_CODES
from assay.search.question import Question

MOST_PASSAGES = 200  # of one identifier
MOST_REGISTERED = 3  # documents under one registration
NEAR = 80  # characters around a number that say what it is
MOST_UNKNOWN = 5  # words that are looked up for another spelling
_OF_STUDY = re.compile(r"\Athe\s+|\s+(?:trial|study)\Z", re.IGNORECASE)  # the RECOVERY trial
_POSSESSIVE = re.compile(r"['’]s?$")
_SHORT_NUMBER = re.compile(r"NCT(\d{7})", re.IGNORECASE)
_CODE_APART = re.compile(r"[A-Za-z]{2,5} \d{2,7}[A-Za-z]?")  # of a compound
SHORTEST_PART = 3  # letters of a part of a word that is also written as two

ONLY_THIS = "only this was searched"
WHERE = {TITLE: " in the title", NAMES: " in the names of the document"}

_REGISTRATION = re.compile(
    r"regist(?:ered|ration|ry)|(?:trial|protocol|study) (?:number|no\b|id\b)|identifier",
    re.IGNORECASE,
)

Chunks = Callable[[Sequence[int]], Mapping[int, Chunk]]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a query was read. ``documents`` are the only ones that are searched, if there are any.

    ``lifted`` are passages that come first, each with what they have of the query. ``only`` are the
    only passages that may be found, where it is not None. ``notes`` say all this in words;
    ``identified`` is what stands for a document, ``absent`` what would, were it here. ``unknown``
    are the words that no document has, each with the word that may be meant, or "". ``is_certain``
    says that only that can be meant: one drug, or the same word written as one or as two; then
    ``searched_for`` is the query that was searched instead.
    """

    documents: tuple[str, ...] = ()
    lifted: Mapping[int, str] = field(default_factory=dict)
    only: frozenset[int] | None = None
    notes: tuple[str, ...] = ()
    did_you_mean: str = ""
    identified: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
    is_certain: bool = False
    searched_for: str = ""

    def filters(self, given: Filters) -> Filters:
        """The filters of the search; documents that the caller names count more than the query."""
        if not self.documents or given.doc_id:
            return given
        return replace(given, doc_id=self.documents)

    @property
    def naming(self) -> str:
        """What identifiers of the query stand for, in words; empty where it has none."""
        of = tuple(f"{one} is " for one in self.identified)
        return "; ".join(note for note in self.notes if note.startswith(of)) if of else ""


NOTHING = Reading()


def read_query(question: Question, words: WordIndex, chunks: Chunks) -> Reading:
    """How a query is to be read before anything is searched."""
    asked = read(question.conditions)
    notes: dict[str, None] = dict.fromkeys(asked.notes)
    documents: dict[str, None] = {}
    lifted: dict[int, str] = {}
    identified: list[str] = []
    absent: list[str] = []
    only: frozenset[int] | None = None
    for mention in mentions(asked.plain):
        whole = _OF_STUDY.sub("", asked.plain.strip()) == mention.text
        keys = words.identified(mention.code, MOST_PASSAGES)
        if keys:
            found = _Found(
                mention, whole, {key: one for key, one in chunks(keys).items() if one.text}
            )
            identified.append(mention.text)
            documents |= dict.fromkeys(found.documents)
            lifted |= found.lifted
            notes[found.note] = None
        elif mention.kind:
            keys = words.exact(mention.text) if whole or mention.kind == TRIAL else []
            printing = _Printing(mention, chunks(keys))
            notes[printing.note] = None
            documents |= dict.fromkeys(printing.documents)
            lifted |= dict.fromkeys(keys, mention.text)
            if not keys:
                absent.append(mention.text)
            if printing.documents:
                identified.append(mention.text)
            elif whole:
                only = frozenset(keys)
    if asked.codes:
        code = BETWEEN_CODES.join(one.text for one in asked.codes)
        lifted = dict.fromkeys(words.exact(question.written), code) | lifted
    if asked.only_excludes:
        only = frozenset()
    found_as_one = {*identified}
    nowhere = [one for one in words.nowhere(question.conditions) if one not in found_as_one]
    notes |= dict.fromkeys(_conditions(asked, nowhere, found_as_one))
    said = _of_several(tuple(filter(None, notes)))
    return Reading(
        tuple(documents), lifted, only, said, identified=tuple(identified), absent=tuple(absent)
    )


class _Found:
    """The passages that an identifier stands for."""

    def __init__(self, mention: Mention, whole: bool, chunks: Mapping[int, Chunk]) -> None:
        own = {key: one for key, one in chunks.items() if code_of(one.chunk_id) == mention.code}
        ids = list(dict.fromkeys(one.doc_id for one in chunks.values()))
        certain = bool(mention.kind) or (whole and any(map(str.isdigit, mention.text)))
        few = len(ids) <= 3
        self.documents = ids if certain and few else []
        # of a study that is named in passing, articles and labels speak as well as its record
        named = whole or any(code_of(doc_id) == mention.code for doc_id in ids)
        first = chunks if named and not self.documents else ()
        self.lifted = dict.fromkeys(own or first, mention.text)
        self.note = self._note(mention.text, ids, [one.chunk_id for one in own.values()])

    def _note(self, text: str, ids: Sequence[str], own: Sequence[str]) -> str:
        if not ids:
            return ""
        what = f"passage {own[0]}" if own else f"document {', '.join(ids[:3])}"
        effect = "it comes first" if self.lifted else "the query is about it"
        if self.documents:
            effect = ONLY_THIS
            if own:
                effect = "it comes first, and only its document was searched"
        return f"{text} is {what}: {effect}"


class _Printing:
    """The passages that print an identifier which no document here is filed under.

    Where one says that the identifier is its registration, the query is about its document.
    """

    def __init__(self, mention: Mention, chunks: Mapping[int, Chunk]) -> None:
        every = list(dict.fromkeys(one.doc_id for one in chunks.values()))
        own = {one.doc_id for one in chunks.values() if _registers(mention, one.text)}
        self.documents = [doc_id for doc_id in every if doc_id in own][:MOST_REGISTERED]
        if self.documents:
            named = ", ".join(self.documents)
            self.note = f"{mention.text} is the registration of document {named}: {ONLY_THIS}"
        elif every:
            named = ", ".join(every[:MOST_REGISTERED])
            self.note = (
                f"{mention.text} ({mention.kind}) stands in document {named}: it comes first"
            )
        else:
            self.note = f"no document here is {mention.text} ({mention.kind})"


def _registers(mention: Mention, text: str) -> bool:
    """Whether a text calls an identifier its registration."""
    if mention.kind != TRIAL:
        return False
    places = (one for one in known_in(text) if one.code == mention.code)
    return any(_REGISTRATION.search(text[max(0, at.start - NEAR) : at.end + NEAR]) for at in places)


def _of_several(notes: tuple[str, ...]) -> tuple[str, ...]:
    """The notes, where several documents were searched and each says that only it was."""
    if sum(note.endswith(ONLY_THIS) for note in notes) < 2:
        return notes
    return tuple(note.replace(ONLY_THIS, "only these were searched") for note in notes)


def _conditions(asked: Asked, nowhere: Sequence[str], known: Collection[str]) -> list[str]:
    """What must be there and what must not, in words; what stands for documents is said there."""
    notes = [f"no passage has “{text}”: its words were searched one by one" for text in nowhere]
    groups = [
        " or ".join(f"“{clause.text}”{WHERE.get(clause.field, '')}" for clause in group)
        for group in asked.must
        if not any(clause.text in nowhere or clause.text in known for clause in group)
    ]
    if groups:
        notes.append(f"only passages with {' and '.join(groups)}")
    if asked.must_not:
        notes.append(f"only passages without {', '.join(one.text for one in asked.must_not)}")
    return notes


def admitted(
    question: Question,
    reading: Reading,
    words: WordIndex,
    lists: Mapping[str, tuple[Hit, ...]],
) -> dict[str, tuple[Hit, ...]]:
    """The lists without what phrases, exclusions or an unknown identifier keep out.

    Models know nothing of such conditions: what they found is looked up among the words.
    """
    if reading.only is None and not read(question.written).restricts:
        return dict(lists)
    trusted = "bm25" if reading.only is None else ""  # it keeps to phrases and exclusions itself
    keys = {hit.key for name, hits in lists.items() if name != trusted for hit in hits}
    good = allowed(question, reading, words, keys)
    return {
        name: hits if name == trusted else tuple(hit for hit in hits if hit.key in good)
        for name, hits in lists.items()
    }


def allowed(
    question: Question, reading: Reading, words: WordIndex, keys: Collection[int]
) -> Collection[int]:
    """Those of the chunks that phrases, exclusions and unknown identifiers leave."""
    if reading.only is not None:
        return reading.only.intersection(keys)
    if not keys or not read(question.written).restricts:
        return keys
    return words.holding(question.conditions, sorted(keys))


def with_unknown_words(
    question: Question,
    reading: Reading,
    words: WordIndex,
    chunks: Chunks,
    asking: Collection[str] = (),
) -> Reading:
    """The reading with what the documents lack of the query's words, and what may be meant.

    ``asking`` are words that state an intent: one of them is meant by what is a mistake away.
    """
    plain = read(question.written).plain
    rest = plain
    for one in reading.identified:
        rest = rest.replace(one, " ")
    cuts = {word: analyse(word) for word in dict.fromkeys(written_words(rest))}
    asked = {word: cut for word, cut in cuts.items() if cut.terms and word not in STOP_WORDS}
    whole = {word: (*cut.forms, code_of(word)) for word, cut in asked.items()}
    known = words.counts(
        [term for word, cut in asked.items() for term in (*cut.terms, *whole[word])]
    )
    missing = [
        word
        for word, cut in asked.items()
        if not all(known[term] for term in cut.terms)
        and not any(known[form] for form in whole[word])
    ]
    if not reading.identified and not read(question.written).restricts:
        compounds = {**_joined(plain, words), **_parted(missing, words)}
        compounds |= _renamed(missing, question, words)
        if question.gentle:
            compounds |= _other_diseases(plain, words)
        if compounds:
            return replace(
                reading,
                did_you_mean=_instead(plain, compounds),
                unknown=compounds,
                is_certain=True,
            )
    if not missing:
        return reading
    notes = [*reading.notes]
    telling = len(asked.keys() - small_words(plain))  # other languages' small words are names here
    strange = language_of(plain) if 2 * len(missing) >= telling else ""
    if strange:
        notes.append(f"this looks like {strange}, and the documents lack most of its words")
    if len(missing) == len(asked):
        notes.append("no document has any of these words")
        if not question.synonyms and _only_codes(question, missing):  # which mean nothing else
            reading = replace(reading, only=frozenset())
    else:
        notes.append(f"no document has {', '.join(missing[:MOST_UNKNOWN])}")
    # what is in capitals or has a synonym is a name, and its neighbour is another one: HFpEF, HFrEF
    plainly = [word for word in missing if word[1:].islower() and not question.others(word)]
    asked_for = {} if strange else _asking(plainly[:MOST_UNKNOWN], asking)
    rest_of = [word for word in plainly[:MOST_UNKNOWN] if word not in asked_for]
    better = asked_for | ({} if strange else _better(rest_of, words, chunks))
    better |= _completed(missing[:MOST_UNKNOWN], words)
    meant = _instead(plain, better) if better else ""
    names = {
        word: other
        for word, other in better.items()
        if is_drug(other) or is_eponym(word, question.plain)
    }
    return replace(
        reading,
        notes=tuple(notes),
        did_you_mean=meant,
        unknown={word: better.get(word, "") for word in missing},
        is_certain=bool(names or asked_for) and all(map(is_meant, names, names.values())),
    )


def _instead(text: str, others: Mapping[str, str]) -> str:
    """A text with other words in the place of some."""
    for word, other in others.items():
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", other, text)
    return text


def _joined(plain: str, words: WordIndex) -> dict[str, str]:
    """Neighbours that no document has side by side, but written as one: flax seed, MLN 8237.

    What only an id is made of is no word of the documents, and the stem of one word alone is no
    joined word: "cixutumumab AEs" has that of cixutumumab.
    """
    parts = plain.split()
    pairs = {
        f"{first} {second}": joined(first, second)
        for first, second in (pairwise(parts) if len(parts) <= MAX_JOINED_WORDS else ())
        if (_is_part(first) and _is_part(second)) or _CODE_APART.fullmatch(f"{first} {second}")
    }
    known = words.counts([form for forms in pairs.values() for form in forms]) if pairs else {}
    return {
        pair: pair.replace(" ", "").lower()
        for pair, forms in pairs.items()
        if any(
            known[form] and form not in analyse(pair).terms and not words.identified(form, 1)
            for form in forms
        )
        and _is_apart(pair, words)
    }


def _is_apart(pair: str, words: WordIndex) -> bool:
    """Whether no document has two words side by side; letters before a number are no word."""
    if _CODE_APART.fullmatch(pair):
        letters = base(pair.partition(" ")[0])
        return not words.counts([letters])[letters]
    return bool(words.nowhere(f'"{pair}"'))


def _parted(missing: Sequence[str], words: WordIndex) -> dict[str, str]:
    """Words that no document has, but as two that stand side by side: flaxseed, flax seed."""
    found: dict[str, str] = {}
    for word in missing[:MOST_UNKNOWN]:
        cuts = [
            (word[:at], word[at:]) for at in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
        ]
        cuts = [(first, second) for first, second in cuts if _is_part(first) and _is_part(second)]
        terms = {part: base(part) for cut in cuts for part in cut}
        known = words.counts([*terms.values()]) if terms else {}
        both = (cut for cut in cuts if all(known[terms[part]] for part in cut))
        pairs = [f"{first} {second}" for first, second in both]
        if pair := next((one for one in pairs if not words.nowhere(f'"{one}"')), ""):
            found[word] = pair.lower()
    return found


def _renamed(missing: Sequence[str], question: Question, words: WordIndex) -> dict[str, str]:
    """Drugs that no document has by this name, each with the first other name that one has.

    The index knows stems only, and that of a trade name may be another word's.
    """
    found: dict[str, str] = {}
    for word in missing[:MOST_UNKNOWN]:
        every = question.others(word) if is_drug(word) else ()
        names = (one for one in every if not has_stem_of_others(one))
        if name := next((one for one in names if not words.nowhere(f'"{one}"')), ""):
            found[word] = name
    return found


def _other_diseases(plain: str, words: WordIndex) -> dict[str, str]:
    """Diseases that no document has by this name, each with the first other name that one has."""
    found: dict[str, str] = {}
    for typed, names in diseases_in(plain).items():
        if words.nowhere(f'"{typed}"'):
            others = (name for name in names if not words.nowhere(f'"{name}"'))
            if name := next(others, ""):
                found[typed] = name
    return found


def _is_part(word: str) -> bool:
    """Whether a word may be a part of another."""
    low = word.lower()
    return (
        len(word) >= SHORTEST_PART and word.isalpha() and low not in STOP_WORDS and bool(base(low))
    )


def corrected(typed: Reading, meant: Reading) -> Reading:
    """The reading of the query that was meant, where it is searched instead of the typed one."""
    lacking = ", ".join(word for word, other in typed.unknown.items() if other)
    note = f"no document has {lacking}: searched for “{typed.did_you_mean}” instead"
    return replace(
        meant,
        notes=(note, *meant.notes),
        did_you_mean=typed.did_you_mean,
        searched_for=typed.did_you_mean,
    )


def _only_codes(question: Question, words: Sequence[str]) -> bool:
    """Whether these words of a query are codes and numbers, and nothing more."""
    coded = {word for one in read(question.written).codes for word in written_words(one.text)}
    return coded.issuperset(words)


def _asking(missing: Sequence[str], asking: Collection[str]) -> dict[str, str]:
    """Words that state an intent for those that are one mistake away: eligiblity."""
    strange = (word for word in missing if word.lower() not in asking and not is_listed(word))
    found = ((word, one_mistake(word.lower())) for word in strange)
    meant = ((word, next((one for one in each if one in asking), "")) for word, each in found)
    return {word: other for word, other in meant if other}


def _completed(missing: Sequence[str], words: WordIndex) -> dict[str, str]:
    """Numbers of trials that lack a zero, each with that of a trial which is here: NCT1764022."""
    short = (match for word in missing if (match := _SHORT_NUMBER.fullmatch(word)))
    whole = {match[0]: f"NCT0{match[1]}" for match in short}
    return {word: other for word, other in whole.items() if words.identified(other.lower(), 1)}


def _better(missing: Sequence[str], words: WordIndex, chunks: Chunks) -> dict[str, str]:
    """Words of the documents for those that may be misspelt."""
    found: dict[str, str] = {}
    for word in missing:
        if is_listed(word):  # a name of the field is spelt right, and its neighbour is another one
            continue
        terms = analyse(word).terms
        like = words.similar(terms[0]) if len(terms) == 1 else None
        if like is not None:
            term, key = like
            text = chunks([key])[key]
            spelt = _spelt(term, f"{text.title}\n{text.text}")
            owner = _POSSESSIVE.sub("", word)
            if spelt and may_be_meant(owner, spelt):
                found[word] = spelt + word[len(owner) :]
    return found


def _spelt(term: str, text: str) -> str:
    """How a text writes a term; in small letters, unless it is an abbreviation."""
    for token in tokens(text):
        if term in token.terms:
            word = text[token.start : token.end]
            return word if word[1:].lower() != word[1:] else word.lower()
    return ""
