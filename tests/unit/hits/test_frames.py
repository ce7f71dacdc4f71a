"""Are runs and judgments in data frames, arrays and parquet files read, or refused by row?"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from assay.errors import AssayError, DuplicateError, InputError, UsageError
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge
from assay.measures.table import JudgedHits

from .tables import ranks

pytestmark = pytest.mark.usefixtures("loops")

Write = Callable[[str, bytes | str], Path]

QRELS = load_qrels({"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1}})
QUERY = ["q1", "q1", "q1", "q2", "q2"]
DOC = ["a", "z", "c", "y", "x"]
SCORE = [3.5, 2.0, 1.0, 0.0, -1.0]
EXPECTED = {"q1": [(1, 1), (3, 2)], "q2": [(2, 1)]}
COLUMNS = {"query_id": QUERY, "doc_id": DOC, "score": SCORE}


def check(table: JudgedHits) -> None:
    assert {query: ranks(table, query) for query in table.queries} == EXPECTED
    assert table.retrieved.tolist() == [3, 2]
    assert table.top_score.tolist() == [3.5, 0.0]


def refusal(run: Any, kind: type[AssayError] = InputError, /, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        judge(QRELS, run, RunOptions(**options))
    assert caught.type is kind
    return str(caught.value)


def qrels_refusal(value: Any, kind: type[AssayError] = InputError) -> str:
    with pytest.raises(kind) as caught:
        load_qrels(value)
    assert caught.type is kind
    return str(caught.value)


def frames(**columns: Any) -> list[Any]:
    """A polars and a pandas frame with these columns in the place of the usual ones."""
    all_columns = COLUMNS | columns
    return [pl.DataFrame(all_columns, strict=False), pd.DataFrame(all_columns)]


# Forms


@pytest.mark.parametrize(
    "run",
    [
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).lazy(),
        pl.DataFrame(COLUMNS).with_columns(pl.col("query_id").cast(pl.Categorical)),
        pl.DataFrame(COLUMNS).with_columns(pl.col("doc_id").cast(pl.Enum(DOC))),
        pl.DataFrame(COLUMNS).with_columns(pl.col("score").cast(pl.Float32)),
        pl.DataFrame(COLUMNS).with_columns(score=pl.Series([Decimal(str(s)) for s in SCORE])),
        pl.DataFrame({"rank": [0] * 5, "docno": DOC, "qid": QUERY, "sim": SCORE}),
        pl.DataFrame({"Query-ID": QUERY, "CORPUS-ID": DOC, "Similarity": SCORE}),
        pl.concat([pl.DataFrame(COLUMNS)[:2], pl.DataFrame(COLUMNS)[2:]]),
        pl.DataFrame(COLUMNS)[::-1],
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, dtype=object),
        pd.DataFrame(COLUMNS).astype({"query_id": "category", "doc_id": "category"}),
        pd.DataFrame(COLUMNS).astype({"query_id": "string", "score": "Float64"}),
        pd.DataFrame(COLUMNS).astype({"query_id": pd.StringDtype("python")}),
        pd.DataFrame(COLUMNS).set_index(np.arange(5)[::-1]),
        pd.DataFrame(COLUMNS).iloc[[4, 0, 2, 3, 1]],
        pd.DataFrame({"topic": QUERY, "did": DOC, "score": SCORE}),
        (QUERY, DOC, SCORE),
        (tuple(QUERY), DOC, tuple(SCORE)),
        (np.array(QUERY), np.array(DOC), np.array(SCORE)),
        (np.array(QUERY, dtype=object), np.array(DOC, dtype=object), np.array(SCORE, dtype=object)),
        (np.array(QUERY), np.array(DOC), np.array(SCORE, dtype=">f8")),
        (np.array(QUERY), np.array(DOC), np.array(SCORE, dtype=np.float16)),
        (np.array(QUERY), np.array(DOC), np.array(SCORE, dtype=np.longdouble)),
        (np.array(QUERY), np.array(DOC), np.ma.masked_array(SCORE)),
        (np.array(QUERY)[::-1], np.array(DOC)[::-1], np.array(SCORE)[::-1]),
        (pl.Series(QUERY), pd.Series(DOC), np.array(SCORE)),
        (QUERY, DOC, [3.5, 2, np.float32(1), 0, np.int64(-1)]),
    ],
)
def test_forms_of_a_run(run: Any) -> None:
    check(judge(QRELS, run))
    all_options: list[Any] = [{"ties": "given"}, {"match": "doc"}, {"float32": True}]
    for options in all_options:
        table = judge(QRELS, run, RunOptions(**options))
        assert {query: ranks(table, query) for query in table.queries} == EXPECTED


def test_pandas_without_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is taken from Python objects where arrow is not installed."""
    frame = pd.DataFrame(COLUMNS).astype({"query_id": "string", "doc_id": "string"})
    array = type(frame["query_id"].array)

    def no_arrow(*_: object, **__: object) -> None:
        raise ImportError("no pyarrow")

    monkeypatch.setattr(array, "__arrow_array__", no_arrow, raising=False)
    check(judge(QRELS, frame))


