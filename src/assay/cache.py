"""Was this computed before? A bounded cache that evicts the least recently used entry."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """The most recently used entries; safe for use by several threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value, if it is still cached."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key]

    def put(self, key: K, value: V) -> None:
        """Store a value."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Remove everything."""
        with self._lock:
            self._entries.clear()

    def all_of(
        self, keys: Sequence[K], fetch: Callable[[Sequence[K]], Mapping[K, V]]
    ) -> dict[K, V]:
        """The values of many keys; missing ones are fetched in one call."""
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
