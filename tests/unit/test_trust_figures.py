"""Do the experiments on trust count what they say they count?"""

from __future__ import annotations

from typing import Any

from assay.app.answers import Answered, AnswerSource
from assay.model.answers import Answer
from assay.model.document import Chunk, Document
from assay.search.response import Boost, SearchHit, SearchResponse
from reproduce import answering, trust
from reproduce.answering import Given
from reproduce.questions import Question
from reproduce.trust import Asked

DOSE = Question("dose of alfa", "alfa", "dev", "drug", ("dosage",), ("alfa",), sections=("dosage",))


def chunk(document: str, section: str = "dosage", **more: Any) -> Chunk:
    return Chunk(f"{document}:{section}", document, "10 mg", section_label=section, **more)


def hit(rank: int, found: Chunk, factor: float = 1.0) -> SearchHit:
    boost = Boost("intent", "dosage", 0.7, factor, "dose", applied=True)
    return SearchHit(rank, found, 1 / rank, {}, {}, {}, {}, 1.0, factor, boosts=(boost,))


def asked(question: Question, *found: Chunk, factor: float = 1.0) -> Asked:
    hits = tuple(hit(rank, one, factor) for rank, one in enumerate(found, 1))
    told = "" if found else "nothing here is about gamma"
    response = SearchResponse(
        question.ask, hits, {}, ("bm25",), confidence=float(bool(found)), nothing_about=told
    )
    return Asked(question, response)


def given(question: Question, text: str, *documents: str) -> Given:
    sources = tuple(AnswerSource(f"{one}:0", one, one, "Take 10 mg daily.") for one in documents)
    answer = Answer(text, tuple(one.chunk_id for one in sources), grounded=bool(text))
    return Given(question, Answered(question.ask, "ours", answer, sources))


def test_what_stands_above_the_right_section_and_is_about_something_else_is_counted() -> None:
    wrong, right = chunk("beta"), chunk("alfa")
    aside = chunk("alfa", "warnings")
    assert asked(DOSE, wrong, right).intruders == ["beta:dosage"]
    assert asked(DOSE, aside, wrong, right).intruders == ["beta:dosage"]
    assert asked(DOSE, aside, right, wrong).intruders == []
    assert not asked(DOSE, wrong, right).first_is_right
    assert asked(DOSE, aside, wrong).first_is_right


def test_lifting_counts_where_it_lifts_something_else() -> None:
    assert asked(DOSE, chunk("alfa"), chunk("beta"), factor=1.4).lifts_others
    assert not asked(DOSE, chunk("alfa"), chunk("beta")).lifts_others
    assert not asked(DOSE, chunk("alfa"), factor=1.4).lifts_others


def test_figures_of_a_part() -> None:
    nothing = Question("dose of gamma", "gamma", "dev", "nothing", ("dosage",))
    rows = [asked(DOSE, chunk("alfa"), chunk("beta")), asked(nothing)]
    found = trust.figures(rows, [(Document("alfa", "10 mg"), (chunk("alfa"),))])
    assert found["right subject first"] == 1.0
    assert found["another subject above"] == 0
    assert found["nothing: said so"] == 1.0
    assert found["nothing: AUROC"] == 1.0
    assert found["nothing: said wrongly"] == 0
    wrong = trust.figures([asked(DOSE), asked(nothing)], [(Document("alfa", "10 mg"), ())])
    assert wrong["nothing: said wrongly"] == 1
    assert found["nDCG@10 asking dosage"] == 1.0


def test_an_answer_that_rests_on_another_subject_is_wrong_whatever_it_says() -> None:
    question = Question("dose?", "alfa", "dev", "right", documents=("alfa",), answer=("10 mg",))
    assert given(question, "Take 10 mg daily. [1]", "alfa").is_right
    assert not given(question, "Take 10 mg daily. [1]", "alfa", "beta").is_right
    assert given(question, "Take 10 mg daily. [1]", "alfa", "beta").strays
    assert not given(question, "", "beta").strays


def test_a_number_that_no_cited_passage_has_is_counted() -> None:
    question = Question("dose?", "alfa", "dev", "right", documents=("alfa",), answer=("10 mg",))
    good, bad = "Take 10 mg daily. [1]", "Take 110 mg daily. [1]"
    assert given(question, good, "alfa").is_grounded
    assert not given(question, bad, "alfa").is_grounded
    assert given(question, bad, "alfa").unsupported == ["110"]
    rows = [given(question, good, "alfa"), given(question, bad, "alfa")]
    assert answering.figures(rows)["unsupported numbers"] == 1


def test_refusals_are_right_where_nothing_answers() -> None:
    absent = Question("dose of gamma?", "gamma", "dev", "absent")
    found = answering.figures([given(absent, ""), given(absent, "Take 10 mg daily. [1]", "beta")])
    assert found["refused where absent"] == 0.5
    assert found["wrong-subject answers"] == 1
