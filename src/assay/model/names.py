"""By which names is a document known, in a form that can be searched fast?

Names are the title, the id, and what the metadata call names: drugs, conditions, interventions,
keywords, a trial's acronym. They are kept as one text of folded words, a bar between two names,
so that ``contains(" heart failure ")`` is one comparison of text: `` pv 10 | heart failure ``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from assay import limits
from assay.analysis.spelling import american, folded

NAMING = ("names", "products", "conditions", "keywords")  # the last three are of older stores
BETWEEN = " | "
_WORD = re.compile(r"[^\W_]+")
_SOFT_HYPHEN = "\u00ad"
_HYPHENS = frozenset("-\u2010\u2011\u2012\u2013\u2212")
_KEPT = ("ss", "us", "is")  # basis, virus, illness are no plurals


def words(text: str) -> tuple[str, ...]:
    """The words of a text, folded for comparison: case, accents, American spelling, plurals."""
    plain = folded(text[: limits.MAX_QUERY_CHARS]).replace(_SOFT_HYPHEN, "")
    return tuple(map(_compared, _WORD.findall(plain)))


def hyphens(text: str) -> frozenset[int]:
    """The places of the words of a text that a hyphen joins to the next one."""
    plain = folded(text[: limits.MAX_QUERY_CHARS]).replace(_SOFT_HYPHEN, "")
    found = [*_WORD.finditer(plain)]
    return frozenset(
        at
        for at, (word, following) in enumerate(pairwise(found))
        if plain[word.end() : following.start()] in _HYPHENS
    )


def names_of(doc_id: str, title: str, metadata: Mapping[str, object]) -> str:
    """The names of a document; see the module's docstring."""
    given = (title, doc_id, *(name for key in NAMING for name in _given(metadata.get(key))))
    folded = dict.fromkeys(" ".join(words(name)) for name in given)
    text = BETWEEN.join(filter(None, folded))
    return f" {text[: limits.MAX_NAMES_CHARS]} "


def _given(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split(";")
    elif isinstance(value, tuple | list):
        yield from map(str, value)


@lru_cache(maxsize=65_536)
def _compared(word: str) -> str:
    return _singular(american(word))


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(_KEPT):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
