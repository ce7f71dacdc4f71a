"""What is the result of fusion, for all candidates and for each?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from assay.search.lazy import Lazy

Value = TypeVar("Value")


class ComponentScores(NamedTuple):
    """One component's list, by rank: raw scores, normalised values, and weighted contributions.

    In reciprocal rank fusion the value of a rank is 1 / (k + rank). ``ranks`` maps each key to its
    rank, from 1, in the order of the list.
    """

    component: str
    ranks: Mapping[int, int]
    raw: tuple[float, ...]
    normalized: tuple[float, ...]
    contributions: tuple[float, ...]


class Fused(NamedTuple):
    """A candidate with its fused score; contributions sum to the score.

    ``places`` holds its rank in each component's list, 0 if the component did not find it. The
    mappings below are created on access; None means not found.
    """

    key: int
    chunk_id: str
    score: float
    columns: tuple[ComponentScores, ...]
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

    def _found(self, value: Callable[[ComponentScores, int], Value]) -> dict[str, Value | None]:
        return {
            column.component: value(column, place - 1) if place else None
            for column, place in zip(self.columns, self.places, strict=True)
        }


class FusedPool(Lazy[Fused]):
    """Candidates in the order of their fused scores, created on access.

    There are hundreds for each query, of which few are ever shown.
    """

    def __init__(
        self,
        keys: Sequence[int],
        scores: Mapping[int, float],
        chunk_ids: Mapping[int, str],
        columns: tuple[ComponentScores, ...],
    ) -> None:
        self.keys = keys
        self._scores = scores
        self._chunk_ids = chunk_ids
        self._columns = columns

    @property
    def scores(self) -> list[float]:
        """The score of each candidate."""
        return [*map(self._scores.__getitem__, self.keys)]

    @property
    def chunk_ids(self) -> list[str]:
        """The chunk of each candidate."""
        return [*map(self._chunk_ids.__getitem__, self.keys)]

    def __len__(self) -> int:
        return len(self.keys)

    def _made(self, place: int) -> Fused:
        key = self.keys[place]
        places = tuple([column.ranks.get(key, 0) for column in self._columns])
        return Fused(key, self._chunk_ids[key], self._scores[key], self._columns, places)
