"""Does the embedded answerer answer with the right sentences, and refuse where it should?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.answers.extractive import PASSAGES as MOST
from assay.answers.extractive import ExtractiveAnswerer
from assay.answers.gate import Signals, confidence, signals
from assay.answers.sentences import sentences
from assay.answers.words import key_words, words
from assay.model.answers import Passage
from assay.model.document import Chunk
from assay.testing.answerer import PASSAGES, QUESTION

DENSE = "bge-small-en-v1.5"


def passage(text: str, name: str = "d", title: str = "", dense: float | None = 0.8) -> Passage:
    return Passage(Chunk(f"{name}:chunk_0", name, text, title=title), 1.0, {"dense": dense})


def test_the_best_sentence_comes_first_with_its_source() -> None:
    said = ExtractiveAnswerer(DENSE).answer(QUESTION, PASSAGES)
    assert said.text.startswith("In renal impairment the dose of examplol is 5 mg once daily. [1]")
    assert said.citations[0] == "label-1:chunk_2"
    assert said.grounded


def test_sentences_stand_as_they_are_in_the_sources() -> None:
    said = ExtractiveAnswerer(DENSE).answer(QUESTION, PASSAGES)
    joined = " ".join(one.chunk.text for one in PASSAGES)
    for part in said.text.replace("[2]", "[1]").split(" [1]"):
        assert part.strip() in joined


@pytest.mark.req("K6")
def test_a_question_about_something_else_is_refused() -> None:
    for question in ("who won the chess championship", "cataract surgery lens choice"):
        said = ExtractiveAnswerer().answer(question, PASSAGES)
        assert not said.grounded
        assert said.text == ""
        assert said.refusal_reason is not None
        assert "confidence 0.0" in said.refusal_reason


def test_the_gate_can_be_opened_and_shut() -> None:
    assert ExtractiveAnswerer(gate=0.0).answer("chess championship", PASSAGES).grounded
    assert not ExtractiveAnswerer(gate=1.0).answer(QUESTION, PASSAGES).grounded


def test_repetitions_are_said_once() -> None:
    twice = [passage("The dose is 5 mg. Take it daily."), passage("The dose is 5 mg.", "e")]
    said = ExtractiveAnswerer(gate=0.0).answer("what is the dose", twice)
    assert said.text.count("The dose is 5 mg.") == 1
    assert said.citations == ("d:chunk_0",)


def test_only_the_first_passages_are_read() -> None:
    many = [passage("Nothing here.", f"d{at}") for at in range(MOST)]
    said = ExtractiveAnswerer(gate=0.0).answer("dose", [*many, passage("The dose is 5 mg.", "x")])
    assert "x:chunk_0" not in said.citations


@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=4))
def test_any_text_gives_the_same_answer_twice(question: str, texts: list[str]) -> None:
    found = [passage(text, f"d{at}") for at, text in enumerate(texts)]
    said = ExtractiveAnswerer(gate=0.0).answer(question, found)
    assert said == ExtractiveAnswerer(gate=0.0).answer(question, found)
    assert said.grounded == bool(found)
    assert set(said.citations) <= {one.chunk.chunk_id for one in found}


def test_headings_are_context_and_not_sentences() -> None:
    chunk = Chunk(
        "l:chunk_0",
        "l",
        "5.1 Hyperkalemia\nIt was seen in 14.0% (e.g. Smith et al. 2020). Check potassium.\n\n"
        "Creatinine clearance | Dose\n25 to 49 | 20 mg",
        title="NEPHRAVA",
    )
    found = sentences(chunk)
    assert [one.text for one in found] == [
        "It was seen in 14.0% (e.g. Smith et al. 2020).",
        "Check potassium.",
        "Creatinine clearance | Dose",
        "25 to 49 | 20 mg",
    ]
    assert found[0].context == "NEPHRAVA 5.1 Hyperkalemia"
    assert [one.text for one in sentences(Chunk("h:chunk_0", "h", "Only a heading"))] == [
        "Only a heading"
    ]


def test_words() -> None:
    assert key_words("What is the dose of the drug?") == ("dose", "drug")
    assert key_words("how is it") == ("how", "is", "it")
    assert key_words("infection infections") == ("infection",)
    assert words("Sjögren") == words("SJOGREN")
    assert {"14.0%"} <= words("in 14.0% of men")


def test_signals() -> None:
    read = signals("dose of examplol in children", PASSAGES)
    assert read.closeness == 0.86
    assert read.covered == pytest.approx(2 / 3)
    assert read.known == pytest.approx(2 / 3)
    assert signals("x", ()) == Signals(None, 0.0, 0.0)


def test_a_model_without_weights_is_judged_by_words_alone() -> None:
    near, far = Signals(0.9, 0.5, 0.5), Signals(0.1, 0.5, 0.5)
    assert confidence(near, "another-model") == confidence(far, "another-model")
    assert confidence(near, DENSE) > confidence(far, DENSE)
    assert confidence(Signals(None, 0.5, 0.5), DENSE) == confidence(near)


@pytest.mark.parametrize("model", ["", DENSE])
def test_more_evidence_never_lowers_confidence(model: str) -> None:
    steps = [confidence(Signals(at, at, at), model) for at in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert steps == sorted(steps)
    assert steps[0] < 0.5 < steps[-1]
