"""How good and how fast are the encoders?

    python -m bench.encode             everything
    python -m bench.encode speed       passages per second, ms per query, nothing else
    python -m bench.encode both        both signals by two models and by one, nothing else
    python -m bench.encode quality     nDCG@10 of exact search, nothing else

Quality: exact search over all passages of a BEIR collection, title and text, 256 tokens, scored by
``assay.score``. Vectors are kept in ``bench/work/vectors``, so a second run costs seconds.

Speed: the encoder (text in, vectors out) against a bare onnxruntime session that is handed finished
tokens: the same rows on the same number of threads, and padded batches of 32 with the library's own
threads. Rounds alternate and CPU time is reported beside the clock, since machines are shared.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import assay
from assay.app.engine import SIGNALS, Signal, model_shelf
from assay.encode.cache import VectorCache
from assay.encode.catalog import CARDS, DEFAULTS
from assay.encode.corpus import EncodeProgress, encode_dense, encode_sparse
from assay.encode.cross_encoder import OnnxReranker
from assay.encode.dense import OnnxDense
from assay.encode.encoders import open_dense, open_sparse
from assay.encode.parallel import thread_count
from assay.encode.runtime import Running, start
from assay.encode.shelf import Shelf
from assay.encode.splade import OnnxSplade
from assay.encode.tokens import TokenRow
from assay.model.vectors import DenseMatrix, SparseVector
from assay.settings import configure
from bench import encode_both
from bench.document import write_part
from bench.encode_report import Part, render, still_readable
from bench.machine import describe

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
KEPT = WORK / "encode.json"
DATA = Path(os.environ.get("ASSAY_SHARED_DATA", HERE.parents[1] / "shared" / "data"))
COLLECTIONS = ("nfcorpus", "scifact")
MODELS = ("bge-small-en-v1.5", "all-minilm-l6-v2", "all-minilm-l6-v2-fp32", "splade-tiny")
HYBRIDS = ("assay-bio", "assay-bio-fast")
RERANKER = DEFAULTS["reranker"]
DEPTH = 100
PASSAGES, QUERIES, ROUNDS, BATCH = 64, 50, 5, 32

Texts = dict[str, str]


def main() -> None:
    """Run what the command line names; what it leaves out is taken from the last time."""
    options = _options()
    report = still_readable(json.loads(KEPT.read_text())) if KEPT.is_file() else {}
    here = model_shelf(configure())
    present = [model for model in MODELS if here.find(CARDS[model])]
    if options.part in ("all", "quality"):
        report["quality"] = measured(
            [
                quality(model, role, name, here)
                for name in COLLECTIONS
                for model in (*HYBRIDS, *MODELS)
                if here.find(CARDS[model])
                for role in SIGNALS
                if CARDS[model].serves(role)
            ]
        )
    if options.part in ("all", "both"):
        queries = list(read_texts(DATA / "scifact" / "queries.jsonl.gz").values())[:QUERIES]
        rows = encode_both.measured(here, sample(PASSAGES), queries, ROUNDS)
        report["both"] = measured(rows)
    if options.part in ("all", "speed"):
        report["speed"] = measured([speed(model, here) for model in present])
        report["rerank"] = measured([rerank_speed(here)])
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(report, indent=1) + "\n")
    text = render(report)
    print(text)
    if options.write:
        write_part("bench.encode", text)


def measured(rows: list[dict[str, Any]]) -> Part:
    """Rows that were measured just now, with the machine that they were measured on."""
    machine = describe(("assay", "onnxruntime"))
    return {"machine": machine, "threads": thread_count(0), "rows": rows}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.encode",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "part", nargs="?", choices=("all", "speed", "both", "quality"), default="all"
    )
    parser.add_argument("--write", action="store_true", help="write into BENCHMARKS.md")
    return parser.parse_args()


def read_texts(path: Path) -> Texts:
    """Id and text of every line; a title comes first."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {row["_id"]: f"{row.get('title', '')} {row['text']}".strip() for row in rows}


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Judgments in BEIR's form, with a header line."""
    found: dict[str, dict[str, int]] = {}
    packed = path.with_name(f"{path.name}.gz")
    data = gzip.decompress(packed.read_bytes()) if packed.is_file() else path.read_bytes()
    for line in data.decode().splitlines()[1:]:
        query, document, grade = line.split("\t")
        found.setdefault(query, {})[document] = int(grade)
    return found


