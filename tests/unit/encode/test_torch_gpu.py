"""Do the adapters for a GPU refuse at once without one, and call the library rightly with one?

The library is a stand-in here; the real one runs on a machine with a GPU only.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.encode import torch_gpu
from assay.encode.encoders import open_dense, open_reranker, open_sparse
from assay.encode.shelf import Shelf
from assay.encode.torch_gpu import TorchReranker
from assay.errors import AssayError, CorruptModelError, GpuNotAvailableError, LimitError, UsageError
from tests.unit.encode.test_shelf import pinned


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_gpu, "find_spec", lambda _: None)


class Recorder:
    """Stands in for any of the library's models and remembers how it was called."""

    made: dict[str, Any]
    calls: list[dict[str, Any]]

    def __init__(self, place: str, **options: Any) -> None:
        self.made = {"place": place, **options}
        self.calls = []
        self.max_seq_length = 0


class FakeDense(Recorder):
    def encode(self, texts: list[str], **options: Any) -> Any:
        self.calls.append({"texts": texts, **options})
        return np.array([[len(text), 0.0] for text in texts])


class FakeTable:
    """A sparse table with one empty row and one stored zero."""

    def coalesce(self) -> FakeTable:
        return self

    def indices(self) -> Any:
        return FakeTensor(np.array([[0, 0, 0, 2], [1, 5, 9, 3]]))

    def values(self) -> Any:
        return FakeTensor(np.array([0.5, 0.0, 1.5, 2.5], np.float32))


class FakeTensor:
    def __init__(self, array: Any) -> None:
        self._array = array

    def float(self) -> FakeTensor:
        return self

    def cpu(self) -> FakeTensor:
        return self

    def numpy(self) -> Any:
        return self._array


class FakeSparse(Recorder):
    def encode(self, texts: list[str], **options: Any) -> FakeTable:
        self.calls.append({"texts": texts, **options})
        return FakeTable()


class FakeLogits:
    def __init__(self, array: Any) -> None:
        self.array = array

    def float(self) -> FakeLogits:
        return self

    def cpu(self) -> FakeLogits:
        return self

    def numpy(self) -> Any:
        return self.array


class FakeCross(Recorder):
    """Scores a pair by its number of tokens."""

    labels = 1

    @classmethod
    def from_pretrained(cls, place: str, **options: Any) -> FakeCross:
        made = cls(place, **options)
        made.config = SimpleNamespace(num_labels=cls.labels, pad_token_id=0, type_vocab_size=2)
        return made

    config: Any

    def to(self, device: str) -> FakeCross:
        self.made["device"] = device
        return self

    def eval(self) -> FakeCross:
        return self

    def __call__(self, **given: Any) -> Any:
        self.calls.append(given)
        return SimpleNamespace(logits=given["attention_mask"].array.sum(1, keepdims=True))


class FakeArray:
    def __init__(self, array: Any) -> None:
        self.array = array

    def to(self, device: str, non_blocking: bool) -> FakeArray:
        return self


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = ModuleType("torch")
    torch.cuda = SimpleNamespace(is_available=lambda: True)  # type: ignore[attr-defined]
    torch.float16 = "half"  # type: ignore[attr-defined]
    torch.inference_mode = nullcontext  # type: ignore[attr-defined]
    torch.from_numpy = FakeArray  # type: ignore[attr-defined]
    torch.cat = lambda parts: FakeLogits(np.concatenate(parts))  # type: ignore[attr-defined]
    transformers = ModuleType("transformers")
    transformers.AutoModelForSequenceClassification = FakeCross  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    library = ModuleType("sentence_transformers")
    library.SentenceTransformer = FakeDense  # type: ignore[attr-defined]
    library.SparseEncoder = FakeSparse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setattr(torch_gpu, "find_spec", lambda _: object())


@pytest.mark.usefixtures("no_gpu")
def test_the_default_reranker_of_the_hub_is_refused_before_it_is_looked_for() -> None:
    with pytest.raises(GpuNotAvailableError, match="Reranker requires GPU") as caught:
        open_reranker("BAAI/bge-reranker-base", Shelf())
    assert caught.value.message == "Reranker requires GPU"
    assert (caught.value.code, caught.value.http_status) == ("gpu_unavailable", 503)
    assert caught.value.exit_code == 1


