"""Does the table count, sum and cut as measures expect?"""

from __future__ import annotations

import numpy as np

from assay.measures.table import JudgedHits, build_table, first_of_group, ordinal, sum_by


def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def table(
    hits: list[tuple[int, int, int]], judged: list[tuple[int, int]], queries: int = 2
) -> JudgedHits:
    rows, all_judged = (
        np.array(hits, dtype=np.int64).reshape(-1, 3),
        np.array(judged).reshape(-1, 2),
    )
    return build_table(
        tuple(f"q{n}" for n in range(queries)),
        (rows[:, 0], rows[:, 1], rows[:, 2]),
        (all_judged[:, 0].astype(np.int64), all_judged[:, 1].astype(np.int64)),
        retrieved=ints(*[9] * queries),
        top_score=np.zeros(queries),
        tied=ints(*[0] * queries),
        missing=np.zeros(queries, dtype=np.bool_),
        extra_queries=0,
    )


HITS = [(1, 5, 1), (0, 7, -1), (0, 2, 1), (1, 5, 3), (0, 4, 0), (1, 1, 0)]
JUDGED = [(1, 1), (0, 1), (0, -1), (1, 3), (0, 0), (1, 0), (0, 2)]


def test_rows_are_sorted_and_the_best_grade_leads() -> None:
    built = table(HITS, JUDGED)
    assert built.query.tolist() == [0, 0, 0, 1, 1, 1]
    assert built.rank.tolist() == [2, 4, 7, 1, 5, 5]
    assert built.grade.tolist() == [1, 0, -1, 0, 3, 1]
    assert built.lead.tolist() == [True, True, True, True, True, False]
    assert built.ideal_query.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert built.ideal_grade.tolist() == [2, 1, 0, -1, 3, 1, 0]
    assert built.ideal_rank().tolist() == [1, 2, 3, 4, 1, 2, 3]


def test_judgments_of_one_result_take_the_free_places_from_its_rank_on() -> None:
    hits = [(0, 1, 1), (0, 1, 3), (0, 2, 2), (0, 6, 1), (1, 2, 1), (1, 2, 1), (1, 4, 1)]
    built = table(hits, [(0, 1)])
    assert built.place.tolist() == [1, 2, 3, 6, 2, 3, 4]
    assert built.rank.tolist() == [1, 2, 1, 6, 2, 2, 4]
    assert built.grade.tolist() == [3, 2, 1, 1, 1, 1, 1]
    assert built.cut(1).place.tolist() == [1, 2]
    alone = table(HITS[:5], JUDGED)
    assert alone.count(alone.placed(4)).tolist() == [2, 0]


def test_counts() -> None:
    built = table(HITS, JUDGED)
    assert built.relevant(1).tolist() == [2, 2]
    assert built.relevant(2).tolist() == [1, 1]
    assert built.nonrelevant(1).tolist() == [1, 1]  # what is below 0 was not judged
    assert built.count(built.grade >= 1).tolist() == [1, 2]
    assert built.count(built.within(4)).tolist() == [2, 1]
    assert built.within(None).all()
    assert built.before(built.grade >= 1).tolist() == [0, 1, 1, 0, 0, 1]
    assert built.total(built.grade >= 1, np.array([0.5, 1.0, 2.0])).tolist() == [0.5, 3.0]


def test_a_cut() -> None:
    cut = table(HITS, JUDGED).cut(4)
    assert cut.rank.tolist() == [2, 4, 1]
    assert cut.lead.tolist() == [True, True, True]
    assert cut.retrieved.tolist() == [4, 4]
    assert cut.relevant(1).tolist() == [2, 2]


def test_nothing_at_all() -> None:
    empty = table([], [])
    assert empty.relevant(1).tolist() == [0, 0]
    assert empty.count(empty.within(5)).tolist() == [0, 0]
    assert empty.total(empty.within(5), np.zeros(0)).tolist() == [0.0, 0.0]
    assert empty.total(empty.within(5), np.zeros(0)).dtype == np.float64
    assert empty.before(empty.within(5)).tolist() == []
    assert empty.ideal_rank().tolist() == []
    assert len(empty.cut(3).rank) == 0


def test_helpers() -> None:
    assert first_of_group(ints(3, 3, 5, 7, 7, 7)).tolist() == [0, 0, 2, 3, 3, 3]
    assert ordinal(ints(3, 3, 5, 7, 7, 7)).tolist() == [1, 2, 1, 1, 2, 3]
    assert first_of_group(ints()).tolist() == []
    assert sum_by(ints(0, 2, 0), np.array([0.25, 1.0, 0.5]), 4).tolist() == [0.75, 0, 1, 0]
