"""What do the general models find that shipped before, measured in the same way?

    python -m training.today FOLDER OUT.json NAME ...

The dense model reads its own prefix before a query; both read the first 256 tokens, as they do in
the product.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import torch

from assay.encode.encoders import open_dense, open_sparse
from assay.encode.shelf import Shelf, user_folder
from training import sources
from training.evaluate import Collection, measured, show
from training.prepare import COLLECTIONS


def main(arguments: list[str]) -> None:
    """Print the figures of every named collection."""
    folder, target, *names = Path(arguments[0]), Path(arguments[1]), *arguments[2:]
    shelf = Shelf(shared=user_folder(os.environ))
    dense, sparse = open_dense("bge-small-en-v1.5", shelf), open_sparse("splade-tiny", shelf)
    lines = json.loads(target.read_text()) if target.exists() else {}
    for name in names:
        one = Collection(folder / f"{name}.npz", "cpu")
        place = folder / name if name == "evidence" else sources.DATA / name
        corpus = [
            f"{row['title']}\n{row['text']}" if row.get("title") else row["text"]
            for row in sources.rows(place / "corpus.jsonl")
        ]
        texts = {row["_id"]: row["text"] for row in sources.rows(place / "queries.jsonl")}
        order: dict[str, str] = {}
        ids = {row["_id"] for row in sources.rows(place / "corpus.jsonl")}
        for split in COLLECTIONS.get(name, ["kept"]):
            for query, document, _ in sources.judged(place / "qrels" / f"{split}.tsv"):
                if query in texts and document in ids:
                    order.setdefault(query, texts[query])
        queries = list(order.values())
        near = dense.encode(queries, "query") @ dense.encode(corpus, "passage").T
        asked = np.zeros((len(queries), sparse.vocabulary), np.float32)
        for at, vector in enumerate(sparse.encode(queries, "query")):
            asked[at, vector.terms] = vector.weights
        match = np.zeros_like(near)
        postings = 0
        for at, vector in enumerate(sparse.encode(corpus, "passage")):
            match[:, at] = asked[:, vector.terms] @ vector.weights
            postings += len(vector.terms)
        for part in sorted(set(one.part.tolist())):
            line = measured(one, part, torch.from_numpy(near), torch.from_numpy(match))
            lines[f"{name}/{part}"] = line | {"terms": postings / len(corpus)}
        print(show({key: line for key, line in lines.items() if key.startswith(name)}), flush=True)
        target.write_text(json.dumps(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
