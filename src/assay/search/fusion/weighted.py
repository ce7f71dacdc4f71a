"""What is a score worth, beyond the rank that it gives?

Weighted fusion: ``Σ weight · normalized score`` (Fox and Shaw's CombSUM with weights, TREC-2).
Unlike ranks, scores keep how far apart two candidates are, once each component's are brought to a
common scale (``normalize.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assay.search.fusion.normalize import dbsf, min_max, z_score
from assay.search.request import Normalization

NORMALIZERS: Mapping[Normalization, Callable[[Sequence[float]], list[float]]] = {
    Normalization.MIN_MAX: min_max,
    Normalization.Z_SCORE: z_score,
    Normalization.DBSF: dbsf,
}


def normalized_scores(scores: Sequence[float], how: Normalization) -> list[float]:
    """The scores of one component's list on the common scale."""
    return NORMALIZERS[how](scores)
