"""Several lists of candidates: which single order do they make, and who contributed what?"""

from assay.search.fusion.fuse import fuse
from assay.search.fusion.fused import Evidence, Fused
from assay.search.fusion.weights import check_fusion, effective_weights

__all__ = ["Evidence", "Fused", "check_fusion", "effective_weights", "fuse"]
