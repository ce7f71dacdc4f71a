"""Is a query's type told as a person would tell it?

Accuracy on the list that ships with this test: see ``query_types.yaml`` for what each part is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.model.testset import QueryType
from assay.search.query_type import classify
from assay.strict_yaml import MappingNode, ScalarNode, SequenceNode, load_yaml
from assay.testsets.load import load_test_set

LABELLED = Path(__file__).with_name("query_types.yaml")


def labelled(part: str) -> Iterator[tuple[str, QueryType]]:
    root = load_yaml(LABELLED)
    assert isinstance(root, MappingNode)
    types = root.get(part)
    assert isinstance(types, MappingNode)
    for kind, queries in types.entries:
        assert isinstance(queries, SequenceNode)
        for query in queries.items:
            assert isinstance(query, ScalarNode)
            yield query.text, QueryType(kind.text)


@pytest.mark.req("R7")
@pytest.mark.parametrize(
    ("part", "count", "accuracy"),
    [
        ("design", 150, 1.0),
        ("held_out", 90, 1.0),
        ("design_hard", 60, 0.75),
        ("held_out_hard", 30, 0.8),
    ],
)
def test_accuracy_on_the_labelled_list(part: str, count: int, accuracy: float) -> None:
    pairs = list(labelled(part))
    assert len(pairs) == count
    right = sum(classify(query) is kind for query, kind in pairs)
    assert right / count >= accuracy


def test_accuracy_on_the_shipped_test_set_which_was_labelled_apart() -> None:
    pairs = [(query.query_text, query.query_type) for query in load_test_set("test_set_v1").queries]
    right = sum(classify(text) is kind for text, kind in pairs)
    assert (right, len(pairs)) >= (46, 50)


def test_parts_share_no_query() -> None:
    parts = ("design", "held_out", "design_hard", "held_out_hard")
    queries = [query for part in parts for query, _ in labelled(part)]
    assert len(set(queries)) == len(queries)


@pytest.mark.parametrize("query", ["", "   ", "\x00", "💊", "?", "1", "-'-"])
def test_a_query_without_words_counts_as_exact(query: str) -> None:
    assert classify(query) is QueryType.EXACT_TERM
