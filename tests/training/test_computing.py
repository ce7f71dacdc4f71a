"""The graph for onnxruntime computes what the trained model does, and figures are those of TREC."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: pip install torch onnx")
pytest.importorskip("onnx", reason="the export needs onnx: pip install onnx")

from training import evaluate, export, fuse, reranked, seeds, teachers  # noqa: E402
from training.arrays import Ragged, rows_of  # noqa: E402
from training.mine import joined  # noqa: E402
from training.model import (  # noqa: E402
    CLS,
    PAD,
    PREFIX,
    SEP,
    VOCABULARY,
    Encoder,
    kept_terms,
)
from training.reader import Reader, begin_as, learn, learned, recipes  # noqa: E402

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
        dense = model.dense(hidden, torch.from_numpy(IDS), at)[0].numpy()
        weights = model.terms(hidden, torch.from_numpy(IDS), at)[0].numpy()
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


def test_padding_changes_no_vector(model: Encoder) -> None:
    ids = torch.from_numpy(IDS)
    padded = torch.cat([ids, torch.full((1, 5), PAD)], 1)
    with torch.no_grad():
        for at in range(len(model.exits)):
            alone = model.dense(model.states(ids)[at], ids, at)
            among = model.dense(model.states(padded)[at], padded, at)
            assert torch.allclose(alone, among, atol=1e-5)


def test_only_the_heaviest_terms_are_kept() -> None:
    weights = torch.tensor([[0.1, 0.5, 0.0, 0.4]])
    assert kept_terms(weights, 2).tolist() == [[0.0, 0.5, 0.0, pytest.approx(0.4)]]


def test_a_query_is_cut_to_whole_rare_words() -> None:
    teacher = teachers.Teachers.__new__(teachers.Teachers)
    teacher.idf = torch.zeros(VOCABULARY)
    teacher.idf[3000:3005] = 8.0
    teacher._inside = torch.zeros(VOCABULARY, dtype=torch.bool)
    teacher._inside[3001] = True  # the second piece of the word that 3000 begins
    torch.manual_seed(0)
    long = torch.tensor([[CLS, 2000, 3000, 3001, 2000, 3002, 3003, 3004, SEP, PAD]])
    for _ in range(20):
        found, enough = teacher.keywords(long)
        row = found[0].tolist()
        words = [each for each in row if each not in (CLS, SEP, PAD)]
        assert row[0] == CLS
        assert row[len(words) + 1] == SEP
        assert words
        assert words == sorted(words)
        assert 2000 not in words
        assert (3000 in words) == (3001 in words)
        assert bool(enough[0])
    _, enough = teacher.keywords(long[:, :4])
    assert not bool(enough[0])


def test_the_dense_teacher_reads_its_prefix() -> None:
    row = teachers.prefixed(torch.tensor([[CLS, 2000, SEP, PAD]]))
    assert row.tolist() == [[CLS, *PREFIX, 2000, SEP, PAD]]


def test_teachers_count_alike() -> None:
    near, far = torch.tensor([[0.8, 0.6, 0.6, 0.6]]), torch.tensor([[40.0, 0.0, 0.0, 0.0]])
    assert torch.allclose(teachers.spread(near), teachers.spread(far), atol=1e-4)


def test_claims_on_known_abstracts_are_shown_apart(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "scifact.npz",
        document_tokens=np.arange(2000, 2003, dtype=np.uint16),
        document_borders=np.arange(4),
        query_tokens=np.arange(2000, 2003, dtype=np.uint16),
        query_borders=np.arange(4),
        part=np.array(["fold1", "test", "test"]),
        judgments=np.int32([[0, 0, 1], [1, 0, 1], [2, 1, 1]]),
    )
    one = evaluate.Collection(tmp_path / "scifact.npz", "cpu")
    parts = {name: places.tolist() for name, places in fuse.parts_of(one)}
    assert parts == {"scifact/new": [2], "scifact/seen": [1], "scifact/test": [1, 2]}


def test_the_short_way_starts_as_every_third_layer_of_the_long_one() -> None:
    body = Encoder().body
    body.start_short()
    for own, layer in zip(body.short, (5, 8, 11), strict=True):
        assert torch.equal(own.wide.weight, body.layers[layer].wide.weight)
    ids = torch.from_numpy(IDS)
    (alone,) = body(ids)
    both = body(ids, exits=(6, 12))
    assert len(both) == 2
    assert torch.equal(both[1], alone)


def test_a_share_of_the_cross_encoder_reorders_only_what_it_read() -> None:
    fused = torch.tensor([[0.9, 0.8, 0.7, 0.1]])
    listed, judged = torch.tensor([[0, 1]]), torch.tensor([[-4.0, 6.0]])
    for share, order in ((0.0, [0, 1, 2, 3]), (0.6, [1, 0, 2, 3])):
        mixed = reranked.blended(fused, listed, judged, share)
        assert mixed.argsort(descending=True).tolist() == [order]


def reading(rank: int = 8) -> Reader:
    torch.manual_seed(0)
    return Reader(outputs=2, rank=rank).eval()


def test_a_reader_that_learned_nothing_has_the_states_of_the_body() -> None:
    model, ids = reading(), torch.from_numpy(IDS)
    state = model.body(ids)[0][:, 0]
    assert torch.allclose(model(ids, torch.zeros_like(ids)), model.score(state), atol=1e-6)


def test_only_what_is_small_learns() -> None:
    model = reading()
    names = {name for name, value in model.named_parameters() if value.requires_grad}
    assert {"kinds", "score.weight", "body.layers.0.qkv.down", "body.layers.3.norm.weight"} <= names
    assert not {"body.words.weight", "body.layers.0.qkv.weight", "body.norm.weight"} & names
    assert sum(array.nbytes for array in learned(model).values()) < 1e6


def test_the_product_adds_up_what_training_learned() -> None:
    """Encoder and adapter as files, merged and run by onnxruntime, give what torch gives."""
    from assay.encode import one_pass
    from assay.encode.adapter import merged

    torch.manual_seed(1)
    encoder = Encoder().eval()
    model = reading()
    model.body.load_state_dict(encoder.body.state_dict(), strict=False)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith(".up"):
                value.normal_(std=0.05)
        model.kinds.normal_(std=0.1)
    state = {name: value.numpy() for name, value in encoder.state_dict().items()}
    state["expansions"] = state["expansions"].astype(np.int32)
    arrays = merged(export.packed(state), learned(model), "here")
    graph = one_pass.Builder(arrays, "float", one_pass.sizes(arrays, "here"))
    second = np.array([[0, 0, 0, 1, 1, 1, 1]], np.int64)
    import onnxruntime

    session = onnxruntime.InferenceSession(
        graph.build_reader(one_pass.LONG, "numbers"), providers=["CPUExecutionProvider"]
    )
    (found,) = session.run(None, {"input_ids": IDS, "token_type_ids": second})
    with torch.no_grad():
        wanted = model(torch.from_numpy(IDS), torch.from_numpy(second))
    assert np.allclose(found, wanted.numpy(), atol=0.05)


def test_a_reader_begins_as_another_of_higher_rank(tmp_path: Path) -> None:
    first, second = reading(rank=4), reading(rank=8)
    with torch.no_grad():
        for name, value in first.named_parameters():
            if name.endswith(".up"):
                value.normal_(std=0.05)
    np.savez(tmp_path / "first.npz", **learned(first))
    begin_as(second, tmp_path / "first.npz")
    one, other = (each.body.layers[2].wide for each in (first, second))
    assert torch.allclose(one.up @ one.down, other.up @ other.down, atol=0.01)


def test_learning_lowers_the_loss_and_leaves_the_encoder_alone() -> None:
    model, ids = reading(), torch.from_numpy(IDS)
    second = torch.zeros_like(ids)
    fixed = model.body.layers[0].qkv.weight.clone()

    def loss() -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(ids, second), torch.tensor([1]))

    before = float(loss().detach())
    learn(model, loss, steps=5, rate=8e-4, average=0.5)
    assert float(loss().detach()) < before / 2
    assert torch.equal(model.body.layers[0].qkv.weight, fixed)


def test_two_dashes_begin_another_training() -> None:
    assert recipes(["name=a", "steps=5", "--", "name=b"]) == [
        {"name": "a", "steps": "5"},
        {"name": "b"},
    ]
    assert recipes([]) == [{}]


def collection(folder: Path) -> None:
    """Two queries over twelve documents, of which the fifth answers both."""
    empty = {"tokens": np.zeros(0, np.uint16)}
    np.savez(
        folder / "med1033.npz",
        document_tokens=empty["tokens"],
        document_borders=np.zeros(13, np.int32),
        query_tokens=empty["tokens"],
        query_borders=np.zeros(3, np.int32),
        part=np.array(["test", "test"]),
        judgments=np.int32([(0, 5, 1), (1, 5, 1)]),
        bm25=np.int32([(0, 1), (1, 1)]),
        bm25_scores=np.float32([1, 1]),
    )


def lists(path: Path, place: int) -> Path:
    """Lists of both signals in which the answer has this place, from 0."""
    order = [one for one in range(12) if one != 5]
    order.insert(place, 5)
    ids = np.uint16([order, order])
    scores = np.float32([np.arange(12, 0, -1)] * 2)
    np.savez(
        path,
        **{
            f"med1033@12/{kind}{end}": array
            for kind in ("dense", "sparse")
            for end, array in (("", ids), ("/scores", scores))
        },
    )
    return path


def test_seeds_are_compared_with_the_older_models_and_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collection(tmp_path)
    older = lists(tmp_path / "older-lists.npz", 1)
    places = {"first": 0, "second": 2, "third": 1}
    made = [lists(tmp_path / f"{name}-lists.npz", at) for name, at in places.items()]
    seeds.main([str(one) for one in (tmp_path, older, *made)])
    said = capsys.readouterr().out
    (dense,) = [line.split() for line in said.splitlines() if " dense " in line]
    # 1 / log2 of the place + 1; two queries can be turned in four ways, four rows are tested
    assert dense[2:8] == ["0.6309", "1.0000", "0.5000", "0.6309", "0.5000", "+0.3691"]
    assert dense[-1] == "1.0000"
    assert "mean by scores: first 1.0000, second" in said
    assert said.rstrip().endswith("the median is third")
