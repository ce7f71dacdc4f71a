"""Are options that make no sense refused at once?"""

from __future__ import annotations

from typing import Any

import pytest

from assay.errors import UsageError
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge
from assay.model.ranking import Match, Ties

from .tables import ranks


def test_options_by_name() -> None:
    options = RunOptions(match="doc", ties="given")  # type: ignore[arg-type]
    assert options.match is Match.DOC
    assert options.ties is Ties.GIVEN
    assert RunOptions().match is Match.EXACT
    assert RunOptions().ties is None


def test_chunk_is_an_older_word_for_exact() -> None:
    assert Match("chunk") is Match["CHUNK"] is Match.EXACT
    assert RunOptions(match="chunk").match is Match.EXACT  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"match": "page"}, "unknown match: 'page' (one of: exact, doc, span)"),
        ({"match": None}, "unknown match: None"),
        ({"ties": "random"}, "unknown ties: 'random' (one of: trec, given)"),
        ({"depth": 0}, "the depth 0 is below 1"),
        ({"depth": -5}, "the depth -5 is below 1"),
        ({"depth": 1.5}, "the depth 1.5 is not a whole number"),
        ({"depth": True}, "the depth True is not a whole number"),
        ({"depth": "5"}, "the depth '5' is not a whole number"),
        ({"separator": ""}, "the separator is empty"),
    ],
)
def test_options_that_are_refused(options: Any, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        RunOptions(**options)
    assert str(caught.value).startswith(says)


def test_depth() -> None:
    qrels = load_qrels({"q": {"a": 1, "b": 1, "c": 1}})
    table = judge(qrels, {"q": {"a": 3.0, "x": 2.0, "b": 1.0, "c": 0.5}}, RunOptions(depth=3))
    assert ranks(table, "q") == [(1, 1), (3, 1)]
    assert table.retrieved.tolist() == [3]
    assert table.ideal_grade.tolist() == [1, 1, 1]
