"""Is every fault of a run file named, and every oddity read right, whatever the file's size?

Each test runs through the careful reader, and through the fast one with pieces of 64 bytes (so that
queries and oddities lie across their borders) and with large ones.
"""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import DuplicateError, FormatError, InputError

from .conftest import Reader
from .runs import COLUMN_HINT, EXPECTED, FILLER, RUN, SCORE_HINT, check
from .tables import assert_same, ranks


def test_a_plain_run(reader: Reader) -> None:
    check(reader, RUN)


# Columns


def test_five_columns(reader: Reader) -> None:
    message = reader.error(FormatError, RUN + "q2 Q0 w 3 7.0\n")
    assert message.startswith("a.run:7: 5 columns instead of 6")
    assert COLUMN_HINT in message


def test_seven_columns(reader: Reader) -> None:
    message = reader.error(FormatError, RUN + "q2 Q0 w 3 7.0 t more\n")
    assert message.startswith("a.run:7: 7 columns instead of 6")
    assert "--extra-columns" in message


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        ("q2 Q0 v 3 7.0\nq2 Q0 w 4 6.0 t more\n", "7: 5 columns"),
        ("q2 Q0 v 3 7.0 t more\nq2 Q0 w 4 6.0\n", "7: 7 columns"),
        ("q2 v 3 7.0 6.0\nq2 Q0 w 4 6.0 t more\n", "7: 5 columns"),
        ("q2  v 3 7.0 t\nq2 Q0 w 4 6.0 t\n", "7: 5 columns"),
        ("q2 Q0 v  7.0 t\nq2 Q0 w 4 6.0 t\n", "7: 5 columns"),
        ("q2 Q0 v 3 7.0 t\nq2\nQ0 w 4 6.0 t\n", "8: 1 columns"),
    ],
)
def test_one_column_less_here_and_one_more_there(reader: Reader, lines: str, at: str) -> None:
    """The number of blanks is right on the whole, and wrong on each line."""
    assert reader.error(FormatError, RUN + lines).startswith(f"a.run:{at} instead of 6")


def test_seven_columns_where_asked_for(reader: Reader) -> None:
    check(reader, RUN.replace(" t\n", " t and more\n", 3), extra_columns=True)


def test_five_columns_are_never_enough(reader: Reader) -> None:
    message = reader.error(FormatError, RUN + "q2 Q0 w 3 7.0\n", extra_columns=True)
    assert message.startswith("a.run:7: 5 columns instead of 6")


def test_a_qrels_file_in_the_place_of_a_run(reader: Reader) -> None:
    message = reader.error(FormatError, "q1 0 a 1\nq1 0 b 0\n")
    assert message.startswith("a.run:1: 4 columns instead of 6")
    assert "is this a qrels file?" in message


def test_the_first_bad_line_is_named_whatever_is_wrong_with_it(reader: Reader) -> None:
    content = RUN + "q2 Q0 u 3 nan t\n" + "q2 Q0 v 3\n" + "q2 Q0 w\0 3 1.0 t\n"
    assert reader.error(FormatError, content).startswith("a.run:7: the score 'nan'")


# Scores


@pytest.mark.parametrize(
    "score",
    [
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "+infinity",
        "1e999",
        "-1e400",
        "1_0",
        "1__0",
        "１０",
        "٣",
        "0x10",
        "1d5",
        "1,5",
        "1.2.3",
        "--5",
        "+-5",
        "1e",
        "1e+",
        "e5",
        ".",
        "-",
        "+",
        "1f",
        "True",
        "None",
        "1e5.0",
        "½",
        "−5",
        '"5"',
        "1e1_0",
    ],
)
def test_what_is_no_finite_decimal_number(reader: Reader, score: str) -> None:
    content = RUN + f"q2 Q0 w 3 {score} t\n" + FILLER
    message = reader.error(FormatError, content)
    assert message == f"a.run:7: the score {score!r} is not a finite number {SCORE_HINT}"


