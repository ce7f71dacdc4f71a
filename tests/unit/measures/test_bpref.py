from tests.unit.measures.rankings import value


def test_unjudged_documents_do_not_count() -> None:
    assert value("bpref", {"a": 1, "b": 0}, ["x", "y", "a", "b"]) == 1.0


def test_each_judged_nonrelevant_above_costs() -> None:
    grades = {"a": 1, "b": 1, "n": 0, "m": 0}
    assert value("bpref", grades, ["n", "a", "m", "b"]) == (1 / 2 + 0) / 2


def test_more_nonrelevant_than_relevant_is_capped() -> None:
    grades = {"a": 1, "n1": 0, "n2": 0, "n3": 0}
    assert value("bpref", grades, ["n1", "n2", "a"]) == 0.0


def test_it_is_undefined_without_relevant_documents() -> None:
    assert value("bpref", {"a": 0}, ["a"]) is None
