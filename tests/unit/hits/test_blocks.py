"""Does a block give the right ranks, even when every hash is the same?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from assay.hits import rows as rows_module
from assay.hits.blocks import (
    DuplicateRowError,
    JudgedIndex,
    ScatteredRowsError,
    SortedKeys,
    TableBuilder,
    reduce_block,
)
from assay.hits.qrels import load_qrels
from assay.hits.rows import FrameRows, HashArray, group_starts, series_hashes
from assay.model.arrays import IntArray
from assay.model.judgments import Qrels

from .tables import contents, ranks

pytestmark = pytest.mark.usefixtures("loops")

QRELS = load_qrels({"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1, "a": 3}, "q3": {}})


def rows(*lines: tuple[str, str, float]) -> FrameRows:
    query, doc, score = zip(*lines, strict=True) if lines else ((), (), ())
    return FrameRows.of(
        pl.Series(query, dtype=pl.String),
        pl.Series(doc, dtype=pl.String),
        np.array(score, dtype=np.float64),
    )


def judged(qrels: Qrels) -> JudgedIndex:
    return JudgedIndex(qrels, rows_module.list_hashes)


def few_hashes(count: int) -> Callable[[pl.Series], HashArray]:
    """A hash of the document that takes few values; queries keep theirs, they have to differ."""

    def hash_of(column: pl.Series) -> HashArray:
        plain = series_hashes(column)
        return plain % np.uint64(count) if column.str.contains("^[a-p]").any() else plain

    return hash_of


@pytest.mark.parametrize("count", [1, 2, 3])
def test_collisions_change_nothing(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(count)
    lines = [
        (query, doc, float(rng.integers(0, 4)))
        for query in ("q1", "q2", "q4")
        for doc in rng.permutation(list("abcdefghijklmnop")).tolist()
    ]
    plain = TableBuilder(QRELS)
    plain.add(reduce_block(judged(QRELS), rows(*lines)))
    monkeypatch.setattr(rows_module, "series_hashes", few_hashes(count))
    colliding = TableBuilder(QRELS)
    colliding.add(reduce_block(judged(QRELS), rows(*lines)))
    assert contents(colliding.build()) == contents(plain.build())
    with pytest.raises(DuplicateRowError) as caught:
        reduce_block(judged(QRELS), rows(*lines, ("q4", lines[-3][1], 0.0)))
    twice = caught.value
    assert (twice.query, twice.doc) == lines[-3][:2]
    assert (twice.first, twice.second) == (len(lines) - 3, len(lines))


def test_a_block_of_nothing() -> None:
    block = reduce_block(judged(QRELS), rows())
    assert block.group_names == []
    assert len(block.rank) == len(block.group_top) == 0


def test_queries_without_judgments() -> None:
    index = judged(load_qrels({"q3": {}}))
    builder = TableBuilder(load_qrels({"q3": {}}))
    builder.add(reduce_block(index, rows(("q3", "a", 1.0))))
    table = builder.build()
    assert table.retrieved.tolist() == [1]
    assert len(table.rank) == 0


def test_a_document_judged_for_another_query_only() -> None:
    builder = TableBuilder(QRELS)
    builder.add(reduce_block(judged(QRELS), rows(("q1", "x", 2.0), ("q2", "b", 1.0))))
    assert len(builder.build().rank) == 0


def test_blocks_add_up() -> None:
    index, builder = judged(QRELS), TableBuilder(QRELS)
    builder.add(reduce_block(index, rows(("q2", "a", 1.0), ("q2", "x", 1.0))))
    builder.add(reduce_block(index, rows(("q1", "c", 1.0), ("q9", "c", 1.0), ("q3", "c", 1.0))))
    table = builder.build()
    assert ranks(table, "q1") == [(1, 2)]
    assert ranks(table, "q2") == [(1, 1), (2, 3)]
    assert table.tied.tolist() == [0, 2, 0]
    assert table.missing.tolist() == [False, False, False]
    assert table.extra_queries == 1
    assert TableBuilder(QRELS).build().missing.all()


def test_queries_that_come_and_go_cost_no_more_than_their_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every row begins a group, and none of them is looked up until its query is gathered."""
    index = judged(load_qrels({f"q{n}": {f"d{doc}": 1 for doc in range(200)} for n in range(2)}))
    looked: list[int] = []
    plain = index._judgments

    def counted(positions: IntArray) -> tuple[IntArray, IntArray]:
        looked.append(len(positions))
        return plain(positions)

    monkeypatch.setattr(index, "_judgments", counted)
    turns = rows(*((f"q{at % 2}", f"d{at}", -at) for at in range(1_000)))
    with pytest.raises(ScatteredRowsError):
        reduce_block(index, turns)
    assert looked == []
    assert len(reduce_block(index, turns.gathered()).rank) == 200
    assert looked == [2]


