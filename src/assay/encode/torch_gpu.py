"""How do models run on a GPU?

These adapters use sentence-transformers, which the extra ``assay-search[gpu]`` brings. They read
safetensors from a local folder only: no pickle, no code from the model, no download. Texts run in
batches of 32, sorted by length, so the last digits of a vector depend on the rest of its batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import limits
from assay.encode.cards import ModelCard, Role
from assay.encode.cross_encoder import BATCH
from assay.encode.shelf import FoundModel, checksum, faults
from assay.encode.tokens import TextTokenizer, clipped
from assay.encode.torch_graphs import Padded, padded
from assay.encode.torch_packed import Packed
from assay.errors import CorruptModelError, GpuNotAvailableError, LimitError, UsageError
from assay.extras import DISTRIBUTION, import_optional
from assay.model.vectors import DenseMatrix, Kind, SparseVector

_TITLES: dict[Role, str] = {
    "dense": "Dense encoder",
    "splade": "SPLADE encoder",
    "reranker": "Reranker",
    "entailment": "Entailment",
}
_HINT = f"use a machine with a GPU and: pip install '{DISTRIBUTION}[gpu]'"


def gpu_available() -> bool:
    """Whether torch is installed and sees a GPU."""
    return find_spec("torch") is not None and bool(import_optional("torch").cuda.is_available())


def require_gpu(role: Role) -> None:
    """Raise an error if there is no GPU."""
    if not gpu_available():
        raise GpuNotAvailableError(f"{_TITLES[role]} requires GPU", hint=_HINT)


def _library() -> Any:
    return import_optional("sentence_transformers")


class _OnGpu:
    """What the three adapters share: checks, the id of the results, the model itself."""

    def __init__(self, found: FoundModel, role: Role, max_tokens: int | None) -> None:
        self._card = replace(found.card, runtime="torch")
        if found.card.role != role:
            raise UsageError(f"{found.card.name} is a {found.card.role} model, not {role}")
        require_gpu(role)
        self._tokens = min(max_tokens or found.card.max_tokens, found.card.longest)
        self._model_id = _checked(found, self._card, self._tokens)
        self._place = str(found.folder)

    @property
    def model_id(self) -> str:
        """Identifies the weights and everything else that affects a result."""
        return self._model_id

    def _options(self) -> dict[str, Any]:
        return {
            "device": "cuda",
            "local_files_only": True,
            "trust_remote_code": False,
            "model_kwargs": {"use_safetensors": True},
        }

    def _texts(self, texts: list[str], kind: Kind) -> list[str]:
        return [clipped(self._card.prefix(kind) + text) for text in texts]


class TorchDense(_OnGpu):
    """A dense encoder on the GPU."""

    def __init__(self, found: FoundModel, max_tokens: int | None = None) -> None:
        super().__init__(found, "dense", max_tokens)
        self._model = _library().SentenceTransformer(self._place, **self._options())
        self._model.max_seq_length = self._tokens

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._card.dimension

    def encode(self, texts: list[str], kind: Kind) -> DenseMatrix:
        """One row per text, in order."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        rows = self._model.encode(
            self._texts(texts, kind),
            prompt="",
            batch_size=BATCH,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(rows, np.float32)


class TorchSplade(_OnGpu):
    """A sparse encoder on the GPU."""

    def __init__(self, found: FoundModel, max_tokens: int | None = None) -> None:
        super().__init__(found, "splade", max_tokens)
        self._model = _library().SparseEncoder(self._place, **self._options())
        self._model.max_seq_length = self._tokens

    @property
    def vocabulary(self) -> int:
        """How many terms there are."""
        return self._card.dimension

    def encode(self, texts: list[str], kind: Kind) -> list[SparseVector]:
        """One vector per text, in order."""
        if not texts:
            return []
        table = self._model.encode(
            self._texts(texts, kind), prompt="", batch_size=BATCH, show_progress_bar=False
        ).coalesce()
        rows, terms = table.indices().cpu().numpy()
        weights = table.values().float().cpu().numpy()
        kept = weights > 0
        rows, terms, weights = rows[kept], terms[kept].astype(np.int32), weights[kept]
        borders = np.searchsorted(rows, np.arange(len(texts) + 1))
        return [
            SparseVector(terms[start:end], weights[start:end]) for start, end in pairwise(borders)
        ]


