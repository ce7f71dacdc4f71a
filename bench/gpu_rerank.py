"""How long does reranking 100 candidates take on a GPU, with recorded launches and without?

Run on a machine with a GPU and the extra ``gpu``: ``python -m bench.gpu_rerank``. The weights are
random, in the shape of bge-reranker-base (XLM-RoBERTa, 12 layers of 768): time does not depend on
their values, and nothing is downloaded. Scores with and without recorded launches are compared as
well.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from assay.encode.encoders import open_reranker
from assay.encode.shelf import Shelf
from assay.extras import import_optional

QUERY = "does aspirin lower the risk of a heart attack?"
SENTENCE = "the risk of a heart attack was lower in the treated group. "
LONG = [SENTENCE * 30] * 100
MIXED = [SENTENCE * (at % 14) for at in range(100)]
ROUNDS = 30


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        random_model(Path(folder))
        started = time.perf_counter()
        reranker: Any = open_reranker(folder, Shelf(), gpu=True, max_tokens=256)
        print(f"opened and recorded in {time.perf_counter() - started:.1f} s")
        recorded = reranker._graphs
        for name, passages in (("256 tokens each", LONG), ("mixed lengths", MIXED)):
            scores = []
            for way, graphs in (("recorded", recorded), ("launched one by one", None)):
                reranker._graphs = graphs
                scores.append(reranker.score(QUERY, passages))
                print(f"100 pairs, {name}, {way}: {_times(reranker, passages)}")
            print(f"  largest difference of scores: {np.abs(scores[0] - scores[1]).max():.1e}")


def random_model(folder: Path) -> None:
    """A folder as a hub would lay it out: the shipped tokenizer, weights that mean nothing."""
    transformers = import_optional("transformers")
    import_optional("torch").manual_seed(0)
    config = transformers.XLMRobertaConfig(
        vocab_size=250_002, max_position_embeddings=514, type_vocab_size=1, num_labels=1
    )
    transformers.XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    shipped = resources.files("assay") / "data" / "models" / "assay-bio" / "tokenizer.json"
    (folder / "tokenizer.json").write_bytes(shipped.read_bytes())


def _times(reranker: Any, passages: list[str]) -> str:
    took = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        reranker.score(QUERY, passages)
        took.append((time.perf_counter() - start) * 1000)
    return f"{statistics.median(took):.1f} ms (from {min(took):.1f} to {max(took):.1f})"


if __name__ == "__main__":
    main()
