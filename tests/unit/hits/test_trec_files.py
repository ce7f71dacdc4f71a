"""Is every fault of a run file named, and every oddity read right, whatever the file's size?

Each test runs through the careful reader, and through the fast one with pieces of 64 bytes (so that
queries and oddities lie across their borders) and with large ones.
"""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import zstandard

from assay import limits
from assay.errors import DuplicateError, FormatError, InputError, LimitError
from assay.hits import sources

from .conftest import QRELS, Reader
from .tables import assert_same, contents, ranks

RUN = (
    "q1 Q0 a 1 3.0 t\n"
    "q1 Q0 b 2 2.0 t\n"
    "q1 Q0 z 3 1.5 t\n"
    "q1 Q0 c 4 1.0 t\n"
    "q2 Q0 y 1 9.0 t\n"
    "q2 Q0 x 2 8.0 t\n"
)
EXPECTED = {"q1": [(1, 1), (2, 0), (4, 2)], "q2": [(2, 1)]}
SCORE_HINT = "(scores are decimal numbers such as 12.5 or 1e-3)"
COLUMN_HINT = "(a line is: query Q0 document rank score tag"
FILLER = "".join(f"f{n} Q0 d{n} 1 1.0 t\n" for n in range(40))


def check(reader: Reader, content: bytes | str, **more: object) -> None:
    """The content says the same as RUN."""
    table = reader.judge(content, **more)  # type: ignore[arg-type]
    assert {query: ranks(table, query) for query in table.queries} == EXPECTED
    assert table.retrieved.tolist() == [4, 2]
    assert table.top_score.tolist() == [3.0, 9.0]
    assert table.missing.tolist() == [False, False]
    assert table.tied.tolist() == [0, 0]


def test_a_plain_run(reader: Reader) -> None:
    check(reader, RUN)


# Columns


def test_five_columns(reader: Reader) -> None:
    message = reader.error(FormatError, RUN + "q2 Q0 w 3 7.0\n")
    assert message.startswith("a.run:7: 5 columns where 6 belong")
    assert COLUMN_HINT in message


def test_seven_columns(reader: Reader) -> None:
    message = reader.error(FormatError, RUN + "q2 Q0 w 3 7.0 t more\n")
    assert message.startswith("a.run:7: 7 columns where 6 belong")
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
    assert reader.error(FormatError, RUN + lines).startswith(f"a.run:{at} where 6 belong")


def test_seven_columns_where_asked_for(reader: Reader) -> None:
    check(reader, RUN.replace(" t\n", " t and more\n", 3), extra_columns=True)


def test_five_columns_are_never_enough(reader: Reader) -> None:
    message = reader.error(FormatError, RUN + "q2 Q0 w 3 7.0\n", extra_columns=True)
    assert message.startswith("a.run:7: 5 columns where 6 belong")


def test_a_qrels_file_in_the_place_of_a_run(reader: Reader) -> None:
    message = reader.error(FormatError, "q1 0 a 1\nq1 0 b 0\n")
    assert message.startswith("a.run:1: 4 columns where 6 belong")
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
    assert "leave out float32" in message


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


# Blanks


@pytest.mark.parametrize(
    "content",
    [
        RUN.replace(" ", "\t"),
        RUN.replace(" ", "  "),
        RUN.replace(" ", " \t "),
        RUN.replace(" Q0 ", "\tQ0 "),
        RUN.replace("\n", "  \n"),
        RUN.replace("\n", "\t\n"),
        "  " + RUN.replace("\n", "\n   ").rstrip(" "),
        RUN.replace("\n", "\n\n"),
        RUN.replace("\n", "\r\n"),
        RUN.replace("\n", " \r\n\t \r\n"),
        RUN.replace(" ", "\x0b"),
        RUN.replace(" ", "\x0c"),
        RUN.replace(" Q0", "\rQ0"),
        "\n\n" + RUN + "\n \n",
        RUN.rstrip("\n"),
        RUN.replace("\n", "\r\n").rstrip("\r\n"),
        RUN.replace("q1 Q0 b 2 2.0 t\n", "q1\t\tQ0 b 2   2.0 t\n"),
        "\ufeff" + RUN,
        "\ufeff\n" + RUN,
        "\ufeff  " + RUN,
    ],
    ids=repr,
)
def test_blanks_of_every_kind_part_columns(reader: Reader, content: str) -> None:
    check(reader, content)


