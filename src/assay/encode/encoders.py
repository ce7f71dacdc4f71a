"""Which encoder does this model name open?

``threads`` is the number of texts encoded in parallel, 0 for one per core; it changes no result.
``gpu`` requests the GPU; models that need one use it anyway, and hybrid ones never do.
``key_variable`` names the environment variable with the key of a model behind an address.
"""

from __future__ import annotations

from pathlib import Path

from assay.encode.cards import ModelCard
from assay.encode.cross_encoder import OnnxReranker
from assay.encode.dense import OnnxDense
from assay.encode.entailment import OnnxEntailment
from assay.encode.hybrid import Hybrid
from assay.encode.runtime import start
from assay.encode.service import ServiceDense, ServiceReranker, is_address, read_address
from assay.encode.shelf import FoundModel, Shelf
from assay.encode.splade import OnnxSplade
from assay.errors import UsageError
from assay.model.vectors import DenseEncoder, Entailment, Reranker, SparseEncoder


def open_dense(
    name: str,
    shelf: Shelf,
    *,
    threads: int = 0,
    max_tokens: int | None = None,
    gpu: bool = False,
    key_variable: str | None = None,
) -> DenseEncoder:
    """A dense encoder by the name of its model, its address or the path of its folder."""
    if is_address(name):
        return ServiceDense(read_address(name), key_variable)
    found = _found(name, shelf)
    if found.card.role == "hybrid":
        return Hybrid(found, threads=threads, max_tokens=max_tokens).dense
    if gpu or _needs_torch(found.card):
        from assay.encode.torch_gpu import TorchDense

        return TorchDense(found, max_tokens=max_tokens)
    return OnnxDense(start(found, "dense", max_tokens), threads)


def open_sparse(
    name: str,
    shelf: Shelf,
    *,
    threads: int = 0,
    max_tokens: int | None = None,
    gpu: bool = False,
) -> SparseEncoder:
    """A sparse encoder by the name of its model or the path of its folder."""
    if is_address(name):
        raise UsageError(
            f"splade_model: {name!r:.80} is an address; only dense models and rerankers may be one",
            hint="splade_model: none searches without weighted terms",
        )
    found = _found(name, shelf)
    if found.card.role == "hybrid":
        return Hybrid(found, threads=threads, max_tokens=max_tokens).sparse
    if gpu or _needs_torch(found.card):
        from assay.encode.torch_gpu import TorchSplade

        return TorchSplade(found, max_tokens=max_tokens)
    return OnnxSplade(start(found, "splade", max_tokens), threads)


def open_hybrid(
    name: str, shelf: Shelf, *, threads: int = 0, kept: Path | None = None
) -> Hybrid | None:
    """A model that gives both signals; None if the model of that name gives one.

    ``kept`` is the file in which the workspace keeps how it runs best (``machine.py``).
    """
    if is_address(name):
        return None
    found = _found(name, shelf)
    return Hybrid(found, threads=threads, kept=kept) if found.card.role == "hybrid" else None


def open_reranker(
    name: str,
    shelf: Shelf,
    *,
    threads: int = 0,
    max_tokens: int | None = None,
    gpu: bool = False,
    key_variable: str | None = None,
) -> Reranker:
    """A reranker by the name of its model, its address or the path of its folder."""
    if is_address(name):
        return ServiceReranker(read_address(name), key_variable)
    found = _found(name, shelf)
    if gpu or _needs_torch(found.card):
        from assay.encode.torch_gpu import TorchReranker

        return TorchReranker(found, max_tokens=max_tokens)
    return OnnxReranker(start(found, "reranker", max_tokens), threads)


def open_entailment(name: str, shelf: Shelf, *, threads: int = 0) -> Entailment:
    """A model that says whether passages support statements, by its name."""
    return OnnxEntailment(start(_found(name, shelf), "entailment"), threads)


def _found(name: str, shelf: Shelf) -> FoundModel:
    """The model on this machine; without the GPU it needs, an error before any lookup."""
    from assay.encode.catalog import CARDS

    if name in CARDS and CARDS[name].requires_gpu:
        from assay.encode.torch_gpu import require_gpu

        require_gpu(CARDS[name].role)
    return shelf.require(name)


def _needs_torch(card: ModelCard) -> bool:
    """Whether torch runs it; without a GPU, an error tells how to convert it for the processor."""
    if card.requires_gpu or card.runtime != "torch":
        return card.requires_gpu
    from assay.encode.torch_gpu import gpu_available

    return gpu_available()
