"""What are candidates and their documents called, and what do they say?

The index knows which passages have a word, so that most texts need not be read to tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from assay.analysis.asked import Kind, Name
from assay.analysis.words import Lines, vocabulary
from assay.evidence.terms import Term
from assay.model.arrays import BoolArray
from assay.model.document import ChunkLabels
from assay.search.snapshot import KnowsTerms, Snapshot

Named: TypeAlias = Name | Term


class Texts:
    """The texts of candidates, each read once."""

    def __init__(self, index: Snapshot, labels: Mapping[int, ChunkLabels]) -> None:
        self._index = index
        self._labels = labels
        self._read: dict[int, str] = {}

    def __call__(self, keys: Sequence[int]) -> Mapping[int, str]:
        """The texts of these candidates: title, names of the document, and what they say."""
        new = [key for key in keys if key not in self._read]
        for key, chunk in self._index.chunks(new).items() if new else ():
            self._read[key] = Lines(chunk.title, self._labels[key].names, chunk.text)
        return {key: self._read[key] for key in keys if key in self._read}

    def having(self, named: Sequence[Named], keys: Sequence[int]) -> set[int]:
        """Those of the candidates that have one of these, in whatever spelling."""
        each = [_words_for(one) for one in named]
        wanted = frozenset().union(*each)
        present = self._present([*wanted], keys)
        if present is None:
            return self._reading(named, keys)
        found = {keys[at] for at in np.flatnonzero(present.any(axis=0)).tolist()}
        rest = [key for key in keys if key not in found]
        if any(_stands_for_more(one) for one in named):
            return found | self._reading(named, rest)
        return found.union(key for key in rest if self._called(key, wanted))

    def with_all(self, words: Sequence[str], keys: Sequence[int]) -> Sequence[int]:
        """Those of the candidates that have all of these words; all where nobody can tell."""
        present = self._present(words, keys)
        if present is None:
            return keys
        return [
            key
            for key, line in zip(keys, present.T.tolist(), strict=True)
            if all(
                has or self._called(key, frozenset({word}))
                for word, has in zip(words, line, strict=True)
            )
        ]

    def _present(self, words: Sequence[str], keys: Sequence[int]) -> BoolArray | None:
        index: object = self._index.words
        if not words or not keys or not isinstance(index, KnowsTerms):
            return None
        return index.present(words, np.array(keys, dtype=np.int64))

    def _called(self, key: int, words: frozenset[str]) -> bool:
        """Whether the names of a candidate's document have one of the words."""
        return bool(vocabulary(self._labels[key].names).among(words))

    def _reading(self, named: Sequence[Named], keys: Sequence[int]) -> set[int]:
        return {key for key, text in self(keys).items() if any(one.is_in(text) for one in named)}


def _words_for(one: Named) -> frozenset[str]:
    """Words any of which stands for it."""
    if isinstance(one, Name):
        return frozenset(one.forms if one.kind in (Kind.DRUG, Kind.NAME) else ())
    return one.words | one.members if one.kind is None else frozenset()


def _stands_for_more(one: Named) -> bool:
    """Whether more than single words can stand for it."""
    return isinstance(one, Term) or bool(one.phrases or one.written or not _words_for(one))
