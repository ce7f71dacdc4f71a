"""How do bm25, splade and dense query the cluster?

Each component is one request that returns keys and scores in our order: score descending, then
chunk id. Filters are part of the query, so they apply before ranking. If shards are missing, a
``PartialAnswerError`` carries what was found: a part must not pass for the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from assay import limits
from assay.index.bm25 import FIELDS
from assay.model.query import Filters, Hit, PartialAnswerError
from assay.model.vectors import DenseEncoder, SparseEncoder
from assay.opensearch.mapping import VECTOR, WEIGHTS, short
from assay.opensearch.transport import Transport

MAX_CLAUSES = 500  # two fields each, of the 1,024 clauses that Lucene allows per query
MAX_HITS = 10_000  # as deep as OpenSearch looks (index.max_result_window)
SEARCH_SECONDS = 10.0
WANTED = "filter_path=timed_out,_shards,hits.hits.sort"
WHOLE_STATISTICS = "&search_type=dfs_query_then_fetch"
_NONE: dict[str, Any] = {"hits": []}
_WORD = re.compile(r"[^\W_]+")


class ClusterComponent:
    """What the three components share: one index, one request, one order."""

    name: str

    def __init__(self, transport: Transport, index: str) -> None:
        self._transport = transport
        self._index = index

    def hits(
        self,
        query: dict[str, Any],
        k: int,
        kind: str = "",
        score_of: Callable[[float], float] = float,
    ) -> list[Hit]:
        """The k best; ``score_of`` converts the cluster's score into ours."""
        body = {
            "size": min(k, MAX_HITS),
            "query": query,
            # only the sort values of a hit are needed: no stored field is read, which
            # would take longer than the search
            "sort": [{"_score": "desc"}, {"chunk_id": "asc"}, {"key": "asc"}],
            "stored_fields": "_none_",
            "track_total_hits": False,
        }
        answer = self._transport.ask(
            "POST", f"/{self._index}/_search?{WANTED}{kind}", body, timeout=SEARCH_SECONDS
        )
        found = [
            Hit(key, chunk_id, score_of(score))
            for score, chunk_id, key in (hit["sort"] for hit in answer.get("hits", _NONE)["hits"])
        ]
        if missing := _missing(answer):
            raise PartialAnswerError(missing, found)
        return found


class Bm25(ClusterComponent):
    """Words, weighted by statistics of the whole index rather than of each shard."""

    name = "bm25"

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k best chunks."""
        words = _WORD.findall(query[: limits.MAX_QUERY_CHARS])[:MAX_CLAUSES]
        if k < 1 or not words:
            return []
        text = " ".join(words)
        wanted = {
            "bool": {
                "should": [
                    {"match": {field: {"query": text, "boost": boost}}}
                    for field, boost in FIELDS.items()
                ],
                "minimum_should_match": 1,
                "filter": filter_clauses(filters),
            }
        }
        return self.hits(wanted, k, WHOLE_STATISTICS)


class Splade(ClusterComponent):
    """Weighted terms: the sum of products over ``rank_features``."""

    name = "splade"

    def __init__(self, transport: Transport, index: str, encoder: SparseEncoder) -> None:
        super().__init__(transport, index)
        self._encoder = encoder

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k best chunks."""
        if k < 1 or not query.strip():
            return []
        (vector,) = self._encoder.encode([query], "query")
        terms = sorted(zip(vector.weights.tolist(), vector.terms.tolist(), strict=True))
        clauses = [
            {"rank_feature": {"field": f"{WEIGHTS}.t{term}", "boost": weight, "linear": {}}}
            for weight, term in reversed(terms[-MAX_CLAUSES:])
        ]
        if not clauses:
            return []
        wanted = {
            "bool": {
                "should": clauses,
                "minimum_should_match": 1,
                "filter": filter_clauses(filters),
            }
        }
        return self.hits(wanted, k)


class Dense(ClusterComponent):
    """Nearest vectors in Lucene's graph; approximate, but exact if a filter leaves few."""

    name = "dense"

    def __init__(self, transport: Transport, index: str, encoder: DenseEncoder) -> None:
        super().__init__(transport, index)
        self._encoder = encoder

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k nearest chunks; scores are the inner products, as in the embedded index."""
        if k < 1 or not query.strip():
            return []
        vector = short(self._encoder.encode([query], "query")[0], VECTOR)
        asked: dict[str, Any] = {"vector": vector, "k": min(max(k, 100), MAX_HITS)}
        if clauses := filter_clauses(filters):
            asked["filter"] = {"bool": {"filter": clauses}}
        return self.hits({"knn": {VECTOR: asked}}, k, score_of=inner_product)


def inner_product(score: float) -> float:
    """Lucene makes scores positive: 1 + product, or 1 / (1 - product) where that is negative."""
    return score - 1.0 if score >= 1.0 else 1.0 - 1.0 / score


def filter_clauses(filters: Filters | None) -> list[dict[str, Any]]:
    """One clause per field; all of them must hold."""
    active = (filters or Filters()).active()
    return [{"terms": {name: list(values)}} for name, values in active.items()]


def _missing(answer: dict[str, Any]) -> str:
    """What an answer lacks; empty if it is complete."""
    shards = answer["_shards"]
    # a shard without a live copy counts as neither successful nor failed
    missing = shards["total"] - shards["successful"]
    if not missing:
        return "the cluster stopped early" if answer.get("timed_out") else ""
    reasons = [failure.get("reason", {}).get("reason") for failure in shards.get("failures", [])]
    why = next((str(reason)[:200] for reason in reasons if reason), "they have no live copy")
    return f"{missing} of {shards['total']} shards did not answer: {why}"
