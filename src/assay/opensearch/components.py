"""How do bm25, splade and dense query the cluster?

Each component is one request that returns keys and scores in our order: score descending, then
chunk id. Filters are part of the query, so they apply before ranking. If shards are missing, a
``PartialAnswerError`` carries what was found: a part must not pass for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.analysis.query import BODY, FORMS, IDS, Asked, Clause, most_exact, read
from assay.model.query import Filters, Hit, PartialAnswerError
from assay.model.vectors import DenseEncoder, SparseEncoder
from assay.opensearch.facts import ClusterFacts
from assay.opensearch.mapping import VECTOR, WEIGHTS, short
from assay.opensearch.transport import Transport

MAX_CLAUSES = 500  # of the 1,024 that Lucene allows per query
MAX_HITS = 10_000  # as deep as OpenSearch looks (index.max_result_window)
SEARCH_SECONDS = 10.0
WANTED = "filter_path=timed_out,_shards,hits.hits.sort"
WHOLE_STATISTICS = "&search_type=dfs_query_then_fetch"
_NONE: dict[str, Any] = {"hits": []}
MOST_EXACT = most_exact(0)


class ClusterComponent:
    """What the three components share: one index, one request, one order."""

    name: str

    def __init__(
        self, transport: Transport, index: str, *, facts: ClusterFacts | None = None
    ) -> None:
        self._transport = transport
        self._index = index
        self._facts = facts or ClusterFacts(transport, index)

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
        asked = self._asked(query)
        if k < 1 or not asked.weights:
            return []
        heaviest = sorted(asked.weights.items(), key=lambda item: -item[1])[:MAX_CLAUSES]
        wanted = {
            "bool": {
                "should": [
                    {"term": {field: {"value": term, "boost": weight}}}
                    for (field, term), weight in heaviest
                ],
                "minimum_should_match": 1,
                "filter": [*filter_clauses(filters, self._facts), *map(_any_of, asked.must)],
                "must_not": [*map(_clause, asked.must_not)],
            }
        }
        return self.hits(wanted, k, WHOLE_STATISTICS)

    def nowhere(self, query: str) -> tuple[str, ...]:
        """What the query says must be there and no chunk has; it is not insisted on."""
        asked = read(query)
        kept = self._asked(query).must
        return tuple(one.text for group in asked.must if group not in kept for one in group)

    def holding(self, query: str, keys: Sequence[int]) -> set[int]:
        """Those of the chunks that have what the query says must be there."""
        asked = self._asked(query)
        among = {"terms": {"key": [*keys]}}
        wanted = {
            "filter": [among, *map(_any_of, asked.must)],
            "must_not": [*map(_clause, asked.must_not)],
        }
        return {hit.key for hit in self.hits({"bool": wanted}, max(1, len(keys)))}

    def exact(self, query: str) -> list[int]:
        """The chunks with every code and number of the query; none where too many have them."""
        codes = read(query).codes
        if not codes:
            return []
        found = self.hits({"bool": {"filter": [*map(_clause, codes)]}}, MOST_EXACT + 1)
        return [] if len(found) > MOST_EXACT else [hit.key for hit in found]

    def identified(self, code: str, k: int) -> list[int]:
        """The first k chunks that this identifier stands for."""
        return sorted(hit.key for hit in self.hits({"term": {IDS: {"value": code}}}, k))

    def counts(self, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks have each term, also as a part of a name."""
        wanted = [*dict.fromkeys(terms)][:MAX_CLAUSES]
        parts = {
            f"t{at}": {
                "bool": {"should": [{"term": {one: {"value": term}}} for one in (BODY, FORMS, IDS)]}
            }
            for at, term in enumerate(wanted)
        }
        body = {"size": 0, "aggs": {"terms": {"filters": {"filters": parts}}}}
        path = f"/{self._index}/_search?filter_path=aggregations"
        answer = self._transport.ask("POST", path, body, timeout=SEARCH_SECONDS)
        found = answer["aggregations"]["terms"]["buckets"]
        counted = {term: int(found[f"t{at}"]["doc_count"]) for at, term in enumerate(wanted)}
        return {term: counted.get(term, 1) for term in terms}

    def similar(self, term: str) -> tuple[str, int] | None:
        """The term that is most like one that no chunk has, and a chunk that has it."""
        asked = {"text": term, "term": {"field": BODY, "suggest_mode": "missing", "size": 1}}
        answer = self._transport.ask(
            "POST",
            f"/{self._index}/_search?filter_path=suggest",
            {"size": 0, "suggest": {"words": asked}},
            timeout=SEARCH_SECONDS,
        )
        offered = [one for part in answer["suggest"]["words"] for one in part["options"]]
        if not offered:
            return None
        best = str(offered[0]["text"])
        found = self.hits({"term": {BODY: {"value": best}}}, 1)
        return (best, found[0].key) if found else None

    def _asked(self, query: str) -> Asked:
        """The query without conditions that nothing meets."""
        asked = read(query)
        if not asked.must:
            return asked
        there = [group for group in asked.must if self.hits(_any_of(group), 1)]
        return asked._replace(must=tuple(there))


def _any_of(group: Sequence[Clause]) -> dict[str, Any]:
    return {"bool": {"should": [*map(_clause, group)], "minimum_should_match": 1}}


def _clause(clause: Clause) -> dict[str, Any]:
    """Words that stand together, or a form that they have."""
    together = {"match_phrase": {clause.field: " ".join(clause.terms)}}
    if not clause.forms or clause.field != BODY:
        return together
    forms = [{"term": {field: {"value": form}}} for form in clause.forms for field in (FORMS, BODY)]
    return {"bool": {"should": [together, *forms], "minimum_should_match": 1}}


class Splade(ClusterComponent):
    """Weighted terms: the sum of products over ``rank_features``."""

    name = "splade"

    def __init__(
        self,
        transport: Transport,
        index: str,
        encoder: SparseEncoder,
        *,
        facts: ClusterFacts | None = None,
    ) -> None:
        super().__init__(transport, index, facts=facts)
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
                "filter": filter_clauses(filters, self._facts),
            }
        }
        return self.hits(wanted, k)


class Dense(ClusterComponent):
    """Nearest vectors in Lucene's graph; approximate, but exact if a filter leaves few."""

    name = "dense"

    def __init__(
        self,
        transport: Transport,
        index: str,
        encoder: DenseEncoder,
        *,
        facts: ClusterFacts | None = None,
    ) -> None:
        super().__init__(transport, index, facts=facts)
        self._encoder = encoder

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k nearest chunks; scores are the inner products, as in the embedded index."""
        if k < 1 or not query.strip():
            return []
        vector = short(self._encoder.encode([query], "query")[0], VECTOR)
        asked: dict[str, Any] = {"vector": vector, "k": min(max(k, 100), MAX_HITS)}
        if clauses := filter_clauses(filters, self._facts):
            asked["filter"] = {"bool": {"filter": clauses}}
        return self.hits({"knn": {VECTOR: asked}}, k, score_of=inner_product)


def inner_product(score: float) -> float:
    """Lucene makes scores positive: 1 + product, or 1 / (1 - product) where that is negative."""
    return score - 1.0 if score >= 1.0 else 1.0 - 1.0 / score


def filter_clauses(filters: Filters | None, facts: ClusterFacts) -> list[dict[str, Any]]:
    """One clause per field and condition; all of them must hold."""
    if filters is None:
        return []
    fields = [{"terms": {name: list(values)}} for name, values in filters.active().items()]
    return [*fields, *map(facts.clause, filters.metadata)]


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
