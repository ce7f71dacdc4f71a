"""Are groups of queries found in mappings, fields and files, and doubtful ones refused?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError, DuplicateError, FormatError, InputError, UsageError
from assay.hits.groups import load_groups
from assay.hits.qrels import load_qrels
from assay.model.judgments import Qrels

Write = Callable[[str, bytes | str], Path]

PLAIN = load_qrels({"q1": {"a": 1}, "q2": {"b": 1}})
FIELDS = Qrels(
    PLAIN.queries, PLAIN.query, PLAIN.docs, PLAIN.grade, fields={"q1": {"kind": "x"}, "q2": {}}
)
GROUPS = {"q1": "long", "q2": "a b"}


def refusal(value: Any, kind: type[AssayError] = FormatError, qrels: Qrels = PLAIN) -> str:
    with pytest.raises(kind) as caught:
        load_groups(value, qrels)
    assert caught.type is kind
    text = str(caught.value)
    return text.replace(f"{value.parent}/", "") if isinstance(value, Path) else text


@pytest.mark.parametrize(
    "content",
    [
        '{"q1": "long", "q2": "a b"}',
        '\ufeff{"q1":\n"long", "q2": "a b"}',
        '{"query_id": "q1", "group": "long"}\n{"qid": "q2", "group": "a b"}\n',
        '[{"query_id": "q1", "group": "long"},\n{"qid": "q2", "group": "a b"}]',
        "q1\tlong\nq2\ta b\n",
        "q1,long\nq2,a b",
        "q1,long\rq2,a b\r",
        "query_id,group\r\nq1,long\r\n\r\nq2,a b\r\n",
        "\ufeffqid\tgroup\nq1\tlong\nq2\ta b\n",
        '"q1", "long"\n"q2", "a b"\n',
        "q1   long  \nq2 'a\u00a0b'\n".replace("'a\u00a0b'", '"a b"'),
    ],
    ids=repr,
)
def test_files(write: Write, content: str) -> None:
    path = write("groups", content)
    assert load_groups(path, PLAIN) == GROUPS
    assert load_groups(str(path), PLAIN) == GROUPS


def test_a_single_json_line(write: Write) -> None:
    path = write("groups", '{"query_id": "q1", "group": "long"}')
    assert load_groups(path, PLAIN) == {"q1": "long"}


def test_mappings_and_fields() -> None:
    assert load_groups(GROUPS, PLAIN) == GROUPS
    assert load_groups("kind", FIELDS) == {"q1": "x"}


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = BytesIO(b"q1 long\n")

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert load_groups("-", PLAIN) == {"q1": "long"}


def test_neither_a_field_nor_a_file(tmp_path: Path) -> None:
    assert "neither a file nor a field" in refusal("nothing", UsageError)
    assert "the judgments have no fields; name a file" in refusal("nothing", UsageError)
    assert "fields: kind" in refusal("nothing", UsageError, FIELDS)
    for odd in ("a\0b", "x" * 5000):
        assert "neither a file nor a field" in refusal(odd, UsageError)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("q1 a b\n", "1: 3 columns instead of 2 (a line is: query group)"),
        ("q1,a\nq2\n", "2: 1 column instead of 2"),
        ("q1,a\nq2,\n", "2: the group '' is not text"),
        ("q1,a\n,b\n", "2: the query '' is not text"),
        ('q1,"a\nq2,b\n', "2: not delimited text: unexpected end of data"),
        ('q1,"a"b\n', "1: not delimited text:"),
        ("q1,a\nq2,b\0\n", "2: a NUL byte"),
        ('{"query_id": "q1", "group": 5}\n{}', "1: the group 5 is not text"),
        ('{"query_id": "q1", "group": "a"}\n{"group": "b"}', "2: the query None is not text"),
        ('{"query_id": "q1", "group": "a"}\n5', "2: a row must be an object, not 5"),
        ('[{"query_id": "q1", "group": "a"}, 5]', "1: a row must be an object, not 5"),
        ('{"q1": "a",\n', "2: not JSON"),
    ],
)
def test_faults_have_lines(write: Write, content: str, says: str) -> None:
    message = refusal(write("groups", content))
    assert message.startswith(f"groups:{says}")


def test_a_field_beyond_the_limits_of_csv(write: Write) -> None:
    assert "field larger than field limit" in refusal(write("groups", f"q1,{'x' * 200_000}\n"))


def test_encodings(write: Write) -> None:
    assert refusal(write("groups", b"q1,a\nq2,\xe9\n")) == (
        "groups:2: not UTF-8 (save it as UTF-8 (Excel: CSV UTF-8))"
    )


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("q1 a\nq2 a\nq1 b\n", ":3"),
        ('{"qid": "q1", "group": "a"}\n{"qid": "q1", "group": "a"}', ":2"),
    ],
)
def test_a_query_in_two_groups(write: Write, content: str, line: str) -> None:
    message = refusal(write("groups", content), DuplicateError)
    assert message.startswith(f"groups{line}: query 'q1' is in a group already")


@pytest.mark.parametrize("content", ["", "\n\n", "qid,group\n", "{}", "[]"])
def test_no_group(write: Write, content: str) -> None:
    assert refusal(write("groups", content)).startswith("groups: there is no group (groups are")


@pytest.mark.parametrize("value", [{1: "a"}, {"q": 1}, {"q": None}, {"q": ""}])
def test_mappings_of_other_things(value: Any) -> None:
    assert "is not text" in refusal(value, InputError)


def test_json_of_other_things(write: Write) -> None:
    assert "the group {'a': 1} is not text" in refusal(write("g", '{"q1": {"a": 1}}'), InputError)
    assert "the group 5 is not text" in refusal(write("g", '{"q1": 5}'), InputError)