def test_a_subclass_of_a_frame() -> None:
    class Own(pd.DataFrame):
        pass

    check(judge(QRELS, Own(COLUMNS)))


def test_nothing_is_changed() -> None:
    for frame in frames(query_id=QUERY[::-1], doc_id=DOC[::-1]):
        before = frame.clone() if isinstance(frame, pl.DataFrame) else frame.copy()
        judge(QRELS, frame, RunOptions(float32=True))
        assert frame.equals(before)


def test_scattered_rows() -> None:
    order = [3, 0, 4, 1, 2]
    for frame in (pl.DataFrame(COLUMNS)[order], pd.DataFrame(COLUMNS).iloc[order]):
        check(judge(QRELS, frame))


def test_ties_and_equal_scores() -> None:
    for frame in frames(score=[1.0, 1, 1, -0.0, 0.0]):
        table = judge(QRELS, frame)
        assert ranks(table, "q1") == [(2, 2), (3, 1)]
        assert ranks(table, "q2") == [(2, 1)]
        assert table.tied.tolist() == [2, 1]
        table = judge(QRELS, frame, RunOptions(ties="given"))  # type: ignore[arg-type]
        assert ranks(table, "q1") == [(1, 1), (3, 2)]


def test_whole_numbers_are_scores() -> None:
    for kind in (np.int8, np.uint8, np.int64, np.uint64):
        for frame in frames(score=np.array([9, 8, 7, 6, 5], dtype=kind)):
            assert judge(QRELS, frame).top_score.tolist() == [9.0, 6.0]


def test_scores_beyond_32_bits() -> None:
    for frame in frames(score=[1e308, 2, 1, 0, -1]):
        assert judge(QRELS, frame).top_score.tolist() == [1e308, 0.0]
        for options in ({}, {"match": "doc"}):
            message = refusal(frame, float32=True, **options)
            assert "query 'q1', document 'a': the score 1e+308 does not fit into 32 bits" in message


# Faults


def test_ids_that_are_no_text() -> None:
    for frame in [*frames(query_id=[1, 1, 1, 2, 2]), ([1, 1, 1, 2, 2], DOC, SCORE)]:
        message = refusal(frame)
        assert message.startswith("run: the query column holds ")
        assert "not text (ids are text: cast the column to strings, on both sides" in message
    for frame in frames(doc_id=[1.0, 2, 3, 4, 5]):
        assert "the doc column holds" in refusal(frame)
    for part in (np.array([b"a"] * 5), np.zeros((5, 2)), np.array(5), np.arange(5), [b"a"] * 5):
        assert "the doc column holds" in refusal((QUERY, part, SCORE))
    frame = pd.DataFrame(COLUMNS | {"doc_id": pd.Series([1, 2, 3, 4, 5], dtype="category")})
    assert "the doc column holds" in refusal(frame)
    assert "the doc column holds" in refusal(
        pl.DataFrame(COLUMNS).with_columns(doc_id=pl.Series([["a"]] * 5))
    )


def test_one_id_that_is_no_text_among_many() -> None:
    mixed = ["a", 2, "c", "y", "x"]
    for part in (mixed, np.array(mixed, dtype=object), pd.Series(mixed)):
        assert "the doc column holds 2 in row 1, not text" in refusal((QUERY, part, SCORE))


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA])
def test_an_id_that_is_missing(nothing: Any) -> None:
    parts = [pd.Series(["a", nothing, "c", "y", "x"], dtype=object)]
    if nothing is None:
        parts += [pl.Series(["a", None, "c", "y", "x"]), ["a", None, "c", "y", "x"]]  # type: ignore[list-item]
        parts += [pd.Series(["a", None, "c", "y", "x"]), parts[0].astype("category")]
    for part in parts:
        assert "row 1 has no doc" in refusal((QUERY, part, SCORE))
        assert "row 1 has no query" in refusal((part, DOC, SCORE))


