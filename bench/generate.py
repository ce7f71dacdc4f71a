"""How are the workloads made?

From a seed, block by block, so that a file of any size takes little memory; what is already there
and made by the same recipe is kept. ``python -m bench.generate NAME...``
"""

from __future__ import annotations

import json
import marshal
import os
import shutil
import sys
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from bench import many
from bench.workloads import WORKLOADS, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

COLLECTION = {"msmarco": 8_841_823, "covid": 171_332}
QUERIES_AT_ONCE = 500
BASE36 = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyz", dtype="S1")
RUN = {"query_id": pl.String, "q0": pl.String, "doc_id": pl.String, "rank": pl.Int64}
RUN |= {"score": pl.Float64, "tag": pl.String}
QRELS = {"query_id": pl.String, "zero": pl.String, "doc_id": pl.String, "relevance": pl.Int64}


def ready(workload: Workload) -> bool:
    """Is it on disk, made by this very recipe?"""
    try:
        with open(workload.path("recipe.json")) as stored:
            return bool(json.load(stored) == workload._asdict())
    except OSError:
        return False


def generate(workload: Workload) -> None:
    """Write run and judgments as TREC files and, if asked for, as dicts and frames."""
    if workload.like == "leaderboard":
        many.generate(workload)
    else:
        _generate(workload)
    with open(workload.path("recipe.json"), "w") as stored:
        json.dump(workload._asdict(), stored)


def _generate(workload: Workload) -> None:
    shutil.rmtree(workload.path(""), ignore_errors=True)
    os.makedirs(workload.path(""))
    rng = np.random.default_rng(workload.seed)
    names = _query_names(workload, rng)
    documents = _covid_ids(rng) if workload.like == "covid" else None
    with open(workload.run, "wb") as run, open(workload.qrels, "w") as qrels:
        for start in range(0, workload.queries, QUERIES_AT_ONCE):
            block = names[start : start + QUERIES_AT_ONCE]
            found = _write_rankings(workload, rng, block, documents, run)
            for name, ranking in zip(block, found, strict=True):
                qrels.writelines(_judgments(workload, rng, name, ranking, documents))
    if workload.forms:
        _write_frame(workload.run, RUN, [0, 2, 4])
        _write_frame(workload.qrels, QRELS, [0, 2, 3])
        _write_dicts(workload)


def _query_names(workload: Workload, rng: np.random.Generator) -> list[str]:
    if workload.like == "covid":
        return [str(number + 1) for number in range(workload.queries)]
    numbers = np.sort(rng.choice(1_102_432, workload.queries, replace=False))
    return [str(number) for number in numbers.tolist()]


def _covid_ids(rng: np.random.Generator) -> Array:
    """Distinct ids of eight characters, such as ``ug7v899j``."""
    numbers = rng.choice(36**8, COLLECTION["covid"], replace=False)
    digits = numbers[:, None] // 36 ** np.arange(8) % 36
    return np.ascontiguousarray(BASE36[digits]).view("S8").ravel().astype(str)


def _write_rankings(
    workload: Workload,
    rng: np.random.Generator,
    names: list[str],
    documents: Array | None,
    run: IO[bytes],
) -> Array:
    """Append the queries' rankings to the run; the documents found, one row per query."""
    size, depth = COLLECTION[workload.like], workload.depth
    found = np.stack([rng.choice(size, depth, replace=False) for _ in names])
    score = np.sort(rng.gamma(3, 4, found.shape).round(4), axis=1)[:, ::-1]
    frame = pl.DataFrame(
        {
            "query": pl.Series(names).gather(np.repeat(np.arange(len(names)), depth)),
            "q0": pl.repeat("Q0", found.size, eager=True),
            "doc": _texts(found.ravel(), documents),
            "rank": np.tile(np.arange(1, depth + 1), len(names)),
            "score": score.ravel(),
            "tag": pl.repeat("bm25", found.size, eager=True),
        }
    )
    frame.write_csv(run, include_header=False, separator=" ", float_precision=6)
    return found


def _texts(numbers: Array, documents: Array | None) -> pl.Series:
    if documents is None:
        return pl.Series(numbers).cast(pl.String)
    return pl.Series(documents[numbers].tolist())


def _judgments(
    workload: Workload,
    rng: np.random.Generator,
    name: str,
    ranking: Array,
    documents: Array | None,
) -> Iterator[str]:
    judge = _judge_covid if workload.like == "covid" else _judge_msmarco
    judged, grades = judge(workload, rng, ranking)
    texts = _texts(judged, documents).to_list()
    return (f"{name} 0 {doc} {grade}\n" for doc, grade in zip(texts, grades.tolist(), strict=True))


def _judge_msmarco(
    workload: Workload, rng: np.random.Generator, ranking: Array
) -> tuple[Array, Array]:
    """One or two relevant documents, most of them found, more of them near the top."""
    count = workload.judged + int(rng.random() < 0.06)
    places = np.minimum(rng.exponential(60, count).astype(np.int64), len(ranking) - 1)
    missed = rng.random(count) > 0.85
    others = rng.integers(COLLECTION["msmarco"], size=count)
    judged = np.unique(np.where(missed, others, ranking[places]))
    return judged, np.ones(len(judged), dtype=np.int64)


def _judge_covid(
    workload: Workload, rng: np.random.Generator, ranking: Array
) -> tuple[Array, Array]:
    """A pool of judged documents, a third of them found, with grades 0, 1 and 2."""
    weights = 1 / (50 + np.arange(len(ranking)))
    found = rng.choice(ranking, 450, replace=False, p=weights / weights.sum())
    drawn = rng.choice(COLLECTION["covid"], 2 * workload.judged, replace=False)
    others = rng.permutation(np.setdiff1d(drawn, ranking))[: workload.judged - len(found)]
    judged = rng.permutation(np.concatenate([found, others]))
    return judged, rng.choice(3, len(judged), p=[0.62, 0.2, 0.18])


def _write_frame(path: str, schema: dict[str, Any], columns: list[int]) -> None:
    frame = pl.read_csv(path, has_header=False, separator=" ", schema=schema, columns=columns)
    frame.write_parquet(path.replace(".trec", ".parquet"))


def _write_dicts(workload: Workload) -> None:
    """Plain dicts, stored in the fastest form that Python reads back."""
    run: dict[str, dict[str, float]] = {}
    with open(workload.run) as lines:
        for line in lines:
            query, _, doc, _, score, _ = line.split()
            run.setdefault(query, {})[doc] = float(score)
    qrels: dict[str, dict[str, int]] = {}
    with open(workload.qrels) as lines:
        for line in lines:
            query, _, doc, grade = line.split()
            qrels.setdefault(query, {})[doc] = int(grade)
    with open(workload.path("dicts.marshal"), "wb") as stored:
        marshal.dump((qrels, run), stored)


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        if not ready(WORKLOADS[asked]):
            generate(WORKLOADS[asked])