def test_nothing_judged() -> None:
    nothing = Qrels.from_mapping({})
    block = reduce_block(judged(nothing), rows(("q1", "a", 1.0), ("q2", "b", 1.0)))
    assert block.rank.tolist() == []
    assert block.query.tolist() == []


def test_a_query_that_comes_back() -> None:
    index = judged(QRELS)
    builder = TableBuilder(QRELS)
    builder.add(reduce_block(index, rows(("q1", "a", 1.0))))
    with pytest.raises(ScatteredRowsError):
        builder.add(reduce_block(index, rows(("q2", "a", 1.0), ("q1", "b", 1.0))))
    scattered = rows(("q1", "a", 1.0), ("q2", "a", 1.0), ("q1", "b", 1.0))
    with pytest.raises(ScatteredRowsError):
        TableBuilder(QRELS).add(reduce_block(index, scattered))


# Rows


def test_gathering_keeps_the_order_within_a_query() -> None:
    scattered = rows(("q2", "a", 1.0), ("q1", "b", 2.0), ("q2", "c", 3.0), ("q1", "d", 4.0))
    together = scattered.gathered()
    assert together.origin is not None
    by_query = dict.fromkeys(together.query.to_list())
    assert len(by_query) == len(together.starts) == 2
    assert together.doc.to_list() in (["a", "c", "b", "d"], ["b", "d", "a", "c"])
    assert scattered.doc.gather(together.origin).equals(together.doc)


def test_parts_are_whole_queries() -> None:
    whole = rows(("q1", "a", 1.0), ("q2", "b", 2.0), ("q2", "c", 3.0), ("q3", "d", 4.0))
    part = whole.part(1, 3)
    assert part.doc.to_list() == ["b", "c", "d"]
    assert part.starts.tolist() == [0, 2]
    assert part.queries(part.starts) == ["q2", "q3"]


def test_where_groups_begin() -> None:
    assert group_starts(np.array([], dtype=np.uint64)).tolist() == []
    assert group_starts(np.array([7], dtype=np.uint64)).tolist() == [0]
    assert group_starts(np.array([7, 7, 5, 5, 7], dtype=np.uint64)).tolist() == [0, 2, 4]


def test_a_query_may_be_longer_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "BLOCK_ROWS", 4)
    query = pl.Series(["a"] * 11 + ["b", "c", "c"])
    made = FrameRows.of(query, pl.Series([str(n) for n in range(14)]), np.arange(14.0))
    assert made.starts.tolist() == [0, 11, 12]
    assert made.names == ["a", "b", "c"]


def test_keys_that_differ_in_their_low_bits_only_are_told_apart() -> None:
    keys = np.array([8, 9, 8, 16, 10], dtype=np.uint64)
    in_order = SortedKeys(keys)
    assert in_order.repeated().tolist() == [0, 2]
    found, which = in_order.rows_of(np.array([9, 11, 8], dtype=np.uint64))
    assert sorted(zip(found.tolist(), which.tolist(), strict=True)) == [(0, 2), (1, 0), (2, 2)]