@pytest.mark.parametrize(
    "content",
    [
        "# a comment\n" + RUN,
        "#\n" + RUN,
        "  # indented\n" + RUN,
        "\t#\ttabbed\n" + RUN,
        RUN + "# the end",
        "# all six columns are here\n" + RUN,
        "# even a NUL \0 or two \0\n" + RUN,
        "\ufeff# after a mark\n" + RUN,
        RUN.replace("\n", "\n#q1 Q0 w 3 7.0 t\n"),
        RUN.replace("\n", "\r\n# x\r\n"),
    ],
    ids=repr,
)
def test_comments_and_empty_lines_say_nothing(reader: Reader, content: str) -> None:
    check(reader, content)


def test_a_number_sign_within_a_line_is_text(reader: Reader) -> None:
    table = reader.judge("q1 Q0 #a 1 3.0 #\nq1 Q0 a#b 2 2.0 t\nq1 #0 a 3 1.0 t\nq2 Q0 x 1 1 #t\n")
    assert ranks(table, "q1") == [(3, 1)]
    assert table.retrieved.tolist() == [3, 1]


def test_line_numbers_count_lines_that_say_nothing(reader: Reader) -> None:
    content = "# one\n\n  \n" + RUN.replace("\n", "\r\n") + "# ten\n\n" + "q2 Q0 w 3 bad t\n"
    assert reader.error(FormatError, content).startswith("a.run:12: the score 'bad'")


@pytest.mark.parametrize(
    "char", ["\u00a0", "\u2028", "\u2029", "\u0085", "\u3000", "\u200b", "\ufeff"]
)
def test_blanks_beyond_ascii_are_part_of_an_id(reader: Reader, char: str) -> None:
    content = RUN.replace(" a ", f" a{char}b ").replace("q2", f"q{char}2")
    qrels = {"q1": {f"a{char}b": 1, "b": 0, "c": 2}, f"q{char}2": {"x": 1}}
    table = reader.judge(content, qrels)
    assert ranks(table, "q1") == EXPECTED["q1"]
    assert ranks(table, f"q{char}2") == EXPECTED["q2"]


@pytest.mark.parametrize("before", ["", "  ", "# x\n"])
def test_only_the_first_byte_order_mark_is_one(reader: Reader, before: str) -> None:
    content = "\ufeff" + before + "\ufeff" + RUN + "q1 Q0 \u00e9 9  0.5 \u00e9\n"
    table = reader.judge(content, {"\ufeffq1": {"a": 1}, "q1": {"a": 1, "c": 1}})
    assert ranks(table, "\ufeffq1") == [(1, 1)]
    assert ranks(table, "q1") == [(3, 1)]


@pytest.mark.parametrize("char", ["\x01", "\x1c", "\x1f", "\x7f"])
def test_control_characters_are_part_of_an_id(reader: Reader, char: str) -> None:
    table = reader.judge(
        RUN.replace(" a ", f" a{char}b "), {"q1": {f"a{char}b": 1}, "q2": {"x": 1}}
    )
    assert ranks(table, "q1") == [(1, 1)]


@pytest.mark.parametrize(
    "doc", ['"a"', '"a', "'a'", "a,b", "a;b", "\\n", "NA", "null", "nan", "%s", "𝔞"]
)
def test_no_character_of_an_id_has_a_meaning(reader: Reader, doc: str) -> None:
    table = reader.judge(RUN.replace(" a ", f" {doc} "), {"q1": {doc: 1}, "q2": {"x": 1}})
    assert ranks(table, "q1") == [(1, 1)]


