"""Is judging blind?"""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from assay.annotation.tasks import next_task, ordered
from assay.model.annotation import Item, RoundQuery
from tests.unit.store.test_annotations import ITEMS, QUERIES, a_round

MANY = tuple(
    Item(f"q{query}", f"d{number}:chunk_0", f"d{number}", "text", found_by={"bm25": number + 1})
    for query in range(6)
    for number in range(8)
)


@pytest.mark.req("E12")
def test_each_annotator_has_a_recorded_order_of_their_own() -> None:
    held = a_round()
    ann, bob = (ordered(held, MANY, name) for name in held.annotators)
    assert ann == ordered(held, tuple(reversed(MANY)), "ann"), "the seed decides"
    assert ann != bob
    assert sorted(one.key for one in ann) == sorted(one.key for one in MANY)
    assert ordered(replace(held, seed=8), MANY, "ann") != ann


def test_passages_of_a_query_come_together_and_not_by_rank() -> None:
    mine = ordered(a_round(), MANY, "ann")
    queries = [item.query_id for item in mine]
    assert len([at for at in range(1, 48) if queries[at] != queries[at - 1]]) == 5
    ranks = [item.found_by["bm25"] for item in mine[:8]]
    assert ranks != sorted(ranks)


def test_a_task_shows_neither_rank_nor_origin_nor_grades() -> None:
    task = next_task(a_round(), QUERIES, ITEMS, set(), "ann")
    assert task is not None
    assert not {"found_by", "doc_id", "origin", "score", "grade"} & set(asdict(task))
    assert (task.number, task.total) == (1, len(ITEMS))


def test_what_is_done_does_not_come_again() -> None:
    done: set[tuple[str, str]] = set()
    while (task := next_task(a_round(), QUERIES, ITEMS, done, "bob")) is not None:
        key = (task.query_id, task.chunk_id)
        assert key not in done
        assert task.number == len(done) + 1
        done.add(key)
    assert done == {item.key for item in ITEMS}
    assert next_task(a_round(), (RoundQuery("q", "x"),), (), set(), "bob") is None
