"""Several lists of candidates: which single order do they make, and who contributed what?"""

from assay.search.fusion.fuse import fuse, worth
from assay.search.fusion.fused import Column, Fused, Pool
from assay.search.fusion.weights import effective_weights

__all__ = ["Column", "Fused", "Pool", "effective_weights", "fuse", "worth"]
