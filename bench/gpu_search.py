"""How long does a whole search take that ends with reranking 100 candidates on a GPU?

    python -m bench.gpu_search [--questions 300] [--without-vectors]

For a GPU and the extra ``gpu``; nothing is fetched. The shipped corpus is ingested and
searched by words, terms and vectors, fused, boosted, reranked and accounted for, one question at a
time, through ``Workspace.search``. The reranker has random weights in the shape of
bge-reranker-base: the order means nothing, the time does. One line of JSON goes to stdout.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from assay import load_test_set
from assay.app.workspace import Workspace
from assay.encode.catalog import CARDS
from assay.ingest import read_corpus
from assay.search.response import SearchResponse
from assay.settings import configure
from bench.gpu_rerank import random_model

RERANKER = "BAAI/bge-reranker-base"
WARM_UP = 10


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu_search", description=__doc__)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--without-vectors", action="store_true", help="words and terms alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        reranker = folder / "models" / CARDS[RERANKER].folder
        reranker.mkdir(parents=True)
        random_model(reranker)
        settings = configure(
            {
                "home": folder / "home",
                "models": folder / "models",
                **(
                    {"dense_model": "none", "components": "bm25,splade"}
                    if options.without_vectors
                    else {}
                ),
                "rerank": True,
                "reranker": RERANKER,
            }
        )
        with Workspace(settings) as workspace:
            workspace.store_documents(
                read_corpus(Path(str(resources.files("assay") / "data" / "corpus")))
            )
            workspace.update_index()
            answers = [workspace.search(text) for text in _questions(options.questions + WARM_UP)]
    print(json.dumps(_told(answers[WARM_UP:])))


def _questions(count: int) -> list[str]:
    """The golden queries, each a new question every round, so that no answer is a cached one."""
    golden = [query.query_text for query in load_test_set("test_set_v1").queries]
    return [f"{golden[at % len(golden)]} {at}" for at in range(count)]


def _told(answers: Sequence[SearchResponse]) -> dict[str, object]:
    stages = sorted({stage for answer in answers for stage in answer.timings_ms})
    return {
        "questions": len(answers),
        "reranked": sum(answer.reranked for answer in answers),
        "errors": Counter(str(a.reranker_error) for a in answers if a.reranker_error),
        "candidates": _spread([answer.total_candidates for answer in answers]),
        **{
            f"{stage}_ms": _spread([answer.timings_ms.get(stage, 0.0) for answer in answers])
            for stage in stages
        },
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    found = np.percentile(values, (50, 95, 99)).round(2).tolist()
    return dict(zip(("p50", "p95", "p99"), found, strict=True))


if __name__ == "__main__":
    main()
