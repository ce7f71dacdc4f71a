"""Do a segment's columns tell what chunks are about?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from assay.index.columns import CODES, DICTIONARY
from assay.index.reader import Generation, Segment
from assay.model.document import Chunk, ChunkLabels, KeyedChunk
from assay.model.names import names_of
from tests.unit.index.helpers import built, opened

ROWS = [
    KeyedChunk(
        3 * at,
        Chunk(
            f"c{at}",
            "d",
            f"text {at}",
            section_label=("methods", "", "Adverse Events")[at % 3],
            intent_hint=("", "ae")[at % 2],
            is_table=at % 4 == 0,
        ),
    )
    for at in range(12)
]
TRUE = {
    row.key: ChunkLabels(
        row.chunk.section_label,
        row.chunk.intent_hint,
        row.chunk.is_table,
        names_of(row.chunk.doc_id, row.chunk.title, row.chunk.metadata),
    )
    for row in ROWS
}


def refuse(keys: Sequence[int]) -> dict[int, ChunkLabels]:
    raise AssertionError(keys)


def test_labels_of_any_keys_in_any_segment(tmp_path: Path) -> None:
    built(tmp_path, ROWS[:7], ROWS[7:])
    generation = opened(tmp_path)
    wanted = [33, 0, 18, 21, 3]
    assert generation.labels(wanted, refuse) == {key: TRUE[key] for key in wanted}
    assert generation.labels([], refuse) == {}


def test_who_is_not_here_is_asked_for_elsewhere(tmp_path: Path) -> None:
    built(tmp_path, ROWS)
    asked: list[int] = []

    def elsewhere(keys: Sequence[int]) -> dict[int, ChunkLabels]:
        asked.extend(keys)
        return {key: ChunkLabels("results", "", is_table=False) for key in keys}

    found = opened(tmp_path).labels([-5, 6, 7, 999], elsewhere)
    assert asked == [-5, 7, 999]
    assert found[6] == TRUE[6]
    assert found[999].section_label == "results"


def test_a_segment_that_was_written_before_leaves_it_to_the_store(tmp_path: Path) -> None:
    built(tmp_path, ROWS)
    generation = opened(tmp_path)
    _without_hints(generation, tmp_path)
    assert generation.labels([0, 3], lambda keys: {key: TRUE[key] for key in keys}) == {
        0: TRUE[0],
        3: TRUE[3],
    }


def _without_hints(generation: Generation, folder: Path) -> None:
    """Open the only segment as if its writer had known of no hints."""
    (part,) = generation.manifest.segments
    place = folder / part.folder
    content = json.loads((place / DICTIONARY).read_text())
    del content["dictionaries"]["intent_hint"]
    (place / DICTIONARY).write_text(json.dumps(content))
    assert (place / CODES).exists()
    (segment,) = generation.segments
    generation.segments = [
        Segment(type(segment.columns)(place), segment.postings, segment.vectors, segment.alive)
    ]
