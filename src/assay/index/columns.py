"""Which chunks of a segment pass a filter, and what are they about?

Each field is a column of small integer codes and its different values, sorted, so that a filter
is a binary search and one comparison over the column.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import limits
from assay.index.texts import Texts, open_texts, texts_at, write_texts
from assay.model.arrays import BoolArray
from assay.model.document import Chunk, ChunkLabels, KeyedChunk
from assay.model.names import names_of
from assay.model.query import Filters, filter_values

DICTIONARY = "columns.json"
CODES = "columns.npy"
KEYS = "keys.npy"
TEXTS = "texts"  # chunk ids, then the values of each field
HINT = "intent_hint"  # not used by filters, but by boosts
NAMES = "names"  # of the document; the same
FEW_VALUES = 1_000
LABELS = ("section_label", HINT, "is_table", NAMES)


def write_columns(folder: Path, rows: Sequence[KeyedChunk]) -> None:
    """Keys, chunk ids and filter columns of a segment."""
    np.save(folder / KEYS, np.array([row.key for row in rows], dtype=np.int64), allow_pickle=False)
    values = [{**filter_values(row.chunk), **_for_boosts(row.chunk)} for row in rows]
    names = list(values[0]) if values else []
    texts = [row.chunk.chunk_id for row in rows]
    sizes: dict[str, int] = {}
    codes = np.zeros((len(names), len(rows)), dtype=np.int32)
    for at, name in enumerate(names):
        different = sorted({value[name] for value in values})
        known = {value: code for code, value in enumerate(different)}
        codes[at] = [known[value[name]] for value in values]
        sizes[name] = len(different)
        texts += different
    np.save(folder / CODES, codes, allow_pickle=False)
    write_texts(folder, TEXTS, texts)
    (folder / DICTIONARY).write_text(json.dumps({"values": sizes}), encoding="utf-8")


def _for_boosts(chunk: Chunk) -> dict[str, str]:
    names = names_of(chunk.doc_id, chunk.title, chunk.metadata)
    return {HINT: chunk.intent_hint, NAMES: names}


class Columns:
    """The keys, chunk ids and filter columns of a stored segment."""

    def __init__(self, folder: Path) -> None:
        content = json.loads((folder / DICTIONARY).read_text(encoding="utf-8"))
        self.keys: NDArray[np.int64] = _mapped(folder / KEYS)
        self._codes: NDArray[np.int32] = _mapped(folder / CODES)
        self.chunk_ids: Sequence[str]
        self._values: dict[str, Sequence[str]]
        if "values" in content:
            texts = open_texts(folder, TEXTS)
            ends = np.cumsum([len(self.keys), *content["values"].values()]).tolist()
            self.chunk_ids = texts[: ends[0]]
            parts = (texts[start:end] for start, end in pairwise(ends))
            self._values = dict(zip(content["values"], parts, strict=True))
        else:  # an older version kept everything in one file, and values in any order
            self.chunk_ids = content["chunk_ids"]
            self._values = content["dictionaries"]
        self._at = {name: at for at, name in enumerate(self._values)}
        # most fields have few values: as objects, they are looked up faster
        self._read = {
            name: [*values] if len(values) <= FEW_VALUES else values
            for name, values in self._values.items()
        }
        self._kinds: dict[tuple[int, ...], ChunkLabels] = {}
        self._labels: dict[int, ChunkLabels] = {}  # by row, once they were asked for

    def passing(self, filters: Filters) -> BoolArray | None:
        """The rows that pass; None if every row does."""
        mask: BoolArray | None = None
        for name, allowed in filters.active().items():
            codes = [_place_of(value, self._values[name]) for value in allowed]
            known = [code for code in codes if code is not None]
            hit = _one_of(self._codes[self._at[name]], known)
            mask = hit if mask is None else mask & hit
        return mask

    def labels(self, keys: NDArray[np.int64]) -> dict[int, ChunkLabels]:
        """The labels of those keys that are in this segment.

        Empty if the segment was written before it had a column for each of them.
        """
        if not self._at.keys() >= {*LABELS} or not len(self.keys):
            return {}
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        rows = rows[self.keys[rows] == keys]
        numbers = rows.tolist()
        known = self._labels
        if len(known) > limits.MAX_CACHED_LABELS:
            known = self._labels = {}
            self._kinds = {}
        if missing := [row for row in numbers if row not in known]:
            known.update(zip(missing, self._labels_of(missing), strict=True))
        return dict(zip(self.keys[rows].tolist(), map(known.__getitem__, numbers), strict=True))

    def _labels_of(self, rows: list[int]) -> Iterator[ChunkLabels]:
        codes = [self._codes[self._at[name]][rows] for name in LABELS]
        texts = (texts_at(self._read[name], each) for name, each in zip(LABELS, codes, strict=True))
        kinds = zip(*(each.tolist() for each in codes), strict=True)
        for kind, (section, hint, table, names) in zip(
            kinds, zip(*texts, strict=True), strict=True
        ):
            found = self._kinds.get(kind)
            if found is None:  # one value shared by all chunks with the same labels
                found = self._kinds[kind] = ChunkLabels(section, hint, table == str(True), names)
            yield found

    @property
    def sections(self) -> Sequence[str]:
        """The labels of sections that the rows have."""
        return self._values.get("section_label", ())


def _place_of(value: str, values: Sequence[str]) -> int | None:
    if isinstance(values, Texts):
        return values.place_of(value)
    return values.index(value) if value in values else None


class ChunkIds(Mapping[int, str]):
    """The ids of the chunks of several segments, by key."""

    def __init__(self, segments: Sequence[Columns]) -> None:
        self._segments = [one for one in segments if len(one.keys)]
        self._ranges = [(int(one.keys[0]), int(one.keys[-1])) for one in self._segments]

    def __len__(self) -> int:
        return sum(len(one.keys) for one in self._segments)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(one.keys.tolist() for one in self._segments)

    def __getitem__(self, key: int) -> str:
        for one, (first, last) in zip(self._segments, self._ranges, strict=True):
            if first <= key <= last:
                at = int(np.searchsorted(one.keys, key))
                if one.keys[at] == key:
                    return one.chunk_ids[at]
        raise KeyError(key)

    def of(self, keys: Sequence[int]) -> list[str | None]:
        """The ids of these keys; None for one that no chunk has."""
        wanted = np.array(keys)
        if wanted.dtype != np.int64:  # something among them is no key
            return [*map(self.get, keys)]
        found: list[str | None] = [None] * len(keys)
        for one in self._segments:
            at = np.searchsorted(one.keys[:-1], wanted)
            here = np.flatnonzero(one.keys[at] == wanted)
            for place, chunk_id in zip(here, texts_at(one.chunk_ids, at[here]), strict=True):
                found[place] = chunk_id
        return found


def _mapped(path: Path) -> NDArray[Any]:
    """A memory-mapped array as a plain one, since a ``memmap`` is slow to index."""
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _one_of(codes: NDArray[np.int32], wanted: list[int]) -> BoolArray:
    """Which codes are wanted; comparing with a single one is faster than a lookup."""
    if len(wanted) == 1:
        return np.asarray(codes == wanted[0])
    return np.isin(codes, wanted)
