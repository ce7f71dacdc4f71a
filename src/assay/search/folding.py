"""Which results are shown as one?

``group_by=document`` shows the best passage of each document; its other passages are folded under
it. ``collapse`` folds a passage that repeats a better one: labels of the same drug by two makers
often have the same text. Two passages repeat each other if

- their documents are about the same things: the same generic names, of which one may leave out a
  salt or hydrate, or where there are none the same names without identifiers,
- they stand in the same kind of section, and both or neither is a table,
- they have the same numbers, so that no dose hides another, and
- at least nine tenths of all their runs of three words are in both (short passages must be equal).

What is folded keeps its place in the list before, and is named under the result that stands for it.
Both rules look at the whole pool, so pages do not depend on how many results one asks for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from assay.analysis.spelling import folded as plain
from assay.model.document import Chunk, MetadataValue
from assay.model.sections import section_of

OVERLAP = 0.9
RUN = 3
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")

_FORMS = frozenset({
    *("acetate", "anhydrous", "besilate", "besylate", "bromide", "calcium", "chloride", "citrate"),
    *("dihydrate", "fumarate", "hcl", "hemihydrate", "hydrate", "hydrobromide", "hydrochloride"),
    *("magnesium", "maleate", "mesilate", "mesylate", "monohydrate", "nitrate", "phosphate"),
    *("potassium", "sodium", "succinate", "sulfate", "sulphate", "tartrate", "trihydrate"),
})  # fmt: skip
"""Salts and hydrates, as they stand behind the name of a drug."""


class Fold(StrEnum):
    """Why a result is folded under another."""

    DOCUMENT = "same document"
    TEXT = "same text"


@dataclass(frozen=True, slots=True)
class Folding:
    """The places that are shown, and under each of them those that are folded, with the reason."""

    shown: tuple[int, ...]
    under: Mapping[int, tuple[tuple[int, Fold], ...]]

    def of(self, place: int) -> tuple[int, Fold | None]:
        """The rank from 1 at which a place is shown, and why it is not there itself."""
        for rank, leader in enumerate(self.shown, start=1):
            if leader == place:
                return rank, None
            for other, reason in self.under.get(leader, ()):
                if other == place:
                    return rank, reason
        raise AssertionError(place)


def fold(chunks: Sequence[Chunk], *, by_document: bool, repeats: bool) -> Folding:
    """Fold a list of chunks in its order; one without text was deleted and stays as it is."""
    under: dict[int, list[tuple[int, Fold]]] = {}
    documents: dict[str, int] = {}
    alike: dict[object, list[tuple[int, _Text]]] = {}
    shown = []
    for place, chunk in enumerate(chunks):
        if not chunk.text:
            shown.append(place)
            continue
        if by_document and chunk.doc_id in documents:
            leader = documents[chunk.doc_id]
            own = chunks[leader].doc_id == chunk.doc_id  # else its document repeats another
            under.setdefault(leader, []).append((place, Fold.DOCUMENT if own else Fold.TEXT))
            continue
        if repeats:
            text = _Text(chunk)
            others = alike.setdefault(text.kind, [])
            first = next((at for at, other in others if other.repeats(text)), None)
            if first is not None:
                under.setdefault(first, []).append((place, Fold.TEXT))
                documents.setdefault(chunk.doc_id, first)
                continue
            others.append((place, text))
        documents.setdefault(chunk.doc_id, place)
        shown.append(place)
    return Folding(tuple(shown), {leader: tuple(rows) for leader, rows in under.items()})


class _Text:
    """What is compared of a passage."""

    def __init__(self, chunk: Chunk) -> None:
        self.words = tuple(_WORD.findall(plain(chunk.text)))
        numbers = tuple(sorted(word for word in self.words if word[0].isdigit()))
        section = section_of(chunk.section_label) if chunk.section_label else ""
        self.kind = (section, chunk.is_table, numbers)
        self._subject = _subject(chunk.metadata)

    @cached_property
    def runs(self) -> frozenset[tuple[str, ...]]:
        """Every run of three words."""
        return frozenset(self.words[at : at + RUN] for at in range(len(self.words) - RUN + 1))

    def repeats(self, other: _Text) -> bool:
        """Whether two passages of one kind say the same of the same."""
        if not _same_names(self._subject, other._subject):
            return False
        if self.words == other.words:
            return True
        both = len(self.runs & other.runs)
        return both > 0 and both >= OVERLAP * len(self.runs | other.runs)


def _subject(metadata: Mapping[str, MetadataValue]) -> frozenset[str]:
    """What a document is about, for comparison."""
    if generics := _names(metadata.get("generics", ())):
        return generics
    return _names(metadata.get("names", ())) - _names(metadata.get("identifiers", ()))


def _same_names(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether each name of either side has one of the same drug on the other."""
    if some == others:
        return True
    pairs = ((some, others), (others, some))
    return all(
        left and all(any(_same_drug(one, other) for other in right) for one in left)
        for left, right in pairs
    )


def _same_drug(one: str, other: str) -> bool:
    """Whether one name is the other with a salt or hydrate; two different salts are two drugs."""
    left, right = {*one.split()}, {*other.split()}
    return (
        (left <= right or right <= left) and left ^ right <= _FORMS and bool(left & right - _FORMS)
    )


def _names(value: MetadataValue) -> frozenset[str]:
    several = value if isinstance(value, tuple) else (value,)
    return frozenset(filter(None, (" ".join(_WORD.findall(plain(str(one)))) for one in several)))
