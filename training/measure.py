"""What do the quantised weights find on a CPU, through onnxruntime?

    python -m training.measure MODEL.safetensors FOLDER OUT.npz NAME ... [depth=6] [float]

Writes the same lists as training does, for ``training.fuse``, so that quantised and float figures
can be compared line by line. Texts are encoded one at a time, as the product does. ``float``
computes with the floats that the quantised weights stand for.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from training import export
from training.arrays import Ragged
from training.evaluate import QUERY_WIDTH, WIDTH, Collection, Lists, best
from training.model import PAD, VOCABULARY

Session = Any


def session(data: bytes) -> Session:
    """A session with one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def encoded(
    run: Session, texts: Ragged, width: int, threads: int = 1
) -> tuple[NDArray[Any], list[list[NDArray[Any]]]]:
    """The vectors of all texts, and their terms with weights where the graph gives them."""
    rows = texts.rows(torch.arange(len(texts)), width).numpy()

    def one(row: NDArray[np.int64]) -> list[NDArray[Any]]:
        found: list[NDArray[Any]] = run.run(None, {"input_ids": row[row != PAD][None]})
        return found

    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(one, rows))
    return np.concatenate([answer[0] for answer in answers]), [answer[1:] for answer in answers]


def asked_terms(texts: Ragged, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The queries' own terms with their learned weights."""
    rows = texts.rows(torch.arange(len(texts)), QUERY_WIDTH).numpy()
    full = np.zeros((len(rows), VOCABULARY), np.float32)
    for line, row in enumerate(rows):
        own = row[row >= export.SPECIAL]
        full[line, own] = np.maximum(weights[own], 0)
    return full


def scores(
    arrays: export.Arrays, one: Collection, depth: int, *, floats: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """Dense and sparse scores of every pair, and how many terms a passage has."""
    make = export.float_graph if floats else export.graph
    made = export.unpacked(arrays) if floats else arrays
    passages = session(make(made, depth))
    questions = session(make(made, depth, sparse=False))
    dense, found = encoded(passages, one.documents, WIDTH)
    asked, _ = encoded(questions, one.queries, QUERY_WIDTH)
    static = asked_terms(one.queries, arrays["asked"].astype(np.float32))
    sparse = np.zeros((len(one.queries), len(one.documents)), np.float32)
    count = 0
    for at, (terms, weights) in enumerate(found):
        sparse[:, at] = static[:, terms[0]] @ weights[0]
        count += int((weights > 0).sum())
    return asked @ dense.T, sparse, count / len(found)


def main(arguments: list[str]) -> None:
    """Write the lists of every named collection."""
    settings = dict(each.split("=") for each in arguments if "=" in each)
    model, folder, target, *names = (each for each in arguments if "=" not in each)
    depth = int(settings.get("depth", 12))
    arrays = export.load(Path(model))
    torch.set_num_threads(1)
    lists: Lists = {}
    for name in names:
        if name == "float":
            continue
        one = Collection(Path(folder) / f"{name}.npz", "cpu")
        dense, sparse, terms = scores(arrays, one, depth, floats="float" in names)
        for kind, values in (("dense", dense), ("sparse", sparse)):
            key = f"{name}@{depth}/{kind}"
            lists[key], lists[f"{key}/scores"] = best(torch.from_numpy(values))
        np.savez_compressed(target, **lists)
        print(f"{name}: {terms:.0f} terms a passage", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
