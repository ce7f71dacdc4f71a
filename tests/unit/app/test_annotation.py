"""Does the desk show only what is harmless, and let a person put passages off?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.annotation import MOST_VOICE, Desk, _voice
from assay.store.annotations import AnnotationStore
from tests.unit.store.test_annotations import ITEMS, QUERIES, a_round

HOSTILE = "<table onclick='x()'><tr><td>5 mg</td></tr></table><script>x()</script>"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = AnnotationStore(tmp_path / "assay.db")
    items = [replace(item, table_html=HOSTILE) for item in ITEMS]
    yield Desk(store, store.create(a_round(), QUERIES, items))
    store.close()


def test_markup_of_tables_is_harmless_wherever_it_is_shown(desk: Desk) -> None:
    task = desk.turn("ann").task
    assert task is not None
    key = (task.query_id, task.chunk_id)
    desk.grade("ann", key, 3)
    desk.grade("bob", key, 0)
    (dispute,) = desk.disputes("carol")
    for shown in (task.table_html, dispute.task.table_html):
        assert "5 mg" in shown
        assert "x()" not in shown


def test_what_is_put_off_comes_once_nothing_else_is_left(desk: Desk) -> None:
    later = [(task.query_id, task.chunk_id) for task in desk.tasks("ann")[:2]]
    order = []
    while (task := desk.next("ann", later)) is not None:
        order.append((task.query_id, task.chunk_id))
        assert task.number == len(order)
        desk.grade("ann", order[-1], 1)
    assert order[-2:] == later


def test_long_names_of_judges_stay_apart() -> None:
    one, other = (_voice(f"http://{'a' * 200}/{end}") for end in "xy")
    assert one != other
    assert len(one) == MOST_VOICE
    assert _voice("words(rules=4)") == "words-rules-4"
