"""How do several lists of candidates become one order, and what did each contribute?"""

from assay.search.fusion.fuse import fuse, worth
from assay.search.fusion.fused import ComponentScores, Fused, FusedPool
from assay.search.fusion.weights import by_model, effective_weights, weighted_by_type

__all__ = [
    "ComponentScores",
    "Fused",
    "FusedPool",
    "by_model",
    "effective_weights",
    "fuse",
    "weighted_by_type",
    "worth",
]
