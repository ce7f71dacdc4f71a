"""Which chunks of a segment pass a filter?

Each field is a column of small numbers and a dictionary of the values they stand for, so that a
filter is a lookup in the dictionary and one comparison over the column.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.model.arrays import BoolArray
from assay.model.document import KeyedChunk
from assay.model.query import Filters, filter_values

DICTIONARY = "columns.json"
CODES = "columns.npy"
KEYS = "keys.npy"


def write_columns(folder: Path, rows: Sequence[KeyedChunk]) -> None:
    """Keys, chunk ids and filter columns of a segment."""
    np.save(folder / KEYS, np.array([row.key for row in rows], dtype=np.int64), allow_pickle=False)
    values = [filter_values(row.chunk) for row in rows]
    names = list(values[0]) if values else []
    dictionaries: dict[str, list[str]] = {}
    codes = np.zeros((len(names), len(rows)), dtype=np.int32)
    for at, name in enumerate(names):
        known: dict[str, int] = {}
        codes[at] = [known.setdefault(value[name], len(known)) for value in values]
        dictionaries[name] = list(known)
    np.save(folder / CODES, codes, allow_pickle=False)
    content = {"chunk_ids": [row.chunk.chunk_id for row in rows], "dictionaries": dictionaries}
    (folder / DICTIONARY).write_text(json.dumps(content), encoding="utf-8")


class Columns:
    """The keys, chunk ids and filter columns of a segment that was written."""

    def __init__(self, folder: Path) -> None:
        content = json.loads((folder / DICTIONARY).read_text(encoding="utf-8"))
        self.chunk_ids: list[str] = content["chunk_ids"]
        self.keys: NDArray[np.int64] = np.load(folder / KEYS, mmap_mode="r", allow_pickle=False)
        self._codes = np.load(folder / CODES, mmap_mode="r", allow_pickle=False)
        self._known = {
            name: {value: code for code, value in enumerate(values)}
            for name, values in content["dictionaries"].items()
        }
        self._at = {name: at for at, name in enumerate(content["dictionaries"])}

    def passing(self, filters: Filters) -> BoolArray | None:
        """The rows that pass; None where every row does."""
        mask: BoolArray | None = None
        for name, allowed in filters.active().items():
            known = self._known[name]
            wanted = np.zeros(len(known), dtype=bool)
            wanted[[known[value] for value in allowed if value in known]] = True
            hit = wanted[self._codes[self._at[name]]]
            mask = hit if mask is None else mask & hit
        return mask