@pytest.mark.usefixtures("no_gpu")
def test_asking_for_a_gpu_that_is_not_there(tiny: dict[str, Path]) -> None:
    with pytest.raises(GpuNotAvailableError, match="Dense encoder requires GPU"):
        open_dense(str(tiny["dense"]), Shelf(), gpu=True)
    with pytest.raises(GpuNotAvailableError, match="SPLADE encoder requires GPU"):
        open_sparse(str(tiny["splade"]), Shelf(), gpu=True)


def test_torch_without_a_gpu_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = ModuleType("torch")
    torch.cuda = SimpleNamespace(is_available=lambda: False)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(torch_gpu, "find_spec", lambda _: object())
    assert not torch_gpu.gpu_available()


@pytest.mark.usefixtures("gpu")
def test_a_dense_encoder_on_a_gpu(tiny: dict[str, Path]) -> None:
    encoder = open_dense(str(tiny["dense"]), Shelf(), gpu=True, max_tokens=32)
    rows = encoder.encode(["abc", "de"], "passage")
    assert rows.dtype == np.float32
    assert rows[:, 0].tolist() == [3, 2]
    model: Any = encoder._model  # type: ignore[attr-defined]
    assert model.made["local_files_only"] is True
    assert model.made["trust_remote_code"] is False
    assert model.made["model_kwargs"] == {"use_safetensors": True}
    assert model.max_seq_length == 32
    assert model.calls[0]["normalize_embeddings"] is True
    assert encoder.encode([], "query").shape == (0, 16)
    assert encoder.model_id != open_dense(str(tiny["dense"]), Shelf(), max_tokens=32).model_id


@pytest.mark.usefixtures("gpu")
def test_a_sparse_encoder_on_a_gpu(tiny: dict[str, Path]) -> None:
    encoder = open_sparse(str(tiny["splade"]), Shelf(), gpu=True)
    first, empty, last = encoder.encode(["a", "b", "c"], "passage")
    assert (first.terms.tolist(), first.weights.tolist()) == ([1, 9], [0.5, 1.5])
    assert empty.terms.tolist() == []
    assert last.terms.tolist() == [3]
    assert encoder.encode([], "query") == []
    assert encoder.vocabulary == 12


@pytest.mark.usefixtures("gpu")
def test_a_reranker_on_a_gpu_runs_batches_of_32_by_length(tiny: dict[str, Path]) -> None:
    reranker = open_reranker(str(tiny["reranker"]), Shelf(), gpu=True)
    assert isinstance(reranker, TorchReranker)
    passages = ["heart " * (at * 7 % 50) for at in range(70)]
    scores = reranker.score("aspirin risk", passages)
    assert scores.tolist() == [5 + at * 7 % 50 for at in range(70)]
    model: Any = reranker._model
    shapes = [call["input_ids"].array.shape for call in model.calls]
    assert [shape[0] for shape in shapes] == [6, 32, 32]
    assert shapes[0][1] < shapes[1][1] < shapes[2][1]
    assert model.calls[0]["token_type_ids"].array.max() == 1
    assert model.made["dtype"] == "half"
    assert model.made["use_safetensors"] is True
    assert model.made["local_files_only"] is True
    assert reranker.score("query", []).shape == (0,)
    with pytest.raises(TimeoutError):
        reranker.score("query", passages, stop=lambda: True)
    with pytest.raises(LimitError):
        reranker.score("query", [""] * 10_000)


@pytest.mark.usefixtures("gpu")
def test_a_classifier_is_no_reranker(
    tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeCross, "labels", 3)
    with pytest.raises(UsageError, match="several classes"):
        open_reranker(str(tiny["reranker"]), Shelf(), gpu=True)


@pytest.mark.usefixtures("gpu")
def test_damaged_or_foreign_weights_never_reach_the_library(
    tiny: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "naver--splade-v3"
    shutil.copytree(tiny["splade"], folder)
    here = Shelf(None, tmp_path)
    pinned(folder, here.require("naver/splade-v3").card)
    open_sparse("naver/splade-v3", here, gpu=True)
    (folder / "model.safetensors").write_bytes(b"other")
    with pytest.raises(CorruptModelError, match=r"model\.safetensors"):
        open_sparse("naver/splade-v3", here, gpu=True)
    (folder / "model.onnx").write_bytes(b"")
    (folder / "assay-model.json").unlink()
    with pytest.raises(UsageError, match="torch can read"):
        open_sparse(str(folder), Shelf(), gpu=True)
    with pytest.raises(AssayError, match="is a splade model"):
        open_dense(str(tiny["splade"]), Shelf(), gpu=True)
