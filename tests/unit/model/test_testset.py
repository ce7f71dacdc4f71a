"""What may a test set hold that was made in Python, and what does a judgment call things?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import InputError
from assay.model.codec import decode, encode
from assay.model.testset import GoldenQuery, HeldOut, Judgment, Level, TestSet
from assay.model.testset_json import from_plain
from tests.unit.testsets.samples import HEAD, read


def made(*judgments: Judgment, query_id: str = "q1") -> GoldenQuery:
    return GoldenQuery(query_id, "aspirin", relevant_docs=judgments)


@pytest.mark.req("E4")
def test_a_relevant_document_has_the_id_and_grade_that_the_file_gives_it() -> None:
    text = (
        f"{HEAD}  - query_id: q1\n    query_text: aspirin\n    relevant_docs:\n"
        '      - {doc_id: "PMC1:chunk_5", grade: 3}\n'
        '      - {doc_id: PMC2, chunk_id: "PMC2:chunk_1", grade: 1}\n'
    )
    one, other = read(text).sound().queries[0].relevant_docs
    assert (one.doc_id, one.grade) == ("PMC1:chunk_5", 3)
    assert (other.doc_id, other.id) == ("PMC2", "PMC2:chunk_1")
    assert (one.owner, other.owner) == (None, "PMC2")


def test_a_judgment_moves_without_its_former_id() -> None:
    moved = replace(Judgment("a:chunk_0", 2), id="a:chunk_1")
    assert (moved.doc_id, moved.owner) == ("a:chunk_1", None)
    kept = replace(Judgment("a", 2, doc_id="D", level=Level.CHUNK), id="b")
    assert (kept.doc_id, kept.owner, kept.level) == ("D", "D", Level.CHUNK)
    assert Judgment("a", 1) == Judgment("a", 1, (), None)


def test_json_of_before_is_read() -> None:
    judgment = Judgment("a:chunk_0", 2, ((0, 5),), "a")
    assert encode(Judgment("x", 1))["doc_id"] is None
    assert decode(Judgment, encode(judgment)) == judgment
    older = {"id": "x", "grade": 1, "spans": [], "doc_id": None}
    assert decode(Judgment, older) == Judgment("x", 1)


@pytest.mark.req("K2")
@pytest.mark.parametrize(
    ("listed", "grades"),
    [
        ("[d1, d2]", {"d1": 1, "d2": 1}),
        ("[{doc_id: d1}, {chunk_id: d2}]", {"d1": 1, "d2": 1}),
        ("[{doc_id: d1, relevant: true}, {doc_id: d2, relevant: false}]", {"d1": 1, "d2": 0}),
        ("[d1, {doc_id: d2, relevant: False}]", {"d1": 1, "d2": 0}),
        ("[12345678, NO]", {"12345678": 1, "NO": 1}),
    ],
)
def test_binary_judgments_are_the_grades_0_and_1(listed: str, grades: dict[str, int]) -> None:
    """Seed 000: nDCG@10 with binary relevance."""
    text = f"{HEAD}  - {{query_id: q1, query_text: aspirin, relevant_docs: {listed}}}\n"
    found = read(text).sound()
    assert {one.id: one.grade for one in found.queries[0].relevant_docs} == grades
    first = next(iter(grades))
    result = assay.evaluate(lambda query: ["x", first], found, "nDCG@10 nDCG(gain=binary)@10")
    assert result["nDCG@10"] == pytest.approx(result["nDCG(gain=binary)@10"] or 0)


def test_one_grade_makes_the_whole_set_a_graded_one() -> None:
    first = "  - {query_id: q1, query_text: a, relevant_docs: [{doc_id: d1, grade: 3}]}\n"
    second = "  - {query_id: q2, query_text: b, relevant_docs: [d2]}\n"
    (problem,) = read(f"{HEAD}{first}{second}").problems
    assert (problem.line, problem.query_id) == (5, "q2")
    assert "a judgment is {doc_id: ..., grade: ...}" in problem.message


def test_python_maps_yes_and_no_too() -> None:
    assert Judgment("a").grade == 1
    values: list[Any] = [True, False, np.int8(3), 2]
    grades = [Judgment("a", value).grade for value in values]
    assert grades == [1, 0, 3, 2]
    assert set(map(type, grades)) == {int}


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("queries", "says"),
    [
        ((made(Judgment("a", 1)), made(Judgment("b", 1))), "the query_id 'q1' appears twice"),
        ((made(Judgment("a", 1), Judgment("a", 2)),), "q1: a is judged twice"),
        (
            (made(Judgment("a"), Judgment("a")), made(Judgment("b"))),
            r"a is judged twice \(and 1 more\)",
        ),
    ],
)
def test_a_set_made_in_python_follows_the_rules_of_files(queries: Any, says: str) -> None:
    with pytest.raises(InputError, match=f"test set mine: .*{says}"):
        TestSet("mine", "v1", queries)
    with pytest.raises(InputError, match=says):
        replace(TestSet("mine", "v1", ()), queries=queries)


@pytest.mark.req("E4")
@pytest.mark.parametrize("grade", [7, -1, 1.5, 1.0, "3", None])
def test_a_judgment_made_in_python_has_a_grade_that_files_may_have(grade: Any) -> None:
    with pytest.raises(
        InputError, match=f"the grade of a is {grade!r}; grades are whole .* 0 to 3"
    ):
        Judgment("a", grade)


def test_a_set_is_a_frame_without_the_words_that_are_held_out() -> None:
    asked = tuple(
        GoldenQuery(name, "<b>itch</b>", relevant_docs=(Judgment("d1", 2), Judgment("d2", 0)))
        for name in ("q1", "q2")
    )
    made = TestSet("mine", "v1", asked, held_out=HeldOut(1, ("q2",)))
    frame = made.to_frame("polars")
    assert frame["query_text"].to_list() == ["<b>itch</b>", None]
    assert frame["judged"].to_list() == [2, 2]
    assert frame["relevant"].to_list() == [1, 1]
    assert "&lt;b&gt;itch" in made._repr_html_()
    assert from_plain(made.to_dict()) == made
