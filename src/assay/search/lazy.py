"""How are candidates made only as far as somebody looks at them?"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class Lazy(Sequence[T_co]):
    """A sequence whose entries are made when they are read, each time anew."""

    @overload
    def __getitem__(self, at: int) -> T_co: ...
    @overload
    def __getitem__(self, at: slice) -> list[T_co]: ...
    def __getitem__(self, at: int | slice) -> T_co | list[T_co]:
        places = range(len(self))[at]
        return self._made(places) if isinstance(places, int) else [*map(self._made, places)]

    @abstractmethod
    def _made(self, place: int) -> T_co:
        """The entry at a place, which is counted from 0."""
