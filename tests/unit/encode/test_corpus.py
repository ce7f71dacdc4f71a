"""Is no text ever encoded twice, and is nothing lost when the process dies?"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.encode.cache import VectorCache, text_key
from assay.encode.corpus import EncodeProgress, encode_dense, encode_sparse
from assay.errors import CorruptCacheError, InputError, UsageError
from assay.model.vectors import DenseMatrix, Kind
from tests.conftest import REPOSITORY
from tests.unit.encode.fakes import CountingDense, CountingSparse

TEXTS = [f"text {at % 150}" for at in range(400)]  # 150 different ones

KILLED = """
import sys, time
from pathlib import Path
from assay.encode.cache import VectorCache
from assay.encode.corpus import encode_dense
from tests.unit.encode.fakes import CountingDense
class Slow(CountingDense):
    def encode(self, texts, kind):
        time.sleep(0.02)
        return super().encode(texts, kind)
with VectorCache(Path(sys.argv[1]), "fake:1:a") as cache:
    texts = [f"text {at}" for at in range(100_000)]
    encode_dense(Slow(), texts, cache, progress=lambda p: print(p.done, flush=True))
"""


def test_a_text_is_encoded_once_however_often_it_comes(tmp_path: Path) -> None:
    encoder = CountingDense()
    with VectorCache(tmp_path, encoder.model_id) as cache:
        first = encode_dense(encoder, TEXTS, cache)
        assert sorted(encoder.seen) == sorted(set(TEXTS))
        again = encode_dense(encoder, [*TEXTS, "new"], cache)
    assert encoder.seen.count("new") == 1
    assert len(encoder.seen) == 151
    np.testing.assert_array_equal(first, CountingDense().encode(TEXTS, "passage"))
    np.testing.assert_array_equal(first, again[:-1])
    assert first.dtype == np.float32


def test_without_a_cache_the_answer_is_the_same() -> None:
    encoder = CountingDense()
    found = encode_dense(encoder, TEXTS)
    assert len(encoder.seen) == 150
    np.testing.assert_array_equal(found, CountingDense().encode(TEXTS, "passage"))


def test_sparse_vectors_come_back_as_they_were(tmp_path: Path) -> None:
    encoder = CountingSparse()
    texts = ["abc", "", "cab", "z"]
    with VectorCache(tmp_path, encoder.model_id) as cache:
        fresh = encode_sparse(encoder, texts, cache)
        kept = encode_sparse(encoder, texts, cache)
    assert len(encoder.seen) == 4
    for one, other in zip(fresh, kept, strict=True):
        np.testing.assert_array_equal(one.terms, other.terms)
        np.testing.assert_array_equal(one.weights, other.weights)
        assert other.terms.dtype == np.int32
        assert other.weights.dtype == np.float32


def test_queries_and_passages_are_kept_apart(tmp_path: Path) -> None:
    encoder = CountingDense()
    with VectorCache(tmp_path, encoder.model_id) as cache:
        passage = encode_dense(encoder, ["same"], cache, kind="passage")
        query = encode_dense(encoder, ["same"], cache, kind="query")
    assert not np.array_equal(passage, query)


def test_no_texts_at_all(tmp_path: Path) -> None:
    assert encode_dense(CountingDense(), []).shape == (0, 8)
    assert encode_sparse(CountingSparse(), []) == []


def test_progress_counts_what_was_known(tmp_path: Path) -> None:
    told: list[EncodeProgress] = []
    encoder = CountingDense()
    with VectorCache(tmp_path, encoder.model_id) as cache:
        encode_dense(encoder, TEXTS[:100], cache)
        encode_dense(encoder, TEXTS, cache, progress=told.append)
    assert (told[0].done, told[0].known, told[0].total) == (100, 100, 150)
    assert (told[-1].done, told[-1].known) == (150, 100)


def test_a_cache_of_another_model_is_refused(tmp_path: Path) -> None:
    with VectorCache(tmp_path, "other") as cache, pytest.raises(UsageError, match="other"):
        encode_dense(CountingDense(), ["a"], cache)


def test_a_kept_vector_of_the_wrong_length_is_refused(tmp_path: Path) -> None:
    with VectorCache(tmp_path, "fake:1:a") as cache:
        cache.put({text_key("a", "passage"): b"\0" * 8})
        with pytest.raises(CorruptCacheError):
            encode_dense(CountingDense(), ["a"], cache)


def test_a_broken_text_is_named_before_any_work(tmp_path: Path) -> None:
    encoder = CountingDense()
    with pytest.raises(InputError, match="text 2"):
        encode_dense(encoder, ["a", "b", "\ud800"])
    assert encoder.seen == []


def test_an_error_keeps_the_batches_before_it(tmp_path: Path) -> None:
    class Failing(CountingDense):
        def encode(self, texts: list[str], kind: Kind) -> DenseMatrix:
            if self.seen:
                raise KeyboardInterrupt
            return super().encode(texts, kind)

    texts = [f"text {at}" for at in range(5000)]
    with VectorCache(tmp_path, "fake:1:a") as cache:
        with pytest.raises(KeyboardInterrupt):
            encode_dense(Failing(), texts, cache)
        assert 64 <= cache.count() < 5000


@pytest.mark.slow
@pytest.mark.parametrize("batches", [2, 12])
def test_kill_minus_nine_loses_no_batch_that_was_told(tmp_path: Path, batches: int) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert worker.stdout is not None
    lines = [worker.stdout.readline() for _ in range(batches)]
    worker.send_signal(signal.SIGKILL)
    lines += worker.stdout.read().split("\n")
    worker.wait()
    worker.stdout.close()
    told = max(int(line) for line in lines if line.strip())
    encoder = CountingDense()
    texts = [f"text {at}" for at in range(told + 1000)]
    with VectorCache(tmp_path, "fake:1:a") as cache:
        assert cache.count() >= told > 0
        found = encode_dense(encoder, texts, cache)
        assert cache.damaged == 0
    assert not {f"text {at}" for at in range(told)} & set(encoder.seen)
    np.testing.assert_array_equal(found, CountingDense().encode(texts, "passage"))
