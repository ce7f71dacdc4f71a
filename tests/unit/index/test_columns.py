"""Do a segment's columns tell what chunks are about?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from assay.index.columns import DICTIONARY
from assay.index.reader import Generation, Segment
from assay.index.texts import open_texts, write_texts
from assay.model.document import Chunk, ChunkLabels, KeyedChunk
from assay.model.names import names_of
from assay.model.query import Filters
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


def test_a_segment_of_the_older_form_is_filtered_alike(tmp_path: Path) -> None:
    built(tmp_path, ROWS)
    generation = opened(tmp_path)
    (segment,) = generation.segments
    methods = Filters(section_label=("methods", "nowhere"))
    before = segment.columns.passing(methods)
    _as_older(generation, tmp_path)
    (older,) = generation.segments
    assert older.columns.chunk_ids == [row.chunk.chunk_id for row in ROWS]
    assert before is not None
    assert before.tolist() == [at % 3 == 0 for at in range(len(ROWS))]
    found = older.columns.passing(methods)
    assert found is not None
    assert found.tolist() == before.tolist()


def test_chunk_ids_of_all_segments_by_key(tmp_path: Path) -> None:
    built(tmp_path, ROWS[:7], ROWS[7:])
    ids = opened(tmp_path).chunk_ids
    assert dict(ids) == {row.key: row.chunk.chunk_id for row in ROWS}
    assert len(ids) == len(ROWS)
    for absent in (-1, 1, 20, 999):
        assert ids.get(absent) is None
    keys = [ROWS[9].key, 999, ROWS[0].key, -1, ROWS[9].key]
    assert ids.of(keys) == [*map(ids.get, keys)]
    assert ids.of([2**70]) == [None]
    assert ids.of([]) == []
    assert dict(opened(tmp_path / "empty").chunk_ids) == {}


def test_texts_are_found_again(tmp_path: Path) -> None:
    texts = sorted(["", "a", "zwölf", "\ud800", "日本", "b" * 300])
    write_texts(tmp_path, "some", texts)
    stored = open_texts(tmp_path, "some")
    assert list(stored) == texts
    assert stored[-1] == texts[-1]
    assert list(stored[2:4]) == texts[2:4]
    assert list(stored[4:2]) == []
    assert stored.at(np.array([5, 0, 3, 3])) == [texts[at] for at in (5, 0, 3, 3)]
    assert stored[2:].at(np.array([1])) == [texts[3]]
    assert [stored.place_of(text) for text in texts] == [*range(len(texts))]
    assert stored.place_of("c") is None
    with pytest.raises(IndexError):
        stored[len(texts)]


def _without_hints(generation: Generation, folder: Path) -> None:
    """Open the only segment as if its writer had known of no hints."""
    _as_older(generation, folder, without="intent_hint")


def _as_older(generation: Generation, folder: Path, without: str = "") -> None:
    """Open the only segment in the form in which an older version wrote it."""
    (part,) = generation.manifest.segments
    (segment,) = generation.segments
    place = folder / part.folder
    content = {
        "chunk_ids": [*segment.columns.chunk_ids],
        "dictionaries": {
            name: [*values] for name, values in segment.columns._values.items() if name != without
        },
    }
    (place / DICTIONARY).write_text(json.dumps(content))
    generation.segments = [
        Segment(type(segment.columns)(place), segment.postings, segment.vectors, segment.alive)
    ]
