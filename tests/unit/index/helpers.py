"""An index over chunks that live in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.index.manifest import Manifest
from assay.index.reader import Generation, open_generation
from assay.index.writer import Encoders, update
from assay.model.document import Chunk, KeyedChunk, LoggedChange
from assay.testing.encoders import HashingDense, HashingSparse

DENSE, SPARSE = HashingDense(), HashingSparse()
ENCODERS = Encoders(
    dense=lambda texts: DENSE.encode(texts, "passage"),
    sparse=lambda texts: SPARSE.encode(texts, "passage"),
    dense_model=DENSE.model_id,
    sparse_model=SPARSE.model_id,
    vocabulary=SPARSE.vocabulary,
)


class Memory:
    """A chunk source without a disk: one change per call."""

    def __init__(self) -> None:
        self.log: list[tuple[list[KeyedChunk], list[int]]] = []

    def change(self, added: Sequence[KeyedChunk] = (), removed: Sequence[int] = ()) -> None:
        self.log.append((list(added), list(removed)))

    def last_change(self) -> int:
        return len(self.log)

    def mark(self, seq: int) -> str:
        return str([row.key for added, _ in self.log[:seq] for row in added][-3:])

    def newest(self, seq: int) -> list[LoggedChange]:
        return [(at + 1, "", f"{gone}", None) for at, (_, gone) in enumerate(self.log[:seq])]

    def added_since(self, seq: int, until: int) -> Iterator[list[KeyedChunk]]:
        gone = {key for _, keys in self.log[:until] for key in keys}
        for added, _ in self.log[seq:until]:
            yield [row for row in added if row.key not in gone]

    def count_since(self, seq: int, until: int) -> int:
        return sum(map(len, self.added_since(seq, until)))

    def change_within(self, seq: int, until: int, many: int) -> int:
        for change in range(seq + 2, until + 1):
            if sum(len(added) for added, _ in self.log[seq:change]) > many:
                return change - 1
        return until

    def chunks_by_key(self, keys: Sequence[int]) -> dict[int, Chunk]:
        wanted = {*keys}
        return {row.key: row.chunk for added, _ in self.log for row in added if row.key in wanted}

    def removed_since(self, seq: int, until: int) -> list[int]:
        before = {row.key for added, _ in self.log[:seq] for row in added}
        return [key for _, keys in self.log[seq:until] for key in keys if key in before]


def built(folder: Path, *changes: Sequence[KeyedChunk]) -> tuple[Memory, Manifest]:
    memory, manifest = Memory(), Manifest()
    for rows in changes:
        memory.change(rows)
        manifest = update(folder, memory, ENCODERS)
    return memory, manifest


def opened(folder: Path) -> Generation:
    return open_generation(folder)
