"""Is agreement measured over what both judged, and the gate shut in doubt?"""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from assay.annotation.adjudicate import by_rule, settle, undecided
from assay.annotation.agreement import agreement
from assay.errors import UsageError
from assay.model.annotation import Decision, Grade, Item
from tests.unit.store.test_annotations import a_round


def items(queries: int, passages: int) -> list[Item]:
    return [
        Item(f"q{query}", f"d{number}:chunk_0", f"d{number}", "text")
        for query in range(queries)
        for number in range(passages)
    ]


def grades(of: list[Item], first: list[int | None], second: list[int | None]) -> list[Grade]:
    found = []
    for name, said in (("ann", first), ("bob", second)):
        found += [
            Grade(*one.key, name, grade, "", "t") for one, grade in zip(of, said, strict=True)
        ]
    return found


@pytest.mark.req("E12")
@pytest.mark.parametrize("seed", range(5))
def test_kappa_equals_scikit_learn(seed: int) -> None:
    draw = random.Random(seed)
    every = items(6, 8)
    first = [draw.randrange(4) for _ in every]
    second = [a if draw.random() < 0.7 else draw.randrange(4) for a in first]
    found = agreement(a_round(), every, grades(every, list(first), list(second)))
    assert found.plain.value == pytest.approx(cohen_kappa_score(first, second))
    weighted = cohen_kappa_score(first, second, weights="quadratic")
    assert found.quadratic.value == pytest.approx(weighted)
    assert [list(row) for row in found.plain.confusion] == confusion_matrix(
        first, second, labels=[0, 1, 2, 3]
    ).tolist()
    assert found.plain_interval.clusters == 6
    assert len(found.differences) == sum(a != b for a, b in zip(first, second, strict=True))
    assert sum(one.n for one in found.queries) == len(every)


def test_what_one_could_not_judge_is_left_out_of_kappa_and_listed() -> None:
    every = items(2, 2)
    found = agreement(a_round(), every, grades(every, [0, 1, None, 3], [0, 1, 2, None]))
    assert (found.both, found.plain.n, found.plain.value) == (4, 2, 1.0)
    assert [one.grades for one in found.differences] == [(None, 2), (3, None)]
    assert [one.cannot_judge for one in found.annotators] == [1, 1]
    assert found.queries[1].reason == "there are no items"


def test_one_category_is_undefined_and_keeps_the_gate_shut() -> None:
    every = items(2, 3)
    found = agreement(a_round(), every, grades(every, [0] * 6, [0] * 6))
    assert (found.plain.value, found.enough) == (None, False)
    assert "one and the same category" in found.verdict
    assert found.to_dict()["kappa"]["reason"] is not None
    nothing = agreement(a_round(), every, [])
    assert (nothing.enough, nothing.complete) == (False, False)


def test_exactly_the_floor_is_not_enough() -> None:
    # 8 of 10 agree on two even categories: kappa = (0.8 - 0.5) / 0.5 = 0.6
    every = items(2, 5)
    first: list[int | None] = [0, 0, 0, 0, 0, 3, 3, 3, 3, 3]
    second: list[int | None] = [0, 0, 0, 0, 3, 3, 3, 3, 3, 0]
    found = agreement(a_round(), every, grades(every, first, second))
    assert found.plain.value == pytest.approx(0.6)
    assert not found.enough
    assert "does not exceed" in found.verdict


def test_a_value_just_above_with_few_queries_is_said_to_be_unsure() -> None:
    every = items(4, 5)
    first: list[int | None] = [*[0, 0, 1, 2, 3] * 4]
    second: list[int | None] = [*[0, 0, 1, 2, 3] * 3, 1, 0, 2, 3, 3]
    found = agreement(a_round(), every, grades(every, first, second))
    assert found.enough
    assert "may lie below" in found.verdict


@pytest.mark.parametrize(("rule", "grade"), [("mean-down", 1), ("higher", 3), ("lower", 0)])
def test_a_rule_settles_differences_and_is_recorded(rule: str, grade: int) -> None:
    every = items(1, 3)
    said = grades(every, [2, 0, None], [2, 3, 1])
    found = agreement(a_round(), every, said)
    made = by_rule(found.differences, rule, "carol")
    assert [(one.grade, one.rule, one.by) for one in made] == [
        (grade, rule, "carol"),
        (None, rule, "carol"),
    ]
    settled = settle(a_round(), every, said, made)
    assert list(settled.grades.values()) == [2, grade]
    assert (settled.open, len(settled.without)) == ((), 1)


def test_a_person_decides_what_a_rule_may_not() -> None:
    every = items(1, 2)
    said = grades(every, [None, 1], [None, 2])
    differences = agreement(a_round(), every, said).differences
    assert len(settle(a_round(), every, said, []).open) == 2
    person = Decision(*every[0].key, 3, by="carol")
    settled = settle(a_round(), every, said, [person])
    assert settled.grades == {every[0].key: 3}
    assert [one.key for one in undecided(differences, [person])] == [every[1].key]
    with pytest.raises(UsageError, match="mean-down"):
        by_rule(differences, "coin", "carol")


def test_a_decision_does_not_stand_in_for_a_missing_grade() -> None:
    every = items(1, 1)
    only_ann = [Grade(*every[0].key, "ann", 3, "", "t")]
    settled = settle(a_round(), every, only_ann, [Decision(*every[0].key, 3, by="carol")])
    assert settled.open == (every[0].key,)