def test_half_a_surrogate_pair() -> None:
    assert "half a surrogate pair" in refusal((QUERY, ["\ud800", *DOC[1:]], SCORE))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), None])
def test_a_score_that_is_not_finite(bad: float | None) -> None:
    score = [3.5, 2.0, 1.0, bad, -1.0]
    runs: list[Any] = [*frames(score=score), (QUERY, DOC, score)]
    runs += [(QUERY, DOC, np.array(score, dtype=object))]
    if bad is None:
        masked: Any = np.ma.masked_array(np.array(SCORE), mask=[False, False, False, True, False])
        runs += [(QUERY, DOC, masked)]
        runs += [pd.DataFrame(COLUMNS | {"score": pd.Series(score, dtype="Float64")})]
        runs += [pd.DataFrame(COLUMNS | {"score": pd.Series([1, 1, 1, None, 1], dtype="Int64")})]
        runs += [pl.DataFrame(COLUMNS).with_columns(score=pl.Series([1, 1, 1, None, 1]))]
    else:
        runs += [(QUERY, DOC, np.array(score, dtype=np.float32))]
    for run in runs:
        for options in ({}, {"match": "doc"}, {"ties": "given"}):
            message = refusal(run, **options)
            assert message.startswith("run: row 3 (query 'q2'): the score ")
            assert message.endswith("is not a finite number")


@pytest.mark.parametrize(
    "score",
    [
        ["3", "2", "1", "0", "1"],
        [True, False, True, False, True],
        [[1.0]] * 5,
        [None] * 5,
    ],
)
def test_scores_that_are_no_numbers(score: Any) -> None:
    runs = [pl.DataFrame(COLUMNS | {"score": score}), (QUERY, DOC, np.array(score))]
    runs += [(QUERY, DOC, score), pd.DataFrame(COLUMNS | {"score": score})]
    if score[0] is None:
        runs = runs[:1]  # the others hold a number that is missing
    for run in runs:
        assert "the score column holds" in refusal(run)


@pytest.mark.parametrize("bad", ["2", True, 1 + 1j, np.bool_(True), Decimal(2), 10**400])
def test_one_score_that_is_no_number_among_many(bad: Any) -> None:
    score = [3.5, bad, 1.0, 0.0, -1.0]
    for part in (score, np.array(score, dtype=object), pd.Series(score, dtype=object)):
        assert "the score column holds" in refusal((QUERY, DOC, part))


@pytest.mark.parametrize(
    "score", [np.zeros((5, 1)), np.zeros(5, complex), np.zeros(5, "M8[s]"), np.array(5.0)]
)
def test_arrays_of_other_kinds(score: Any) -> None:
    assert "the score column holds" in refusal((QUERY, DOC, score))


def test_columns_of_different_length() -> None:
    assert "the columns differ in length: 5, 5, 4" in refusal((QUERY, DOC, SCORE[:4]))
    assert "the columns differ in length: 5, 4, 5" in refusal((QUERY, DOC[:4], SCORE))
    assert "the columns differ in length: 1, 1, 2" in qrels_refusal((["q"], ["d"], [1, 2]))


def test_a_column_that_is_not_there() -> None:
    for frame in (pl.DataFrame({"a": [1], "score": [1]}), pd.DataFrame({"a": [1], "score": [1]})):
        message = refusal(frame, UsageError)
        assert message.startswith("run: no column for the query among: a, score (name it one of: ")
    message = refusal(pl.DataFrame({"a": [1]}).lazy(), UsageError)
    assert message.startswith("run: no column for the query among: a")


def test_a_column_that_is_there_twice() -> None:
    frame = pd.DataFrame([["q1", "q1", "a", 1.0]], columns=["qid", "qid", "docno", "score"])
    assert refusal(frame, UsageError) == "run: several columns are called 'qid'"
    frame = pd.DataFrame([["q1", "q1", "a", 1.0]], columns=["qid", "QID", "docno", "score"])
    assert refusal(frame, UsageError) == "run: several columns are called 'qid'"


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 1], [1, 3, 0, 2, 4, 1], [4, 3, 1, 0, 1, 2]])
def test_a_document_twice(order: list[int]) -> None:
    first, second = (at for at, row in enumerate(order) if row == 1)
    for frame in (pl.DataFrame(COLUMNS)[order], pd.DataFrame(COLUMNS).iloc[order]):
        for options in ({}, {"match": "doc"}):
            message = refusal(frame, DuplicateError, **options)
            assert message == (
                f"run: query 'q1' has document 'z' twice, in rows {first} and {second} "
                "(a ranking names each document once; keep the better score)"
            )


