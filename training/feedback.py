"""Does a query gain from the best passages that it found?

    python -m training.feedback OUT.npz FOLDER SPLIT [passages=3] [share=.7] [tokens=256] [first=N]

The vector of a query moves towards the mean of the best passages of the fused list (Rocchio 1971)
and searches again in place of the first one. Prints the change of linear nDCG@10 by ranks and by
scores, for queries of at most 2, 3 or 5 words and for all; other queries stay as they are. FOLDER
is a collection in BEIR's form, of which ``first`` takes the first N passages. OUT keeps what the
shipped encoder and Assay's BM25 found, so that other settings take seconds. Needs no torch.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.encode.catalog import CARDS
from assay.encode.hybrid import Hybrid
from assay.encode.shelf import PACKAGED, Shelf
from assay.model.document import Chunk
from assay.model.vectors import SparseVector
from assay.search.question import ask
from assay.search.synonyms import built_in
from training.lexical import DEPTH, searchable
from training.sources import judged, rows

MODEL = CARDS["assay-bio"]
RANKS = tuple(weight for _, weight in MODEL.rrf_weights)
SCORES = tuple(weight for _, weight in MODEL.score_weights)
LIMITS = (2, 3, 5, None)
K, BEST = 60, 10

Floats = NDArray[np.float32]


def found(folder: Path, split: str, tokens: int, first: int | None) -> dict[str, NDArray[Any]]:
    """Vectors of passages and queries, the scores of words and terms, and the grades."""
    texts = {row["_id"]: row["text"] for row in rows(folder / "queries.jsonl")}
    chunks = [
        Chunk(row["_id"], row["_id"], row["text"], row.get("title") or "")
        for row in rows(folder / "corpus.jsonl")
        if row["text"].strip()
    ][:first]
    place = {one.chunk_id: at for at, one in enumerate(chunks)}
    grades: dict[str, dict[int, int]] = {}
    for query, document, grade in judged(folder / "qrels" / f"{split}.tsv"):
        if document in place and grade > 0:
            grades.setdefault(query, {})[place[document]] = grade
    names = sorted(grades)
    asked = [ask(texts[name], built_in()) for name in names]
    model = Hybrid(Shelf(package=PACKAGED).require(MODEL.name), max_tokens=tokens)
    both = model.encode_both(
        [f"{one.title}\n{one.text}" if one.title else one.text for one in chunks]
    )
    terms = _matrix([one.sparse for one in both], model.vocabulary)
    queries = _matrix(
        model.query_terms([one.for_component("splade") for one in asked]), model.vocabulary
    )
    words, truth = (np.zeros((len(names), len(chunks)), np.float32) for _ in range(2))
    with tempfile.TemporaryDirectory() as home:
        index = searchable(Path(home), chunks)
        for at, (name, one) in enumerate(zip(names, asked, strict=True)):
            truth[at, [*grades[name]]] = [*grades[name].values()]
            for hit in index.search(one.for_component("bm25"), DEPTH):
                words[at, place[hit.chunk_id]] = hit.score
    return {
        "passages": np.stack([one.dense for one in both]),
        "queries": model.query_vectors([one.for_component("dense") for one in asked]),
        "bm25": words,
        "sparse": np.asarray((queries @ terms.T).todense(), np.float32),
        "grades": truth,
        "length": np.array([len(texts[name].split()) for name in names]),
    }


def _matrix(vectors: Sequence[SparseVector], vocabulary: int) -> Any:
    from scipy.sparse import csr_matrix

    borders = np.cumsum([0, *(len(one.terms) for one in vectors)])
    terms = np.concatenate([one.terms for one in vectors])
    weights = np.concatenate([one.weights for one in vectors])
    return csr_matrix((weights, terms, borders), shape=(len(vectors), vocabulary))


def best(scores: Floats, depth: int = DEPTH) -> NDArray[np.int64]:
    """The places of the best, best first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :depth]


def ranks(scores: Floats) -> Floats:
    """Reciprocal ranks of a list; nothing for what is not in it."""
    places = best(scores)
    worth = np.broadcast_to(1 / (K + 1 + np.arange(places.shape[1])), places.shape)
    return _spread(scores, places, np.where(np.take_along_axis(scores, places, 1) > 0, worth, 0))


def between(scores: Floats) -> Floats:
    """The scores of a list between 0 and 1."""
    places = best(scores)
    values = np.take_along_axis(scores, places, 1)
    low = np.where(values > 0, values, np.inf).min(1, keepdims=True)
    width = np.maximum(values.max(1, keepdims=True) - low, 1e-9)
    return _spread(scores, places, np.where(values > 0, (values - low) / width, 0))


def _spread(like: Floats, places: NDArray[np.int64], values: NDArray[Any]) -> Floats:
    made = np.zeros_like(like)
    np.put_along_axis(made, places, values.astype(np.float32), 1)
    return made


def moved(queries: Floats, passages: Floats, fused: Floats, count: int, share: float) -> Floats:
    """The queries' vectors, each moved towards the mean of its best passages."""
    means = passages[best(fused, count)].mean(axis=1)
    return queries + share * means / np.linalg.norm(means, axis=1, keepdims=True)


def ndcg(scores: Floats, grades: Floats) -> Floats:
    """Linear nDCG@10 of every query."""
    discount = 1 / np.log2(np.arange(2, BEST + 2))
    gains = np.take_along_axis(grades, best(scores, BEST), 1)
    ideal = -np.sort(-grades, axis=1)[:, :BEST]
    width = gains.shape[1]
    return (gains * discount[:width]).sum(1) / (ideal * discount[:width]).sum(1)


def changes(
    data: dict[str, NDArray[Any]], way: Any, weights: Sequence[float], **how: Any
) -> Floats:
    """What feedback changes of every query's nDCG@10, by ranks or by scores."""
    lists = [way(data["bm25"]), way(data["sparse"])]

    def fused(vectors: Floats) -> Floats:
        dense = 1 + vectors @ data["passages"].T  # above 0, so that all of it is listed
        return sum(w * one for w, one in zip(weights, (*lists, way(dense)), strict=True))

    before = fused(data["queries"])
    after = fused(moved(data["queries"], data["passages"], before, **how))
    return ndcg(after, data["grades"]) - ndcg(before, data["grades"])


def main(arguments: list[str]) -> None:
    """Print the changes."""
    settings = dict(each.split("=") for each in arguments if "=" in each)
    kept, folder, split = (each for each in arguments if "=" not in each)
    if not Path(kept).exists():
        first = settings.get("first")
        made = found(
            Path(folder), split, int(settings.get("tokens", 256)), int(first) if first else None
        )
        np.savez_compressed(kept, **made)
    data = dict(np.load(kept))
    how = {"count": int(settings.get("passages", 3)), "share": float(settings.get("share", 0.7))}
    by = [changes(data, ranks, RANKS, **how), changes(data, between, SCORES, **how)]
    for limit in LIMITS:
        here = data["length"] <= (np.inf if limit is None else limit)
        shown = " ".join(
            f"{name} {np.where(here, one, 0).mean():+.4f}"
            for name, one in zip(("ranks", "scores"), by, strict=True)
        )
        print(f"{limit or 'any number of'} words: {here.sum()} of {len(here)} queries, {shown}")


if __name__ == "__main__":
    main(sys.argv[1:])
