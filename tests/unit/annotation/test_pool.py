"""Is the pool fair to every list, and are holes found?"""

from __future__ import annotations

import pytest

from assay.annotation.pool import Lists, holes, judged_share, pooled
from assay.annotation.sample_file import read_sample
from assay.errors import ProblemsError, UsageError
from assay.model.testset import GoldenQuery, Judgment

LISTS = {"bm25": ["a", "b", "c", "a"], "dense": ["c", "d", "e"]}


def test_every_list_is_pooled_to_the_same_depth() -> None:
    assert pooled(LISTS, 2) == {
        "a": {"bm25": 1},
        "b": {"bm25": 2},
        "c": {"dense": 1},
        "d": {"dense": 2},
    }
    assert pooled(LISTS, 3)["c"] == {"bm25": 3, "dense": 1}
    for depth in (0, -1, 201):
        with pytest.raises(UsageError):
            pooled(LISTS, depth)


def test_holes_are_what_nobody_judged() -> None:
    query = GoldenQuery("q", "x", relevant_docs=(Judgment("a", 3), Judgment("doc", 0)))
    lists = {"bm25": ["a", "b", "doc:chunk_4"]}
    assert list(holes(query, lists, 3)) == ["b"]
    assert judged_share([query], [Lists("q", {"bm25": ["a", "b"]})]) == {"bm25": 0.5}
    assert judged_share([query], [Lists("q", {"bm25": []})]) == {"bm25": None}


def test_a_sample_that_a_person_edited_is_checked() -> None:
    good = b'{"query_id": "q1", "query_text": " two  words ", "query_type": "paraphrase"}\n'
    (one,) = read_sample(good, "s.jsonl")
    assert (one.query_text, one.origin) == ("two words", {})
    bad = good + good + b'{"query_id": "q2", "query_text": "", "query_type": "x"}\n[]\n'
    with pytest.raises(ProblemsError) as refused:
        read_sample(bad, "s.jsonl")
    assert len(refused.value.problems) == 3
