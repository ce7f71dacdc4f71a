"""Are parquet files read, and refused by their name where they are damaged?"""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.errors import AssayError, FormatError, UsageError
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge

from .tables import assert_same
from .test_frames import COLUMNS, GRADES, QRELS, Write, check, refusal


def parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def test_parquet(write: Write) -> None:
    frame = pl.DataFrame(COLUMNS).with_columns(text=pl.lit("long"), when=pl.date(2024, 1, 1))
    path = write("a.run", parquet(frame))
    assert_same(judge(QRELS, path), judge(QRELS, frame))
    assert_same(judge(QRELS, write("b", gzip.compress(parquet(frame)))), judge(QRELS, str(path)))
    check(judge(QRELS, path, RunOptions(match="doc")))  # type: ignore[arg-type]
    assert load_qrels(write("[a]*.q", parquet(pl.DataFrame(GRADES)))).by_query == {
        "q1": {"a": 1},
        "q2": {"x": -2},
    }


def test_parquet_through_standard_input_and_pipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stdin:
        buffer = io.BytesIO(parquet(pl.DataFrame(COLUMNS)))

    monkeypatch.setattr(sys, "stdin", Stdin())
    check(judge(QRELS, "-"))
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = parquet(pl.DataFrame(GRADES))
    writer = threading.Thread(target=lambda: path.write_bytes(content))
    writer.start()
    assert load_qrels(path).queries == ("q1", "q2")
    writer.join(timeout=10)


def test_parquet_faults_name_the_file(write: Write) -> None:
    path = write("a.parquet", parquet(pl.DataFrame(COLUMNS | {"score": [float("nan")] * 5})))
    assert refusal(path).startswith(f"{path}: row 0 (query 'q1'): the score nan")
    path = write("a.parquet", parquet(pl.DataFrame({"a": [1]})))
    assert refusal(path, UsageError).startswith(f"{path}: no column for the query among: a")


def test_damaged_parquet(write: Write) -> None:
    """Cut off anywhere, or with any byte changed: a refusal or a table, never a crash."""
    whole = parquet(pl.DataFrame(COLUMNS))
    for content in (b"PAR1", whole[:-1], whole[:40], whole[: len(whole) // 2], b"PAR1" + whole):
        message = refusal(write("a.run", content), FormatError)
        assert "not a readable parquet file" in message
        assert "download the file again" in message
    rng = np.random.default_rng(1)
    for at in rng.choice(np.arange(4, len(whole)), 150, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[at] ^= int(rng.integers(1, 256))
        with suppress(AssayError):
            judge(QRELS, write("a.run", bytes(damaged)))
