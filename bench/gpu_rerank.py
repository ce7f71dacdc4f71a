"""How long does reranking 100 candidates take on a GPU, without padding, with it, unrecorded?

Run on a machine with a GPU and the extra ``gpu``: ``python -m bench.gpu_rerank``. The weights are
random, in the shape of bge-reranker-base (XLM-RoBERTa, 12 layers of 768): time does not depend on
their values, and nothing is downloaded. The scores of each way are compared with those in single
precision as well.
"""

from __future__ import annotations

import copy
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from assay.encode.encoders import open_reranker
from assay.encode.shelf import Shelf
from assay.encode.torch_graphs import Padded
from assay.extras import import_optional

QUERY = "does aspirin lower the risk of a heart attack?"
SENTENCE = "the risk of a heart attack was lower in the treated group. "
LONG = [SENTENCE * 30] * 100
MIXED = [SENTENCE * (at % 14) for at in range(100)]
TOKENS = 256
ROUNDS = 50


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        random_model(Path(folder))
        started = time.perf_counter()
        reranker: Any = open_reranker(folder, Shelf(), gpu=True, max_tokens=TOKENS)
        print(f"opened and recorded in {time.perf_counter() - started:.1f} s")
        half = reranker._model
        single = copy.deepcopy(half).float()
        ways = {
            "without padding": (reranker._recorded, half),
            "padded": (Padded(reranker._torch, half, TOKENS, reranker._inputs), half),
            "padded, launched one by one": (None, half),
            "in single precision": (None, single),
        }
        for name, passages in (("256 tokens each", LONG), ("mixed lengths", MIXED)):
            scores = {}
            for way, (recorded, model) in ways.items():
                reranker._recorded, reranker._model = recorded, model
                print(f"100 pairs, {name}, {way}: {_times(reranker, passages)}")
                scores[way] = reranker.score(QUERY, passages)
            for way, found in scores.items():
                off = np.abs(found - scores["in single precision"]).max()
                print(f"  {way}: scores off by at most {off:.1e}")


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
    middle, slow = np.percentile(took, (50, 95))
    return f"P50 {middle:.1f} ms, P95 {slow:.1f} ms"


if __name__ == "__main__":
    main()
