"""A service of vectors and scores on this machine, in each form that is spoken."""

from __future__ import annotations

import json
from typing import Any

from assay.testing.encoders import HashingDense
from tests.unit.scripted_service import Reply, ScriptedService, fails

__all__ = ["ModelService", "fails", "says"]


class ModelService(ScriptedService):
    """Vectors by hashed words, scores by shared words."""

    def __init__(self, *replies: Reply, dimension: int = 64) -> None:
        super().__init__(*replies)
        self.dimension = dimension

    def usual(self, body: dict[str, Any]) -> Reply:
        """What a service says to this request; entries come in another order than asked."""
        return Reply(200, {"x-compute-tokens": "5"}, json.dumps(self._answer(body)).encode())

    def _answer(self, body: dict[str, Any]) -> Any:
        if "input" in body:
            rows = self._rows(body["input"])
            data = [{"index": at, "embedding": row} for at, row in enumerate(rows)][::-1]
            tokens = sum(len(text.split()) for text in body["input"])
            return {"data": data, "usage": {"total_tokens": tokens}}
        if "inputs" in body:
            return self._rows(body["inputs"])
        texts = body.get("documents", body.get("texts", []))
        wanted = set(body["query"].split())
        name = "relevance_score" if "documents" in body else "score"
        scored = [{"index": at, name: len(wanted & {*t.split()})} for at, t in enumerate(texts)]
        scored.sort(key=lambda row: -row[name])
        return {"results": scored} if "documents" in body else scored

    def _rows(self, texts: list[str]) -> list[list[float]]:
        rows = 3 * HashingDense().encode(texts, "passage")  # not of unit length
        rows[:, 0] += self.dimension < rows.shape[1]  # what is left is not all zeros
        return [[float(x) for x in row[: self.dimension]] for row in rows]


def says(text: str) -> Reply:
    """A reply of that text."""
    return Reply(200, {}, text.encode())