# Sizes


def test_many_lines(reader: Reader) -> None:
    """Thousands of queries of various depths, one hit each, at a rank that is known."""
    lines, qrels, expected = [], {}, []
    for number in range(250):
        depth = 1 + number % 13
        hit = number % depth
        lines += [f"q{number} Q0 d{number}-{at} 0 {depth - at} t\n" for at in range(depth)]
        qrels[f"q{number}"] = {f"d{number}-{hit}": 1, "none": 1}
        expected.append(hit + 1)
    table = reader.judge("".join(lines), qrels)
    assert table.rank.tolist() == expected
    assert table.retrieved.tolist() == [1 + number % 13 for number in range(250)]


def test_an_id_that_is_too_long(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ID_BYTES", 20)
    check(reader, RUN.replace(" z ", f" {'z' * 20} ").replace(" y ", f" {'é' * 10} "))
    for line in (
        f"q2 Q0 {'w' * 21} 3 1 t\n",
        f"{'w' * 21} Q0 d 3 1 t\n",
        f"q2 Q0 {'é' * 11} 3 1 t\n",
    ):
        message = reader.error(LimitError, RUN + line)
        assert message.startswith("a.run:7: an id of 2")
        assert "an id has at most 20" in message


def test_a_line_that_is_too_long(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 200)
    fits = f"q2 Q0 w 3 7.0 {'t' * 186}\n"
    assert len(fits) == 201
    check(reader, RUN.replace(" t\n", f" {'t' * 150}\n"))
    reader.judge(RUN + fits)
    for content in (RUN + "t" + fits, RUN + "t" + fits + FILLER, RUN + "x" * 9999):
        message = reader.error(LimitError, content)
        assert message.startswith("a.run:7: a line of more than 200 bytes (is this a TREC file?)")


def test_one_line_only(reader: Reader) -> None:
    assert ranks(reader.judge("q1 Q0 a 1 3.0 t"), "q1") == [(1, 1)]


# Encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16(reader: Reader, encoding: str) -> None:
    mark = b"" if encoding == "utf-16" else {"l": b"\xff\xfe", "b": b"\xfe\xff"}[encoding[7]]
    message = reader.error(FormatError, mark + RUN.encode(encoding))
    assert message == "a.run:1: the file is UTF-16 (save it as UTF-8)"


def test_utf16_without_a_mark(reader: Reader) -> None:
    message = reader.error(FormatError, RUN.encode("utf-16-le"))
    assert message == "a.run:1: a NUL byte (is this a text file, in UTF-8?)"


@pytest.mark.parametrize("where", [b"\xe9 Q0 w 3 7.0 t\n", b"q2 Q0 \xe9t\xe9 3 7.0 t\n"])
def test_latin1_ids(reader: Reader, where: bytes) -> None:
    message = reader.error(FormatError, RUN.encode() + where + FILLER.encode())
    assert message.startswith("a.run:7: the id b'")
    assert "is not UTF-8 (convert the file to UTF-8)" in message


@pytest.mark.parametrize(
    "bad", [b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x82"]
)
def test_bytes_that_no_utf8_holds(reader: Reader, bad: bytes) -> None:
    message = reader.error(FormatError, RUN.encode() + b"q2 Q0 w" + bad + b" 3 7.0 t\n")
    assert message.startswith("a.run:7: the id b'w")


def test_columns_that_nobody_reads_may_hold_anything(reader: Reader) -> None:
    check(reader, RUN.encode().replace(b"Q0", b"\xe9").replace(b" t\n", b" \xff\n"))


@pytest.mark.parametrize(
    "line", ["q2 Q0 w\0 3 7.0 t\n", "q2 Q0 w 3 7.0 \0\n", "\0\n", "q2 Q0 w 3 7\0 t\n"]
)
def test_a_nul_byte(reader: Reader, line: str) -> None:
    message = reader.error(FormatError, RUN + line + FILLER)
    assert message == "a.run:7: a NUL byte (is this a text file, in UTF-8?)"


# Compression


@pytest.mark.parametrize("name", ["a.run", "a.run.zst", "a.txt.gz"])
def test_gzip_is_told_by_content(reader: Reader, name: str) -> None:
    check(reader, gzip.compress(RUN.encode()), name=name)
    check(reader, gzip.compress(RUN[:30].encode()) + gzip.compress(RUN[30:].encode()), name=name)


def test_a_plain_file_called_gz(reader: Reader) -> None:
    check(reader, RUN, name="a.run.gz")


@pytest.mark.parametrize("name", ["a.run", "a.run.gz", "a.zst"])
def test_zstd_is_told_by_content(reader: Reader, name: str) -> None:
    pack = zstandard.ZstdCompressor(write_checksum=True).compress
    skipped = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    check(reader, pack(RUN.encode()), name=name)
    check(reader, pack(RUN[:30].encode()) + skipped + pack(RUN[30:].encode()), name=name)
    check(reader, skipped + pack(RUN.encode()), name=name)


def _damaged(reader: Reader, content: bytes) -> None:
    message = reader.error(FormatError, content)
    assert message.startswith("a.run: the compressed data is damaged or cut off: ")
    assert "fetch it again" in message


@pytest.mark.parametrize("keep", [3, 11, -1, -8, -9, -20])
def test_gzip_cut_off(reader: Reader, keep: int) -> None:
    _damaged(reader, gzip.compress((RUN + FILLER).encode())[:keep])


def test_gzip_damaged(reader: Reader) -> None:
    packed = bytearray(gzip.compress((RUN + FILLER).encode()))
    packed[-6] ^= 1  # in the checksum
    _damaged(reader, bytes(packed))
    _damaged(reader, gzip.compress(RUN.encode()) + b"rubbish")


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("keep", [5, 9, -1, -4, -5, -20])
def test_zstd_cut_off(reader: Reader, keep: int, checksum: bool) -> None:
    pack = zstandard.ZstdCompressor(write_checksum=checksum)
    _damaged(reader, pack.compress((RUN + FILLER).encode())[:keep])


def test_zstd_whose_second_frame_is_cut_off(reader: Reader) -> None:
    pack = zstandard.ZstdCompressor().compress
    _damaged(reader, pack(RUN.encode()) + pack(FILLER.encode())[:-3])


def test_zstd_damaged(reader: Reader) -> None:
    packed = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(FILLER.encode()))
    packed[-2] ^= 1
    _damaged(reader, bytes(packed))
    _damaged(reader, zstandard.ZstdCompressor().compress(RUN.encode()) + b"rubbish")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_bomb(reader: Reader, pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(pack)
    monkeypatch.setattr(sources, "BOMB_FLOOR", 1 << 14)
    monkeypatch.setattr(limits, "MAX_DECOMPRESSED_RATIO", 20)
    line = b"q1 Q0 a 1 3.0 t\n"
    message = reader.error(LimitError, pack(b"# nothing\n" * 20_000 + line))
    assert message.startswith("a.run unpacks to more than ")
    assert "unpack it yourself if you trust it" in message


def test_all_readers_say_the_same(reader: Reader) -> None:
    """A long run with everything odd in it, read whole and in pieces, is the same run."""
    content = (RUN + FILLER).replace(" t\n", "\tt \r\n# x\r\n\n") + "f0 Q0 e 1 1e0 t"
    table = reader.judge(content, QRELS | {"f0": {"d0": 1, "e": 2}})
    assert contents(table) | {"rank": None} == contents(
        reader.judge(RUN + FILLER + "f0 Q0 e 1 1.0 t\n", QRELS | {"f0": {"d0": 1, "e": 2}})
    ) | {"rank": None}
    assert ranks(table, "f0") == [(1, 2), (2, 1)]
