"""The graph for onnxruntime computes what the trained model does, and figures are those of TREC."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: pip install torch onnx")
pytest.importorskip("onnx", reason="the export needs onnx: pip install onnx")

from training import evaluate, export  # noqa: E402
from training.arrays import Ragged, rows_of  # noqa: E402
from training.mine import joined  # noqa: E402
from training.model import CLS, SEP, Encoder  # noqa: E402

IDS = np.array([[CLS, 2054, 3231, 5555, 3231, 20_000, SEP]], np.int64)


@pytest.fixture(scope="module")
def model() -> Encoder:
    torch.manual_seed(0)
    found = Encoder().eval()
    found.expansions.copy_(torch.arange(2000, 18_000))
    return found


def run(data: bytes) -> list[np.ndarray]:
    import onnxruntime

    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return session.run(None, {"input_ids": IDS})


@pytest.mark.parametrize("depth", [6, 12])
def test_both_depths_match_the_model(model: Encoder, depth: int) -> None:
    state = {name: value.numpy() for name, value in model.state_dict().items()}
    state["expansions"] = state["expansions"].astype(np.int32)
    at = model.exits.index(depth)
    with torch.no_grad():
        hidden = model.states(torch.from_numpy(IDS))[at]
        dense = model.dense(hidden, model.heads[at])[0].numpy()
        weights = model.terms(hidden, torch.from_numpy(IDS), model.heads[at])[0].numpy()
    vector, terms, found = run(export.float_graph(state, depth))
    assert np.allclose(vector[0], dense, atol=1e-4)
    assert np.allclose(found[0], weights[terms[0]], atol=1e-3)
    assert np.isclose(found[0][0], weights.max(), atol=1e-3)
    vector, _, _ = run(export.graph(export.packed(state), depth))
    assert float(vector[0] @ dense) > 0.95


def test_a_passage_lacks_what_its_query_was_taken_from() -> None:
    tokens = torch.arange(2000, 2010, dtype=torch.int32)
    row = rows_of(
        tokens,
        torch.tensor([0]),
        torch.tensor([10]),
        8,
        hole=torch.tensor([2]),
        gap=torch.tensor([5]),
    )
    assert row.tolist() == [[CLS, 2000, 2001, 2007, 2008, 2009, SEP, 0]]


def test_long_texts_are_cut_and_still_end() -> None:
    texts = Ragged.of(np.arange(2000, 2010), np.array([0, 10]), "cpu")
    assert texts.rows(torch.tensor([0]), 5).tolist() == [[CLS, 2000, 2001, 2002, SEP]]


def test_query_and_passage_become_one_row() -> None:
    asked = torch.tensor([[CLS, 2000, SEP, 0]])
    passage = torch.tensor([[CLS, 3000, 3001, SEP, 0]])
    ids, second = joined(asked, passage, 7)
    assert ids.tolist() == [[CLS, 2000, SEP, 3000, 3001, SEP, 0]]
    assert second.tolist() == [[0, 0, 0, 1, 1, 1, 0]]


def test_ndcg_is_linear_and_knows_the_ideal() -> None:
    grades = torch.zeros(1, 12)
    grades[0, 3], grades[0, 5] = 2, 1
    scores = torch.arange(12.0)[None]
    scores[0, 5], scores[0, 3] = 20, 19
    expected = (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))
    assert float(evaluate.ndcg(scores, grades)[0]) == pytest.approx(expected, abs=1e-5)


def test_a_passage_that_no_list_has_gets_no_vote() -> None:
    bm25 = torch.zeros(1, 150)
    bm25[0, :2] = torch.tensor([3.0, 1.0])
    votes = evaluate.votes(evaluate.lexical(bm25))
    assert votes[0, :3].tolist() == pytest.approx([1 / 61, 1 / 62, 0])
    assert evaluate.spread(evaluate.lexical(bm25))[0, :3].tolist() == [1, 0, 0]
