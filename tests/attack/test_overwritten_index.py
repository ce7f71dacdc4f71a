"""Is a file of the index that somebody overwrote served, when its time was put back?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.errors import CorruptError
from assay.index import manifest
from assay.model.document import Chunk
from tests.unit.search.corpus import filled

CHUNKS = [Chunk(f"d{at}:chunk_0", f"d{at}", f"heart failure {at}", "T") for at in range(4)]


def _touched(path: Path, change: bytes) -> None:
    """Other bytes in the same place, with the size and the time of before."""
    before = path.stat()
    with path.open("r+b") as file:
        file.write(change)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_process_that_is_open_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "LOOK_AGAIN_S", -1.0)
    with filled(tmp_path / "home", CHUNKS) as opened:
        searcher = opened.searcher
        assert searcher.search("heart failure").results
        for path in sorted(opened.layout.index.rglob("columns.json")):
            content = path.read_bytes()
            _touched(path, content[:-8] + bytes(8))
            for _ in range(2):
                with pytest.raises(CorruptError, match=path.name):
                    searcher.search("heart failure")
            assert set(searcher.components.values()) == {f"{path} was damaged"}
            _touched(path, content)
            assert searcher.search("heart failure").results


def test_an_index_that_was_rebuilt_is_served_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "LOOK_AGAIN_S", -1.0)
    with filled(tmp_path / "home", CHUNKS) as opened:
        searcher = opened.searcher
        (path, *_) = sorted(opened.layout.index.rglob("columns.json"))
        _touched(path, bytes(path.stat().st_size))
        with pytest.raises(CorruptError):
            searcher.search("heart failure")
        opened.update_index(fresh=True)
        assert searcher.search("heart failure").results


def test_other_owners_and_links_change_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Backup programs make links, which changes ``ctime`` and nothing else."""
    monkeypatch.setattr(manifest, "LOOK_AGAIN_S", -1.0)
    with filled(tmp_path / "home", CHUNKS) as opened:
        before = opened.searcher.search("heart failure").results
        for number, path in enumerate(sorted(opened.layout.index.rglob("*.*"))):
            if path.is_file():
                os.link(path, tmp_path / f"link-{number}")
                path.chmod(0o600)
        assert opened.searcher.search("heart failure").results == before