@pytest.mark.parametrize(
    ("score", "value"),
    [
        ("+5", 5.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-.5", -0.5),
        ("1e5", 1e5),
        ("1E+5", 1e5),
        ("1e-5", 1e-5),
        ("00005", 5.0),
        ("+.5e3", 500.0),
        ("1e308", 1e308),
        ("1e-400", 0.0),
        ("5e-324", 5e-324),
        ("9007199254740993", 9007199254740992.0),
        ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
        ("179769313486231580793728971405301e276", 1.797693134862315807e308),
        ("2.2250738585072011e-308", 2.2250738585072011e-308),
        ("1" * 300, float("1" * 300)),
    ],
)
def test_what_is_a_number(reader: Reader, score: str, value: float) -> None:
    table = reader.judge(f"q2 Q0 x 1 {score} t\n" + FILLER)
    assert table.top_score.tolist() == [-np.inf, value]


def test_minus_zero_and_zero_are_equal(reader: Reader) -> None:
    table = reader.judge("q1 Q0 a 1 -0.0 t\nq1 Q0 b 2 0.0 t\nq1 Q0 c 3 -0 t\nq2 Q0 x 1 0 t\n")
    assert ranks(table, "q1") == [(1, 2), (2, 0), (3, 1)]  # by id, descending
    assert table.tied.tolist() == [3, 0]


# Order


def test_ties_go_to_the_higher_id(reader: Reader) -> None:
    content = "".join(f"q1 Q0 {doc} 1 5.0 t\n" for doc in ("a", "z", "b", "y", "c"))
    table = reader.judge(content + "q2 Q0 x 1 1.0 t\n")
    assert ranks(table, "q1") == [(3, 2), (4, 0), (5, 1)]
    assert table.tied.tolist() == [3, 0]


def test_ids_are_compared_by_their_bytes(reader: Reader) -> None:
    docs = ["a", "A", "é", "z", "zz", "\U0001f600", "\uffff", "10", "9", "a\u00a0b"]
    content = "".join(f"q Q0 {doc} 1 0.5 t\n" for doc in docs)
    table = reader.judge(content, {"q": dict.fromkeys(docs, 1)})
    by_bytes = sorted(docs, key=str.encode, reverse=True)
    one_by_one = {doc: ranks(reader.judge(content, {"q": {doc: 1}}), "q")[0][0] for doc in docs}
    assert sorted(docs, key=one_by_one.__getitem__) == by_bytes
    assert [rank for rank, _ in ranks(table, "q")] == list(range(1, len(docs) + 1))


def test_only_equal_scores_are_ties(reader: Reader) -> None:
    content = "q1 Q0 z 1 2.0 t\nq1 Q0 c 2 1.0000000000000002 t\nq1 Q0 y 3 1.0 t\nq1 Q0 a 4 1.0 t\n"
    table = reader.judge(content + "q2 Q0 x 1 1.0 t\n")
    assert ranks(table, "q1") == [(2, 2), (4, 1)]
    assert table.tied.tolist() == [1, 0]


def test_a_tie_never_reaches_into_the_next_query(reader: Reader) -> None:
    table = reader.judge("q1 Q0 a 1 1.0 t\nq2 Q0 x 1 1.0 t\nq3 Q0 w 1 1.0 t\n")
    assert table.tied.tolist() == [0, 0]


def test_scores_decide_and_ranks_do_not(reader: Reader) -> None:
    lines = RUN.splitlines(keepends=True)
    shuffled = "".join(lines[at] for at in (3, 0, 2, 1, 5, 4))
    assert_same(reader.judge(shuffled), reader.judge(RUN))
    check(reader, RUN.replace(" 1 3.0", " 99 3.0").replace(" 2 2.0", " x 2.0"))


def test_rows_of_a_query_scattered_over_the_file(reader: Reader) -> None:
    lines = RUN.splitlines(keepends=True)
    assert_same(reader.judge("".join(lines[::2] + lines[1::2])), reader.judge(RUN))
    apart = "".join(lines[::2]) + FILLER + "".join(lines[1::2])
    assert_same(reader.judge(apart), reader.judge(RUN + FILLER))


def test_scores_in_32_bits(reader: Reader) -> None:
    content = "q1 Q0 a 1 1.00000001 t\nq1 Q0 z 2 1.0 t\nq2 Q0 x 1 1.0 t\n"
    assert ranks(reader.judge(content), "q1") == [(1, 1)]
    table = reader.judge(content, float32=True)
    assert ranks(table, "q1") == [(2, 1)]
    assert table.tied.tolist() == [1, 0]
    assert table.top_score.tolist() == [1.0, 1.0]  # of what was ranked, not of what was written


def test_a_score_beyond_32_bits(reader: Reader) -> None:
    content = RUN + "q2 Q0 w 3 1e308 t\n"
    assert reader.judge(content).top_score.tolist() == [3.0, 1e308]
    message = reader.error(InputError, content, float32=True)
    assert "query 'q2', document 'w': the score 1e+308 does not fit into 32 bits" in message
    assert "without float32" in message


# Queries


def test_a_query_that_the_run_lacks(reader: Reader) -> None:
    table = reader.judge("q1 Q0 a 1 3.0 t\n")
    assert table.missing.tolist() == [False, True]
    assert table.retrieved.tolist() == [1, 0]
    assert table.top_score.tolist() == [3.0, -np.inf]


def test_queries_that_the_qrels_lack(reader: Reader) -> None:
    table = reader.judge(FILLER + RUN + FILLER.replace("f", "g"))
    assert table.extra_queries == 80
    assert_same(table, reader.judge(FILLER + FILLER.replace("f", "g") + RUN))
    assert {query: ranks(table, query) for query in table.queries} == EXPECTED


def test_no_query_in_common(reader: Reader) -> None:
    message = reader.error(InputError, FILLER)
    assert "no query of the run is in the qrels (they have, for example, 'q1')" in message
    assert "check that both use the same query ids" in message


def test_no_document_in_common_scores_nothing(reader: Reader) -> None:
    table = reader.judge("q1 Q0 u 1 3.0 t\nq2 Q0 v 1 3.0 t\n")
    assert len(table.rank) == 0
    assert table.retrieved.tolist() == [1, 1]


@pytest.mark.parametrize(
    "content", ["", "\n", "\n\n\n", "  \n\t\n", "# nothing\n", "\ufeff", "\r\n"]
)
def test_an_empty_run(reader: Reader, content: str) -> None:
    message = reader.error(InputError, content)
    assert message == "a.run: the run is empty (check that it is the right one)"


def test_one_query_larger_than_a_piece_and_one_in_each(reader: Reader) -> None:
    large = "".join(f"q1 Q0 d{n} {n} {1000 - n} t\n" for n in range(300))
    table = reader.judge(
        large + "q1 Q0 a 1 0.5 t\n" + "q2 Q0 x 1 1.0 t\n" + large.replace("q1", "q3")
    )
    assert ranks(table, "q1") == [(301, 1)]
    assert table.retrieved.tolist() == [301, 1]
    assert table.extra_queries == 1


# Duplicates


@pytest.mark.parametrize("doc", ["a", "w"])
def test_a_document_twice(reader: Reader, doc: str) -> None:
    lines = RUN.splitlines(keepends=True)
    content = f"q1 Q0 {doc} 9 7.0 t\n" + "".join(lines[1:4]) + f"q1 Q0 {doc} 9 0.1 t\n" + lines[4]
    message = reader.error(DuplicateError, content)
    assert message.startswith(f"a.run:5: query 'q1' has document '{doc}' again (first on line 1)")
    assert "keep the better score" in message


def test_a_document_twice_far_apart(reader: Reader) -> None:
    many = "".join(f"q1 Q0 d{n} {n} {5000 - n}.5 t\n" for n in range(500))
    content = "q1 Q0 u 0 9999 t\n" + many + "q1 Q0 u 0 1 t\n" + "q2 Q0 x 1 1.0 t\n"
    message = reader.error(DuplicateError, content)
    assert message.startswith("a.run:502: query 'q1' has document 'u' again (first on line 1)")


def test_a_document_twice_in_scattered_rows(reader: Reader) -> None:
    content = RUN + FILLER + "\n# once more\n" + "q1\tQ0  z 3 1.0 t\n" + "q2 Q0 y 1 1.0 t\n"
    message = reader.error(DuplicateError, content)
    assert message.startswith("a.run:49: query 'q1' has document 'z' again (first on line 3)")


def test_the_first_of_several_duplicates_is_named(reader: Reader) -> None:
    docs = ["k", "l", "m", "n", "m", "k", "l", "n"]
    content = "".join(f"q1 Q0 {doc} 1 {9 - at} t\n" for at, doc in enumerate(docs))
    message = reader.error(DuplicateError, content)
    assert message.startswith("a.run:5: query 'q1' has document 'm' again (first on line 3)")


def test_a_whole_run_twice_in_one_file(reader: Reader) -> None:
    message = reader.error(DuplicateError, RUN + RUN)
    assert message.startswith("a.run:7: query 'q1' has document 'a' again (first on line 1)")


def test_a_document_with_two_queries_is_no_duplicate(reader: Reader) -> None:
    table = reader.judge("q1 Q0 a 1 1.0 t\nq2 Q0 a 1 1.0 t\nq3 Q0 a 1 1.0 t\n")
    assert ranks(table, "q1") == [(1, 1)]


def test_ids_that_regular_expressions_would_take_for_something_else(reader: Reader) -> None:
    content = "q.1 Q0 a+[ 1 2 t\nqx1 Q0 a+[ 1 2 t\nq.1 Q0 a+[ 1 2 t\n"
    message = reader.error(DuplicateError, content, qrels={"q.1": {"a+[": 1}})
    assert message.startswith("a.run:3: query 'q.1' has document 'a+[' again (first on line 1)")
