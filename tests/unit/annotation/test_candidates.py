"""Are files of queries read as they are meant, and refused with their line?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.annotation.candidates import QueryCandidate, read_candidates
from assay.errors import AssayError


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    table = tmp_path / "queries.csv"
    table.write_text(
        "query,times,zero_results,top_score,degraded\n"
        '"Heart  attack, early",3,1,0.5,0\n'
        "heart attack  EARLY,1,0,,\n"
        '"heart attack, EARLY",1,0,0.1,no\n'
        "broken,9,9,0.1,1\n",
        encoding="utf-8",
    )
    lines = tmp_path / "queries.jsonl"
    lines.write_text(
        '{"query": "Heart attack, early", "times": 3, "zero_results": 1, "top_score": 0.5}\n'
        '{"query_text": "heart attack EARLY"}\n'
        '{"text": "heart attack, EARLY", "top_score": 0.1, "degraded": false}\n'
        '{"query": "broken", "degraded": true}\n',
        encoding="utf-8",
    )
    expected = (
        QueryCandidate("Heart attack, early", 4, 1, 0.4),
        QueryCandidate("heart attack EARLY", 1, 0, None),
    )
    assert read_candidates(table) == expected == read_candidates(lines)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "question\nx\n", "a.csv:2: no query"),
        ("a.csv", "query,times\nx,0\n", "a.csv:2: times is '0'"),
        ("a.csv", "query,times\nx,1_0\n", "a.csv:2: times is '1_0'"),
        ("a.csv", "query,times\nx,１０\n", "a.csv:2: times is"),
        ("a.csv", "query,times\nx,1,2\n", "a.csv:2: 3 cells, but 2 columns"),
        ("a.csv", "query,top_score\nx,nan\n", "a.csv:2: top_score is 'nan'"),
        ("a.csv", "query,degraded\nx,maybe\n", "a.csv:2: degraded is 'maybe'"),
        ("a.csv", "query\n\n", "holds no query"),
        ("a.jsonl", '{"query": 3}\n', "a.jsonl:1: no query"),
        ("a.jsonl", '["x"]\n', "a.jsonl:1: a query is an object"),
        ("a.jsonl", '{"query": "x", "times": true}\n', "a.jsonl:1: times is True"),
        ("a.jsonl", '{"query": "x", "top_score": 1e999}\n', "a.jsonl:1"),
        ("a.jsonl", "", "a.jsonl"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AssayError) as refused:
        read_candidates(path)
    assert said in str(refused.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="not a regular file"):
        read_candidates(tmp_path)
    latin = tmp_path / "a.csv"
    latin.write_bytes(b"query\n\xe9\n")
    with pytest.raises(AssayError, match="UTF-8"):
        read_candidates(latin)
