"""What do the candidates have in common, and by what could they be filtered?

A facet counts documents, not chunks, among all candidates of a search: everything that the
components found within their depth and the filters let through, on whatever page it stands and
whether it is folded or not. A document counts once for each of its values. What a filter takes for
the same is one value, in the spelling that most documents have: as many pass a filter as its facet
counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay import limits
from assay.model.conditions import facts_of
from assay.model.document import Chunk
from assay.model.query import FILTER_OPTIONS, filter_values
from assay.model.sections import section_of
from assay.model.values import spellings

OWN_FIELDS = {
    name: one.attribute for name, one in FILTER_OPTIONS.items() if one.attribute != "metadata"
}
"""Fields of every chunk, by the names that filters have for them."""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value, and the number of documents that have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of a field, most frequent first.

    ``more`` values are not listed; ``missing`` documents have none.
    """

    field: str
    values: tuple[FacetValue, ...]
    more: int = 0
    missing: int = 0


def facets_of(chunks: Iterable[Chunk], fields: Sequence[str]) -> tuple[Facet, ...]:
    """The facets of these chunks; one without text was deleted and does not count."""
    having: dict[str, dict[str, set[str]]] = {name: {} for name in fields}
    for chunk in chunks:
        if not chunk.text:
            continue
        facts, own = facts_of(chunk.metadata), filter_values(chunk)
        for name, documents in having.items():
            found = documents.setdefault(chunk.doc_id, set())
            if name in facts:
                found.update(facts[name])
            elif name in OWN_FIELDS and own[OWN_FIELDS[name]]:
                found.add(own[OWN_FIELDS[name]])
    return tuple(_facet(name, documents.values()) for name, documents in having.items())


def _facet(name: str, documents: Iterable[set[str]]) -> Facet:
    every = list(documents)
    read = {value: _read(name, value) for values in every for value in values}
    counts = Counter(
        one for values in every for one in {form for value in values for form in read[value]}
    )
    spelt: dict[str, str] = {}
    frequency = Counter(value for values in every for value in values)
    for value, _ in sorted(
        frequency.items(), key=lambda item: (len(read[item[0]]), -item[1], item[0])
    ):
        for form, text in read[value].items():
            spelt.setdefault(form, text)
    named = [(spelt[one], count) for one, count in counts.items()]
    ordered = sorted(named, key=lambda item: (-item[1], item[0]))
    most = limits.MAX_FACET_VALUES
    return Facet(
        name,
        tuple(FacetValue(value, count) for value, count in ordered[:most]),
        more=max(0, len(ordered) - most),
        missing=sum(not values for values in every),
    )


def _read(name: str, value: str) -> Mapping[str, str]:
    """What a filter on this field takes a value for, and how that is written."""
    if name == "section":
        return {section_of(value): value}
    return {value: value} if name in OWN_FIELDS else spellings(name, value)
