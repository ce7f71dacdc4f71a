"""What was asked, once spelling no longer matters?

NFKC makes look-alikes equal (full-width letters, ligatures, superscripts), blanks and control
characters become single blanks, and components get lower case. ``written`` keeps the writer's own
capitals, which tell an acronym from a word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assay import limits
from assay.errors import InputError, LimitError
from assay.search.subject import no_others
from assay.search.synonyms import Synonyms

LEXICAL = ("bm25", "splade")  # a dense model knows synonyms by itself


@dataclass(frozen=True, slots=True)
class Question:
    """A query that may be asked. ``synonyms`` are what the file added, for words only.

    ``others`` tells what it adds to any text.
    """

    written: str
    text: str
    synonyms: tuple[str, ...] = ()
    others: Callable[[str], Sequence[str]] = field(default=no_others, compare=False, repr=False)

    def for_component(self, name: str) -> str:
        """What this component is asked."""
        if name in LEXICAL and self.synonyms:
            return " ".join((self.text, *self.synonyms))
        return self.text


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
    text = written.lower()
    if synonyms is None:
        return Question(written, text)
    return Question(written, text, synonyms.expansions(text), synonyms.expansions)


def _normalized(query: str) -> str:
    """NFKC, with blanks for control characters; most queries are in that form already."""
    if query.isascii() and query.isprintable():
        return query
    spaced = "".join(" " if unicodedata.category(c) == "Cc" else c for c in query)
    return unicodedata.normalize("NFKC", spaced)
