"""Are the bytes of a file, pipe or standard input found, and its absence explained?"""

from __future__ import annotations

import gc
import gzip
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from assay import limits, zstd
from assay.errors import (
    AssayError,
    FormatError,
    InputError,
    LimitError,
    MissingDependencyError,
    MissingFileError,
)
from assay.hits import sources
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge
from assay.hits.sources import Source, source

from .conftest import make_stream

Write = Callable[[str, bytes | str], Path]

QRELS = b"q1 0 a 1\n"
RUN = b"q1 Q0 a 1 3.0 t\n"


class Stdin:
    """Standard input with these bytes."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(content))


def content_of(origin: Source) -> bytes:
    with origin.open() as stream:
        return stream.read(1 << 30)


def refusal(kind: type[AssayError], place: Any) -> str:
    with pytest.raises(kind) as caught:
        load_qrels(place)
    assert caught.type is kind
    with pytest.raises(kind):
        judge(load_qrels({"q1": {"a": 1}}), place)
    return str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none"
    assert refusal(MissingFileError, path) == (
        f"'{path}' cannot be read: No such file or directory (check the path)"
    )


def test_a_folder(tmp_path: Path) -> None:
    assert refusal(MissingFileError, tmp_path) == f"{tmp_path} is a folder (name a file in it)"
    assert "is a folder" in refusal(MissingFileError, "")


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null"])
def test_a_device(place: str) -> None:
    assert refusal(MissingFileError, place).startswith(f"{place} is a device (name a file, or -")


@pytest.mark.parametrize("place", ["a\0b", "x" * 5000, "\ud800"])
def test_an_impossible_path(place: str) -> None:
    assert "cannot be read" in refusal(MissingFileError, place)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(write: Write) -> None:
    path = write("secret", QRELS)
    path.chmod(0)
    assert "permission denied" in refusal(MissingFileError, path)


def test_a_file_that_may_not_be_read_according_to_the_system(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("secret", QRELS)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "cannot be read: permission denied" in refusal(MissingFileError, path)


def test_a_file_that_goes_away_or_fails(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a", QRELS)
    origin = source(path)
    path.unlink()
    with pytest.raises(MissingFileError, match="cannot be read: No such file"), origin.open():
        pass
    path = write("b", QRELS)

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if size == 4:
                return super().read(size)
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", lambda *_: Failing(QRELS))
    with pytest.raises(MissingFileError, match="Input/output error"):
        load_qrels(path)


def test_a_pipe(tmp_path: Path) -> None:
    """A named pipe is read once and can still be scored by more than one pass."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(RUN))
    writer.start()
    table = judge(load_qrels({"q1": {"a": 1}}), path)
    writer.join(timeout=10)
    assert table.rank.tolist() == [1]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, QRELS)
    assert load_qrels("-").by_query == {"q1": {"a": 1}}
    stdin(monkeypatch, gzip.compress(RUN))
    assert judge(load_qrels({"q1": {"a": 1}}), "-").rank.tolist() == [1]


