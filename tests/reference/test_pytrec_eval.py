"""Are our values those of trec_eval's C code, on random runs full of ties?"""

from __future__ import annotations

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import assay

FORMS = {
    "map": "MAP",
    "recip_rank": "MRR",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "infAP": "infAP",
    "ndcg": "nDCG(gain=linear)",
    "set_recall": "Recall",
    **{f"P_{k}": f"P@{k}" for k in (1, 3, 10)},
    **{f"recall_{k}": f"Recall@{k}" for k in (1, 3, 10)},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
    **{f"ndcg_cut_{k}": f"nDCG(gain=linear)@{k}" for k in (1, 3, 10)},
}
ASKED = {
    "map", "recip_rank", "Rprec", "bpref", "infAP", "ndcg", "set_recall",
    "P.1,3,10", "recall.1,3,10", "success", "ndcg_cut.1,3,10",
}  # fmt: skip

ids = st.text(st.sampled_from("aAbB0é字:-"), min_size=1, max_size=3)
# the C code reads outside its memory where every grade of a query is negative
judgments = st.dictionaries(ids, st.integers(-1, 3), min_size=1, max_size=12).filter(
    lambda judged: max(judged.values()) >= 0
)
# few values, all exact in float32: ties everywhere
rankings = st.dictionaries(ids, st.integers(-3, 3).map(lambda n: n / 4), max_size=25)
queries = st.sampled_from(["q1", "q2", "q3", "q4"])


@pytest.mark.req("K1", "10")
@settings(max_examples=400, deadline=None)
@given(
    qrels=st.dictionaries(queries, judgments, min_size=1),
    run=st.dictionaries(queries, rankings, min_size=1),
)
def test_every_query_to_nine_decimals(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> None:
    if not qrels.keys() & run.keys():
        return
    answered = {query: ranking for query, ranking in run.items() if ranking}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(answered)
    ours = assay.score(qrels, run, list(FORMS.values()), undefined="zero")
    for query in qrels:
        for name, form in FORMS.items():
            value = ours.value(query, form)
            if query in answered:
                assert value == pytest.approx(theirs[query][name], abs=1e-9), (query, form)
            else:
                assert value == 0.0, (query, form)
