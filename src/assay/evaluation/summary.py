"""What should a reader know about a run before believing its numbers?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.measures.parse import parse_measure
from assay.plural import counted, share_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.measures.table import JudgedHits
    from assay.model.arrays import BoolArray, FloatArray, IntArray

DEFAULT_DEPTHS = (10,)
WORTH_SAYING = 0.2  # from this share on, unjudged results get a sentence


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Counts per query: retrieved, relevant, found, missing, tied; and judged shares at cutoffs."""

    retrieved: IntArray
    relevant: IntArray
    relevant_retrieved: IntArray
    missing_queries: BoolArray
    tied: IntArray
    judged_at: Mapping[int, FloatArray]  # share judged of what each query shows; −1 shows nothing
    extra: int
    left_out: int = 0

    @property
    def n(self) -> int:
        """How many queries count."""
        return len(self.retrieved)

    @property
    def missing(self) -> int:
        """How many queries the run does not have; they score 0 and count."""
        return int(self.missing_queries.sum())

    @property
    def ties(self) -> int:
        """How many judged results have a rank that a tie-break decided."""
        return int(self.tied.sum())

    def unjudged(self, depth: int) -> float | None:
        """Mean share of the top results that nobody judged, over queries that show any."""
        shares = self.judged_at[depth]
        shares = shares[shares >= 0]
        return float(1.0 - shares.mean()) if len(shares) else None

    def subset(self, chosen: BoolArray) -> Summary:
        """The same counts over some of the queries."""
        return Summary(
            self.retrieved[chosen],
            self.relevant[chosen],
            self.relevant_retrieved[chosen],
            self.missing_queries[chosen],
            self.tied[chosen],
            {depth: shares[chosen] for depth, shares in self.judged_at.items()},
            self.extra,
        )

    def notes(self) -> list[str]:
        """Sentences for a reader, the grave ones first."""
        notes = []
        if self.n and not self.relevant_retrieved.any():
            notes.append(
                "no relevant document was retrieved: do run and qrels use the same document ids?"
            )
        if self.missing:
            notes.append(
                f"{share_of(self.missing, self.n, 'query', 'is')} missing from the run: scored 0"
            )
        if self.extra:
            notes.append(f"{counted(self.extra, 'query')} of the run not in the qrels: left out")
        if self.left_out:
            notes.append(
                f"{counted(self.left_out, 'query')} without relevant documents left out (protocol)"
            )
        without = int((self.relevant == 0).sum())
        if without:
            notes.append(f"{share_of(without, self.n, 'query', 'has')} no relevant document")
        if self.ties:
            queries = int((self.tied > 0).sum())
            notes.append(
                f"ties decided the rank of {counted(self.ties, 'judged result')} "
                f"in {counted(queries, 'query')}"
            )
        holes = [
            f"{share:.0%} of the top {depth}"
            for depth in sorted(self.judged_at)
            if (share := self.unjudged(depth)) is not None and share >= WORTH_SAYING
        ]
        if holes:
            notes.append(f"unjudged: {', '.join(holes)}; treat differences with care")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "n": self.n,
            "missing": self.missing,
            "extra": self.extra,
            "left_out": self.left_out,
            "retrieved": int(self.retrieved.sum()),
            "relevant": int(self.relevant.sum()),
            "relevant_retrieved": int(self.relevant_retrieved.sum()),
            "ties": {"judged_results": self.ties, "queries": int((self.tied > 0).sum())},
            "unjudged": {
                f"at_{depth}": None if (share := self.unjudged(depth)) is None else round(share, 4)
                for depth in self.judged_at
            },
            "notes": self.notes(),
        }


def summarise(hits: JudgedHits, depths: tuple[int, ...], level: int = 1) -> Summary:
    """The summary of a judged-hits table."""
    judged_at = {}
    for depth in depths or DEFAULT_DEPTHS:
        column = parse_measure(f"Judged@{depth}").column(hits)
        judged_at[depth] = np.where(column.defined, column.values, -1.0)
    return Summary(
        retrieved=hits.retrieved,
        relevant=hits.relevant(level),
        relevant_retrieved=hits.count(hits.grade >= level),
        missing_queries=hits.missing,
        tied=hits.tied,
        judged_at=judged_at,
        extra=hits.extra_queries,
    )
