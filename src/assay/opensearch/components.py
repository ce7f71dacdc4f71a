"""How do bm25, splade and dense query the cluster?

Each component is one request that returns keys and scores in our order: score descending, then
chunk id. Filters are part of the query, so they apply before ranking. If shards are missing, a
``PartialAnswerError`` carries what was found: a part must not pass for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from assay import limits
from assay.analysis.misspelt import nearest
from assay.analysis.query import BODY, FORMS, IDS, Asked, Clause, most_exact, read
from assay.cache import Cache
from assay.index.bm25 import clauses_of, frequency_of
from assay.model.arrays import BoolArray, IntArray
from assay.model.query import Filters, Hit, PartialAnswerError
from assay.model.vectors import DenseEncoder, SparseEncoder, term_names
from assay.opensearch.facts import ClusterFacts
from assay.opensearch.mapping import VECTOR, WEIGHTS, short
from assay.opensearch.transport import Transport

MAX_CLAUSES = 500  # of the 1,024 that Lucene allows per query
COUNTED = (BODY, FORMS, IDS)
MAX_TERMS = MAX_CLAUSES // len(COUNTED)  # counted in one request
MAX_HITS = 10_000  # as deep as OpenSearch looks (index.max_result_window)
SEARCH_SECONDS = 10.0
WANTED = "filter_path=timed_out,_shards,hits.hits.sort"
WHOLE_STATISTICS = "&search_type=dfs_query_then_fetch"
SHARES = "filter_path=timed_out,_shards,hits.hits.sort,hits.hits.matched_queries"
WITH_SHARES = "&include_named_queries_score=true"
OFFERED = 200  # terms like a misspelt one, among which ours is chosen
REMEMBERED = 256  # conditions of queries
_NONE: dict[str, Any] = {"hits": []}


class ClusterComponent:
    """What the three components share: one index, one request, one order."""

    name: str

    def __init__(
        self, transport: Transport, index: str, *, facts: ClusterFacts | None = None
    ) -> None:
        self._transport = transport
        self._index = index
        self.facts = facts or ClusterFacts(transport, index)

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

    def shares(
        self, clauses: Mapping[str, dict[str, Any]], keys: Sequence[int], kind: str = ""
    ) -> dict[int, dict[str, float]]:
        """What each of the clauses, by name, adds to the scores of these chunks."""
        named = [{"bool": {"should": one, "_name": name}} for name, one in clauses.items()]
        body = {
            "size": max(1, min(len(keys), MAX_HITS)),
            "query": {"bool": {"should": named, "filter": [{"terms": {"key": [*keys]}}]}},
            "sort": [{"key": "asc"}],
            "stored_fields": "_none_",
            "track_total_hits": False,
        }
        path = f"/{self._index}/_search?{SHARES}{WITH_SHARES}{kind}"
        answer = self._transport.ask("POST", path, body, timeout=SEARCH_SECONDS)
        if missing := _missing(answer):
            raise PartialAnswerError(missing, ())
        found: dict[int, dict[str, float]] = {key: {} for key in keys}
        for hit in answer.get("hits", _NONE)["hits"]:
            found[hit["sort"][0]] = hit.get("matched_queries", {})
        return found


class Bm25(ClusterComponent):
    """Words, weighted by statistics of the whole index rather than of each shard.

    What it is told of the words of a generation is remembered: each costs a request.
    """

    name = "bm25"

    def __init__(
        self, transport: Transport, index: str, *, facts: ClusterFacts | None = None
    ) -> None:
        super().__init__(transport, index, facts=facts)
        self._counts: Cache[str, int] = Cache(limits.MAX_CACHED_FREQUENCIES)
        self._is_there: Cache[tuple[Clause, ...], bool] = Cache(REMEMBERED)

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k best chunks."""
        asked = self._asked(query)
        if k < 1 or not asked.weights:
            return []
        wanted = {
            "bool": {
                "should": [*_weighted(asked).values()],
                "minimum_should_match": 1,
                "filter": [*filter_clauses(filters, self.facts), *map(_any_of, asked.must)],
                "must_not": [*map(_clause, asked.must_not)],
            }
        }
        return self.hits(wanted, k, WHOLE_STATISTICS)

    def terms(self, query: str, keys: Sequence[int]) -> dict[int, dict[str, float]]:
        """What each term of the query adds to the score of each chunk; they sum to the score."""
        clauses = _weighted(self._asked(query))
        named = {f"{field} {term}": clause for (field, term), clause in clauses.items()}
        found: dict[int, dict[str, float]] = {}
        for key, shares in self.shares(named, keys, WHOLE_STATISTICS).items():
            summed = found[key] = {}
            for name, share in shares.items():
                term = name.partition(" ")[2]
                summed[term] = summed.get(term, 0.0) + share
        return found

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
        most = most_exact(self._size)
        found = self.hits({"bool": {"filter": [*map(_clause, codes)]}}, most + 1)
        return [] if len(found) > most else [hit.key for hit in found]

    def identified(self, code: str, k: int) -> list[int]:
        """The first k chunks that this identifier stands for."""
        return sorted(hit.key for hit in self.hits({"term": {IDS: {"value": code}}}, k))

    def counts(self, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks have each term, also as a part of a name."""
        return self._counts.all_of(terms, self._counted)

    def _counted(self, terms: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for at in range(0, len(terms), MAX_TERMS):
            found |= self._counted_at_once(terms[at : at + MAX_TERMS])
        return found

    def _counted_at_once(self, terms: Sequence[str]) -> dict[str, int]:
        parts = {
            f"{field}{at}": {"term": {field: {"value": term}}}
            for at, term in enumerate(terms)
            for field in COUNTED
        }
        body = {"size": 0, "aggs": {"terms": {"filters": {"filters": parts}}}}
        path = f"/{self._index}/_search?filter_path=timed_out,_shards,aggregations"
        answer = self._transport.ask("POST", path, body, timeout=SEARCH_SECONDS)
        if missing := _missing(answer):
            raise PartialAnswerError(missing, ())
        found = answer["aggregations"]["terms"]["buckets"]
        return {
            term: max(int(found[f"{field}{at}"]["doc_count"]) for field in COUNTED)
            for at, term in enumerate(terms)
        }

    def similar(self, term: str) -> tuple[str, int] | None:
        """The term that is most like one that no chunk has, and a chunk that has it."""
        asked = {
            "field": BODY,
            "suggest_mode": "always",
            "max_edits": 2,
            "prefix_length": 1,
            "size": OFFERED,
            "shard_size": OFFERED,
        }
        answer = self._transport.ask(
            "POST",
            f"/{self._index}/_search?filter_path=suggest",
            {"size": 0, "suggest": {"words": {"text": term, "term": asked}}},
            timeout=SEARCH_SECONDS,
        )
        offered = {
            str(one["text"]): int(one["freq"])
            for part in answer["suggest"]["words"]
            for one in part["options"]
        }
        best = nearest(
            term,
            lambda others: {other: offered.get(other, 0) for other in others},
            lambda start: [one for one in offered.items() if one[0].startswith(start)],
        )
        found = [] if best is None else self.hits({"term": {BODY: {"value": best}}}, 1)
        return (str(best), found[0].key) if found else None

    def frequency(self, word: str) -> int:
        """The number of chunks that have this word."""
        return frequency_of(word, self.counts, self._size)

    def among(self, word: str, keys: IntArray) -> BoolArray:
        """Which of the chunks with these keys have this word; all where too many chunks do."""
        if self.frequency(word) > limits.MAX_CHUNKS_OF_WORD:
            return np.ones(len(keys), dtype=np.bool_)
        wanted = [{"terms": {"key": keys.tolist()}}, *map(_clause, clauses_of(word))]
        found = self.hits({"bool": {"filter": wanted}}, max(1, len(keys)))
        return np.isin(keys, [hit.key for hit in found])

    @cached_property
    def _size(self) -> int:
        return int(self._transport.ask("GET", f"/{self._index}/_count")["count"])

    def _asked(self, query: str) -> Asked:
        """The query without conditions that nothing meets."""
        asked = read(query)
        if not asked.must:
            return asked
        return asked._replace(must=tuple(filter(self._somewhere, asked.must)))

    def _somewhere(self, group: tuple[Clause, ...]) -> bool:
        known = self._is_there.get(group)
        if known is None:
            known = bool(self.hits(_any_of(group), 1))
            self._is_there.put(group, known)
        return known


def _weighted(asked: Asked) -> dict[tuple[str, str], dict[str, Any]]:
    """The heaviest terms of a query, by field and term."""
    heaviest = sorted(asked.weights.items(), key=lambda item: -item[1])[:MAX_CLAUSES]
    return {
        (field, term): {"term": {field: {"value": term, "boost": weight}}}
        for (field, term), weight in heaviest
    }


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
        clauses = self._weighted(query)
        if k < 1 or not clauses:
            return []
        wanted = {
            "bool": {
                "should": [*clauses.values()],
                "minimum_should_match": 1,
                "filter": filter_clauses(filters, self.facts),
            }
        }
        return self.hits(wanted, k)

    def terms(self, query: str, keys: Sequence[int]) -> dict[int, dict[str, float]]:
        """What each term adds to the score of each chunk; also terms that the model added."""
        if not self._names:
            return {key: {} for key in keys}
        clauses = self._weighted(query)
        named = {self._names[term]: clause for term, clause in clauses.items()}
        return self.shares(named, keys)

    @cached_property
    def _names(self) -> Sequence[str]:
        return term_names(self._encoder)

    def _weighted(self, query: str) -> dict[int, dict[str, Any]]:
        """The heaviest terms of a query."""
        if not query.strip():
            return {}
        (vector,) = self._encoder.encode([query], "query")
        terms = sorted(zip(vector.weights.tolist(), vector.terms.tolist(), strict=True))
        return {
            term: {"rank_feature": {"field": f"{WEIGHTS}.t{term}", "boost": weight, "linear": {}}}
            for weight, term in reversed(terms[-MAX_CLAUSES:])
        }


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
        vector = short(self._encoder.encode([query], "query")[0])
        asked: dict[str, Any] = {"vector": vector, "k": min(max(k, 100), MAX_HITS)}
        if clauses := filter_clauses(filters, self.facts):
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