def tell(progress: EncodeProgress) -> None:
    """Progress on stderr, now and then."""
    if progress.done % 640 == 0 or progress.done == progress.total:
        print(f"  {progress.done}/{progress.total} {progress.seconds:.0f} s", file=sys.stderr)


def quality(name: str, role: Signal, collection: str, here: Shelf) -> dict[str, Any]:
    """nDCG@10 and Recall@10 of one signal of a model on one collection."""
    folder = DATA / collection
    corpus = read_texts(folder / "corpus.jsonl.gz")
    qrels = read_qrels(folder / "qrels" / "test.tsv")
    queries = {
        key: text for key, text in read_texts(folder / "queries.jsonl.gz").items() if key in qrels
    }
    asked, passages = list(queries.values()), list(corpus.values())
    scores = (search_sparse if role == "splade" else search_dense)(name, here, asked, passages)
    ids = np.array(list(corpus))
    run = {}
    for query, row in zip(queries, scores, strict=True):
        best = np.argsort(-row, kind="stable")[:DEPTH]
        run[query] = {str(ids[at]): float(row[at]) for at in best}
    found = assay.score(qrels, run, "ndcg_cut_10 recall_10")
    return {
        "collection": collection,
        "model": name if CARDS[name].role == role else f"{name}, {role}",
        "nDCG@10": round(found["ndcg_cut_10"] or 0.0, 4),
        "Recall@10": round(found["recall_10"] or 0.0, 4),
        "passages": len(corpus),
        "queries": len(queries),
    }


def search_dense(name: str, here: Shelf, queries: list[str], passages: list[str]) -> DenseMatrix:
    """The score of every passage for every query."""
    encoder = open_dense(name, here)
    with VectorCache(WORK / "vectors", encoder.model_id) as cache:
        rows = encode_dense(encoder, passages, cache, progress=tell)
        asked = encode_dense(encoder, queries, cache, kind="query")
    return np.asarray(asked @ rows.T, np.float32)


def search_sparse(name: str, here: Shelf, queries: list[str], passages: list[str]) -> DenseMatrix:
    """The dot product of every passage with every query, through postings of the query's terms."""
    from scipy.sparse import csr_matrix

    encoder = open_sparse(name, here)

    def matrix(vectors: list[SparseVector]) -> Any:
        borders = np.cumsum([0, *(len(vector.terms) for vector in vectors)])
        terms = np.concatenate([vector.terms for vector in vectors])
        weights = np.concatenate([vector.weights for vector in vectors])
        return csr_matrix((weights, terms, borders), shape=(len(vectors), encoder.vocabulary))

    with VectorCache(WORK / "vectors", encoder.model_id) as cache:
        rows = matrix(encode_sparse(encoder, passages, cache, progress=tell))
        asked = matrix(encode_sparse(encoder, queries, cache, kind="query"))
    return np.asarray((asked @ rows.T).toarray(), np.float32)


