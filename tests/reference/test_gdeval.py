"""Do exponential nDCG and ERR agree with the TREC Web track's gdeval?

The vectors are those that ir_measures publishes for its gdeval provider; the script itself, which
that package carries, is run where perl is installed.
"""

from __future__ import annotations

import random
import shutil

import ir_measures
import pytest

import assay

QRELS = {"0": {"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 2}}
RUN = {
    "0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
    "1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4},
}


@pytest.mark.req("K2")
@pytest.mark.parametrize(
    ("measure", "first", "second"),
    [
        ("nDCG@20", 0.6201, 0.35099),
        ("nDCG@2", 0.17377, 0.38685),
        ("ERR@20", 0.10175, 0.09375),
        ("ERR@2", 0.03125, 0.09375),
    ],
)
def test_published_vectors(measure: str, first: float, second: float) -> None:
    scores = assay.score(QRELS, RUN, measure)
    assert scores.value("0", measure) == pytest.approx(first, abs=5e-6)
    assert scores.value("1", measure) == pytest.approx(second, abs=5e-6)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a perl script")
def test_random_runs_against_the_script() -> None:
    rng = random.Random(11)
    docs = [f"d{i}" for i in range(60)]
    qrels = {str(q): {d: rng.randint(-1, 4) for d in rng.sample(docs, 25)} for q in range(20)}
    for judged in qrels.values():
        judged[docs[0]] = 2
    run = {str(q): {d: rng.randint(0, 9) / 4 for d in rng.sample(docs, 40)} for q in range(20)}
    theirs = {
        (m.query_id, str(m.measure).split("(")[0].split("@")[0]): m.value
        for m in ir_measures.gdeval.iter_calc(
            [ir_measures.nDCG(dcg="exp-log2") @ 20, ir_measures.ERR @ 20], qrels, run
        )
    }
    ours = assay.score(qrels, run, "nDCG@20 ERR@20")
    assert len(theirs) == 40
    for (query, name), value in theirs.items():
        assert ours.value(query, f"{name}@20") == pytest.approx(value, abs=6e-6), (query, name)
