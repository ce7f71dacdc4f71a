"""Do several cores find what one finds?"""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest

from assay.index import reader, writer
from assay.index.side_by_side import side_by_side
from assay.model.document import Chunk, KeyedChunk
from tests.unit.index.helpers import DENSE, SPARSE, built, opened


def test_results_keep_their_order_whoever_works() -> None:
    def work(at: int) -> tuple[int, int]:
        return at, sum(range(10_000 * (at % 3)))

    found = side_by_side([partial(work, at) for at in range(12)])
    assert [at for at, _ in found] == [*range(12)]


def test_helpers_take_work_while_the_caller_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.index.side_by_side.cores", lambda: 2)
    both = threading.Barrier(2)
    assert side_by_side([lambda: both.wait(30), lambda: both.wait(30)])


@pytest.mark.parametrize("failing", range(4))
def test_a_failure_is_raised_and_leaves_nobody_behind(failing: int) -> None:
    running = []

    def work(at: int) -> None:
        running.append(at)
        sum(range(100_000))
        running.remove(at)
        if at == failing:
            raise ValueError(at)

    with pytest.raises(ValueError, match=str(failing)):
        side_by_side([partial(work, at) for at in range(4)])
    assert not running


def test_segments_are_searched_alike_one_by_one_and_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MERGED_ROWS", 0)
    texts = [f"word{at % 7} word{at % 5} word{at}" for at in range(60)]
    rows = [KeyedChunk(at, Chunk(f"c{at}", "d", text)) for at, text in enumerate(texts)]
    built(tmp_path, rows[:10], rows[10:40], rows[40:])
    generation = opened(tmp_path)
    assert len(generation.segments) == 3
    components = generation.splade(SPARSE), generation.dense(DENSE)
    before = [one.search("word3 word4", 30) for one in components]
    assert all(before)
    monkeypatch.setattr(reader, "SIDE_BY_SIDE", 0)
    assert [one.search("word3 word4", 30) for one in components] == before
