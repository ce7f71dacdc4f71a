"""Does each figure of another tool equal the measure that our table names?"""

from __future__ import annotations

import importlib
import random
import shutil
import warnings
from collections.abc import Callable

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import ndcg_score

import assay
from assay.measures.elsewhere import ELSEWHERE, Elsewhere

chance = random.Random(17)
DOCS = [f"d{at:02}" for at in range(40)]
# numbered topics, since gdeval knows no others; no ties, since sklearn averages them
QRELS = {
    str(topic): {doc: chance.choice((0, 0, 1, 2, 3)) for doc in chance.sample(DOCS, 18)}
    for topic in range(1, 9)
}
RUN = {
    topic: {doc: place / 64 for place, doc in enumerate(chance.sample(DOCS, 25), 1)}
    for topic in QRELS
}
assert all(any(grades.values()) for grades in QRELS.values())


def trec_eval(theirs: str) -> float:
    family, _, depth = theirs.rpartition("_")
    asked = f"{family}.{depth}" if depth.isdigit() else theirs
    found = pytrec_eval.RelevanceEvaluator(QRELS, {asked}).evaluate(RUN)
    return float(np.mean([values[theirs] for values in found.values()]))


def gdeval(theirs: str) -> float:
    name, _, depth = theirs.partition("@")
    kind = ir_measures.nDCG(dcg="exp-log2") if name == "ndcg" else ir_measures.ERR
    return by_ir_measures(str(kind @ int(depth)))


def by_ir_measures(theirs: str) -> float:
    measure = ir_measures.parse_measure(theirs)
    return float(ir_measures.calc_aggregate([measure], QRELS, RUN)[measure])


def sklearn(theirs: str) -> float:
    values = []
    for topic, grades in QRELS.items():
        docs = sorted({*grades, *RUN[topic]})
        truth = np.array([[grades.get(doc, 0) for doc in docs]])
        if "2**" in theirs:
            truth = 2**truth - 1
        values.append(ndcg_score(truth, [[RUN[topic].get(doc, -1.0) for doc in docs]], k=10))
    return float(np.mean(values))


def beir(theirs: str) -> float:
    """BEIR and MTEB average what pytrec_eval computes, under names of their own."""
    return trec_eval(f"ndcg_cut_{theirs.lower().replace('_at_', '@').partition('@')[2]}")


def ranx(theirs: str) -> float:
    module = importlib.import_module("ranx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its compiler
        return float(module.evaluate(module.Qrels(QRELS), module.Run(RUN), theirs))


TOOLS: dict[str, tuple[str, Callable[[str], float]]] = {
    "trec_eval -c, pytrec_eval": ("pytrec_eval", trec_eval),
    "gdeval.pl": ("ir_measures", gdeval),
    "ir_measures": ("ir_measures", by_ir_measures),
    "scikit-learn": ("sklearn", sklearn),
    "BEIR": ("pytrec_eval", beir),
    "MTEB": ("pytrec_eval", beir),
    "ranx": ("ranx", ranx),
}
EQUAL = [one for one in ELSEWHERE if one.ours is not None]


@pytest.mark.req("E1", "K2")
@pytest.mark.parametrize("one", EQUAL, ids=lambda one: f"{one.tool} {one.theirs}")
def test_the_figure_of_the_tool_is_our_measure(one: Elsewhere) -> None:
    module, compute = TOOLS[one.tool]
    pytest.importorskip(module)
    if (one.tool == "gdeval.pl" or "exp-log2" in one.theirs) and shutil.which("perl") is None:
        pytest.skip("gdeval is a perl script")
    assert one.ours is not None
    ours = assay.score(QRELS, RUN, one.ours, undefined="zero")[one.ours]
    # gdeval prints five decimals a topic
    assert ours == pytest.approx(compute(one.theirs), abs=1e-9 if one.tool in EXACT else 1e-5)
    if "nDCG" in one.ours:
        other = "nDCG@10" if "linear" in one.ours else "nDCG(gain=linear)@10"
        assert ours != pytest.approx(assay.score(QRELS, RUN, other)[other], abs=1e-3)


EXACT = ("trec_eval -c, pytrec_eval", "scikit-learn")


def test_what_equals_none_of_ours_differs() -> None:
    for one in ELSEWHERE:
        if one.ours is None and one.tool in EXACT:
            ours = assay.score(QRELS, RUN, "AP@10")["AP@10"]
            assert ours != pytest.approx(trec_eval(one.theirs), abs=1e-3)
