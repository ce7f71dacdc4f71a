"""What is left of the store when the end of its log never reached the disk?

Commits are acknowledged once SQLite's log is durable up to their end. What stands in the log after
that may be cut off, rubbish or zeros: every acknowledged commit is there, and none is there in
part.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from assay.store.corpus import CorpusStore
from tests.unit.store.test_corpus import document

COMMITS = 12


@pytest.mark.slow
@pytest.mark.req("2")
@pytest.mark.parametrize("damage", ["cut", "rubbish", "zeros", "swapped"])
def test_the_end_of_the_log_is_lost(damage: str, tmp_path: Path) -> None:
    path, log = tmp_path / "assay.db", tmp_path / "assay.db-wal"
    store = CorpusStore(path)
    ends = []
    for number in range(COMMITS):
        store.put([document(f"d{number}-{at}", f"text {number} {at}") for at in range(3)])
        ends.append(log.stat().st_size)
    assert ends == sorted(ends)  # no checkpoint yet: all of it is in the log
    whole = log.read_bytes()
    rng = random.Random(damage)
    for number in range(20):
        last = rng.randrange(COMMITS)
        image = tmp_path / f"{damage}-{number}"
        image.mkdir()
        shutil.copyfile(path, image / "assay.db")
        tail = _damaged(whole[ends[last] :], damage, rng)
        (image / "assay.db-wal").write_bytes(whole[: ends[last]] + tail)
        left = CorpusStore(image / "assay.db")
        names = [row.chunk.doc_id for page in left.added_since(0, 10**9) for row in page]
        left.close()
        found = len(dict.fromkeys(names))
        assert found >= 3 * (last + 1)
        assert found % 3 == 0
        wanted = [f"d{at // 3}-{at % 3}" for at in range(found)]
        assert list(dict.fromkeys(names)) == wanted
    store.close()


def _damaged(tail: bytes, damage: str, rng: random.Random) -> bytes:
    at = rng.randrange(len(tail) + 1)
    if damage == "cut":
        return tail[:at]
    if damage == "rubbish":
        return tail[:at] + rng.randbytes(len(tail) - at)
    if damage == "zeros":
        return tail[:at] + bytes(len(tail) - at)
    blocks = [tail[start : start + 512] for start in range(0, len(tail), 512)]
    rng.shuffle(blocks)
    return b"".join(blocks)
