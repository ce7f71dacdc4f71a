from pathlib import Path

import pytest

import assay
from tests.unit.measures.rankings import value


def test_map_divides_by_all_relevant() -> None:
    found = value("MAP", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b"])
    assert found == pytest.approx((1 + 2 / 3) / 3)


def test_with_a_cutoff_it_divides_by_the_smaller_of_relevant_and_k() -> None:
    grades = dict.fromkeys("abcde", 1)
    assert value("AP@2", grades, ["a", "b", "x", "c"]) == 1.0
    assert value("AP@2", grades, ["x", "b", "c"]) == 0.25
    assert value("AP@10", {"a": 1}, ["x", "a"]) == 0.5


def test_a_query_without_relevant_documents_is_undefined() -> None:
    assert value("MAP", {"a": 0}, ["a"]) is None


SPANS = """name: five
version: v1
queries:
  - query_id: q1
    query_text: pain
    query_type: exact_term
    relevant_docs:
      - {doc_id: "D:chunk_0", grade: 3, spans: [[0, 100]]}
      - {doc_id: "D:chunk_1", grade: 3, spans: [[100, 200]]}
      - {doc_id: "D:chunk_2", grade: 3, spans: [[200, 300]]}
      - {doc_id: "E:chunk_0", grade: 3, spans: [[0, 100]]}
"""


def test_a_result_that_covers_several_judgments_is_one_result(tmp_path: Path) -> None:
    (tmp_path / "five.yaml").write_text(SPANS)
    found = assay.evaluate(
        lambda query: [
            assay.Result("D:big_0", doc_id="D", score=2.0, spans=((0, 300),)),
            assay.Result("E:big_0", doc_id="E", score=1.0, spans=((0, 100),)),
        ],
        str(tmp_path / "five.yaml"),
        "AP@1 AP@2 AP@3 AP infAP",
        match="span",
    )
    for name in ("AP@1", "AP@2", "AP@3", "AP", "infAP"):
        assert found[name] == pytest.approx(1.0, abs=1e-4), name
