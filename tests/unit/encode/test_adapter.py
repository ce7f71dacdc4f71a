"""Does a small file make the encoder read two texts together, as numpy computes it?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.encode import one_pass
from assay.encode.adapter import merged
from assay.encode.catalog import CARDS
from assay.encode.encoders import open_entailment, open_reranker
from assay.encode.runtime import ModelSession
from assay.encode.shelf import PACKAGED, Shelf
from assay.encode.tensors import Arrays
from assay.encode.tokens import TextTokenizer
from assay.errors import CorruptModelError, FormatError, UsageError
from assay.model.vectors import VERDICTS
from tests.unit.encode.tiny import safetensors
from tests.unit.encode.tiny_hybrid import (
    LAYERS,
    WEIGHTS,
    WIDTH,
    Floats,
    floats,
    packed,
    states,
    tokenizer,
    unpacked,
    write_hybrid,
)

RANK, ADAPTER = 4, "adapter.safetensors"
QUERY, PASSAGES = "aspirin heart attack", ["aspirin lowers the risk of a heart attack", "asthma"]


def learned(outputs: int, *, size: float = 1.0, seed: int = 5) -> Arrays:
    """A random adapter: small matrices as 8-bit numbers, the rest in half."""
    random = np.random.default_rng(seed)
    arrays: Arrays = {
        "kinds": random.normal(0, 0.3, (2, WIDTH)).astype(np.float16),
        "score.weight": random.normal(0, 0.5, (outputs, WIDTH)).astype(np.float16),
        "score.bias": random.normal(0, 0.5, outputs).astype(np.float16),
    }
    for at in range(LAYERS):
        for part, (rows, columns) in {
            "qkv": (3 * WIDTH, WIDTH),
            "out": (WIDTH, WIDTH),
            "wide": (4 * WIDTH, WIDTH),
            "narrow": (WIDTH, 4 * WIDTH),
        }.items():
            name = f"body.layers.{at}.{part}"
            arrays[f"{name}.down"] = random.integers(-127, 128, (RANK, columns), np.int8)
            arrays[f"{name}.up"] = random.integers(-127, 128, (rows, RANK), np.int8)
            arrays[f"{name}.down.scale"] = np.full(RANK, 0.05 / 127, np.float32)
            arrays[f"{name}.up.scale"] = np.full(RANK, size / 127, np.float32)
        arrays[f"body.layers.{at}.norm.bias"] = random.normal(0, 0.2, WIDTH).astype(np.float16)
    return arrays


def write_adapted(folder: Path, role: str, outputs: int, **about: object) -> Path:
    """A folder with an encoder, an adapter and a description."""
    write_hybrid(folder)
    arrays = learned(outputs)
    whole = {name: "I8" for name, array in arrays.items() if array.dtype == np.int8}
    (folder / ADAPTER).write_bytes(safetensors(arrays, whole))
    described = {
        "role": role, "runtime": "adapter", "weights": ADAPTER, "base": WEIGHTS,
        "dimension": outputs, "max_tokens": 32, **about,
    }  # fmt: skip
    (folder / "assay-model.json").write_text(json.dumps(described))
    return folder


def summed(outputs: int) -> Floats:
    """The floats of encoder and adapter together."""
    state, small = unpacked(packed(floats())), learned(outputs)
    for name, array in small.items():
        if name.endswith(".up"):
            base = name.removesuffix(".up")
            up = array * small[f"{name}.scale"]
            down = small[f"{base}.down"] * small[f"{base}.down.scale"][:, None]
            state[f"{base}.weight"] = state[f"{base}.weight"] + up @ down
        elif not name.endswith((".down", ".scale")):
            state[name] = array.astype(np.float32)
    return state


def expected(outputs: int, first: str, second: str) -> NDArray[np.float64]:
    """The numbers of the head, as numpy computes them from floats."""
    state = summed(outputs)
    row = TextTokenizer(tokenizer().encode(), 32, "tokenizer").pair(first, second)
    words = state["body.words.weight"][row.ids] + state["kinds"][row.types]
    hidden = states(state, words.astype(np.float64))
    found: NDArray[np.float64] = state["score.weight"] @ hidden[0] + state["score.bias"]
    return found


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_adapted(tmp_path_factory.mktemp("adapted") / "reranker", "reranker", 1)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_adapted(tmp_path_factory.mktemp("adapted") / "judge", "entailment", 3)


def test_the_sum_reads_two_texts_as_computed() -> None:
    """With products in floats nothing but the rounding of matrices differs."""
    arrays = merged(packed(floats()), learned(3), "here")
    builder = one_pass.Builder(arrays, "float", one_pass.sizes(arrays, "here"))
    session = ModelSession(builder.build_reader(one_pass.LONG, "numbers"), "here")
    texts = TextTokenizer(tokenizer().encode(), 32, "tokenizer")
    for passage in PASSAGES:
        found = session.run(texts.pair(QUERY, passage))
        assert found.tolist() == pytest.approx(expected(3, QUERY, passage).tolist(), abs=0.12)
        turned = session.run(texts.pair(passage, QUERY))
        assert np.abs(turned - found).max() > 0.2  # it matters which text comes first


def test_a_reranker_scores_as_computed(reranker: Path) -> None:
    scores = open_reranker(str(reranker), Shelf(), threads=1).score(QUERY, PASSAGES)
    wanted = [float(expected(1, QUERY, passage)[0]) for passage in PASSAGES]
    assert scores.tolist() == pytest.approx(wanted, abs=0.35)  # states of 8 bits


def test_a_judge_gives_the_probabilities_as_computed(judge: Path) -> None:
    model = open_entailment(str(judge), Shelf(), threads=1)
    found = model.judge(PASSAGES, [QUERY, QUERY])
    assert found.shape == (2, len(VERDICTS))
    assert found.sum(axis=1).tolist() == pytest.approx([1, 1], abs=1e-5)
    for row, passage in zip(found, PASSAGES, strict=True):
        numbers = expected(3, QUERY, passage)
        shares = np.exp(numbers - numbers.max())
        assert row.tolist() == pytest.approx((shares / shares.sum()).tolist(), abs=0.05)


def test_a_pair_depends_on_itself_alone(judge: Path) -> None:
    one, many = (open_entailment(str(judge), Shelf(), threads=count) for count in (1, 3))
    texts = [*PASSAGES, "insulin glucose " * 30, "fever"]
    alone = np.stack([one.judge([text], [QUERY])[0] for text in texts])
    assert np.array_equal(alone, many.judge(texts, [QUERY] * len(texts)))
    assert one.judge([], []).shape == (0, 3)
    assert one.model_id == many.model_id


def test_what_does_not_fit_is_refused(judge: Path, reranker: Path) -> None:
    model = open_entailment(str(judge), Shelf(), threads=1)
    with pytest.raises(UsageError, match="2 premises and 1 hypotheses"):
        model.judge(PASSAGES, [QUERY])
    with pytest.raises(TimeoutError):
        model.judge(PASSAGES, [QUERY, QUERY], stop=lambda: True)
    with pytest.raises(UsageError, match="is a reranker model"):
        open_entailment(str(reranker), Shelf())
    with pytest.raises(UsageError, match="is a entailment model"):
        open_reranker(str(judge), Shelf())


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda small: small.pop("body.layers.3.wide.down"), "are missing"),
        (lambda small: small.update({"body.layers.0.out.up": np.ones((3, RANK), np.int8)}), "fit"),
        (lambda small: small.pop("kinds"), "missing"),
        (lambda small: small.update({"score.bias": np.ones(7, np.float16)}), "fit together"),
    ],
)
def test_damaged_adapters_are_refused_in_words(tmp_path: Path, damage: Any, said: str) -> None:
    folder = write_adapted(tmp_path / "model", "reranker", 1)
    arrays = learned(1)
    damage(arrays)
    whole = {name: "I8" for name, array in arrays.items() if array.dtype == np.int8}
    (folder / ADAPTER).write_bytes(safetensors(arrays, whole))
    with pytest.raises((FormatError, CorruptModelError), match=said):
        open_reranker(str(folder), Shelf()).score(QUERY, PASSAGES)


def test_the_encoder_is_not_changed() -> None:
    encoder = packed(floats())
    before = {name: array.copy() for name, array in encoder.items()}
    merged(encoder, learned(1), "here")
    assert encoder.keys() == before.keys()
    assert all(np.array_equal(encoder[name], before[name]) for name in before)


def test_even_channels_quantise_better_than_uneven_ones() -> None:
    """A norm with a few large channels costs little, since every channel is divided by its size."""
    encoder = packed(floats())
    for at in range(LAYERS):
        encoder[f"body.layers.{at}.norm2.weight"][::16] *= 12
    small = learned(1)
    arrays = merged(encoder, small, "here")
    sizes = arrays[f"body.layers.5.qkv.weight{one_pass.SIZES}"]
    assert sizes[::16].min() > 4 * np.median(sizes)


# What ships


@pytest.fixture(scope="module")
def shipped() -> Shelf:
    here = Shelf(package=PACKAGED)
    if here.find(CARDS["assay-bio-judge"]) is None:
        pytest.skip("this checkout has no weights")
    return here


PASSAGE = (
    "Low-dose aspirin after a heart attack. In a randomised trial of 1,204 patients aspirin 75 mg "
    "a day lowered the risk of a second heart attack by 23 % compared with placebo. Bleeding was "
    "more frequent with aspirin."
)


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("Aspirin 75 mg a day lowered the risk of a second heart attack.", "supported"),
        ("Aspirin 75 mg a day raised the risk of a second heart attack.", "contradicted"),
        ("Aspirin lowered the risk of a second heart attack by 61 %.", "contradicted"),
        ("Bleeding was not more frequent with aspirin.", "contradicted"),
        ("Metformin improves the survival of patients with breast cancer.", "not_enough"),
    ],
)
def test_the_shipped_judge_tells_statements_apart(
    shipped: Shelf, statement: str, verdict: str
) -> None:
    (row,) = open_entailment("assay-bio-judge", shipped, threads=1).judge([PASSAGE], [statement])
    assert VERDICTS[int(row.argmax())] == verdict


def test_the_shipped_reranker_prefers_what_answers(shipped: Shelf) -> None:
    others = ["Aspirin is made from salicylic acid.", "The heart has four chambers."]
    question = "Does aspirin prevent a second heart attack?"
    scores = open_reranker("assay-bio-rerank", shipped, threads=1).score(
        question, [*others, PASSAGE]
    )
    assert int(scores.argmax()) == 2
