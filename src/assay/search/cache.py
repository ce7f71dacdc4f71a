"""Was this asked before?

A bounded memory: what was not used for the longest time goes first. Keys name the generation of the
index, so a new generation never meets an old answer.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from assay.model.query import Hit

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """The most recently used entries; threads may use it at the same time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value, if it is still known."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key]

    def put(self, key: K, value: V) -> None:
        """Remember a value."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()

    def all_of(
        self, keys: Sequence[K], fetch: Callable[[Sequence[K]], Mapping[K, V]]
    ) -> dict[K, V]:
        """The values of many keys; those that are not known are fetched in one go."""
        with self._lock:
            known = {key: self._entries[key] for key in keys if key in self._entries}
            for key in known:
                self._entries.move_to_end(key)
        missing = [key for key in keys if key not in known]
        if missing:
            fetched = fetch(missing)
            for key, value in fetched.items():
                self.put(key, value)
            known |= fetched
        return known


@dataclass(frozen=True, slots=True)
class Packed:
    """One list of hits as columns."""

    keys: array[int]
    chunk_ids: tuple[str, ...]
    scores: array[float]

    def hits(self) -> tuple[Hit, ...]:
        """The list as it was."""
        return tuple(map(Hit, self.keys, self.chunk_ids, self.scores))


def pack(hits: Sequence[Hit]) -> Packed:
    """A list of hits, made small."""
    keys, chunk_ids, scores = zip(*hits, strict=True) if hits else ((), (), ())
    return Packed(array("q", keys), chunk_ids, array("d", scores))
