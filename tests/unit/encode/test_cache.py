"""Is a vector that was kept found again, unharmed, and only under its own name?"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay import limits
from assay.encode.cache import VectorCache, keys_of, text_key
from assay.errors import CacheUnavailableError, CorruptCacheError, InputError

MODEL = "toy/model:256:abc"


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VectorCache]:
    with VectorCache(tmp_path / "vectors", MODEL) as made:
        yield made


def rows(count: int, start: int = 0) -> dict[bytes, bytes]:
    return {
        text_key(f"text {at}", "passage"): at.to_bytes(4, "little") * 384
        for at in range(start, start + count)
    }


def test_what_was_kept_is_found_after_opening_again(cache: VectorCache) -> None:
    kept = rows(1200)
    cache.put(kept)
    cache.put({})
    assert cache.get([]) == {}
    with VectorCache(cache.path.parent, MODEL) as again:
        assert again.get([*kept, text_key("unknown", "passage")]) == kept
        assert again.count() == 1200


def test_two_may_open_a_new_file_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[threading.Thread] = []

    class Interrupted(sqlite3.Connection):
        """Another process opens the file while this one looks whose it is."""

        def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
            if sql == "PRAGMA user_version" and not others:
                others.append(threading.Thread(target=VectorCache, args=(tmp_path, MODEL)))
                others[0].start()
                others[0].join(0.3)
            return super().execute(sql, *more)

    plain = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", partial(plain, factory=Interrupted))
    with VectorCache(tmp_path, MODEL) as made:
        made.put(rows(1))
        assert made.count() == 1
    others[0].join()


def test_kinds_and_texts_have_their_own_keys() -> None:
    keys = {text_key("a", "query"), text_key("a", "passage"), text_key("a ", "passage")}
    assert len(keys) == 3
    assert {len(key) for key in keys} == {33}


def test_another_model_has_another_file(tmp_path: Path, cache: VectorCache) -> None:
    cache.put(rows(1))
    with VectorCache(cache.path.parent, "toy/model:128:abc") as other:
        assert other.path != cache.path
        assert other.get(list(rows(1))) == {}


def test_a_file_of_another_model_under_this_name_is_refused(
    tmp_path: Path, cache: VectorCache
) -> None:
    with VectorCache(tmp_path / "elsewhere", "other:1:x") as other:
        other.put(rows(3))
    cache.close()
    cache.path.write_bytes(other.path.read_bytes())
    with pytest.raises(CorruptCacheError, match="other:1:x"):
        VectorCache(cache.path.parent, MODEL)


def test_hostile_names_of_models_stay_in_the_folder(tmp_path: Path) -> None:
    for name in ("../../etc/passwd", "a/b", "." * 300, "", "ünï", "CON"):
        with VectorCache(tmp_path / "vectors", name) as made:
            assert made.path.parent == tmp_path / "vectors"
            assert made.path.is_file()


@pytest.mark.parametrize("column", ["data", "checksum", "key"])
def test_a_damaged_row_counts_as_missing_and_heals(cache: VectorCache, column: str) -> None:
    kept = rows(3)
    cache.put(kept)
    keys = list(kept)
    # the last case: two rows changed places, each whole but under the wrong text
    change, value = {
        "data": ("data = ?", b"\xff" * 1536),
        "checksum": ("checksum = checksum + ?", 1),
        "key": ("data = ?", kept[keys[1]]),
    }[column]
    with sqlite3.connect(cache.path) as db:
        db.execute(f"UPDATE vectors SET {change} WHERE key = ?", (value, keys[0]))
    db.close()
    found = cache.get(keys)
    assert found == {key: kept[key] for key in keys[1:]}
    assert cache.damaged == 1
    cache.put({keys[0]: kept[keys[0]]})
    assert cache.get(keys) == kept
    assert cache.count() == 3


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path, cache: VectorCache) -> None:
    cache.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{cache.path}{suffix}").unlink(missing_ok=True)
    cache.path.write_bytes(os.urandom(50_000))
    with pytest.raises(CorruptCacheError, match=cache.path.name) as caught:
        VectorCache(cache.path.parent, MODEL)
    assert "delete" in (caught.value.hint or "")


def test_a_database_of_another_program_is_left_alone(tmp_path: Path, cache: VectorCache) -> None:
    cache.close()
    cache.path.unlink()
    with sqlite3.connect(cache.path) as db:
        db.execute("PRAGMA user_version = 77")
    db.close()
    with pytest.raises(CorruptCacheError, match="another program or version"):
        VectorCache(cache.path.parent, MODEL)


def test_a_full_disk_is_an_error_of_its_own(cache: VectorCache) -> None:
    cache.put(rows(2))
    pages = cache._db.execute("PRAGMA page_count").fetchone()[0]
    cache._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(CacheUnavailableError, match="full"):
        cache.put(rows(500, 2))
    assert cache.get(list(rows(500))) == rows(2)
    cache._db.execute("PRAGMA max_page_count = 1000000")
    cache.put(rows(500, 2))
    assert cache.count() == 502


def test_threads_share_one_cache(cache: VectorCache) -> None:
    def work(start: int) -> None:
        cache.put(rows(50, start))
        assert len(cache.get(list(rows(50, start)))) == 50

    threads = [threading.Thread(target=work, args=(at * 25,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get(list(rows(225))) == rows(225)


def test_two_openings_write_the_same_file(cache: VectorCache) -> None:
    with VectorCache(cache.path.parent, MODEL) as other:
        cache.put(rows(10))
        other.put(rows(10, 5))
        assert cache.get(list(rows(15))) == rows(15)
        assert other.count() == 15


def test_beyond_the_cap_nothing_more_is_kept(
    cache: VectorCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_CACHED_VECTORS", 5)
    cache.put(rows(4))
    cache.put(rows(4, 10))
    assert cache.count() == 4


def test_a_text_that_cannot_be_encoded_is_named_by_its_place() -> None:
    with pytest.raises(InputError, match=r"text 1: .*U\+D800.* position 2"):
        keys_of(["fine", "ab\ud800"], "passage")


def test_half_a_character_that_no_model_looks_at_does_no_harm() -> None:
    far = "a" * limits.MAX_ENCODE_CHARS
    assert text_key(f"{far}\ud800", "query") != text_key(far, "query")
