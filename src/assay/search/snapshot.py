"""What does one search run on?

A snapshot is one open generation of the index, with its components and the chunks behind their
keys. A response comes from exactly one snapshot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Protocol, runtime_checkable

import numpy as np

from assay.encode.service import is_address
from assay.model.arrays import BoolArray, IntArray
from assay.model.conditions import known_field
from assay.model.document import Chunk, ChunkLabels, KeyedChunk
from assay.model.query import FILTER_OPTIONS, Component, Filters, WordIndex
from assay.model.sections import section_of
from assay.search.facets import OWN_FIELDS

_OPTIONS = frozenset(FILTER_OPTIONS)
MOST_VALUES = 8  # of a field that a note names


class Words(Protocol):
    """What an index of words knows of one."""

    def frequency(self, word: str) -> int:
        """The number of chunks that have it."""

    def among(self, word: str, keys: IntArray) -> BoolArray:
        """Which of the chunks with these keys have it; all where too many chunks do."""


@runtime_checkable
class KnowsTerms(Protocol):
    """An index of words that is so near that it may be asked for many terms and chunks."""

    def present(self, terms: Sequence[str], keys: IntArray) -> BoolArray:
        """Which of the chunks with these keys have each term or form: a line for each."""

    def among_each(self, words: Sequence[str], keys: IntArray) -> Sequence[BoolArray]:
        """``among`` for each of many words."""


def no_values(field: str) -> Sequence[str]:
    """Nothing is known of a field."""
    return ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One generation. ``absent`` says why a configured component is missing.

    ``chunks`` returns the chunks behind keys; one that was deleted meanwhile has no text.
    ``labels`` returns only their labels, which boosts need for every candidate. ``find`` returns
    the chunks of this generation with the id of a document or chunk. ``content`` tells apart two
    indexes that have the same generation. ``words`` says which chunks have a word, where the index
    can tell; ``word_index`` how a query is to be read. ``sections`` are the labels that its chunks
    have, ``fields`` the names of their metadata, ``values`` what a field holds. ``dense_model`` is
    the model behind dense scores. ``model_weights`` are weights that suit the models, by fusion
    method. ``chunk_ids`` are all chunks by key, where that is known: a component that returns
    another is left out. ``lacking`` are components that are not asked unless they are named, since
    this machine has no model for them; ``lacking_said`` says so.
    """

    generation: str
    components: Mapping[str, Component]
    chunks: Callable[[Sequence[int]], Mapping[int, Chunk]]
    labels: Callable[[Sequence[int]], Mapping[int, ChunkLabels]]
    find: Callable[[str], Sequence[KeyedChunk]]
    absent: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    content: str = ""
    words: Words | None = None
    word_index: WordIndex | None = None
    sections: Callable[[], Sequence[str]] = tuple
    fields: Callable[[], Sequence[str]] = tuple
    values: Callable[[str], Sequence[str]] = no_values
    dense_model: str = ""
    model_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    chunk_ids: Mapping[int, str] | None = None
    lacking: Collection[str] = ()
    lacking_said: str = ""

    @property
    def remote(self) -> Collection[str]:
        """The components whose model is behind a service."""
        return ("dense",) if is_address(self.dense_model) else ()

    def resolved(self, filters: Filters) -> Filters:
        """The filters as components take them: every name is one that this index has.

        Sections go by every label that stands for them: filters and boosts agree on what a section
        is (``model/sections.py``). A field that no document has is refused.
        """
        if filters.section_label:
            wanted = {section_of(label) for label in filters.section_label}
            same = [label for label in self.sections() if section_of(label) in wanted]
            labels = tuple(sorted({*filters.section_label, *same}))
            filters = replace(filters, section_label=labels)
        if filters.metadata and self.size:
            fields = self.fields()
            named = (
                replace(one, field=known_field(one.field, fields, of="filter", options=_OPTIONS))
                for one in filters.metadata
            )
            filters = replace(filters, metadata=tuple(named))
        return filters

    def unmet(self, filters: Filters) -> tuple[str, ...]:
        """Why no document passes these filters on metadata, in words, one condition each."""
        if not filters.metadata:
            return ()
        notes = []
        for one in self.resolved(filters).metadata:
            values = self.values(one.field)
            if values and not one.fitting(values) and not one.negated:
                named = ", ".join(values[:MOST_VALUES])
                more = ", ..." if len(values) > MOST_VALUES else ""
                notes.append(f"no document has {one}; {one.field} is {named}{more} here")
        return tuple(notes) or ("no document passes all filters together",)

    def facet_fields(self, names: Sequence[str]) -> tuple[str, ...]:
        """The fields that these names mean; one that no document has is refused."""
        if not names or not self.size:
            return tuple(names)
        known = {*OWN_FIELDS, *self.fields()}
        return tuple(dict.fromkeys(known_field(name, known, of="facets") for name in names))

    def rarity(self, word: str) -> float:
        """How rare a word is among the chunks: about 0 where all have it."""
        assert self.words is not None
        return math.log((1 + self.size) / (1 + self.words.frequency(word)))

    def having(self, term: str, keys: IntArray) -> BoolArray:
        """Which of the chunks with these keys have all words of a term; all where too many do."""
        assert self.words is not None
        found = np.ones(len(keys), dtype=np.bool_)
        for word in term.split():
            if found.any():
                found[found] = self.words.among(word, keys[found])
        return found

    def having_each(self, terms: Collection[str], keys: IntArray) -> dict[str, list[bool]]:
        """The same for each of many terms, of an index that is near."""
        near: object = self.words
        assert isinstance(near, KnowsTerms)
        words = [*dict.fromkeys(word for term in terms for word in term.split())]
        lines = dict(zip(words, near.among_each(words, keys), strict=True))
        whole = np.ones(len(keys), dtype=np.bool_)
        return {
            term: reduce(np.logical_and, (lines[word] for word in term.split()), whole).tolist()
            for term in terms
        }
