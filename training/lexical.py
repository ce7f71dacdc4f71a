"""What does Assay's own BM25 find for the queries of a collection?

    python -m training.lexical OUT.npz FOLDER [SPLIT ...]

The lists are made once, with the built-in synonyms and no model at all, and travel with the
collection to where models are measured, so that fused figures are those of the product.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from assay.index import bm25
from assay.index.words import open_words
from assay.model.document import Chunk
from assay.search.question import ask
from assay.search.synonyms import built_in
from training.sources import judged, rows

DEPTH = 100


def searchable(folder: Path, chunks: list[Chunk]) -> bm25.Bm25:
    """An index of words alone."""
    bm25.write(folder, chunks)
    parts = [
        bm25.Part(
            block,
            segment=0,
            keys=np.arange(block.first, block.first + block.size),
            chunk_ids=[one.chunk_id for one in chunks[block.first : block.first + block.size]],
            alive=None,
        )
        for block in open_words(folder, len(chunks))
    ]
    return bm25.Bm25(parts, lambda filters: [None])


def main(arguments: list[str]) -> None:
    """Write queries, documents and scores of the best hits of every judged query."""
    target, folder, *splits = Path(arguments[0]), Path(arguments[1]), *arguments[2:]
    wanted = {
        query for split in splits for query, _, _ in judged(folder / "qrels" / f"{split}.tsv")
    }
    texts = {row["_id"]: row["text"] for row in rows(folder / "queries.jsonl")}
    queries, documents, scores = [], [], []
    chunks = [
        Chunk(row["_id"], row["_id"], row["text"], row.get("title") or "")
        for row in rows(folder / "corpus.jsonl")
    ]
    with tempfile.TemporaryDirectory() as home:
        index = searchable(Path(home), chunks)
        for query in sorted(wanted & texts.keys()):
            asked = ask(texts[query], built_in()).for_component("bm25")
            for hit in index.search(asked, DEPTH):
                queries.append(query)
                documents.append(hit.chunk_id)
                scores.append(hit.score)
    np.savez_compressed(target, queries=queries, documents=documents, scores=np.float32(scores))


if __name__ == "__main__":
    main(sys.argv[1:])
