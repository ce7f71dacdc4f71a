"""What does a passage or a query cost on a CPU, beside the models that shipped before?

    python -m training.speed MODEL.safetensors TOKENIZER [COUNT]

Processor time of one thread, in turns, medians: a busy machine changes ratios little. Passages are
NFCorpus abstracts, cut to 256 tokens; queries are SciFact claims.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from assay.encode.encoders import open_dense, open_sparse
from assay.encode.shelf import Shelf, user_folder
from training import export, sources
from training.measure import session


def main(arguments: list[str]) -> None:
    """Print milliseconds of processor time a text, and what follows for two cores."""
    from tokenizers import Tokenizer

    arrays, count = export.load(Path(arguments[0])), int((*arguments, "24")[2])
    tokenizer = Tokenizer.from_file(arguments[1])
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    rows = list(sources.rows(sources.DATA / "nfcorpus" / "corpus.jsonl"))
    passages = [f"{row['title']}\n{row['text']}" for row in rows[:: len(rows) // count][:count]]
    queries = [row["text"] for row in sources.rows(sources.DATA / "scifact" / "queries.jsonl")]
    queries = queries[:count]
    shelf = Shelf(shared=user_folder(os.environ))
    dense = open_dense("bge-small-en-v1.5", shelf, threads=1)
    sparse = open_sparse("splade-tiny", shelf, threads=1)
    ways: dict[str, tuple[Callable[[str], object], list[str]]] = {
        "bge-small, passage": (lambda text: dense.encode([text], "passage"), passages),
        "splade-tiny, passage": (lambda text: sparse.encode([text], "passage"), passages),
        "bge-small, query": (lambda text: dense.encode([text], "query"), queries),
        "splade-tiny, query": (lambda text: sparse.encode([text], "query"), queries),
    }
    for depth in (12, 6):
        both = session(export.graph(arrays, depth))
        alone = session(export.graph(arrays, depth, sparse=False))

        def encode(text: str, run: object) -> object:
            return run.run(None, {"input_ids": np.array([tokenizer.encode(text).ids])})  # type: ignore[attr-defined]

        ways[f"assay-bio {depth}, passage"] = (lambda text, run=both: encode(text, run), passages)
        ways[f"assay-bio {depth}, query"] = (lambda text, run=alone: encode(text, run), queries)
        ways[f"assay-bio {depth}, passage, dense only"] = (
            lambda text, run=alone: encode(text, run),
            passages,
        )
    found: dict[str, list[float]] = {name: [] for name in ways}
    for work, texts in ways.values():
        work(texts[0])
    for at in range(count):
        for name, (work, texts) in ways.items():
            began = time.thread_time()
            work(texts[at])
            found[name].append(1000 * (time.thread_time() - began))
    for name, times in found.items():
        middle = statistics.median(times)
        mean = statistics.fmean(times)
        print(
            f"{name:36} median {middle:7.1f} ms  mean {mean:7.1f} ms  {2000 / mean:6.1f}/s on two"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
