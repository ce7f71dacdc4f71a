"""Which candidates have a name is told alike by the index and by the texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.analysis.asked import names_asked
from assay.evidence.terms import units
from assay.model.document import Chunk
from assay.search.snapshot import Snapshot
from assay.search.texts import Named, Texts
from tests.unit.search.corpus import filled

CHUNKS = [
    Chunk("a:0", "a", "Patients with asthma received ketotifen.", title="Airways"),
    Chunk("b:0", "b", "IFN gamma was high in tumours.", title="Tocilizumab in COVID-19"),
    Chunk("c:0", "c", "Trastuzumab emtansine was given every three weeks."),
    Chunk("d:0", "d", "Nothing of this is here.", metadata={"names": ("Actemra",)}),
    Chunk("e:0", "e", "Albuminuria fell; kidney failure was rare."),
]
QUERIES = (
    "ketotifen dose",
    "tocilizumab",
    "trastuzumab emtansine",
    "Actemra",
    "T-DM1 side effects",
    "asthma",
    "kidney failure",
    "albuminuric nephropathy",
    "IFN-gamma in tumors",
)


@pytest.fixture
def near(tmp_path: Path) -> Iterator[Snapshot]:
    with filled(tmp_path, CHUNKS) as opened:
        yield opened.searcher.snapshot


@pytest.mark.parametrize("query", QUERIES)
def test_the_index_tells_what_the_texts_tell(near: Snapshot, query: str) -> None:
    keys = [*range(1, len(CHUNKS) + 1)]
    labels = near.labels(keys)
    far = Texts(replace(near, words=None), labels)
    named: list[Named] = [*names_asked(query), *units(query)]
    assert named
    for one in named:
        assert Texts(near, labels).having([one], keys) == far.having([one], keys)
    assert Texts(near, labels).having(named, keys) == far.having(named, keys)


def test_texts_are_not_read_for_what_the_index_knows(near: Snapshot) -> None:
    keys = [*range(1, len(CHUNKS) + 1)]

    def unread(keys: object) -> dict[int, Chunk]:
        raise AssertionError(keys)

    texts = Texts(replace(near, chunks=unread), near.labels(keys))
    (name,) = names_asked("ketotifen dose")
    assert texts.having([name], keys) == {1}
    assert texts.with_all(("asthma", "ketotifen"), keys) == [1]
    assert texts.with_all(("covid19", "b"), keys) == [2]  # its title, and the id of its document
