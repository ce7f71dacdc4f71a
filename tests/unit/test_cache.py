"""Is memory bounded, and is what was used last kept?"""

from __future__ import annotations

from assay.cache import Cache


def test_what_was_not_used_for_longest_goes_first() -> None:
    cache: Cache[str, int] = Cache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    assert len(cache) == 2
    cache.clear()
    assert len(cache) == 0


def test_only_what_is_missing_is_fetched() -> None:
    cache: Cache[int, str] = Cache(10)
    asked: list[list[int]] = []

    def fetch(keys: object) -> dict[int, str]:
        wanted = list(keys)  # type: ignore[call-overload]
        asked.append(wanted)
        return {key: str(key) for key in wanted}

    assert cache.all_of([1, 2], fetch) == {1: "1", 2: "2"}
    assert cache.all_of([2, 3], fetch) == {2: "2", 3: "3"}
    assert cache.all_of([3], fetch) == {3: "3"}
    assert asked == [[1, 2], [3]]
