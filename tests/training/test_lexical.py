"""The lists that travel to training are those of the product's own BM25."""

from __future__ import annotations

from pathlib import Path

from assay.model.document import Chunk
from training.lexical import searchable


def test_words_alone_are_searched(tmp_path: Path) -> None:
    texts = {"a": "Aspirin prevents stroke.", "b": "Statins lower fat.", "c": "Stroke care."}
    index = searchable(tmp_path, [Chunk(key, key, text, "") for key, text in texts.items()])
    hits = index.search("stroke aspirin", 10)
    assert [hit.chunk_id for hit in hits] == ["a", "c"]
    assert hits[0].score > hits[1].score > 0
