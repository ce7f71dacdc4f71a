"""Are grades kept as they were given, one annotator's apart from the other's?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import AssayError, ConflictError, InputError, MissingFileError, UsageError
from assay.model.annotation import Decision, Item, Purpose, Round, RoundQuery
from assay.model.testset import QueryType
from assay.store.annotations import AnnotationStore

QUERIES = (
    RoundQuery("q51", "chest pain at rest", QueryType.PARAPHRASE, {"times": 3}),
    RoundQuery("q52", "aspirin"),
)


def item(query_id: str, number: int) -> Item:
    return Item(
        query_id,
        f"d{number}:chunk_0",
        f"d{number}",
        f"passage {number}",
        title="A title",
        spans=((0, 9),),
        found_by={"bm25": number + 1},
    )


ITEMS = tuple(item(query.query_id, number) for query in QUERIES for number in range(5))


def a_round(round_id: str = "2026q4", annotators: tuple[str, str] = ("ann", "bob")) -> Round:
    return Round(
        round_id=round_id,
        purpose=Purpose.REFRESH,
        test_set="test_set_v1",
        version="v1",
        checksum="abc",
        annotators=annotators,
        seed=7,
        created_at="2026-10-01T00:00:00Z",
        source={"strategy": "random"},
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnnotationStore]:
    made = AnnotationStore(tmp_path / "assay.db")
    made.create(a_round(), QUERIES, ITEMS)
    yield made
    made.close()


def test_a_round_reads_back_as_it_was_entered(store: AnnotationStore) -> None:
    assert store.round("2026q4") == a_round() == store.round("latest")
    assert store.queries("2026q4") == QUERIES
    assert store.items("2026q4") == ITEMS


@pytest.mark.parametrize("pair", [("ann", "ann"), ("ann", "ANN"), ("", "bob"), ("a b", "bob")])
def test_two_distinct_people_judge(store: AnnotationStore, pair: tuple[str, str]) -> None:
    with pytest.raises(AssayError):
        store.create(a_round("other", pair), QUERIES, ITEMS)
    assert len(store.rounds()) == 1


def test_a_name_is_used_once_and_an_empty_round_is_refused(store: AnnotationStore) -> None:
    with pytest.raises(ConflictError):
        store.create(a_round(), QUERIES, ITEMS)
    with pytest.raises(InputError, match="nothing to judge"):
        store.create(a_round("empty"), QUERIES, ())


def test_the_last_grade_of_an_annotator_counts(store: AnnotationStore) -> None:
    for grade in (0, 3, 3, None):
        store.grade("2026q4", "ann", ("q51", "d1:chunk_0"), grade)
    store.grade("2026q4", "bob", ("q51", "d1:chunk_0"), 1, "near miss")
    assert [(g.annotator, g.grade) for g in store.grades("2026q4")] == [("ann", None), ("bob", 1)]
    assert [g.comment for g in store.grades("2026q4", "bob")] == ["near miss"]


def test_undo_takes_back_one_grade_at_a_time_and_only_ones_own(store: AnnotationStore) -> None:
    store.grade("2026q4", "ann", ("q51", "d1:chunk_0"), 2)
    store.grade("2026q4", "ann", ("q51", "d1:chunk_0"), 3)
    store.grade("2026q4", "bob", ("q51", "d2:chunk_0"), 1)
    undone = store.undo("2026q4", "ann")
    assert undone is not None
    assert undone.grade == 3
    assert [g.grade for g in store.grades("2026q4", "ann")] == [2]
    assert store.undo("2026q4", "ann") is not None
    assert store.undo("2026q4", "ann") is None
    assert [g.grade for g in store.grades("2026q4")] == [1]


@pytest.mark.parametrize("grade", [-1, 4, True, 1.5, "3"])
def test_what_is_no_grade_is_refused(store: AnnotationStore, grade: object) -> None:
    with pytest.raises(InputError, match="not a grade"):
        store.grade("2026q4", "ann", ("q51", "d1:chunk_0"), grade)  # type: ignore[arg-type]
    assert store.grades("2026q4") == ()


def test_strangers_and_unpooled_passages_are_refused(store: AnnotationStore) -> None:
    with pytest.raises(UsageError, match="ann and bob"):
        store.grade("2026q4", "carol", ("q51", "d1:chunk_0"), 1)
    with pytest.raises(UsageError):
        store.undo("2026q4", "carol")
    with pytest.raises(MissingFileError, match="not to be judged"):
        store.grade("2026q4", "ann", ("q51", "d9:chunk_0"), 1)
    with pytest.raises(MissingFileError, match="no round"):
        store.grade("other", "ann", ("q51", "d1:chunk_0"), 1)
    with pytest.raises(InputError, match="comment"):
        store.grade("2026q4", "ann", ("q51", "d1:chunk_0"), 1, "x" * 2_001)


@pytest.mark.req("E12")
def test_a_third_person_decides_or_a_rule_of_hers(store: AnnotationStore) -> None:
    """Nobody chooses, after the fact, the rule by which the own grades win."""
    key = ("q51", "d1:chunk_0")
    for own in (Decision(*key, 2, by="Ann"), Decision(*key, 1, by="ANN", rule="lower")):
        with pytest.raises(UsageError, match=r"judged in 2026q4 and cannot decide there .*third"):
            store.decide("2026q4", [own])
    assert store.decisions("2026q4") == ()
    store.decide("2026q4", [Decision(*key, 2, by="carol", comment="read twice", at="t")])
    store.decide("2026q4", [Decision(*key, 1, by="dora", rule="lower", at="t")])
    assert store.decisions("2026q4") == (Decision(*key, 1, "dora", "lower", "", "t"),)


def test_a_closed_round_changes_no_more(store: AnnotationStore) -> None:
    store.grade("2026q4", "ann", ("q51", "d1:chunk_0"), 2)
    closed = store.close_round("2026q4")
    assert closed.closed_at is not None
    assert store.close_round("2026q4") == closed
    with pytest.raises(ConflictError, match="closed"):
        store.grade("2026q4", "ann", ("q51", "d1:chunk_0"), 3)
    with pytest.raises(ConflictError, match="closed"):
        store.undo("2026q4", "ann")
    with pytest.raises(ConflictError, match="closed"):
        store.decide("2026q4", [Decision("q51", "d1:chunk_0", 2, by="carol")])
    assert [g.grade for g in store.grades("2026q4")] == [2]


@pytest.mark.req("E12")
def test_both_annotators_work_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    first = AnnotationStore(path)
    first.create(a_round(), QUERIES, ITEMS)
    failures: list[BaseException] = []

    def judge(annotator: str, grade: int) -> None:
        try:
            own = AnnotationStore(path)
            for one in ITEMS:
                own.grade("2026q4", annotator, one.key, grade)
                own.grade("2026q4", annotator, one.key, 0)
                own.undo("2026q4", annotator)
            own.close()
        except BaseException as problem:
            failures.append(problem)

    threads = [threading.Thread(target=judge, args=one) for one in (("ann", 2), ("bob", 3))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert failures == []
    for annotator, grade in (("ann", 2), ("bob", 3)):
        found = first.grades("2026q4", annotator)
        assert sorted(one.key for one in found) == sorted(one.key for one in ITEMS)
        assert {one.grade for one in found} == {grade}
    first.close()
