"""Does JSON give the same tree as YAML, and the same refusals?"""

from __future__ import annotations

import json

import pytest

from assay.strict_yaml import MappingNode, ScalarNode, SequenceNode
from assay.testsets.json_nodes import parse_json
from tests.unit.testsets.samples import read, sound


def dataset(query: str) -> str:
    return '{"name": "t", "version": "v1",\n "queries": [\n' + query + "]}"


JUDGED = '"relevant_docs": [{"doc_id": "d1", "grade": 1}]'

BAD = {
    "depth 5,000": ("[" * 5000 + "]" * 5000, 1, "deep"),
    "duplicate key": (dataset('{"query_id": "a",\n"query_id": "b"}'), 4, "appears twice"),
    "NaN": (dataset('{"query_id": NaN}'), 3, "NaN"),
    "lone surrogate": (dataset('{"query_id": "q1",\n"query_text": "\\ud800"}'), 4, "surrogate"),
    "NUL": (dataset('{"query_id": "q1",\n"query_text": "a\\u0000b", ' + JUDGED + "}"), 4, "U+0000"),
    "5,000 digits": (dataset('{"query_id": ' + "9" * 5000 + "}"), 3, "digits"),
    "cut off": (dataset('{"query_id": "q1"')[:-2], 3, "not JSON"),
    "two values": ('{"name": "t"}\n{"name": "u"}', 2, "second value"),
    "text as grade": (
        dataset('{"query_id": "q", "query_text": "x",\n' + JUDGED.replace("1}", '"3"}') + "}"),
        4,
        'the grade is "3"',
    ),
    "true as grade": (
        dataset('{"query_id": "q", "query_text": "x",\n' + JUDGED.replace("1}", "true}") + "}"),
        4,
        "the grade is true",
    ),
    "UTF-16": (dataset("{}").encode("utf-16"), 1, "UTF-8"),
    "empty": ("", None, "the file is empty"),
    "scalar": ("3", 1, "is a mapping"),
}  # fmt: skip


@pytest.mark.req("E4")
@pytest.mark.parametrize(("text", "line", "message"), BAD.values(), ids=BAD)
def test_bad_json_is_refused_with_its_line(
    text: str | bytes, line: int | None, message: str
) -> None:
    found = [(problem.line, problem.message) for problem in read(text, "t.json").problems]
    assert any(at == line and message in said for at, said in found), found


def test_the_tree_knows_its_lines() -> None:
    assert parse_json(b'{"a": [1,\n "x,}"],\n"b": null}', source="t") == MappingNode(
        (
            (
                ScalarNode("a", 1, True),
                SequenceNode((ScalarNode("1", 1), ScalarNode("x,}", 2, True)), 1),
            ),
            (ScalarNode("b", 3, True), ScalarNode("null", 3)),
        ),
        1,
    )


def test_numbers_where_text_is_meant_are_the_text() -> None:
    query = {"query_id": 12, "query_text": "x", "relevant_docs": [{"doc_id": 31415926, "grade": 1}]}
    found = sound(json.dumps({"name": "t", "version": 1, "queries": [query]}), "t.json")
    assert (found.version, found.queries[0].query_id) == ("1", "12")
    assert found.queries[0].relevant_docs[0].id == "31415926"
