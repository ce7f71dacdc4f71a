"""What is indexed and asked for in the benchmark of the index?

``python -m bench.index_data NAME`` makes one workload in ``bench/work/index``, from a seed:

- ``real``: 75,862 passages of randomised trials (Evidence Inference) and 300 of its questions.
- ``s10k`` ... ``s500k``: passages of 80 made-up words, drawn by Zipf's law.

Vectors are synthetic in both. Dense ones have 384 numbers; spectrum, topics and mean are chosen so
that the similarity of the 1st, 10th and 100th neighbour, the intrinsic dimension (22) and what a
graph finds are those of bge-small-en-v1.5 on real abstracts. Sparse ones have the term
frequencies that splade-tiny gives to real abstracts (252 terms a passage) and to real questions (69
terms, whose postings are 11 times as many as there are passages). A quarter of the passages passes
the filter.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.workloads import WORK

HERE = Path(WORK) / "index"
DATA = Path(os.environ.get("ASSAY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
COLLECTION = DATA / "evidence_inference"
SEED = 20
K = 100
QUERIES = 300
GROUPS = 4
DIMENSION = 384
VOCABULARY = 30_522
BLOCK = 50_000
# Share of passages that have the term of this rank, as splade-tiny gives it to NFCorpus.
RANKS = (1, 10, 30, 100, 300, 1_000, 3_000, 10_000, 14_745)
SHARES = (0.9265, 0.6702, 0.493, 0.2846, 0.1536, 0.0586, 0.0171, 0.0011, 0.0003)
QUERY_TERMS = 69
QUERY_BIAS = 1.05  # makes the postings of a query 11 times the passages


@dataclass(frozen=True, slots=True)
class Spec:
    """One workload: its name and how many passages it has."""

    name: str
    passages: int


SPECS = {
    spec.name: spec
    for spec in (
        Spec("tiny", 1_500),
        Spec("s10k", 10_000),
        Spec("s30k", 30_000),
        Spec("real", 75_862),
        Spec("s100k", 100_000),
        Spec("s500k", 500_000),
    )
}


def available(name: str) -> bool:
    """Whether the workload can be made here; the real passages are not part of the repository."""
    return name != "real" or COLLECTION.is_dir()


class Workload:
    """A workload that was made, read as far as it is asked for."""

    def __init__(self, name: str) -> None:
        self.spec = SPECS[name]
        self._folder = HERE / name

    def ensure(self, kind: str) -> None:
        """Make what a kind of search needs, once."""
        part = "text" if kind == "bm25" else "sparse" if kind == "splade" else "dense"
        done = self._folder / f"{part}.done"
        if done.exists():
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        {"text": self._make_text, "sparse": self._make_sparse, "dense": self._make_dense}[part]()
        done.touch()

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """The group of each passage; group 0 passes the filter."""
        return np.random.default_rng(SEED).integers(0, GROUPS, size=self.spec.passages)

    def texts(self) -> Iterator[str]:
        """The passages, in order."""
        with (self._folder / "text.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)

    @cached_property
    def questions(self) -> list[str]:
        """What is asked for in words."""
        found: list[str] = json.loads((self._folder / "questions.json").read_text("utf-8"))
        return found

    @cached_property
    def dense(self) -> NDArray[np.float32]:
        """One unit vector a passage."""
        return self._array("dense")

    @cached_property
    def dense_queries(self) -> NDArray[np.float32]:
        """One unit vector a query."""
        return self._array("dense_queries")

    @cached_property
    def sparse(self) -> Any:
        """Passages by terms, in rows."""
        from scipy.sparse import csr_array

        parts = [self._array(f"sparse_{name}") for name in ("data", "indices", "indptr")]
        return csr_array(tuple(parts), shape=(self.spec.passages, VOCABULARY))

    @cached_property
    def sparse_queries(self) -> list[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """Terms and weights of each query."""
        terms, weights = self._array("query_terms"), self._array("query_weights")
        return list(zip(terms, weights, strict=True))

    def truth(self, kind: str, *, filtered: bool) -> NDArray[np.int64]:
        """The true best 100 of each query, by brute force."""
        name = "sparse" if kind == "splade" else "dense"
        return self._array(f"{name}_truth{'_filtered' if filtered else ''}")

    def _array(self, name: str) -> NDArray[Any]:
        found: NDArray[Any] = np.load(self._folder / f"{name}.npy", mmap_mode="r")
        return found

    def _save(self, **arrays: NDArray[Any]) -> None:
        for name, array in arrays.items():
            np.save(self._folder / f"{name}.npy", array)

    def _make_text(self) -> None:
        passages, questions = _real_text() if self.spec.name == "real" else self._made_up_text()
        with (self._folder / "text.jsonl").open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(passage) + "\n" for passage in passages)
        (self._folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")

    def _made_up_text(self) -> tuple[Iterator[str], list[str]]:
        rng = np.random.default_rng(SEED)
        words = np.array([_word(number) for number in range(150_000)], dtype=object)
        chances = np.cumsum(1 / (np.arange(len(words)) + 8.0))
        chances /= chances[-1]

        def passages() -> Iterator[str]:
            for start in range(0, self.spec.passages, BLOCK):
                count = min(BLOCK, self.spec.passages - start)
                drawn = np.searchsorted(chances, rng.random((count, 80)))
                yield from (" ".join(row) for row in words[drawn].tolist())

        asked = np.random.default_rng(SEED + 1)
        drawn = (50 * (len(words) / 50) ** asked.random((QUERIES, 8))).astype(int) - 1
        return passages(), [" ".join(row) for row in words[drawn].tolist()]

    def _make_dense(self) -> None:
        count = self.spec.passages
        vectors = np.concatenate([
            _dense(min(BLOCK, count - start), SEED + start) for start in range(0, count, BLOCK)
        ])  # fmt: skip
        queries = _dense(QUERIES, SEED - 1)
        self._save(dense=vectors, dense_queries=queries)
        allowed = np.flatnonzero(self.groups == 0)
        self._save(
            dense_truth=_nearest(vectors, queries),
            dense_truth_filtered=allowed[_nearest(vectors[allowed], queries)],
        )

    def _make_sparse(self) -> None:
        from scipy.sparse import vstack

        count = self.spec.passages
        starts = range(0, count, BLOCK)
        table = vstack(
            [_sparse(min(BLOCK, count - start), SEED + start) for start in starts], format="csr"
        )
        self._save(sparse_data=table.data, sparse_indices=table.indices, sparse_indptr=table.indptr)
        terms, weights = _sparse_queries()
        self._save(query_terms=terms, query_weights=weights)
        columns = table.tocsc()
        scores = [columns[:, term] @ weight for term, weight in zip(terms, weights, strict=True)]
        allowed = self.groups == 0
        self._save(
            sparse_truth=np.array([_top(score) for score in scores]),
            sparse_truth_filtered=np.array([_top(np.where(allowed, s, -1)) for s in scores]),
        )


def _real_text() -> tuple[Iterator[str], list[str]]:
    from assay.ingest import read_corpus

    def passages() -> Iterator[str]:
        for document, _ in read_corpus(COLLECTION / "passages_ccby.jsonl.zst"):
            yield f"{document.title}\n{document.text}"

    with gzip.open(COLLECTION / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        questions = [json.loads(line)["text"] for line in lines]
    return passages(), questions[:QUERIES]


def _word(number: int) -> str:
    """Letters for a number, so that no stemmer shortens it: ``7`` as ``zhq``."""
    letters = ""
    while True:
        letters += "bcdfghjklm"[number % 10]
        number //= 10
        if not number:
            return f"z{letters}q"


def _dense(count: int, seed: int) -> NDArray[np.float32]:
    shape, rng = np.random.default_rng(7), np.random.default_rng(seed)
    topics, share = 400, 0.5
    deviation = (np.arange(DIMENSION) + 6.0) ** -0.65
    deviation /= np.linalg.norm(deviation)
    centres = shape.standard_normal((topics, DIMENSION)) * deviation
    chances = np.arange(1.0, topics + 1) ** -0.5
    topic = rng.choice(topics, count, p=chances / chances.sum())
    own = rng.standard_normal((count, DIMENSION)) * deviation
    vectors = np.sqrt(share) * centres[topic] + np.sqrt(1 - share) * own
    vectors[:, 0] += 1.25
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _nearest(vectors: NDArray[np.float32], queries: NDArray[np.float32]) -> NDArray[np.int64]:
    import faiss

    flat: Any = faiss.IndexFlatIP(DIMENSION)
    flat.add(np.ascontiguousarray(vectors))
    found: NDArray[np.int64] = flat.search(queries, K)[1]
    return found


def _term_shares() -> NDArray[np.float64]:
    ranks = np.arange(1, RANKS[-1] + 1)
    return np.exp(np.interp(np.log(ranks), np.log(RANKS), np.log(SHARES)))


def _term_ids() -> NDArray[np.int32]:
    """Which term of the vocabulary has which rank: any one."""
    order = np.random.default_rng(7).permutation(VOCABULARY)
    return order[: RANKS[-1]].astype(np.int32)


def _sparse(count: int, seed: int) -> Any:
    from scipy.sparse import coo_array

    rng = np.random.default_rng(seed)
    shares, ids = _term_shares(), _term_ids()
    counts = rng.binomial(count, shares)
    rows = [
        np.flatnonzero(rng.random(count, dtype=np.float32) < share)
        if share > 0.05
        else np.unique(rng.integers(0, count, size=size))
        for share, size in zip(shares, counts, strict=True)
    ]
    terms = np.repeat(ids, [len(each) for each in rows])
    at = np.concatenate(rows).astype(np.int32)
    weights = rng.gamma(1.5, 0.45, size=len(at)).astype(np.float32) + np.float32(0.02)
    return coo_array((weights, (at, terms)), shape=(count, VOCABULARY)).tocsr()


def _sparse_queries() -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    rng = np.random.default_rng(SEED - 1)
    chances = _term_shares() ** QUERY_BIAS
    ids = _term_ids()
    terms = np.array([
        np.sort(ids[rng.choice(len(ids), QUERY_TERMS, replace=False, p=chances / chances.sum())])
        for _ in range(QUERIES)
    ])  # fmt: skip
    weights = rng.gamma(1.5, 0.45, size=terms.shape).astype(np.float32) + np.float32(0.02)
    return terms, weights


def _top(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    best = np.argpartition(-scores, K)[:K]
    found: NDArray[np.int64] = best[np.argsort(-scores[best], kind="stable")]
    return found


def remove(name: str) -> None:
    """Delete a workload."""
    shutil.rmtree(HERE / name, ignore_errors=True)


if __name__ == "__main__":
    for kind in sys.argv[2:] or ["bm25", "splade", "dense"]:
        Workload(sys.argv[1]).ensure(kind)
