"""Are blanks, sizes, encodings and compressed run files read right, or refused by name?

Each test runs through the careful reader, and through the fast one with pieces of 64 bytes (so that
queries and oddities lie across their borders) and with large ones.
"""

from __future__ import annotations

import gzip

import pytest
import zstandard

from assay import limits
from assay.errors import FormatError, LimitError

from .conftest import QRELS, Reader
from .runs import EXPECTED, FILLER, RUN, check
from .tables import contents, ranks

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
        RUN.replace("\n", "\n# q1 Q0 w 3 7.0 t\n"),
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


@pytest.mark.parametrize("query", ["#1", "##", "#q2", "#\u00a0"])
def test_a_query_whose_id_begins_with_a_number_sign_is_a_query(reader: Reader, query: str) -> None:
    table = reader.judge(RUN.replace("q2", query), {"q1": QRELS["q1"], query: {"x": 1}})
    assert ranks(table, query) == EXPECTED["q2"]


@pytest.mark.parametrize("blank", [" ", "\t", "  "])
def test_a_query_that_reads_as_a_comment_is_refused(reader: Reader, blank: str) -> None:
    message = reader.error(FormatError, RUN + f"#{blank}Q0 x 1 1.0 t\n")
    assert message.startswith("a.run:7: a comment, or a row of a query with the id '#'?")


def test_a_comment_without_a_blank_is_explained(reader: Reader) -> None:
    message = reader.error(FormatError, "#made by hand\n" + RUN)
    assert "a comment begins with # and a blank" in message


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
    assert message.startswith("a.run: the compressed data is damaged or truncated: ")
    assert "download the file again" in message


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
    monkeypatch.setattr(limits, "BOMB_FLOOR_BYTES", 1 << 14)
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
