"""The components on a cluster keep the contract that the embedded ones keep."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from assay.model.document import KeyedChunk
from assay.model.query import Component
from assay.opensearch.cluster import Cluster, Shape
from assay.opensearch.transport import Transport
from assay.testing.component import check_component, sample
from tests.unit.index.helpers import DENSE, ENCODERS, SPARSE, Memory

NUMBERS = itertools.count()


@pytest.mark.req("R1", "R14")
@pytest.mark.parametrize("name", ["bm25", "splade", "dense"])
@pytest.mark.parametrize("changes", [1, 3])
def test_contract(name: str, changes: int, transport: Transport) -> None:
    def build(rows: Sequence[KeyedChunk]) -> Component:
        cluster = Cluster(transport, Shape(f"contract{next(NUMBERS)}", shards=2, replicas=1))
        memory = Memory()
        for part in range(changes):
            memory.change(rows[part::changes])
            current = cluster.update(memory, ENCODERS, DENSE.dimension)
        built = cluster.component(name, current, SPARSE, DENSE)
        assert built is not None
        return built

    check_component(build)


def test_deletes_rebuilds_and_the_alias(transport: Transport) -> None:
    rows = sample()
    cluster = Cluster(transport, Shape("moves", shards=2, replicas=1))
    memory = Memory()
    memory.change(rows)
    first = cluster.update(memory, ENCODERS, DENSE.dimension)
    assert cluster.current() == first
    assert cluster.count(first.index) == len(rows)
    assert cluster.problems(len(rows), memory) == []
    memory.change((), removed=[rows[0].key])
    assert "1 change behind" in cluster.problems(len(rows) - 1, memory)[0]
    second = cluster.update(memory, ENCODERS, DENSE.dimension)
    assert (second.index, second.applied) == (first.index, first.applied + 1)
    assert cluster.count(second.index) == len(rows) - 1
    third = cluster.update(memory, ENCODERS, DENSE.dimension, fresh=True)
    assert third.generation == first.generation + 1
    assert cluster.current() == third
    bm25 = cluster.component("bm25", second, None, None)
    assert bm25 is not None
    assert bm25.search("heart failure", 3), "the generation before can still be searched"
    assert cluster.unfit() == []
