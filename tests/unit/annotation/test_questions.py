"""Are questions read in any form in which a person has them?"""

from __future__ import annotations

import pytest

from assay.annotation.questions import read_questions
from assay.errors import AssayError
from assay.model.annotation import SYNTHETIC
from assay.model.testset import QueryType

TEXTS = ["what is the dose", "who may take part"]
FORMS = {
    "q.txt": "# ours\nwhat is the dose\n\nwho may take part\n",
    "q": "what is the dose\r\nwho may take part",
    "q.csv": "question,asked\nwhat is the dose,3\nwho may take part,1\n",
    "q.tsv": "id\tquery\nq001\twhat is the dose\nq002\twho may take part\n",
    "log.jsonl": '{"query": "what is the dose", "times": 3}\n{"query": "who may  take part"}\n',
    "q.json": '[{"query_text": "what is the dose"}, {"query_text": "who may take part"}]',
    "q.yaml": "- what is the dose\n- who may take part\n",
    "set.yaml": "name: ward\nversion: v1\nqueries:\n"
    "- {query_id: q001, query_text: what is the dose}\n"
    "- {query_id: q002, query_text: who may take part}\n",
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_questions(name: str) -> None:
    found = read_questions(FORMS[name].encode(), name)
    assert [query.query_text for query in found] == TEXTS
    assert [query.query_id for query in found] == ["q001", "q002"]


def test_ids_types_and_where_a_question_comes_from_are_kept() -> None:
    text = (
        '{"query_id": "s1", "query_text": "dose of nephrava", "query_type": "exact_term", '
        '"synthetic": "label:chunk_2", "made_by": "section dosage"}\n'
    )
    (one,) = read_questions(text.encode(), "made.jsonl")
    assert (one.query_id, one.query_type) == ("s1", QueryType.EXACT_TERM)
    assert one.origin == {SYNTHETIC: "label:chunk_2", "made_by": "section dosage"}


def test_a_question_that_was_asked_twice_comes_once() -> None:
    found = read_questions(b"Dose?\ndose?\nother\n", "q.txt")
    assert [query.query_text for query in found] == ["Dose?", "other"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.txt", "\n# only notes\n", "no question"),
        ("q.csv", "name,age\nann,3\n", "no question here"),
        ("q.jsonl", '{"query_id": "a b", "query": "x"}\n', "not allowed"),
        ("q.jsonl", '{"query": "x", "query_type": "odd"}\n', "exact_term"),
        ("q.tsv", "id\tquery\nq1\tx\nq1\ty\n", "appears twice"),
        ("q.yaml", "name: ward\n", "no list of questions"),
    ],
)
def test_what_is_no_question_is_refused_with_its_place(name: str, text: str, said: str) -> None:
    with pytest.raises(AssayError, match=said) as caught:
        read_questions(text.encode(), name)
    assert name in str(caught.value)
