"""What does a query look for, and which parts of it are more than words?

``"a phrase"`` must be there, ``-word`` must not, of ``this OR that`` one must be, ``title:word``
must be in the title, and ``drug:word`` in the names of the document. Everything else is a bag of
words. What looks like syntax and is none is read as words, and said; so is a phrase that no
document has. A query may have further lines: words that synonyms added; those after ``~`` count
less, and ``|this|that`` lets that stand for this where one of several must be there.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from assay import limits
from assay.analysis.identifiers import TRIAL, mentions, printed
from assay.analysis.words import Words, analyse, is_time, joined, names

Weights: TypeAlias = defaultdict[tuple[str, str], float]
"""How much each term counts in each field."""
BODY, TITLE, FORMS, NAMES, IDS = "body", "title", "forms", "names", "ids"
FIELDS = (BODY, TITLE, FORMS, NAMES, IDS)
TERM_WEIGHTS = {BODY: 1.0, TITLE: 0.25}
FORM_WEIGHT = 0.5  # a code in any spelling
LOOSE_WEIGHT = 0.3  # a word that stands in the text as two, or the other way round
GENTLE = "~"
FAINT = "~~"
INSTEAD = "|"
GENTLE_WEIGHT = 0.3  # a synonym that nobody here chose; measured on NFCorpus and SciFact
FAINT_WEIGHT = 0.05  # a trade name or a member of a class: enough to be a candidate
ID_WEIGHT = 1.0  # the id of a document
SHORT_QUERY = 5  # words; in longer ones people put single words in quotes to smile about them
FEW_OTHERS = 2  # words beside codes
MAX_JOINED_WORDS = 16
MAX_SEVERAL = 20  # phrases and exclusions

ONLY_EXCLUDES = "the query only says what must not be there: add what to look for"
_ITEM = re.compile(
    r"""(?<!\S)(?P<minus>-(?=["A-Za-z]))?(?:(?P<field>[A-Za-z_]{2,30}):(?=["\w]))?"""
    r"""(?:"(?P<phrase>[^"]*)"(?P<rest>\S*)|(?P<word>\S+))"""
)
_ONE = r"""(?:"[^"]*"|[^\s()"]+)"""
_GROUPS = re.compile(rf"\((?!\s*{_ONE}(?:\s+OR\s+{_ONE})*\s*\))")  # more than this OR that
_NOT = re.compile(r"""(?<!\S)NOT\s+(?=["A-Za-z])""")
_AND = re.compile(r"(?<=\s)AND(?=\s)")
_OPERATOR = re.compile(r"(?<!\S)(?:OR|AND|NOT)(?!\S)")
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"'))
_WILD = re.compile(r"\w(?:\*|[~^]\d*)(?!\S)|(?<!\S)\*\w")
_PREFIXES = {
    "title": TITLE,
    **dict.fromkeys(("name", "drug", "condition", "disease", "trial", "study"), NAMES),
}
_IDENTIFYING = ("doi", "pmid", "pmcid", "http", "https")


_STRICT = re.compile(  # ICD, a variant of a protein or a gene, ATC, a registered variant
    r"^[A-Z]\d{2}\.\d{1,4}$|^(?:p\.)?[A-Z]\d{2,4}[A-Z*]$|^[cgm]\.\d|^[A-Z]\d{2}[A-Z]{2}\d{2}$"
    r"|^rs\d{4,}$",
    re.IGNORECASE,
)


class Clause(NamedTuple):
    """Words that stand together in a field; in a text also one of their forms."""

    terms: tuple[str, ...]
    forms: tuple[str, ...]
    text: str
    field: str = BODY


class Asked(NamedTuple):
    """A query, read. ``plain`` is what those see who know no syntax.

    ``only_excludes`` marks a query that says what must not be there, and nothing else.
    """

    plain: str
    weights: dict[tuple[str, str], float]
    must: tuple[tuple[Clause, ...], ...]
    must_not: tuple[Clause, ...]
    codes: tuple[Clause, ...]
    notes: tuple[str, ...]
    only_excludes: bool = False

    @property
    def restricts(self) -> bool:
        """Whether some chunks may not be found at all."""
        return bool(self.must or self.must_not)

    @property
    def chooses(self) -> bool:
        """Whether one of several is enough: of this OR that, few passages have both."""
        return any(len(group) > 1 for group in self.must)


