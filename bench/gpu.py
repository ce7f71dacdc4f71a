"""What do the encoders do on a GPU: the same as on the processor, and how fast?

    python -m bench.gpu [--models FOLDER] [--passages 4000]

For a machine with a GPU and the extra ``gpu`` installed; nothing is fetched from a network. SPLADE
runs with its real weights. A dense model and a reranker of a common shape (BERT, 12 layers by 384)
are made here with random weights from a seed and the tokenizer of bge-small-en-v1.5: what they take
and how closely both ways agree hardly depends on the weights. One line of JSON per model goes to
stdout. How fast reranking is shows ``bench.gpu_rerank``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.app.engine import model_shelf
from assay.encode.encoders import open_dense, open_reranker, open_sparse
from assay.encode.shelf import Shelf
from assay.model.vectors import SparseVector
from assay.settings import configure

TOKENS = 256
QUERY = "does aspirin help?"
SPLADE, TOKENIZER_OF = "splade-tiny", "bge-small-en-v1.5"
SMALL = {
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("--models", type=Path, help="folder of models; the user's own by default")
    parser.add_argument("--passages", type=int, default=4_000, help="passages that are encoded")
    options = parser.parse_args()
    here = model_shelf(configure({"models": options.models}))
    machine()
    splade(here, options.passages)
    with tempfile.TemporaryDirectory() as folder:
        made = Makeshift(here, Path(folder))
        dense(made.model("dense", "BertModel", SMALL), options.passages)
        reranker(made.model("small", "BertForSequenceClassification", {**SMALL, "num_labels": 1}))


def machine() -> None:
    """Which GPU and which versions."""
    torch: Any = import_module("torch")
    names = ("torch", "transformers", "sentence_transformers", "onnxruntime", "tokenizers")
    versions = {name: str(import_module(name).__version__) for name in names}
    tell("machine", gpu=torch.cuda.get_device_name(), **versions)


def splade(here: Shelf, count: int) -> None:
    """Real weights on both sides."""
    processor, gpu = open_sparse(SPLADE, here), open_sparse(SPLADE, here, gpu=True)
    texts = passages(200)
    both = zip(processor.encode(texts, "passage"), gpu.encode(texts, "passage"), strict=True)
    apart = max(float(np.abs(_row(one) - _row(other)).max()) for one, other in both)
    tell(
        "splade", largest_difference=apart, **rate(lambda all_: gpu.encode(all_, "passage"), count)
    )


def dense(folder: Path, count: int) -> None:
    """Cosines between what both ways make of a text."""
    processor, gpu = open_dense(str(folder), Shelf()), open_dense(str(folder), Shelf(), gpu=True)
    texts = passages(200)
    one, other = processor.encode(texts, "passage"), gpu.encode(texts, "passage")
    cosines = (one * other).sum(axis=1)
    tell(
        "dense, 12 layers by 384",
        smallest_cosine=float(cosines.min()),
        **rate(lambda all_: gpu.encode(all_, "passage"), count),
    )


def reranker(folder: Path) -> None:
    """How far the scores of both ways are apart, beside how far scores are from each other."""
    opened = [
        open_reranker(str(folder), Shelf(), max_tokens=TOKENS, gpu=gpu) for gpu in (False, True)
    ]
    one, other = (each.score(QUERY, passages(60)) for each in opened)
    tell(
        "reranker, 12 layers by 384",
        largest_difference=float(np.abs(one - other).max()),
        spread_of_scores=float(one.std()),
    )


class Makeshift:
    """Model folders with random weights, as a hub would lay them out."""

    def __init__(self, here: Shelf, folder: Path) -> None:
        self._tokenizer = (here.require(TOKENIZER_OF).folder / "tokenizer.json").read_text("utf-8")
        self._folder = folder

    def model(self, name: str, kind: str, shape: dict[str, int]) -> Path:
        """A model of this class of ``transformers`` and this shape."""
        transformers: Any = import_module("transformers")
        import_module("torch").manual_seed(0)
        made = getattr(transformers, kind)
        folder = self._folder / name
        made(made.config_class(**shape)).save_pretrained(folder)
        (folder / "tokenizer.json").write_text(self._tokenizer, encoding="utf-8")
        about: dict[str, Any] = {
            "tokenizer_class": "BertTokenizer",
            "model_max_length": 512,
            "do_lower_case": True,
            **{f"{token}_token": f"[{token.upper()}]" for token in ("cls", "sep", "pad", "unk")},
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
        return folder


def passages(count: int) -> list[str]:
    """Texts of every length up to what a model reads."""
    sentence = "the risk of a heart attack was lower in the treated group. "
    return [f"passage {number}: " + sentence * (number % 14) for number in range(count)]


def rate(encode: Callable[[list[str]], object], count: int) -> dict[str, float]:
    """Passages a second, after a first call that warms up."""
    texts = passages(count)
    encode(texts[:64])
    start = time.perf_counter()
    encode(texts)
    return {"passages_per_second": count / (time.perf_counter() - start)}


def _row(vector: SparseVector) -> NDArray[np.float32]:
    found = np.zeros(1 << 16, dtype=np.float32)
    found[vector.terms] = vector.weights
    return found


def tell(what: str, **figures: float | str) -> None:
    """One line of JSON."""
    rounded = {k: round(v, 6) if isinstance(v, float) else v for k, v in figures.items()}
    print(json.dumps({"what": what, **rounded}), flush=True)


if __name__ == "__main__":
    main()
