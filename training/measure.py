"""What do the quantised weights find on a CPU, through onnxruntime?

    python -m training.measure MODEL.safetensors FOLDER NAME[/PART] ... [depth=6] [scores=FOLDER]

Prints the same table as training does, so that quantised and float figures can be compared line by
line. Texts are encoded one at a time, as the product does. ``scores`` keeps the scores of every
pair, so that ways to fuse can be compared without encoding again.
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
from training.evaluate import QUERY_WIDTH, WIDTH, Collection, measured, show
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
    arrays: export.Arrays, one: Collection, depth: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """Dense and sparse scores of every pair, and how many terms a passage has."""
    passages = session(export.graph(arrays, depth))
    questions = session(export.graph(arrays, depth, sparse=False))
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
    """Print the figures of every named collection."""
    settings = dict(each.split("=") for each in arguments if "=" in each)
    model, folder, *names = (each for each in arguments if "=" not in each)
    depth = int(settings.get("depth", 12))
    arrays = export.load(Path(model))
    torch.set_num_threads(1)
    for name in names:
        collection, _, wanted = name.partition("/")
        one = Collection(Path(folder) / f"{collection}.npz", "cpu")
        dense, sparse, terms = scores(arrays, one, depth)
        if "scores" in settings:
            target = Path(settings["scores"]) / f"{collection}@{depth}.npz"
            np.savez(target, dense=dense.astype(np.float32), sparse=sparse, terms=terms)
        lines = {}
        for part in wanted.split(",") if wanted else sorted(set(one.part.tolist())):
            line = measured(one, part, torch.from_numpy(dense), torch.from_numpy(sparse))
            lines[f"{collection}/{part}@{depth}"] = line | {"terms": terms}
        print(show(lines), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
