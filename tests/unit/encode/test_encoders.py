"""Do encoders keep the promises of their protocols, on models that need no download?"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from assay import limits
from assay.encode.cross_encoder import OnnxReranker
from assay.encode.encoders import open_dense, open_reranker, open_sparse
from assay.encode.parallel import run_each, thread_count
from assay.encode.runtime import has_exact_products, start
from assay.encode.shelf import Shelf
from assay.errors import (
    CorruptModelError,
    FormatError,
    InputError,
    LimitError,
    MissingDependencyError,
    UsageError,
)
from assay.model.vectors import DenseEncoder, Reranker, SparseEncoder
from tests.unit.encode.tiny import CONFIG, WORDS, write_model

TEXTS = ["aspirin heart", "", "the risk of a heart attack", "unknown words", "aspirin " * 300, "a"]


def dense(tiny: dict[str, Path], threads: int = 1) -> DenseEncoder:
    return open_dense(str(tiny["dense"]), Shelf(), threads=threads)


def test_dense_vectors_have_unit_length_and_keep_their_order(tiny: dict[str, Path]) -> None:
    encoder = dense(tiny)
    rows = encoder.encode(TEXTS, "passage")
    assert rows.shape == (len(TEXTS), encoder.dimension)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for at, text in enumerate(TEXTS):
        np.testing.assert_array_equal(encoder.encode([text], "passage")[0], rows[at])
    assert encoder.encode([], "query").shape == (0, 16)


def test_sparse_vectors_are_ascending_and_positive(tiny: dict[str, Path]) -> None:
    encoder: SparseEncoder = open_sparse(str(tiny["splade"]), Shelf(), threads=2)
    assert encoder.vocabulary == len(WORDS)
    for vector in encoder.encode(TEXTS, "query"):
        assert (np.diff(vector.terms) > 0).all()
        assert (vector.weights > 0).all()
        assert len(vector.terms) == len(vector.weights)
        assert vector.terms.dtype == np.int32
        assert vector.weights.dtype == np.float32
    assert encoder.encode([], "query") == []


def test_a_score_does_not_depend_on_the_other_passages(tiny: dict[str, Path]) -> None:
    reranker: Reranker = open_reranker(str(tiny["reranker"]), Shelf(), threads=3)
    passages = [f"{text} {'heart ' * (at % 7)}" for at, text in enumerate(TEXTS * 12)]
    scores = reranker.score("aspirin risk", passages)
    assert scores.shape == (72,)
    assert scores.dtype == np.float32
    for at in (0, 5, 40, 71):
        assert reranker.score("aspirin risk", [passages[at]])[0] == scores[at]
    assert reranker.score("aspirin", []).shape == (0,)


def test_the_longer_text_of_a_pair_is_cut(tiny: dict[str, Path]) -> None:
    tokenizer = start(Shelf().require(str(tiny["reranker"])), "reranker").tokenizer
    row = tokenizer.pair("heart attack", "aspirin " * 500)
    assert len(row.ids) == 64
    assert row.ids[:4].tolist() == [2, 6, 7, 3]
    assert row.types.sum() == 60
    both = tokenizer.pair("heart " * 500, "aspirin " * 500)
    assert len(both.ids) == 64
    assert 29 <= both.types.sum() <= 33


def test_reranking_stops_when_told(tiny: dict[str, Path]) -> None:
    reranker = OnnxReranker(start(Shelf().require(str(tiny["reranker"])), "reranker"), 1)
    asked = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 5

    with pytest.raises(TimeoutError):
        reranker.score("a", ["b"] * 100, stop=stop)
    assert len(asked) == 6


def test_too_many_passages_are_refused(tiny: dict[str, Path]) -> None:
    reranker = open_reranker(str(tiny["reranker"]), Shelf())
    with pytest.raises(LimitError):
        reranker.score("a", [""] * (limits.MAX_RERANK_PASSAGES + 1))


def test_threads_change_nothing(tiny: dict[str, Path]) -> None:
    wanted = dense(tiny, 1).encode(TEXTS * 4, "passage")
    for threads in (0, 2, 7):
        np.testing.assert_array_equal(dense(tiny, threads).encode(TEXTS * 4, "passage"), wanted)


def test_one_encoder_serves_many_threads(tiny: dict[str, Path]) -> None:
    encoder = dense(tiny)
    wanted = encoder.encode(TEXTS, "passage")
    found: list[bool] = []

    def work() -> None:
        rows = [encoder.encode(TEXTS, "passage") for _ in range(5)]
        found.append(all(np.array_equal(each, wanted) for each in rows))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_max_tokens_is_part_of_the_name_and_checked(tiny: dict[str, Path]) -> None:
    name = str(tiny["dense"])
    short, long = (open_dense(name, Shelf(), max_tokens=count) for count in (8, 64))
    assert short.model_id != long.model_id
    assert not np.array_equal(
        short.encode(["aspirin " * 40], "passage"), long.encode(["aspirin " * 40], "passage")
    )
    for wrong in (0, 3, 65, 10**9, -1):
        with pytest.raises(UsageError, match="64 tokens"):
            open_dense(name, Shelf(), max_tokens=wrong)


def test_the_same_weights_have_the_same_name_elsewhere(
    tiny: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(tiny["dense"], tmp_path / "dense")
    assert open_dense(str(tmp_path / "dense"), Shelf()).model_id == dense(tiny).model_id


def test_half_a_character_is_refused(tiny: dict[str, Path]) -> None:
    with pytest.raises(InputError, match=r"U\+D800"):
        dense(tiny).encode(["fine", "a\ud800"], "passage")


def test_a_long_text_is_read_no_further_than_needed(tiny: dict[str, Path]) -> None:
    start_of_it = "aspirin " * (limits.MAX_ENCODE_CHARS // 8)
    encoder = dense(tiny)
    one, other = encoder.encode([start_of_it, start_of_it + "heart " * 500_000], "passage")
    np.testing.assert_array_equal(one, other)


def test_a_model_of_another_role_is_refused(tiny: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="is a splade model"):
        open_dense(str(tiny["splade"]), Shelf())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", "{}"),
        ("tokenizer.json", "not json"),
        ("config.json", "[]"),
        ("model.safetensors", ""),
    ],
)
def test_a_broken_file_is_named(
    tiny: dict[str, Path], tmp_path: Path, name: str, content: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny["dense"], folder)
    (folder / name).write_text(content)
    with pytest.raises(FormatError, match=name.replace(".", r"\.")):
        open_dense(str(folder), Shelf())


def test_weights_that_are_no_onnx_model_are_named(tiny: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny["dense"], folder)
    (folder / "model.onnx").write_bytes(b"\x08\x07rubbish")
    with pytest.raises(FormatError, match=r"model\.onnx"):
        open_dense(str(folder), Shelf())


def test_a_tokenizer_of_another_model_is_an_error_not_a_crash(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "dense")
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text.replace('"heart":6', '"heart":999'))
    encoder = open_dense(str(folder), Shelf())
    with pytest.raises(CorruptModelError, match="may be from different models"):
        encoder.encode(["heart"], "passage")


def test_a_missing_package_comes_with_advice(
    tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(MissingDependencyError, match="onnxruntime") as caught:
        dense(tiny)
    assert "pip install" in (caught.value.hint or "")


def test_costly_items_start_first_and_results_keep_their_order() -> None:
    begun: list[int] = []
    gate = threading.Lock()

    def work(item: int) -> int:
        with gate:
            begun.append(item)
        return item * 2

    assert run_each(work, [1, 5, 3, 2], 2, lambda item: item) == [2, 10, 6, 4]
    assert begun[0] == 5
    assert run_each(work, [], 4, lambda item: item) == []


@pytest.mark.slow
def test_the_first_error_ends_the_rest() -> None:
    seen: list[int] = []

    def work(item: int) -> int:
        seen.append(item)
        if item == 99:
            raise ValueError
        return item

    with pytest.raises(ValueError):
        run_each(work, list(range(100)) * 50, 2, lambda item: item)
    assert len(seen) < 5000


def test_threads_have_a_range() -> None:
    assert thread_count(0) >= 1
    assert thread_count(3) == 3
    for wrong in (-1, 100_000):
        with pytest.raises(UsageError, match="threads"):
            thread_count(wrong)


@pytest.mark.parametrize(
    ("flags", "exact"),
    [("fpu avx2 avx512_vnni", True), ("fpu avx2 avx_vnni", True), ("fpu avx2 avx512f", False)],
)
def test_processors_that_overflow_are_told_to_be_careful(
    tmp_path: Path, flags: str, exact: bool
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
    assert has_exact_products(cpuinfo) == exact
    assert not has_exact_products(tmp_path / "absent")


def test_the_small_model_is_as_described() -> None:
    assert CONFIG["vocab_size"] == len(WORDS)