def sample(count: int) -> list[str]:
    """Passages spread over NFCorpus."""
    texts = list(read_texts(DATA / "nfcorpus" / "corpus.jsonl.gz").values())
    return texts[:: len(texts) // count][:count]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - cpu


def speed(name: str, here: Shelf) -> dict[str, Any]:
    """One model against the bare session; medians over alternating rounds."""
    card = CARDS[name]
    running = start(here.require(name), card.role)
    encoder = OnnxSplade(running) if card.role == "splade" else OnnxDense(running)
    texts = sample(PASSAGES)
    rows = [running.tokenizer.text(text) for text in texts]
    ways: dict[str, Callable[[], object]] = {
        "ours": lambda: encoder.encode(texts, "passage"),
        "bare": lambda: bare_rows(running, rows),
    }
    if card.runtime == "onnx":
        session = default_session(here.require(name).folder / card.weights)
        ways["batches"] = lambda: bare_batches(session, rows)
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, work in ways.items():
            found[way].append(timed(work))
    clock = {way: statistics.median(each[0] for each in times) for way, times in found.items()}
    cpu = {way: statistics.median(each[1] for each in times) for way, times in found.items()}
    latency = query_latency(encoder)
    return {
        "model": name,
        "tokens/passage": round(sum(len(row.ids) for row in rows) / len(rows)),
        "passages/s": round(PASSAGES / clock["ours"], 1),
        "of rows, clock": f"{clock['bare'] / clock['ours']:.0%}",
        "of rows, cpu": f"{cpu['bare'] / cpu['ours']:.0%}",
        "of batches, clock": f"{clock['batches'] / clock['ours']:.0%}"
        if "batches" in clock
        else "",
        "of batches, cpu": f"{cpu['batches'] / cpu['ours']:.0%}" if "batches" in cpu else "",
        "cpu ms/passage": round(1000 * cpu["ours"] / PASSAGES, 1),
        "query p50 ms": round(1000 * statistics.median(latency), 2),
        "query p95 ms": round(1000 * sorted(latency)[int(0.95 * len(latency))], 2),
    }


def query_latency(encoder: OnnxDense | OnnxSplade) -> list[float]:
    """Seconds for each of some real queries, one at a time."""
    texts = list(read_texts(DATA / "scifact" / "queries.jsonl.gz").values())[:QUERIES]
    encoder.encode(texts[:3], "query")
    return [timed(lambda text=text: encoder.encode([text], "query"))[0] for text in texts]  # type: ignore[misc]


def bare_rows(running: Running, rows: list[TokenRow]) -> None:
    """The session alone: no tokenizer, no pooling, the same rows on the same threads."""
    session, names = running.session._session, running.session._inputs
    feeds = [
        {name: value for name, value in feed(row).items() if name in names}
        for row in sorted(rows, key=lambda row: -len(row.ids))
    ]
    with ThreadPoolExecutor(thread_count(0)) as pool:
        list(pool.map(lambda given: session.run([running.session._output], given), feeds))


def feed(row: TokenRow) -> dict[str, NDArray[np.int64]]:
    """One row as the session wants it."""
    return {
        "input_ids": row.ids[None],
        "attention_mask": np.ones((1, len(row.ids)), np.int64),
        "token_type_ids": row.types[None],
    }


def default_session(path: Path) -> Any:
    """A session as the library sets it up by itself."""
    runtime = import_module("onnxruntime")
    return runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def bare_batches(session: Any, rows: list[TokenRow]) -> None:
    """The usual way: sorted by length, padded, 32 at a time."""
    order = sorted(rows, key=lambda row: len(row.ids))
    for at in range(0, len(order), BATCH):
        batch = order[at : at + BATCH]
        width = max(len(row.ids) for row in batch)
        ids = np.zeros((len(batch), width), np.int64)
        mask = np.zeros_like(ids)
        for line, row in enumerate(batch):
            ids[line, : len(row.ids)] = row.ids
            mask[line, : len(row.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        session.run(None, given)


def rerank_speed(here: Shelf) -> dict[str, Any]:
    """The cross-encoder over one query's best passages."""
    reranker = OnnxReranker(start(here.require(RERANKER), "reranker"))
    query = next(iter(read_texts(DATA / "scifact" / "queries.jsonl.gz").values()))
    passages = sample(BATCH)
    reranker.score(query, passages[:2])
    times = [timed(lambda: reranker.score(query, passages)) for _ in range(ROUNDS)]
    clock = statistics.median(each[0] for each in times) / BATCH
    cpu = statistics.median(each[1] for each in times) / BATCH
    return {
        "model": RERANKER,
        "ms/pair": round(1000 * clock, 1),
        "cpu ms/pair": round(1000 * cpu, 1),
    }


if __name__ == "__main__":
    main()