def test_no_rows() -> None:
    runs: list[Any] = [
        pl.DataFrame(COLUMNS)[:0],
        pd.DataFrame(COLUMNS)[:0],
        pl.DataFrame({"qid": [], "docno": [], "score": []}),
        pd.DataFrame({"qid": [], "docno": [], "score": []}),
        ([], [], []),
        (np.array([], dtype=str), np.array([], dtype=str), np.array([])),
    ]
    for run in runs:
        assert refusal(run) == "the run is empty (check that it is the right one)"


@pytest.mark.parametrize(
    "run", [None, 5, [QUERY, DOC, SCORE], (QUERY, DOC), iter([]), {"q1"}, pl.Series(DOC)]
)
def test_what_a_run_cannot_be(run: Any) -> None:
    assert "a run cannot be a" in refusal(run, UsageError)


# Judgments

GRADES = {"query_id": ["q1", "q2"], "doc_id": ["a", "x"], "grade": [1, -2]}


@pytest.mark.parametrize(
    "value",
    [
        pl.DataFrame(GRADES),
        pl.DataFrame(GRADES).lazy(),
        pd.DataFrame(GRADES),
        pl.DataFrame(GRADES).rename({"grade": "relevance", "query_id": "qid", "doc_id": "docno"}),
        pl.DataFrame(GRADES).rename({"grade": "score"}),
        pd.DataFrame(GRADES).astype({"grade": "Int64", "query_id": "category"}),
        pd.DataFrame(GRADES, dtype=object),
        (["q1", "q2"], ["a", "x"], [1, -2]),
        (np.array(["q1", "q2"]), np.array(["a", "x"]), np.array([1, -2], dtype=np.int8)),
        (["q1", "q2"], ["a", "x"], np.array([1, np.int8(-2)], dtype=object)),
    ],
)
def test_forms_of_judgments(value: Any) -> None:
    assert load_qrels(value).by_query == {"q1": {"a": 1}, "q2": {"x": -2}}


@pytest.mark.parametrize(
    "grades", [[1.0, 2.0], ["1", "2"], [True, False], [1, True], [1, "2"], [1, 2.5], [[1], [2]]]
)
def test_grades_that_are_no_whole_numbers(grades: Any) -> None:
    message = qrels_refusal((["q1", "q2"], ["a", "x"], grades))
    assert "the grade column holds" in message
    assert "not whole numbers (cast the grades to integers)" in message
    if len({type(grade) for grade in grades}) == 1:
        for frame in (
            pl.DataFrame(GRADES | {"grade": grades}),
            pd.DataFrame(GRADES | {"grade": grades}),
        ):
            assert "the grade column holds" in qrels_refusal(frame)


@pytest.mark.parametrize("grade", [2**63, 1001, -1001, 10**5000], ids=["a", "b", "c", "d"])
def test_grades_beyond_the_cap(grade: int) -> None:
    message = qrels_refusal((["q1", "q2"], ["a", "x"], [1, grade]))
    assert "row 1: the grade " in message
    assert "a grade is at most 1000" in message
    if grade < 1 << 64:
        dtype = pl.UInt64 if grade > 0 else pl.Int64
        frame = pl.DataFrame(GRADES).with_columns(grade=pl.Series([1, grade], dtype=dtype))
        assert "row 1: the grade " in qrels_refusal(frame)


def test_a_grade_that_is_missing() -> None:
    for grade in (
        [1, None],
        pl.Series([1, None]),
        pd.Series([1, None], dtype="Int64"),
        np.ma.masked_array(np.array([1, 2]), mask=[False, True]),
    ):
        message = qrels_refusal((["q1", "q2"], ["a", "x"], grade))
        assert message == "qrels: row 1 has no grade"


def test_a_document_judged_twice() -> None:
    message = qrels_refusal((["q", "q", "q"], ["a", "b", "a"], [1, 2, 1]), DuplicateError)
    assert message == "qrels: row 2: query 'q' judges document 'a' again (keep one judgment)"


def test_ids_of_judgments() -> None:
    assert "the query column holds" in qrels_refusal(([1], ["a"], [1]))
    assert "row 0 has no doc" in qrels_refusal((["q"], [None], [1]))
    assert "hold no judgment" in qrels_refusal(([], [], []))
