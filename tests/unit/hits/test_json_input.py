"""Which runs and judgments are found in JSON, and which are refused?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import AssayError, DuplicateError, FormatError, InputError
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge
from assay.model.ranking import RankBy

from .tables import ranks

Write = Callable[[str, bytes | str], Path]

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1}}


def judged(write: Write, content: str, **options: Any) -> dict[str, list[tuple[int, int]]]:
    table = judge(load_qrels(QRELS), write("a.json", content), RunOptions(**options))
    return {query: ranks(table, query) for query in table.queries}


def refusal(write: Write, content: bytes | str, kind: type[AssayError] = FormatError) -> str:
    path = write("a.json", content)
    with pytest.raises(kind) as caught:
        judge(load_qrels(QRELS), path)
    assert caught.type is kind
    return str(caught.value).replace(f"{path.parent}/", "")


def qrels_refusal(write: Write, content: bytes | str, kind: type[AssayError] = FormatError) -> str:
    path = write("a.json", content)
    with pytest.raises(kind) as caught:
        load_qrels(path)
    assert caught.type is kind
    return str(caught.value).replace(f"{path.parent}/", "")


# Runs

EXPECTED = {"q1": [(1, 1), (3, 2)], "q2": [(2, 1)]}
LISTS: dict[str, list[str]] = {"q1": ["a", "z", "c"], "q2": ["y", "x"]}
SCORED: dict[str, dict[str, float]] = {"q1": {"c": 1, "a": 3.5, "z": 2}, "q2": {"x": -1, "y": 0}}
ROWS = [
    {"query_id": "q1", "doc_id": "c", "score": 1},
    {"query_id": "q2", "doc_id": "y", "score": 0},
    {"query_id": "q1", "doc_id": "a", "score": 3.5},
    {"query_id": "q1", "doc_id": "z", "score": 2.0},
    {"query_id": "q2", "doc_id": "x", "score": -1},
]


@pytest.mark.parametrize(
    "run",
    [
        LISTS,
        SCORED,
        {q: [{"id": d} for d in docs] for q, docs in LISTS.items()},
        {q: [{"docno": d, "rank": r} for r, d in enumerate(docs)] for q, docs in LISTS.items()},
        {q: [[d, SCORED[q][d]] for d in docs] for q, docs in LISTS.items()},
        ROWS,
        [{"qid": q, "results": docs} for q, docs in LISTS.items()],
        [{"id": q, "hits": docs} for q, docs in LISTS.items()],
        {"queries": [{"id": q, "ranking": docs} for q, docs in LISTS.items()]},
        {"test_queries": [{"id": q, "retrieved_segment_ids": d} for q, d in LISTS.items()]},
    ],
)
def test_forms_of_a_run(write: Write, run: Any) -> None:
    assert judged(write, json.dumps(run)) == EXPECTED
    assert judged(write, "\ufeff\n" + json.dumps(run, indent=2)) == EXPECTED


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_json_lines(write: Write, end: str) -> None:
    assert judged(write, end.join(map(json.dumps, ROWS))) == EXPECTED
    assert judged(write, "\ufeff" + end.join(map(json.dumps, ROWS)) + end) == EXPECTED
    whole = [{"query_id": q, "results": docs} for q, docs in LISTS.items()]
    assert judged(write, end.join(map(json.dumps, whole))) == EXPECTED


@pytest.mark.parametrize(
    "row",
    [
        {"query_id": "q1", "doc_id": "a"},
        {"qid": "q1", "docid": "a"},
        {"id": "q1", "results": ["a"]},
        {"query_id": "q1", "hits": [{"segment_id": "a", "score": 1}]},
    ],
)
def test_a_single_json_line(write: Write, row: Any) -> None:
    assert judged(write, json.dumps(row)) == {"q1": [(1, 1)], "q2": []}


def test_rows_of_results_keep_the_order_they_came_in(write: Write) -> None:
    rows = [{"query_id": "q1", "doc_id": doc, "score": 1} for doc in ("b", "c", "a")]
    assert judged(write, json.dumps(rows))["q1"] == [(1, 0), (2, 2), (3, 1)]
    assert judged(write, json.dumps({"q1": dict.fromkeys("bca", 1)}))["q1"] == [
        (1, 2),
        (2, 0),
        (3, 1),
    ]


def test_a_document_id_that_names_a_chunk(write: Write) -> None:
    """With no chunk_id beside it, doc_id is the id; its document is what precedes the chunk."""
    qrels = load_qrels({"q1": {"P1:chunk_5": 1}})
    for row, match, found in (
        ({"doc_id": "P1:chunk_9"}, "doc", 1),
        ({"doc_id": "P1:chunk_9"}, "chunk", 0),
        ({"chunk_id": "P1:chunk_9", "doc_id": "P1"}, "doc", 1),
        ({"chunk_id": "P1:chunk_5", "doc_id": "P1"}, "chunk", 1),
        ({"chunk_id": "x", "doc_id": "P1"}, "doc", 1),
        ({"chunk_id": "P1:chunk_5", "doc_id": "P2"}, "doc", 0),
    ):
        path = write("a.json", json.dumps({"q1": [row]}))
        table = judge(qrels, path, RunOptions(match=match))  # type: ignore[arg-type]
        assert len(table.rank) == found, row


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ({"q1": {"a": "3"}}, "query 'q1', document 'a': the score '3' is not a number (write it"),
        ({"q1": {"a": True}}, "query 'q1', document 'a': the score True is not a number"),
        ({"q1": {"a": None}}, "query 'q1', document 'a': the score None is not a number"),
        ({"q1": {"a": []}}, "query 'q1', document 'a': the score [] is not a number"),
        ({"q1": {"": 1}}, "query 'q1': the id '' is not text"),
        ({"q1": {"a" * 513: 1}}, "query 'q1': an id of 513 bytes (an id has at most 512)"),
        ({"q1": {"é" * 257: 1}}, "query 'q1': an id of 514 bytes (an id has at most 512)"),
        ({"": {"a": 1}}, "query '': the id '' is not text"),
        ({"q1": "a"}, "query 'q1': a run maps each query to {document: score}, or each to a list"),
        ({"q1": 5}, "query 'q1': a run maps each query to"),
        ({"q1": None}, "query 'q1': a run maps each query to"),
        ({"q1": {"a": 1}, "q2": ["x"]}, "query 'q1': a run maps each query to"),
        ({"q1": [5]}, "query 'q1': a result is an id, [id, score] or an object, not 5"),
        ({"q1": [None]}, "query 'q1': a result is an id"),
        ({"q1": [[]]}, "query 'q1': a result is an id"),
        ({"q1": [["a"]]}, "query 'q1': a result is an id"),
        ({"q1": [["a", 1, 2]]}, "query 'q1': a result is an id"),
        ({"q1": [["a", "1"]]}, "query 'q1': the score '1' is not a number"),
        ({"q1": [[1, 1]]}, "query 'q1': the id 1 is not text (put ids in quotes)"),
        ({"q1": [{}]}, "query 'q1': none of these is there: chunk_id, doc_id"),
        ({"q1": [{"doc_id": 7}]}, "query 'q1': the id 7 is not text"),
        ({"q1": [{"doc_id": "a", "score": "x"}]}, "query 'q1': the score 'x' is not a number"),
        ({"q1": [{"doc_id": "a", "rank": -1}]}, "query 'q1': the rank -1 is not a whole number"),
        ({"q1": [{"doc_id": "a", "rank": 1.5}]}, "query 'q1': the rank 1.5 is not a whole"),
        ({"q1": [{"doc_id": "a", "rank": "1"}]}, "query 'q1': the rank '1' is not a whole"),
        ({"q1": [{"doc_id": "a", "rank": True}]}, "query 'q1': the rank True is not a whole"),
        ({"q1": [{"chunk_id": "a", "doc_id": 5}]}, "query 'q1': the id 5 is not text"),
        ({"q1": [{"id": "a", "spans": 5}]}, "query 'q1': a list belongs here, not 5"),
        ({"q1": [{"id": "a", "spans": [5]}]}, "query 'q1': a span is [start, end) with"),
        ({"q1": [{"id": "a", "spans": [[5, 5]]}]}, "query 'q1': a span is [start, end) with"),
        ({"q1": [{"id": "a", "spans": [[-1, 5]]}]}, "query 'q1': a span is [start, end) with"),
        ({"q1": [{"id": "a", "spans": [[1, 2.5]]}]}, "query 'q1': a span is [start, end) with"),
        ({"q1": [{"id": "a", "spans": [["1", "2"]]}]}, "query 'q1': a span is [start, end)"),
        ([5], "item 1: a row must be an object, not 5"),
        ([{"query_id": "q1", "doc_id": "a"}, "x"], "item 2: a row must be an object, not 'x'"),
        ([{"doc_id": "a"}], "item 1: none of these is there: query_id, qid"),
        ([{"query_id": 5, "doc_id": "a"}], "item 1: the id 5 is not text"),
        ([{"query_id": "q1"}], "item 1: none of these is there: chunk_id, doc_id"),
        ([{"query_id": "q1", "results": "a"}], "item 1: a list belongs here, not 'a'"),
        ([{"query_id": "q1", "results": ["a"]}] * 2, "item 2: query 'q1' appears twice"),
        (
            [{"query_id": "q1", "results": ["a"]}, {"query_id": "q1", "doc_id": "b"}],
            "item 2: query 'q1' appears twice (give each query one row)",
        ),
        (
            [{"query_id": "q1", "doc_id": "b"}, {"query_id": "q1", "results": ["a"]}],
            "item 2: query 'q1' appears twice",
        ),
    ],
)
def test_a_run_that_is_refused(write: Write, run: Any, says: str) -> None:
    message = refusal(write, json.dumps(run, ensure_ascii=False))
    assert message.startswith(f"a.json: {says}")


def test_lines_of_faults_in_json_lines(write: Write) -> None:
    good = json.dumps({"query_id": "q1", "doc_id": "a", "score": 1})
    for bad, says in (
        ('{"query_id": "q1", "doc_id": "b", "score": "x"}', "the score 'x' is not a number"),
        ('{"query_id": "q1", "doc_id": "b", "score": 1e999}', "the score inf is not a finite"),
        ('{"query_id": "q1", "doc_id": "b", "score": NaN}', "NaN is not a number"),
        ('{"query_id": "q1", "doc_id": "b", "sc', "not JSON: Unterminated string"),
        ("5", "a row must be an object, not 5"),
        ('["q1", "b"]', "a row must be an object, not ['q1', 'b']"),
    ):
        assert refusal(write, f"{good}\n\n{bad}").startswith(f"a.json:3: {says}")
    message = refusal(write, f'{good}\n{{"qid": "q1", "qid": "q1"}}', DuplicateError)
    assert message.startswith("a.json:2: the key 'qid' appears twice")


@pytest.mark.parametrize(
    ("score", "says"),
    [
        ("NaN", "a.json:1: NaN is not a number"),
        ("-Infinity", "a.json:1: -Infinity is not a number"),
        ("1e999", "a.json: query 'q1', document 'a': the score inf is not a finite number"),
        ("9" * 400, "a.json: query 'q1', document 'a': the score 999999"),
        ("9" * 5000, "a.json:1: a number with too many digits"),
    ],
)
def test_scores_that_are_not_finite(write: Write, score: str, says: str) -> None:
    assert refusal(write, f'{{"q1": {{"a": {score}}}}}').startswith(says)


@pytest.mark.parametrize("content", ["[1, 2", "{", '{"q1": {"a": 1}', '{"q1": {"a": 1}}\n{"q2": '])
def test_half_a_file(write: Write, content: str) -> None:
    assert "not JSON" in refusal(write, content)


def test_nothing_in_it(write: Write) -> None:
    for content in ("{}", "[]", '{"queries": []}'):
        assert "the run is empty" in refusal(write, content, InputError)
    assert judged(write, '{"q1": {}}') == {"q1": [], "q2": []}
    assert judged(write, '{"q1": []}') == {"q1": [], "q2": []}


def test_utf16_and_latin1(write: Write) -> None:
    assert "UTF-16" in refusal(write, '{"q1": {"a": 1}}'.encode("utf-16"))
    assert refusal(write, b'{"q1":\n{"\xe9": 1}}').startswith("a.json:2: not UTF-8")


def test_large_whole_numbers_are_scores(write: Write) -> None:
    run = {"q1": {"a": 2**63, "b": 2**64, "c": -(2**70)}}
    assert judged(write, json.dumps(run))["q1"] == [(1, 0), (2, 1), (3, 2)]


# Judgments


@pytest.mark.parametrize(
    "content",
    [
        QRELS,
        [
            {"query_id": q, "doc_id": d, "grade": g}
            for q, docs in QRELS.items()
            for d, g in docs.items()
        ],
        [{"query_id": q, "relevant_docs": docs} for q, docs in QRELS.items()],
        [
            {"id": q, "judgments": [{"doc_id": d, "rel": g} for d, g in docs.items()]}
            for q, docs in QRELS.items()
        ],
        {"queries": [{"id": q, "judgments": docs} for q, docs in QRELS.items()]},
    ],
)
def test_forms_of_judgments(write: Write, content: Any) -> None:
    assert load_qrels(write("a.json", json.dumps(content))).by_query == QRELS
    if isinstance(content, list):
        lines = "\n".join(map(json.dumps, content))
        assert load_qrels(write("a.jsonl", "\ufeff" + lines)).by_query == QRELS


@pytest.mark.parametrize(
    "content",
    [
        {"q1": ["a", "b"]},
        {"q1": [{"chunk_id": "a"}, "b"]},
        {"test_queries": [{"id": "q1", "relevant_segment_ids": ["a", "b"]}]},
        [{"id": "q1", "expected_chunk_ids": ["a", "b"]}],
        {"id": "q1", "expected_chunk_ids": ["a", "b"]},
        {"query_id": "q1", "relevant_docs": ["a", "b"]},
    ],
)
def test_judgments_without_grades_are_relevant(write: Write, content: Any) -> None:
    path = write("a.json", json.dumps(content))
    assert load_qrels(path).by_query == {"q1": {"a": 1, "b": 1}}


def test_spans_and_fields_are_kept(write: Write) -> None:
    rows = [
        {"query_id": "q1", "relevant_docs": ["a"], "query_type": "exact_term", "n": 5},
        {
            "query_id": "q2",
            "relevant_docs": [{"doc_id": "b", "grade": 2, "spans": [[0, 10], [20, 30]]}, "c"],
            "group": "x",
        },
    ]
    qrels = load_qrels(write("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert qrels.spans == {1: ((0, 10), (20, 30))}
    assert qrels.fields == {"q1": {"query_type": "exact_term"}, "q2": {"group": "x"}}


@pytest.mark.parametrize(
    "grade",
    ["true", '"3"', "2.5", "2.0", str(2**63), "1001", "-1001", "[]", "1e0", "1e999"],
)
@pytest.mark.parametrize(
    "form",
    [
        '{"q1": {"a": %s}}',
        '{"q1": [{"id": "a", "grade": %s}]}',
        '[{"qid": "q1", "docid": "a", "relevance": %s}]',
    ],
)
def test_grades_that_are_no_whole_numbers(write: Write, grade: str, form: str) -> None:
    message = qrels_refusal(write, form % grade)
    assert "document 'a': the grade " in message
    assert "is not a whole number up to 1000" in message
    assert "without quotes" in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"q1": "a"}, "query 'q1': a list belongs here, not 'a'"),
        ({"q1": 5}, "query 'q1': a list belongs here, not 5"),
        ({"q1": [5]}, "query 'q1': a judgment is an id or an object, not 5"),
        ({"q1": [{}]}, "query 'q1': none of these is there: chunk_id"),
        ({"q1": ["a", "a"]}, "query 'q1': query 'q1' judges document 'a' again"),
        ({"": {"a": 1}}, "query '': the id '' is not text"),
        ({"q1": {"": 1}}, "query 'q1': the id '' is not text"),
        ([{"query_id": "q1", "relevant_docs": ["a"]}] * 2, "item 2: query 'q1' appears twice"),
        ([{"query_id": "q1", "doc_id": "a"}] * 2, "item 2: query 'q1' judges document 'a' again"),
        ([{"id": "q1", "doc_id": "a"}], "item 1: none of these is there: query_id, qid"),
        ([["q1", "a", 1]], "item 1: a row must be an object"),
    ],
)
def test_judgments_that_are_refused(write: Write, content: Any, says: str) -> None:
    assert qrels_refusal(write, json.dumps(content)).startswith(f"a.json: {says}")


def test_a_key_twice_in_judgments(write: Write) -> None:
    message = qrels_refusal(write, '{"q1": {"a": 1},\n"q2": {"x": 1, "x": 2}}', DuplicateError)
    assert message.startswith("a.json:2: the key 'x' appears twice")
    message = qrels_refusal(write, '{"q1": {"a": 1},\n\n"q1": {"x": 2}}', DuplicateError)
    assert message.startswith("a.json:3: the key 'q1' appears twice")


def test_a_lone_surrogate(write: Write) -> None:
    for content in ('{"q1": {"\\ud800": 1}}', '{"\\ud800": {"a": 1}}', '{"q1": ["\\udfff"]}'):
        assert qrels_refusal(write, content).startswith("a.json:1: text with half a surrogate")
        assert refusal(write, content).startswith("a.json:1: text with half a surrogate")


# Python objects go through the same checks


def test_numbers_of_numpy_in_lists() -> None:
    run = {"q1": [("a", np.float32(0.5)), ("c", np.int64(2))]}
    assert ranks(judge(load_qrels(QRELS), run), "q1") == [(1, 1), (2, 2)]
    by_score = judge(load_qrels(QRELS), run, RunOptions(rank_by=RankBy.SCORE))
    assert ranks(by_score, "q1") == [(1, 2), (2, 1)]