class TorchReranker(_OnGpu):
    """A cross-encoder on the GPU, in half precision.

    The model is called without sentence-transformers, whose tokenizing takes longer than the GPU:
    here it runs on all cores, for the next batch while the GPU works on the last. Kernels are
    launched through recorded graphs, on tokens without padding if the model is of a known kind
    (``torch_packed.py``, ``torch_graphs.py``), or else one by one.
    """

    def __init__(self, found: FoundModel, max_tokens: int | None = None) -> None:
        super().__init__(found, "reranker", max_tokens)
        self._torch = import_optional("torch")
        loader = import_optional("transformers").AutoModelForSequenceClassification
        self._model = loader.from_pretrained(
            self._place,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=self._torch.float16,
        )
        self._model = self._model.to("cuda").eval()
        if self._model.config.num_labels != 1:
            raise UsageError(f"{self._card.name} has several classes, and a reranker has one score")
        words = found.folder / "tokenizer.json"
        self._tokenizer = TextTokenizer(words.read_bytes(), self._tokens, str(words), parallel=True)
        self._typed = getattr(self._model.config, "type_vocab_size", 1) > 1
        self._inputs = ("input_ids", "attention_mask", *(("token_type_ids",) * self._typed))
        self._recorded = _recorded(self._torch, self._model, self._tokens, self._inputs)

    def score(
        self, query: str, passages: list[str], *, stop: Callable[[], bool] | None = None
    ) -> NDArray[np.float32]:
        """One score per passage, in order; ``stop`` is called before every batch."""
        if len(passages) > limits.MAX_RERANK_PASSAGES:
            raise LimitError(
                f"{len(passages)} passages to rerank, and {limits.MAX_RERANK_PASSAGES} are allowed"
            )
        # texts of similar length share a batch, to save padding; short ones are the first, so that
        # the GPU starts early and computes while the longer ones are tokenized
        order = sorted(range(len(passages)), key=lambda at: (len(passages[at]), at))
        scores = np.zeros(len(passages), np.float32)
        if order:
            found = [self._batch(query, batch, stop) for batch in _batches(order, passages)]
            scores[order] = self._torch.cat(found).float().cpu().numpy().reshape(-1)
        if not np.isfinite(scores).all():
            raise CorruptModelError(f"{self._card.name} returned NaN scores")
        return scores

    def _batch(self, query: str, passages: list[str], stop: Callable[[], bool] | None) -> Any:
        if stop is not None and stop():
            raise TimeoutError("reranking was stopped")
        rows = self._tokenizer.pairs(query, passages, typed=self._typed)
        if self._recorded is not None:
            return self._recorded.logits(rows)
        shape = len(rows), max(len(row.ids) for row in rows)
        arrays = padded(rows, shape, self._model.config.pad_token_id or 0)
        with self._torch.inference_mode():
            there = {
                name: self._torch.from_numpy(arrays[name]).to("cuda", non_blocking=True)
                for name in self._inputs
            }
            return self._model(**there).logits


def _recorded(
    torch: Any, model: Any, longest: int, names: tuple[str, ...]
) -> Packed | Padded | None:
    """The fastest way that suits the model, the GPU and the release of the library."""
    ways: tuple[Callable[[], Packed | Padded], ...] = (
        lambda: Packed(torch, model, longest),
        lambda: Padded(torch, model, longest, names),
    )
    for way in ways:
        try:
            return way()
        except (AttributeError, ImportError, RuntimeError, TypeError, ValueError):
            continue
    return None


def _batches(order: list[int], passages: list[str]) -> list[list[str]]:
    """Full batches, after a first one of what is left over."""
    borders = [0, *range(len(order) % BATCH or BATCH, len(order) + 1, BATCH)]
    return [[passages[at] for at in order[start:end]] for start, end in pairwise(borders)]


def _checked(found: FoundModel, card: ModelCard, tokens: int) -> str:
    """The id of the results, after checking the weights."""
    if not card.weights.endswith(".safetensors"):
        raise UsageError(
            f"{card.name} has no weights that torch can read", hint="run it without a GPU"
        )
    if wrong := faults(found.folder, card.files):
        raise CorruptModelError(
            f"{found.folder}: {wrong[0]}", hint=f"run: assay models pull {card.name}"
        )
    names = (card.weights, "tokenizer.json")
    files = card.files or tuple(replace(checksum(found.folder / name), name=name) for name in names)
    return card.identity(files, tokens)
