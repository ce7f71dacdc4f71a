"""What does each cluster of queries add to a mean?

Queries of one cluster (an interview, a post) rise and fall together, so a test must take the
cluster as its unit. With N queries in C clusters, cluster c is given the share

    share(c) = C / N · Σ values of its queries

so that the mean of the shares is the mean over queries, whatever the sizes of the clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.stats.inputs import cluster_codes

if TYPE_CHECKING:
    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.stats.inputs import Clusters


def cluster_shares(
    values: FloatArray, defined: BoolArray, clusters: Clusters
) -> tuple[FloatArray, BoolArray]:
    """Each column's shares, and which clusters have a defined value; rows become clusters."""
    codes, count = cluster_codes(clusters, len(values))
    sizes = sum_by(codes, count, defined.astype(np.float64))
    present = sizes > 0.0
    scale = present.sum(axis=0) / np.maximum(sizes.sum(axis=0), 1.0)
    return sum_by(codes, count, np.where(defined, values, 0.0)) * scale, present


def sum_by(codes: IntArray, count: int, columns: FloatArray) -> FloatArray:
    """Each column's sums over the rows of one code."""
    totals = np.zeros((count, columns.shape[1]))
    np.add.at(totals, codes, columns)
    return totals
