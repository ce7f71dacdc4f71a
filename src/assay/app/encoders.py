"""Which models does the configuration name, and how do texts reach them?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.config import Configuration

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.index.writer import Encoders
    from assay.model.vectors import DenseEncoder, Reranker, SparseEncoder

NO_MODEL = "none"

Progress: TypeAlias = Callable[[str, int, int], None]  # stage, done, in all (0: not known)


def dense_encoder(config: Configuration) -> DenseEncoder | None:
    """The dense model, opened; None where none is wanted."""
    from assay.encode.encoders import open_dense
    from assay.encode.shelf import shelf_of

    name = config.dense_model
    return None if name == NO_MODEL else open_dense(name, shelf_of(config), threads=config.threads)


def sparse_encoder(config: Configuration) -> SparseEncoder | None:
    """The SPLADE model, opened; None where none is wanted."""
    from assay.encode.encoders import open_sparse
    from assay.encode.shelf import shelf_of

    name = config.splade_model
    return None if name == NO_MODEL else open_sparse(name, shelf_of(config), threads=config.threads)


def reranker(config: Configuration, name: str) -> Reranker:
    """A cross-encoder, opened."""
    from assay.encode.encoders import open_reranker
    from assay.encode.shelf import shelf_of

    return open_reranker(name, shelf_of(config), threads=config.threads)


def cached_encoders(workspace: Workspace, stack: ExitStack, progress: Progress) -> Encoders:
    """The models as an index writer calls them: texts that were seen before come from the cache."""
    from assay.encode.cache import VectorCache
    from assay.encode.corpus import EncodeProgress, encode_dense, encode_sparse
    from assay.index.writer import Encoders

    def told(stage: str) -> Callable[[EncodeProgress], None]:
        return lambda state: progress(stage, state.done, state.total)

    def cache(model: str) -> VectorCache:
        return stack.enter_context(VectorCache(workspace.home / "vectors", model))

    dense, sparse = workspace.dense_encoder, workspace.sparse_encoder
    parts: dict[str, Any] = {}
    if dense is not None:
        held = cache(dense.model_id)
        parts |= {
            "dense": lambda texts: encode_dense(dense, texts, held, progress=told("dense")),
            "dense_model": dense.model_id,
        }
    if sparse is not None:
        kept = cache(sparse.model_id)
        parts |= {
            "sparse": lambda texts: encode_sparse(sparse, texts, kept, progress=told("splade")),
            "sparse_model": sparse.model_id,
            "vocabulary": sparse.vocabulary,
        }
    return Encoders(**parts)
