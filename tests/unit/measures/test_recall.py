import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.measures.rankings import reason, value


@pytest.mark.req("E1")
def test_recall_at_10_calculation() -> None:
    relevant = dict.fromkeys(["doc1", "doc2", "doc3", "doc4", "doc5"], 1)
    found = ["doc1", "doc6", "doc2", "doc7", "doc8", "doc9", "doc3", "doc10", "doc11", "doc12"]
    assert value("Recall@10", relevant, found) == 0.6


@pytest.mark.req("E1")
@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.sets(st.sampled_from("abcdefgh"), min_size=1),
)
def test_recall_never_falls_as_k_grows(ranking: list[str], relevant: set[str]) -> None:
    values = [
        value(f"Recall@{k}", dict.fromkeys(relevant, 1), ranking) or 0.0 for k in (1, 3, 5, 8)
    ]
    assert values == sorted(values)


def test_the_divisor_is_all_relevant_not_the_retrieved_ones() -> None:
    assert value("Recall@10", {"a": 1, "b": 1, "c": 1, "d": 1}, ["a"]) == 0.25


def test_the_level_of_relevance_is_a_parameter() -> None:
    grades = {"a": 1, "b": 2, "c": 3}
    assert value("Recall(rel=2)@1", grades, ["b", "a"]) == 0.5
    assert value("Recall(rel=3)@10", grades, ["b", "a"]) == 0.0


def test_without_relevant_documents_it_is_undefined_and_says_why() -> None:
    assert value("Recall@10", {"a": 0}, ["a"]) is None
    assert reason("Recall@10", {"a": 0}, ["a"]) == "no judged document reaches the relevance level"
