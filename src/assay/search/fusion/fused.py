"""What does fusion know about one candidate?"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

Value = TypeVar("Value")


class Column(NamedTuple):
    """One component's list, by rank: its scores, what they are worth, and that times its weight.

    In reciprocal rank fusion a rank is worth 1 / (k + rank).
    """

    component: str
    raw: tuple[float, ...]
    normalized: tuple[float, ...]
    contributions: tuple[float, ...]


class Fused(NamedTuple):
    """A candidate with its fused score; contributions sum to the score.

    ``places`` holds its rank in each column, 0 where the component did not find it. The mappings
    below are made when asked for, since few candidates are ever shown; None means not found. A
    tuple, since hundreds are made for each query and a frozen dataclass takes four times as long.
    """

    key: int
    chunk_id: str
    score: float
    columns: tuple[Column, ...]
    places: tuple[int, ...]

    @property
    def components(self) -> tuple[str, ...]:
        """The components that answered."""
        return tuple(column.component for column in self.columns)

    @property
    def ranks(self) -> dict[str, int | None]:
        """Component to the candidate's rank in its list, from 1."""
        return self._found(lambda column, at: at + 1)

    @property
    def raw(self) -> dict[str, float | None]:
        """Component to the score it gave."""
        return self._found(lambda column, at: column.raw[at])

    @property
    def normalized(self) -> dict[str, float | None]:
        """Component to the value that its weight multiplies."""
        return self._found(lambda column, at: column.normalized[at])

    @property
    def contributions(self) -> dict[str, float | None]:
        """Component to its share of the score."""
        return self._found(lambda column, at: column.contributions[at])

    def _found(self, value: Callable[[Column, int], Value]) -> dict[str, Value | None]:
        return {
            column.component: value(column, place - 1) if place else None
            for column, place in zip(self.columns, self.places, strict=True)
        }
