"""What was asked, once spelling no longer matters?

NFKC makes look-alikes equal (full-width letters, ligatures, superscripts), blanks, control
characters and the signs of trade marks become single blanks, and models get lower case without
phrases, exclusions and prefixes (``analysis/query.py``). ``written`` keeps the writer's own
capitals, which tell an acronym from a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assay import limits
from assay.analysis.conditions import in_words_for_models
from assay.analysis.query import FAINT, GENTLE, INSTEAD, alternatives, read
from assay.analysis.spelling import MARKS
from assay.errors import InputError, LimitError
from assay.search.subject import no_others
from assay.search.synonyms import Synonyms

BRIEF = 3  # words of a query
_CODE = re.compile(r"[a-z]+[ -]?\d[\d-]{2,}[a-z]?")  # of a compound: mk-3475


@dataclass(frozen=True, slots=True)
class Question:
    """A query that may be asked. ``synonyms`` are what was added.

    Of these, models are ``told`` some, and some are ``faint``: they find, and hardly count.
    ``plain`` is what is read of the query, without its syntax; ``text`` all of it in lower case.
    ``others`` tells what else means the same as a name.
    """

    written: str
    plain: str
    text: str
    synonyms: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    faint: frozenset[str] = frozenset()
    gentle: bool = False
    others: Callable[[str], Sequence[str]] = field(default=no_others, compare=False, repr=False)

    @property
    def medical(self) -> str:
        """The text in the words of the field, where rules may add words: models know these best."""
        return in_words_for_models(self.text) if self.gentle else self.text

    @property
    def conditions(self) -> str:
        """The query as it is written, with what may stand for the words of this OR that."""
        if not self.told:
            return self.written
        instead = (
            f"{INSTEAD}{word}{INSTEAD}{other}"
            for word in alternatives(self.written)
            for other in self.others(word)
        )
        return "\n".join((self.written, *instead))

    def for_component(self, name: str) -> str:
        """What this component is asked."""
        if name == "bm25":
            sign = GENTLE if self.gentle else ""
            added = (f"{FAINT if word in self.faint else sign}{word}" for word in self.synonyms)
            return "\n".join((self.conditions, *added))
        # models know most synonyms, but what an abbreviation alone means they must be told; the
        # code of a compound means nothing to them
        if self.told and len(self.text.split()) <= BRIEF:
            return " ".join((self.medical, *(one for one in self.told if not _CODE.fullmatch(one))))
        return self.medical


def ask(query: str, synonyms: Synonyms | None = None) -> Question:
    """The question that a query stands for; refuses what cannot be one."""
    if not isinstance(query, str):
        raise InputError(f"query: must be text, not {type(query).__name__}")
    if len(query) > limits.MAX_QUERY_CHARS:
        raise LimitError(
            f"query: {len(query):,} characters, and {limits.MAX_QUERY_CHARS:,} are allowed"
        )
    if "\0" in query:
        raise InputError("query: holds a NUL character")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"query: character {error.start + 1} is half of a surrogate pair, not a character"
        ) from None
    written = " ".join(_normalized(query).split())
    if not written:
        raise InputError("query: is empty", hint='for example: assay search "adverse events"')
    whole = read(written).plain
    plain, text = whole[: limits.MAX_ASKED_CHARS], whole.lower()
    if synonyms is None:
        return Question(written, plain, text)
    told = synonyms.expansions(plain)
    known = (*told, *synonyms.classes(plain))
    added = tuple(dict.fromkeys((*known, *synonyms.names(plain))))
    faint = frozenset(added).difference(known)
    return Question(written, plain, text, added, told, faint, synonyms.gentle, synonyms.others)


def _normalized(query: str) -> str:
    """NFKC, with blanks for control characters and trade marks; most queries have that form."""
    if query.isascii() and query.isprintable():
        return query
    spaced = "".join(" " if unicodedata.category(c) == "Cc" else c for c in query)
    return unicodedata.normalize("NFKC", spaced.translate(MARKS))
