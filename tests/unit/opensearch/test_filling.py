"""Whose index is it, what is in it after a load that was cut off, and what is not done twice?"""

from __future__ import annotations

import pytest

from assay.errors import EngineError
from assay.opensearch.cluster import Cluster, Current, Shape
from assay.testing.component import sample
from tests.unit.index.helpers import DENSE, ENCODERS, Memory
from tests.unit.opensearch.memory_cluster import MemoryCluster

ROWS = sample()


def updated(cluster: Cluster, memory: Memory, *, fresh: bool = False) -> Current:
    return cluster.update(memory, ENCODERS, DENSE.dimension, fresh=fresh)


def test_what_came_with_a_load_that_was_cut_off_and_was_deleted_since_is_gone() -> None:
    transport, memory = MemoryCluster(), Memory()
    cluster = Cluster(transport, Shape())
    memory.change(ROWS[:3])
    index = updated(cluster, memory).index
    memory.change(ROWS[3:5])
    transport.fails = {"_refresh"}
    with pytest.raises(EngineError):
        updated(cluster, memory)
    assert ROWS[3].key in transport.documents(index)
    memory.change((), removed=[ROWS[3].key])
    for _ in range(2):  # cut off again: the next one knows as much
        with pytest.raises(EngineError):
            updated(cluster, memory)
    transport.fails = set()
    memory.change((), removed=[ROWS[4].key])
    updated(cluster, memory)
    assert transport.documents(index) == {row.key for row in ROWS[:3]}
    assert cluster.problems(3, memory) == []


def test_an_index_of_another_workspace_is_neither_written_nor_replaced() -> None:
    """Two workspaces with the usual prefix on one cluster."""
    transport, ours, theirs = MemoryCluster(), Memory(), Memory()
    cluster = Cluster(transport, Shape())
    theirs.change(ROWS[:4])
    theirs.change(ROWS[4:6])
    current = updated(cluster, theirs)
    ours.change(ROWS[6:8])
    for _ in range(2):  # behind them in number, then as far as they are
        with pytest.raises(EngineError, match="made from another database") as caught:
            updated(cluster, ours)
        assert "opensearch_prefix" in str(caught.value.hint)
        assert cluster.problems(2, ours) == ["the index was made from another database"]
        ours.change(ROWS[8:9])
    assert (cluster.current(), transport.documents(current.index)) == (
        current,
        {row.key for row in ROWS[:6]},
    )
    rebuilt = updated(cluster, ours, fresh=True)
    assert cluster.current() == rebuilt
    assert transport.documents(rebuilt.index) == {row.key for row in ROWS[6:9]}


def test_a_store_that_was_put_back_and_went_another_way_is_told_from_the_index() -> None:
    """The same chunks and as many changes, and another one was deleted."""
    transport, ours, theirs = MemoryCluster(), Memory(), Memory()
    cluster = Cluster(transport, Shape())
    for memory, gone in ((theirs, ROWS[0]), (ours, ROWS[1])):
        memory.change(ROWS[:3])
        memory.change((), removed=[gone.key])
    updated(cluster, theirs)
    assert cluster.problems(2, theirs) == []
    assert cluster.problems(2, ours) == ["the index was made from another database"]
    with pytest.raises(EngineError, match="made from another database"):
        updated(cluster, ours)


def test_a_store_without_an_index_is_behind_and_not_damaged() -> None:
    memory = Memory()
    memory.change(ROWS[:3])
    (told,) = Cluster(MemoryCluster(), Shape()).problems(3, memory)
    assert told == "there is no index on the cluster yet: 1 change behind the store"


def test_an_index_that_another_workspace_is_filling_is_left_alone() -> None:
    transport, ours, theirs = MemoryCluster(), Memory(), Memory()
    cluster = Cluster(transport, Shape())
    theirs.change(ROWS[:4])
    transport.fails = {"_refresh"}
    with pytest.raises(EngineError):
        updated(cluster, theirs)
    transport.fails = set()
    ours.change(ROWS[6:8])
    with pytest.raises(EngineError, match="made from another database"):
        updated(cluster, ours)
    assert transport.documents("assay-000001") == {row.key for row in ROWS[:4]}


def test_a_whole_index_is_not_loaded_again_where_the_alias_could_not_be_moved() -> None:
    transport, memory = MemoryCluster(), Memory()
    cluster = Cluster(transport, Shape())
    memory.change(ROWS[:4])
    transport.fails = {"_aliases"}
    with pytest.raises(EngineError):
        updated(cluster, memory)
    assert cluster.current().generation == 0
    transport.fails, transport.bulks_left = set(), 0
    assert updated(cluster, memory) == cluster.current()
    assert transport.documents("assay-000001") == {row.key for row in ROWS[:4]}


def test_an_index_that_cannot_be_searched_yet_is_not_called_complete() -> None:
    transport, memory = MemoryCluster(), Memory()
    cluster = Cluster(transport, Shape())
    memory.change(ROWS[:3])
    before = updated(cluster, memory)
    memory.change(ROWS[3:5])
    transport.failed_shards = 1
    with pytest.raises(EngineError, match="1 shard of assay-000001 could not be refreshed"):
        updated(cluster, memory)
    assert cluster.current().name == before.name
    transport.failed_shards = 0
    assert updated(cluster, memory).applied == 2
