"""How does sound input become input that nobody expects?"""

from __future__ import annotations

import json
import random
import re
from typing import Any

NASTY = [
    b"",
    b" ",
    b"\t",
    b"  ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\0",
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\x85",
    b"\xa0",
    b"\xff",
    b"\xfe\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"#",
    b"\n#",
    b"# ",
    b'"',
    b"'",
    b"\\",
    b",",
    b"nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"Infinity",
    b"1e999",
    b"1e308",
    b"1_0",
    b"0x10",
    b"1,5",
    b"-0.0",
    b"+5",
    b".5",
    b"5.",
    b"5e-324",
    b"9" * 30,
    b"9" * 400,
    b"9" * 5000,
    "１０".encode(),
    b"true",
    b"null",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"[" * 70,
    b'{"a":' * 70,
    b'"\\ud800"',
    b'"\\ud83d\\ude00"',
    b'"a": 1, "a": 2',
    b"q1",
    b"q1 Q0 a 1 1 t\n",
    b"q1 0 a 1\n",
    b"q2\tQ0\tx\t1\t2.5\tt\n",
    b"PAR1",
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
    b"x" * 50,
]


VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e308, 2**70, "", " ", "x" * 50, "\ud800", "\0", "nan", "2",
    [], {}, [[]], [None], {"a": 1}, [1, 2], ["x", 1], {"": {}}, [[0, 5]], "2020-01-01", -(2**63),
]  # fmt: skip


def mutated(seed: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """The seed after a few changes at random."""
    data = seed
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3, 6))):
        data = rng.choice(CHANGES)(data, others, rng)
    return data[:4000]


def _flip(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _insert(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(NASTY) + data[at:]


def _cut(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    start, end = _stretch(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    start, end = _stretch(data, rng)
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[start:end] + data[at:]


def _truncate(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _splice(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _replace_word(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    words = data.split(b" ")
    words[rng.randrange(len(words))] = rng.choice(NASTY)
    return b" ".join(words)


def _exchange(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One kind of blank for another, everywhere or at one place."""
    old, new = rng.choice((b" ", b"\n", b"\t")), rng.choice((b" ", b"\t", b"  ", b"\r\n", b"\n"))
    return data.replace(old, new, rng.choice((1, 2, -1)))


def _move_line(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _repeat_line(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"\n".join(lines)


def _exchange_words(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    words = data.split(b" ")
    one, two = rng.randrange(len(words)), rng.randrange(len(words))
    words[one], words[two] = words[two], words[one]
    return b" ".join(words)


def _move_word(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A column leaves its line for another: one has less of them then, and one has more."""
    words = re.findall(rb"[ \t]*[^ \t\r\n]+|[\r\n]+", data) or [b""]
    word = words.pop(rng.randrange(len(words)))
    words.insert(rng.randrange(len(words) + 1), word)
    return b"".join(words)


def _exchange_value(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One value of JSON, at any depth, for another kind of value."""
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return _insert(data, others, rng)
    box: Any = {"": root}
    here: Any = box
    key: Any = ""
    while isinstance(below := here[key], (dict, list)) and below and rng.random() < 0.85:
        here = below
        key = rng.choice(list(here) if isinstance(here, dict) else range(len(here)))
    here[key] = rng.choice(VALUES)
    return json.dumps(box[""]).encode()


def _stretch(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 5, 20, 100)))


CHANGES = (
    _exchange_value,
    _exchange_value,
    _flip,
    _insert,
    _insert,
    _cut,
    _repeat,
    _truncate,
    _splice,
    _replace_word,
    _exchange,
    _move_line,
    _repeat_line,
    _exchange_words,
    _move_word,
)
