"""Which metadata do the chunks on the cluster have, and how is a filter on it asked for?

A chunk has its facts as terms, ``year=2020``, in one field, so that no document adds fields to the
index. A condition is tested here on the distinct values of its field, by the same rules as in the
embedded index, and sent as the terms that it names. The values of an index are asked for once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from assay.errors import EngineError
from assay.model.conditions import Condition, term_of
from assay.opensearch.mapping import FACT_FIELDS, FACTS
from assay.opensearch.transport import Transport

PAGE = 5_000  # values in one answer
MOST_TERMS = 50_000  # of the 65,536 that OpenSearch takes in one clause
MOST_FIELDS = 5_000
SECONDS = 10.0


class ClusterFacts:
    """The metadata of one index, as it was at its last change."""

    def __init__(self, transport: Transport, index: str) -> None:
        self._transport = transport
        self._index = index
        self._values: dict[str, list[str]] = {}
        self._fields: list[str] | None = None
        self._asking = threading.Lock()

    def fields(self) -> list[str]:
        """Every field that can be filtered by."""
        with self._asking:
            if self._fields is None:
                found = self._asked({"terms": {"field": FACT_FIELDS, "size": MOST_FIELDS}})
                self._fields = sorted(str(one["key"]) for one in found["buckets"])
            return self._fields

    def clause(self, condition: Condition) -> dict[str, Any]:
        """The part of a query that lets through what meets a condition."""
        meant = condition.fitting(self.values(condition.field))
        terms = [term_of(condition.field, value) for value in meant]
        parts = [{"terms": {FACTS: [*part]}} for part in _batches(terms)]
        if condition.negated:
            return {"bool": {"must_not": parts}}
        if len(parts) == 1:
            return parts[0]
        return {"bool": {"should": parts, "minimum_should_match": 1}}

    def values(self, field: str) -> list[str]:
        """The distinct values of a field."""
        with self._asking:
            if field not in self._values:
                self._values[field] = self._read(field)
            return self._values[field]

    def _read(self, field: str) -> list[str]:
        """The values page by page: terms are sorted, so those of a field stand together."""
        start = term_of(field, "")
        found: list[str] = []
        after = start
        while True:
            wanted = {
                "size": PAGE,
                "sources": [{"fact": {"terms": {"field": FACTS}}}],
                "after": {"fact": after},
            }
            page = [one["key"]["fact"] for one in self._asked({"composite": wanted})["buckets"]]
            own = [term for term in page if term.startswith(start)]
            found += (term[len(start) :] for term in own)
            if len(own) < PAGE:
                return found
            after = own[-1]

    def _asked(self, wanted: dict[str, Any]) -> dict[str, Any]:
        answer = self._transport.ask(
            "POST",
            f"/{self._index}/_search?filter_path=_shards,aggregations",
            {"size": 0, "aggs": {"facts": wanted}},
            timeout=SECONDS,
        )
        shards = answer["_shards"]
        if shards["successful"] < shards["total"]:
            raise EngineError(
                "the metadata of a part of the shards cannot be read now",
                hint="search without a filter, or run it again later",
            )
        found: dict[str, Any] = answer["aggregations"]["facts"]
        return found


def _batches(terms: Sequence[str]) -> Sequence[Sequence[str]]:
    parts = [terms[at : at + MOST_TERMS] for at in range(0, len(terms), MOST_TERMS)]
    return parts or [[]]
