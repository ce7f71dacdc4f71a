"""How are many texts encoded, without encoding any of them twice?

Texts that were encoded before come from the cache. The others are encoded in batches; each batch is
stored before the next begins, so an interruption costs one batch at most. Of a model that gives
both signals of a passage, the cache keeps both, whichever was asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from assay.encode.cache import VectorCache, keys_of
from assay.encode.parallel import thread_count
from assay.errors import CorruptCacheError, UsageError
from assay.model.vectors import (
    BothVectors,
    DenseEncoder,
    DenseMatrix,
    HybridEncoder,
    Kind,
    SparseEncoder,
    SparseVector,
    whole_of,
)

_BATCH, _BATCH_PER_THREAD = 64, 16
_TERM, _WEIGHT = np.dtype("<i4"), np.dtype("<f4")

Vector = TypeVar("Vector")


@dataclass(frozen=True, slots=True)
class EncodeProgress:
    """Progress of an encoding: ``done`` of ``total`` texts, ``known`` of them from the cache."""

    done: int
    total: int
    known: int
    seconds: float


Progress: TypeAlias = Callable[[EncodeProgress], None]


class _Codec(Protocol[Vector]):
    """Converts between vectors and the bytes stored for them."""

    def encode(self, texts: list[str]) -> list[Vector]: ...
    def pack(self, vector: Vector) -> bytes: ...
    def unpack(self, data: bytes) -> Vector: ...


@dataclass(frozen=True, slots=True)
class _Dense:
    encoder: DenseEncoder
    kind: Kind

    def encode(self, texts: list[str]) -> list[DenseMatrix]:
        return list(self.encoder.encode(texts, self.kind))

    def pack(self, vector: DenseMatrix) -> bytes:
        return vector.astype(_WEIGHT).tobytes()

    def unpack(self, data: bytes) -> DenseMatrix:
        vector = np.frombuffer(data, _WEIGHT).astype(np.float32)
        if len(vector) != self.encoder.dimension:
            raise CorruptCacheError(f"a stored vector has {len(vector)} numbers")
        return vector


@dataclass(frozen=True, slots=True)
class _Sparse:
    encoder: SparseEncoder
    kind: Kind

    def encode(self, texts: list[str]) -> list[SparseVector]:
        return self.encoder.encode(texts, self.kind)

    def pack(self, vector: SparseVector) -> bytes:
        return _packed(vector)

    def unpack(self, data: bytes) -> SparseVector:
        return _unpacked(data)


@dataclass(frozen=True, slots=True)
class _Both:
    encoder: HybridEncoder

    def encode(self, texts: list[str]) -> list[BothVectors]:
        return self.encoder.encode_both(texts)

    def pack(self, vector: BothVectors) -> bytes:
        return vector.dense.astype(_WEIGHT).tobytes() + _packed(vector.sparse)

    def unpack(self, data: bytes) -> BothVectors:
        end = self.encoder.dimension * _WEIGHT.itemsize
        if len(data) < end or (len(data) - end) % (_TERM.itemsize + _WEIGHT.itemsize):
            raise CorruptCacheError(f"a stored pair of vectors has {len(data)} bytes")
        dense = np.frombuffer(data[:end], _WEIGHT).astype(np.float32)
        return BothVectors(dense, _unpacked(data[end:]))


def _packed(vector: SparseVector) -> bytes:
    return vector.terms.astype(_TERM).tobytes() + vector.weights.astype(_WEIGHT).tobytes()


def _unpacked(data: bytes) -> SparseVector:
    half = len(data) // 2
    terms = np.frombuffer(data[:half], _TERM).astype(np.int32)
    return SparseVector(terms, np.frombuffer(data[half:], _WEIGHT).astype(np.float32))


def encode_both(
    encoder: HybridEncoder,
    texts: Sequence[str],
    cache: VectorCache | None = None,
    *,
    progress: Progress | None = None,
) -> tuple[DenseMatrix, list[SparseVector]]:
    """Both signals of every passage, in order, from one pass each."""
    job = _Job(_Both(encoder), _same_model(cache, encoder.model_id), progress)
    found = job.run(texts, "passage")
    dense = [both.dense for both in found]
    matrix = np.stack(dense) if dense else np.zeros((0, encoder.dimension), np.float32)
    return matrix, [both.sparse for both in found]


def encode_dense(
    encoder: DenseEncoder,
    texts: Sequence[str],
    cache: VectorCache | None = None,
    *,
    kind: Kind = "passage",
    progress: Progress | None = None,
) -> DenseMatrix:
    """One row per text, in order."""
    if (whole := whole_of(encoder)) is not None:
        if kind == "passage":
            return encode_both(whole, texts, cache, progress=progress)[0]
        cache = None  # a query takes milliseconds, and each signal would need a place of its own
    rows = _Job(_Dense(encoder, kind), _same_model(cache, encoder.model_id), progress)
    found = rows.run(texts, kind)
    return np.stack(found) if found else np.zeros((0, encoder.dimension), np.float32)


def encode_sparse(
    encoder: SparseEncoder,
    texts: Sequence[str],
    cache: VectorCache | None = None,
    *,
    kind: Kind = "passage",
    progress: Progress | None = None,
) -> list[SparseVector]:
    """One vector per text, in order."""
    if (whole := whole_of(encoder)) is not None:
        if kind == "passage":
            return encode_both(whole, texts, cache, progress=progress)[1]
        cache = None
    job = _Job(_Sparse(encoder, kind), _same_model(cache, encoder.model_id), progress)
    return job.run(texts, kind)


def _same_model(cache: VectorCache | None, model_id: str) -> VectorCache | None:
    if cache is not None and cache.model_id != model_id:
        raise UsageError(f"the cache holds vectors of {cache.model_id}, not of {model_id}")
    return cache


class _Job(Generic[Vector]):
    """One call of ``encode_dense`` or ``encode_sparse``."""

    def __init__(
        self, codec: _Codec[Vector], cache: VectorCache | None, progress: Progress | None
    ) -> None:
        self._codec = codec
        self._cache = cache
        self._progress = progress
        self._start = time.monotonic()

    def run(self, texts: Sequence[str], kind: Kind) -> list[Vector]:
        keys = keys_of(texts, kind)
        places: dict[bytes, int] = {}
        for at, key in enumerate(keys):
            places.setdefault(key, at)
        vectors = self._known(list(places))
        known, done = len(vectors), len(vectors)
        missing = [key for key in places if key not in vectors]
        self._tell(done, len(places), known)
        for batch in _batches(missing):
            vectors.update(self._encode(batch, [texts[places[key]] for key in batch]))
            done += len(batch)
            self._tell(done, len(places), known)
        return [vectors[key] for key in keys]

    def _known(self, keys: list[bytes]) -> dict[bytes, Vector]:
        if self._cache is None:
            return {}
        kept = self._cache.get(keys)
        return {key: self._codec.unpack(data) for key, data in kept.items()}

    def _encode(self, keys: list[bytes], texts: list[str]) -> dict[bytes, Vector]:
        found = dict(zip(keys, self._codec.encode(texts), strict=True))
        if self._cache is not None:
            self._cache.put({key: self._codec.pack(vector) for key, vector in found.items()})
        return found

    def _tell(self, done: int, total: int, known: int) -> None:
        if self._progress is not None:
            seconds = time.monotonic() - self._start
            self._progress(EncodeProgress(done, total, known, seconds))


def _batches(keys: list[bytes]) -> list[list[bytes]]:
    """Batches with several texts per thread, small enough to lose little work."""
    size = max(_BATCH, _BATCH_PER_THREAD * thread_count(0))
    return [keys[at : at + size] for at in range(0, len(keys), size)]
