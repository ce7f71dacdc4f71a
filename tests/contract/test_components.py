"""Every component keeps the contract that ships in ``assay.testing``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.index import writer
from assay.index.reader import open_generation
from assay.index.writer import update
from assay.model.document import KeyedChunk
from assay.model.query import Component
from assay.testing.component import check_component
from tests.unit.index.helpers import DENSE, ENCODERS, SPARSE, Memory


@pytest.mark.req("R1", "R14")
@pytest.mark.parametrize("name", ["bm25", "splade", "dense", "splade-packed", "dense-graph"])
@pytest.mark.parametrize("changes", [1, 3])
def test_contract(name: str, changes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count()
    if "-" in name:  # as in large segments
        monkeypatch.setattr(writer, "MERGED_ROWS", 1)

    def build(rows: Sequence[KeyedChunk]) -> Component:
        folder = tmp_path / str(next(numbers))
        memory = Memory()
        graph_from = 5 if name == "dense-graph" else 1_000_000
        for part in range(changes):
            memory.change(rows[part::changes])
            update(folder, memory, ENCODERS, graph_from_rows=graph_from)
        generation = open_generation(folder)
        if name == "bm25":
            return generation.bm25()
        if name.startswith("splade"):
            return generation.splade(SPARSE)
        return generation.dense(DENSE)

    check_component(build)
