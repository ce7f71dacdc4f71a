"""What does fusion know about one candidate?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Evidence(NamedTuple):
    """What one component says of a candidate; ``contribution`` is weight times ``normalized``.

    In reciprocal rank fusion ``normalized`` is 1 / (k + rank).
    """

    rank: int
    raw: float
    normalized: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate with its fused score; contributions sum to the score.

    ``evidence`` stands in the order of ``components``, None where a component did not find the
    candidate. The mappings below are made when asked for, since few candidates are ever shown.
    """

    key: int
    chunk_id: str
    score: float
    components: tuple[str, ...]
    evidence: tuple[Evidence | None, ...]

    @property
    def ranks(self) -> dict[str, int | None]:
        """Component to the candidate's rank in its list, from 1."""
        return {name: found and found.rank for name, found in self._pairs()}

    @property
    def raw(self) -> dict[str, float | None]:
        """Component to the score it gave."""
        return {name: None if found is None else found.raw for name, found in self._pairs()}

    @property
    def normalized(self) -> dict[str, float | None]:
        """Component to the value that its weight multiplies."""
        return {name: None if found is None else found.normalized for name, found in self._pairs()}

    @property
    def contributions(self) -> dict[str, float | None]:
        """Component to its share of the score."""
        return {
            name: None if found is None else found.contribution for name, found in self._pairs()
        }

    def _pairs(self) -> zip[tuple[str, Evidence | None]]:
        return zip(self.components, self.evidence, strict=True)