class _Item(NamedTuple):
    clause: Clause
    excluded: bool
    required: bool


def most_exact(chunks: int) -> int:
    """How many chunks may share a code that is still exact: one of a hundred."""
    return min(200, max(10, chunks // 100))


@lru_cache(maxsize=1024)
def read(query: str) -> Asked:
    """What a query looks for."""
    written, *added = query[: limits.MAX_QUERY_CHARS].split("\n")
    plain, must, must_not, notes = _syntax(written)
    weights: Weights = defaultdict(float)
    words = analyse(plain)
    _weigh(weights, words)
    for form in _neighbours(plain):
        for field in (FORMS, BODY):
            weights[field, form] = max(weights[field, form], LOOSE_WEIGHT)
    for mention in mentions(plain):
        weights[IDS, mention.code] = ID_WEIGHT
    must = tuple(_with_others(group, added) for group in must)
    for line in added:
        if line.startswith(INSTEAD):
            continue
        factor = GENTLE_WEIGHT if line.startswith(GENTLE) else 1.0
        factor = FAINT_WEIGHT if line.startswith(FAINT) else factor
        for place, weight in _weighed(analyse(line)).items():
            weights[place] = max(weights[place], weight * factor)
    codes = tuple(_codes(plain))
    return Asked(plain, dict(weights), must, must_not, codes, notes, ONLY_EXCLUDES in notes)


def alternatives(written: str) -> tuple[str, ...]:
    """The words of which one must be there; a synonym may stand for each that has no quotes."""
    plain = written.translate(_QUOTES)
    several = (group for group in read(written).must if len(group) > 1)
    return tuple(
        one.text
        for group in several
        for one in group
        if one.field == BODY and f'"{one.text}"' not in plain
    )


def _with_others(group: tuple[Clause, ...], added: Sequence[str]) -> tuple[Clause, ...]:
    """Words of which one must be there, with what may stand for them."""
    found = [*group]
    for line in added:
        if line.startswith(INSTEAD) and len(group) > 1:
            word, other = line[1:].split(INSTEAD, 1)
            terms = tuple(analyse(other).terms)
            if terms and any(one.text == word and one.field == BODY for one in group):
                found.append(Clause(terms, (), other))
    return tuple(dict.fromkeys(found))


def _weighed(words: Words) -> Weights:
    found: Weights = defaultdict(float)
    _weigh(found, words)
    return found


def _weigh(weights: Weights, words: Words) -> None:
    """Add the words: exact ones in body and title, loose ones among forms."""
    for term, count in Counter(words.terms).items():
        for field, weight in TERM_WEIGHTS.items():
            weights[field, term] += count * weight
        weights[FORMS, term] = max(weights[FORMS, term], LOOSE_WEIGHT)
    for form in words.forms:
        weights[FORMS, form] = max(weights[FORMS, form], FORM_WEIGHT)
        weights[BODY, form] = max(weights[BODY, form], LOOSE_WEIGHT)


def _neighbours(plain: str) -> Iterator[str]:
    """Neighbouring words written as one: "pre eclampsia" may stand there as preeclampsia."""
    words = plain.split()
    if len(words) <= MAX_JOINED_WORDS:
        for first, second in pairwise(words):
            if first.isalnum() and second.isalnum():
                yield from joined(first, second)


def _codes(plain: str) -> Iterator[Clause]:
    """The codes and exact numbers of a query: I21.4, L858R, 0.82, 50000 IU.

    In a sentence, numbers and names such as IL-18 are words among others: to insist on them cost
    .005 on SciFact. There, only codes that are nothing else count; names count by themselves. How
    often and when (q12h, 2019) is never a code. The number of a trial is one where nothing else is
    asked for.
    """
    for mention in mentions(plain):
        if mention.kind == TRIAL:
            if mention.text == plain.strip():
                terms, whole = printed(mention)
                yield Clause(terms, (whole,), mention.text)
            plain = plain.replace(mention.text, " ")
    every = [*names(plain)]
    others = len(analyse(plain).terms) - sum(len(terms) for _, _, terms in every)
    for text, forms, terms in every:
        most = FEW_OTHERS if text[0].isdigit() else 0
        if (others <= most or _STRICT.search(text)) and not is_time(text):
            yield Clause(terms, forms, text)


def _syntax(
    written: str,
) -> tuple[str, tuple[tuple[Clause, ...], ...], tuple[Clause, ...], tuple[str, ...]]:
    text = written.translate(_QUOTES)
    if not _special(text):
        return written, (), (), ()
    notes: dict[str, None] = {}
    short = len(text.split()) <= SHORT_QUERY
    text = _usual(text, notes, short=short)
    plain: list[str] = []
    groups: list[list[_Item]] = []
    joins = False
    for match in _ITEM.finditer(text):
        if match["word"] == "OR" and groups and not match["field"]:
            joins = True
            continue
        item = _item(match, notes, short=short)
        if item is None:
            plain.append(match[0])
            groups.append([])
        else:
            if not item.excluded:
                plain.append(item.clause.text)
            if joins and groups[-1] and not item.excluded:
                groups[-1].append(item)
            else:
                groups.append([item])
        joins = False
    if any(len(group) > 1 for group in groups) and _GROUPS.search(text):
        notes["parentheses do not group: OR joins its two neighbours"] = None
    if not plain and any(item.excluded for group in groups for item in group):
        notes[ONLY_EXCLUDES] = None
    return (
        " ".join(plain) or written,
        tuple(
            tuple(item.clause for item in group)
            for group in groups
            if len(group) > 1 or any(item.required for item in group)
        )[:MAX_SEVERAL],
        tuple(item.clause for group in groups for item in group if item.excluded)[:MAX_SEVERAL],
        tuple(notes),
    )


def _usual(text: str, notes: dict[str, None], *, short: bool) -> str:
    """The query in the syntax that is known here; what has none is said, and left out."""
    if text.count('"') % 2:
        notes["a quotation mark has no partner: read as if it were not there"] = None
        at = text.rindex('"')
        text = f"{text[:at]} {text[at + 1 :]}"
    if _WILD.search(text):
        notes["* ~ ^ mean nothing here: every spelling of a word is found anyway"] = None
    if text.isupper():  # words in capitals are no operators where all are
        return text
    if _NOT.search(text):
        if short:
            text = _NOT.sub("-", text)
        else:
            notes["NOT is read as a word: -word leaves out passages with it"] = None
    if _AND.search(text):
        notes["AND is not needed: passages with all words come first anyway"] = None
        text = _AND.sub(" ", text)
    return text


def _special(text: str) -> bool:
    marked = '"' in text or ":" in text or "-" in text
    return marked or bool(_OPERATOR.search(text) or _WILD.search(text))


def _item(match: re.Match[str], notes: dict[str, None], *, short: bool) -> _Item | None:
    """One word or phrase; None where it is not to be looked for."""
    prefix, phrase, word = match["field"], match["phrase"], match["word"]
    field = BODY
    if prefix is not None:
        if prefix.lower() not in _PREFIXES:
            if not ((word or "").startswith("//") or prefix.lower() in _IDENTIFYING):
                known = ", ".join(_PREFIXES)
                notes[f"{prefix}: is not a field and is read as a word; known: {known}"] = None
            return None
        field = _PREFIXES[prefix.lower()]
    text = phrase if phrase is not None else word.strip("()")
    words = analyse(text)
    if not words.terms:
        return None
    forms = () if phrase is not None and " " in phrase.strip() else tuple(words.forms[-1:])
    clause = Clause(tuple(words.terms), forms, text, field)
    excluded = match["minus"] is not None
    quoted = phrase is not None and (" " in phrase.strip() or short)
    return _Item(clause, excluded, not excluded and (quoted or field != BODY))
