"""Are bytes told by content, bounded, and refused when they are an archive?"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

from assay import limits
from assay.errors import FormatError, LimitError, MissingFileError
from assay.ingest import files as opening
from assay.ingest.watch import Progress, Watch

TEXT = b"one\ntwo\n"


def packed(kind: str) -> bytes:
    if kind == "gzip":
        return gzip.compress(TEXT)
    if kind == "zstd":
        return zstandard.compress(TEXT)
    return TEXT


@pytest.mark.parametrize("kind", ["plain", "gzip", "zstd"])
def test_content_is_told_whatever_the_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "corpus.dat"
    path.write_bytes(packed(kind))
    assert [tuple(line) for line in opening.lines(path, Watch())] == [
        (1, b"one", True),
        (2, b"two", True),
    ]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_members_and_frames_follow_each_other(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "two"
    path.write_bytes(packed(kind) * 2)
    assert opening.whole(path, Watch(), 100) == TEXT * 2


def test_zero_padding_after_gzip_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "padded"
    path.write_bytes(gzip.compress(TEXT) + b"\0" * 10)
    assert opening.whole(path, Watch(), 100) == TEXT


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_cut_off_compression_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "cut"
    path.write_bytes(packed(kind)[:-3])
    with pytest.raises(FormatError, match=r"cut: the compressed data is damaged or truncated"):
        opening.whole(path, Watch(), 100)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_damaged_compression_is_an_error(tmp_path: Path, kind: str) -> None:
    data = bytearray(packed(kind))
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "damaged"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="damaged"):
        opening.whole(path, Watch(), 100)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_bombs_are_refused_before_they_fill_memory(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BOMB_FLOOR_BYTES", 1 << 20)
    zeros = bytes(64 << 20)
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(zeros) if kind == "gzip" else zstandard.compress(zeros))
    with pytest.raises(LimitError, match="unpacks to more than"):
        list(opening.blocks(path, Watch()))


def archive(kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as made:
            made.writestr("../../etc/passwd", "x")
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz" if kind == "tar.gz" else "w") as tar:
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(link)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_archives_are_not_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(archive(kind))
    with pytest.raises(FormatError, match=r"this is a (zip|tar) archive .*unpack it into a folder"):
        opening.whole(path, Watch(), 1 << 20)


@pytest.mark.parametrize(("data", "name"), [(b"BZh91AY", "bzip2"), (b"\xfd7zXZ\x00..", "xz")])
def test_other_compressions_are_named(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=name):
        opening.whole(path, Watch(), 100)


def test_only_newlines_end_lines(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\u2028b\u0085c\x0cd\re\nf".encode())
    assert [line.data.decode() for line in opening.lines(path, Watch())] == [
        "a\u2028b\u0085c\x0cd\re",
        "f",
    ]


def test_lines_across_blocks_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "STEP", 3)
    path = tmp_path / "lines"
    path.write_bytes(b"abcdefgh\n\nij\nk")
    found = [tuple(line) for line in opening.lines(path, Watch())]
    assert found == [(1, b"abcdefgh", True), (2, b"", True), (3, b"ij", True), (4, b"k", False)]


def test_a_hundred_megabytes_in_one_line_are_refused_early(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"_id": "a"}\n{"_id": "b", "text": "')
        file.seek(100 << 20)
        file.write(b'"}\n')
    seen: list[Progress] = []
    with pytest.raises(LimitError, match=r"long\.jsonl:2: a line of more than"):
        list(opening.lines(path, Watch(seen.append)))
    assert path.stat().st_size > 100 << 20


def test_whole_files_have_caps(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"x" * 11)
    with pytest.raises(LimitError, match="more than 10 bytes"):
        opening.whole(path, Watch(), 10)


def test_what_is_no_plain_file_is_refused_without_waiting(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(MissingFileError, match="not a plain file"):
        opening.whole(fifo, Watch(), 10)
    with pytest.raises(MissingFileError, match="cannot be read"):
        opening.whole(tmp_path / "absent", Watch(), 10)
    with pytest.raises(MissingFileError, match="cannot be read"):
        opening.whole(Path("a\0b"), Watch(), 10)


def test_zstandard_missing_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib

    from assay.errors import MissingDependencyError

    def refuse(name: str) -> object:
        raise ImportError(name)

    path = tmp_path / "packed"
    path.write_bytes(zstandard.compress(TEXT))
    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingDependencyError, match="pip install zstandard"):
        opening.whole(path, Watch(), 100)
