"""Which fields does an index on the cluster have?

Words arrive as they were cut for the embedded index (``index/bm25.py``), with blanks between: the
cluster only splits them. SPLADE's weights are ``rank_features``, which keep nine bits of each and
cut off the others: weights are rounded to those nine before they are sent. Vectors go into Lucene's
HNSW graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analysis.query import FIELDS, FORMS, IDS
from assay.index.bm25 import words_of
from assay.model.conditions import facts_of, terms_of
from assay.model.document import Chunk, KeyedChunk
from assay.model.query import filter_values
from assay.model.vectors import SparseVector

FORMAT = 3
FACTS, FACT_FIELDS = "facts", "fact_fields"  # see facts.py
WEIGHTS = "splade"
VECTOR = "dense"
DIGITS = 8  # of a vector; more than the cluster keeps would only make requests longer
CUT_OFF_BITS = 15  # of a weight's 32
SMALLEST = 1.0e-4  # rank_features rejects numbers that are not positive and normal


def index_body(
    *, shards: int, replicas: int, refresh: str, dimension: int, meta: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings and mapping of a new index; ``dimension`` 0 leaves dense vectors out."""
    settings: dict[str, Any] = {
        "number_of_shards": shards,
        "number_of_replicas": replicas,
        "refresh_interval": refresh,
    }
    if dimension:
        settings["knn"] = True
    return {
        "settings": {"index": settings},
        "mappings": {
            "dynamic": "strict",
            "_source": {"excludes": [VECTOR, WEIGHTS, *FIELDS]},
            "_meta": {"format": FORMAT, **meta},
            "properties": fields_of(dimension),
        },
    }


def fields_of(dimension: int) -> dict[str, Any]:
    """The fields of an index."""
    fields: dict[str, Any] = {
        "key": {"type": "long"},
        "chunk_id": {"type": "keyword"},
        **{
            name: {
                "type": "text",
                "analyzer": "whitespace",
                "index_options": "freqs" if name in (FORMS, IDS) else "positions",
            }
            for name in FIELDS
        },
        WEIGHTS: {"type": "rank_features"},
        **{name: {"type": "keyword"} for name in filter_values(Chunk("", "", ""))},
        **{name: {"type": "keyword"} for name in (FACTS, FACT_FIELDS)},
    }
    if dimension:
        fields[VECTOR] = {
            "type": "knn_vector",
            "dimension": dimension,
            "method": {
                "name": "hnsw",
                "engine": "lucene",
                "space_type": "innerproduct",
                "parameters": {"m": 16, "ef_construction": 128},
            },
        }
    return fields


def row_of(
    row: KeyedChunk, weights: SparseVector | None, vector: NDArray[np.float32] | None
) -> dict[str, Any]:
    """One chunk as the cluster stores it."""
    chunk = row.chunk
    fields: dict[str, Any] = {
        "key": row.key,
        "chunk_id": chunk.chunk_id,
        **{field: " ".join(words) for field, words in words_of(chunk).items()},
        **filter_values(chunk),
        FACTS: terms_of(chunk.metadata),
        FACT_FIELDS: [*facts_of(chunk.metadata)],
    }
    if weights is not None:
        fields[WEIGHTS] = {
            f"t{term}": weight
            for term, weight in zip(weights.terms.tolist(), rounded(weights.weights), strict=True)
            if weight >= SMALLEST
        }
    if vector is not None:
        fields[VECTOR] = short(vector)
    return fields


def short(vector: NDArray[np.float32]) -> list[float]:
    """A vector with as many digits as the cluster keeps."""
    found: list[float] = np.round(vector.astype(np.float64), DIGITS).tolist()
    return found


def rounded(weights: NDArray[np.float32]) -> list[float]:
    """The nearest weights that the cluster can keep."""
    bits = np.ascontiguousarray(weights, dtype=np.float32).view(np.int32)
    kept = (bits + (1 << CUT_OFF_BITS - 1)) >> CUT_OFF_BITS << CUT_OFF_BITS
    found: list[float] = kept.view(np.float32).tolist()
    return found