def test_standard_input_larger_than_memory_should_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was spooled to disk is gone afterwards: no open file is left to complain of."""
    make_stream(monkeypatch)
    monkeypatch.setattr(limits, "SMALL_FILE_BYTES", 1)
    rows = "".join(f"q1 Q0 d{n} 1 {n} t\n" for n in range(500))
    stdin(monkeypatch, rows.encode() + RUN + b"q2 Q0 a 1 1 t\n" + b"q1 Q0 b 1 0.5 t\n")
    table = judge(load_qrels({"q1": {"a": 1, "b": 1}}), "-")
    assert table.rank.tolist() == [498, 501]  # d3 ties with a, and is higher
    stdin(monkeypatch, rows.encode() * 2)
    with pytest.raises(InputError, match=r"<stdin>:501: query 'q1' has document 'd0' again"):
        judge(load_qrels({"q1": {"a": 1, "b": 1}}), "-")
    gc.collect()


def test_errors_in_standard_input_have_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, QRELS + b"q2 0 b\n")
    with pytest.raises(FormatError, match=r"^<stdin>:2: 3 columns"):
        load_qrels("-")


def test_standard_input_can_be_read_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, QRELS)
    load_qrels("-")
    with pytest.raises(InputError, match=r"standard input is empty .*read only once"):
        load_qrels("-")


def test_no_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(MissingFileError, match="there is no standard input"):
        load_qrels("-")


def test_standard_input_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_DECOMPRESSED_BYTES", 100)
    stdin(monkeypatch, QRELS * 100)
    with pytest.raises(LimitError, match="<stdin>: more than 100 bytes"):
        load_qrels("-")


def test_no_space_to_spool(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any, /) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda **_: Full())
    stdin(monkeypatch, QRELS)
    with pytest.raises(InputError, match=r"<stdin> cannot be buffered .*No space left on device"):
        load_qrels("-")


def test_a_source_opens_again_and_again(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    for packed in (QRELS, gzip.compress(QRELS), zstandard.ZstdCompressor().compress(QRELS)):
        with source(write("a", packed)) as origin:
            assert content_of(origin) == content_of(origin) == QRELS
            assert origin.size() == len(packed)
        stdin(monkeypatch, packed)
        with source("-") as origin:
            assert origin.size() is None
            assert content_of(origin) == content_of(origin) == QRELS
            assert origin.size() == len(packed)


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_reading_gives_as_much_as_was_asked_for(
    write: Write, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr(sources, "STEP", step)
    content = bytes(range(256)) * 9
    for packed in (content, gzip.compress(content), zstandard.ZstdCompressor().compress(content)):
        with source(write("a", packed)) as origin, origin.open() as stream:
            assert stream.read(0) == b""
            assert stream.read(10) == content[:10]
            assert stream.read(1000) == content[10:1010]
            assert stream.read(1 << 20) == content[1010:]
            assert stream.read(5) == b""
            assert stream.consumed() == len(packed)


def test_progress_is_told(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    make_stream(monkeypatch)
    path = write("a", RUN + b"".join(b"q2 Q0 d%d 1 1 t\n" % n for n in range(50)))
    told: list[tuple[int, int | None]] = []
    options = RunOptions(progress=lambda done, total: told.append((done, total)))
    judge(load_qrels({"q1": {"a": 1}}), path, options)
    size = path.stat().st_size
    assert told[-1] == (size, size)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_zstd_without_the_package(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    path = write("a", zstandard.ZstdCompressor().compress(QRELS))
    with pytest.raises(MissingDependencyError, match=r"needs the package zstandard"):
        load_qrels(path)


def test_zstd_bombs_stay_small() -> None:
    """However dense the data, not much more than what was asked for is unpacked at once."""
    packed = zstandard.ZstdCompressor().compress(bytes(1 << 28))
    assert len(packed) < 1 << 14
    stream = zstd.ZstdReader(io.BytesIO(packed))
    assert stream.read(1000) == bytes(1000)
    assert len(stream._ready) < 1 << 26


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"\x28\xb5\x2f\xfd", True),
        (b"\x50\x2a\x4d\x18", True),
        (b"\x5f\x2a\x4d\x18", True),
        (b"\x60\x2a\x4d\x18", False),
        (b"\x28\xb5\x2f", False),
        (b"", False),
        (b"q1 0", False),
    ],
)
def test_what_begins_zstd_data(head: bytes, is_one: bool) -> None:
    assert zstd.is_zstd(head) is is_one


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"q1 Q0 a 1 1 t\n", sources.Kind.TREC),
        (b"", sources.Kind.TREC),
        (b"{}", sources.Kind.JSON),
        (b"\n \t[", sources.Kind.JSON),
        (b'\xef\xbb\xbf\r\n{"a"', sources.Kind.JSON),
        (b"PAR1....", sources.Kind.PARQUET),
        (b"\xff\xfe{\0}\0", sources.Kind.TREC),
        (b"PAR", sources.Kind.TREC),
    ],
)
def test_the_kind_of_a_file_comes_from_its_content(content: bytes, kind: sources.Kind) -> None:
    assert sources.sniff(sources.Bytes(io.BytesIO(content), "a")) == (kind, content)
