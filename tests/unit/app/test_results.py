"""Has every result of the public API a frame, a dict and a page, and is no text in it markup?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

import assay
from assay.app.evaluation_request import EvaluationRequest
from assay.app.workspace import Workspace
from assay.evaluation.components import ComponentReport
from assay.evaluation.waterfall import Waterfall
from tests.unit.app.results import GOLDEN, HOSTILE, evaluated

QRELS = {"q1": {"d1": 2, HOSTILE: 1}, "q2": {"d5": 1}}
RUNS = {
    f"one {HOSTILE}": {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d4": 1.0}},
    "two": {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d5": 1.0}},
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with evaluated(tmp_path_factory.mktemp("results") / "home") as workspace:
        yield workspace


def components(here: Workspace) -> ComponentReport:
    found = here.show("wide", per_component=True).components
    assert found is not None
    return found


def waterfall(here: Workspace) -> Waterfall:
    found = here.show("narrow", waterfall=True).fates
    assert found is not None
    return found


Make = Callable[[Workspace], Any]
RESULTS: dict[str, tuple[Make, list[str]]] = {
    "search": (lambda here: here.search("headache"), ["rank", "doc_id", "score", "bm25"]),
    "why": (lambda here: here.why("headache", "d3"), ["component", "rank"]),
    "answer": (lambda here: here.answer("what lowers cholesterol?"), ["chunk_id", "text"]),
    "evaluate": (
        lambda here: here.carry_out(EvaluationRequest(test_set=GOLDEN, name="wide")),
        ["run", "query_id", "nDCG@10", "latency_ms"],
    ),
    "result": (
        lambda here: here.evaluate(GOLDEN),
        ["query_id", "query_text", "query_type", "MRR"],
    ),
    "show": (lambda here: here.show("wide"), ["query_id", "nDCG@10"]),
    "components": (components, ["component", "nDCG@10", "found", "unique", "loss"]),
    "waterfall": (waterfall, ["query_id", "id", "stage"]),
    "compare": (lambda here: here.compare("wide", "narrow"), ["query_id", "kind", "a_hit_rank"]),
    "ab": (
        lambda here: here.ab("wide", "narrow"),
        ["query_type", "measure", "difference", "ci_low", "p_holm", "verdict"],
    ),
    "gate": (lambda here: here.gate("wide", "narrow"), ["measure", "limit", "outcome"]),
    "history": (lambda here: here.history(GOLDEN.name), ["run", "series", "nDCG@10"]),
    "runs": (lambda here: here.runs.runs(), ["run", "test_set", "status", "recall_at_10"]),
    "score": (lambda here: assay.score(QRELS, RUNS["two"], "MRR"), ["measure", "mean", "ci_low"]),
    "score many": (lambda here: assay.score_many(QRELS, RUNS, "MRR P@5"), ["run", "MRR", "P@5"]),
    "compare scores": (
        lambda here: assay.compare(
            *(assay.score(QRELS, run, "MRR", name=name) for name, run in RUNS.items())
        ),
        ["run", "measure", "difference", "verdict"],
    ),
    "classify": (
        lambda here: assay.classify([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.7], "AUROC F1"),
        ["measure", "value", "ci_low"],
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_frame_a_dict_and_a_page(here: Workspace, name: str) -> None:
    make, columns = RESULTS[name]
    result = make(here)
    frame = result.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert set(columns) <= set(frame.columns)
    assert frame.height > 0
    assert len(result.to_frame("pandas")) == frame.height
    json.dumps(result.to_dict(), allow_nan=False)
    page = result._repr_html_()
    assert page.startswith("<table>")
    assert "<script" not in page


def test_texts_of_others_are_shown_as_text(here: Workspace) -> None:
    """At least these pages quote them; that they are escaped, the test above sees."""
    for name in ("search", "compare scores", "score many"):
        assert "&lt;script&gt;" in RESULTS[name][0](here)._repr_html_(), name


def test_frames_hold_the_values_of_the_result(here: Workspace) -> None:
    made = here.evaluate(GOLDEN)
    frame = made.to_frame("polars")
    assert frame["MRR"].mean() == made["MRR"]
    assert frame["query_id"].to_list() == list(made.scores.queries)
    tested = here.ab("wide", "narrow")
    rows = tested.to_frame("polars").filter(pl.col("query_type") == "all")
    assert rows["measure"].to_list() == [str(one.measure) for one in tested.result.contrasts]
    kinds = set(tested.to_frame("polars")["query_type"].to_list())
    assert kinds == {"all", "exact_term", "paraphrase"}


def test_the_words_of_held_out_queries_are_in_no_frame() -> None:
    held = assay.load_test_set("test_set_v1")
    assert held.held_out is not None
    result = assay.evaluate(lambda text: ["x"], held, "MRR", part="holdout")
    frame = result.to_frame("polars")
    assert set(frame["query_id"].to_list()) <= set(held.held_out.query_ids)
    assert frame["query_text"].to_list() == [None] * frame.height
