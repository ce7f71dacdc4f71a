"""Does every tool read an exported run in our order?"""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import assay
from assay.model.runs import QueryOutcome, RankedResult
from assay.render.run_file import falling, json_run, trec_run

pytrec_eval = pytest.importorskip("pytrec_eval")


def outcome(seed: int) -> QueryOutcome:
    rng = random.Random(seed)
    names = [f"d{rng.randrange(8)}:chunk_{n}" for n in range(30)]
    values = (1e-9, 0.5, 0.5 + 1e-12, 3.0, -2.0)
    falling_scores = sorted((rng.choice(values) for _ in names), reverse=True)
    scores: list[float | None] = [None] * 30 if seed % 3 == 0 else [*falling_scores]
    return QueryOutcome(
        f"q{seed}",
        tuple(
            RankedResult(name, name.split(":")[0], score)
            for name, score in zip(names, scores, strict=True)
        ),
    )


OUTCOMES = [outcome(seed) for seed in range(30)]


@pytest.mark.parametrize("documents", [False, True])
def test_trec_eval_sees_our_order(documents: bool) -> None:
    rng = random.Random(1)
    text = trec_run(OUTCOMES, "a name", documents=documents)
    run: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        query, zero, name, _, score, tag = line.split()
        assert (zero, tag) == ("Q0", "a_name")
        run.setdefault(query, {})[name] = float(score)
    judged = [f"d{n}" for n in range(8)]
    qrels = {
        one.query_id: {
            name: rng.randrange(1, 3)
            for name in (judged if documents else [r.chunk_id for r in one.results])
            if rng.random() < 0.4
        }
        for one in OUTCOMES
    }
    ours = assay.score(
        qrels,
        {
            one.query_id: [
                assay.Result(r.chunk_id, rank=n, doc_id=r.doc_id) for n, r in enumerate(one.results)
            ]
            for one in OUTCOMES
        },
        "nDCG(gain=linear)@10",
        match="doc" if documents else "chunk",
    )
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    for query, value in ours.per_query("nDCG(gain=linear)@10").items():
        assert value == pytest.approx(theirs[query]["ndcg_cut_10"], abs=1e-9)


def test_scores_fall_strictly_in_32_bits() -> None:
    values = np.array(falling([1.0, 1.0, 1.0 + 1e-12, None, 0.0, -0.0, -5.0]), dtype=np.float32)
    assert (np.diff(values) < 0).all()
    assert falling([None, None, None]) == [3.0, 2.0, 1.0]
    assert falling([]) == []


def test_failed_queries_are_left_out() -> None:
    sound = QueryOutcome("q", tuple(RankedResult(name, name, 1.0) for name in ("a", "b")))
    failed = QueryOutcome("f", error="down")
    assert [line.split()[2] for line in trec_run([sound, failed], "t").splitlines()] == ["a", "b"]
    assert list(json.loads(json_run([sound, failed]))) == ["q"]


def test_a_repeated_result_keeps_its_rank_in_a_file_that_names_nothing_twice() -> None:
    names = ("a", "a", "b", "a#2", "a")
    twice = QueryOutcome("q", tuple(RankedResult(name, name, 1.0) for name in names))
    for documents in (False, True):
        rows = [line.split() for line in trec_run([twice], "t", documents=documents).splitlines()]
        written = [row[2] for row in rows]
        assert [written[at] for at in (0, 2, 3)] == ["a", "b", "a#2"]
        assert len(set(written)) == 5
        run = {"q": {row[2]: float(row[4]) for row in rows}}
        assert assay.score({"q": {"b": 1}}, run, "MRR")["MRR"] == pytest.approx(1 / 3)
