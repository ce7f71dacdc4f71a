"""Is an answer shown sentence by sentence, beside what it cites, with what a judge says of it?"""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from assay.evaluation.claim_changes import answer_changes
from assay.http.pages.answer import answer_view
from assay.model.answers import Answer
from assay.model.document import Label
from assay.model.judges import JudgedAnswer, JudgedClaim, Opinion
from assay.model.runs import QueryOutcome
from tests.unit.http.small import TEST_SET

TEXTS = {"d1:chunk_0": "Aspirin eases\nheadache <b>. It lowers fever.", "d2:chunk_0": "Triptans."}
LABELS = {name: Label(name[:2], f"Title {name[:2]}", "") for name in TEXTS}
ANSWER = Answer(
    "Aspirin eases headache <b>. [1] It cures everything. [1][2]", ("d1:chunk_0", "d2:chunk_0")
)


def test_sentences_have_the_numbers_of_their_sources_and_quotes_are_marked() -> None:
    view = answer_view(ANSWER, TEXTS, LABELS)
    assert [one.sources for one in view.sentences] == [(1,), (1, 2)]
    assert [one.verdict for one in view.sentences] == [None, None]
    first, second = view.sources
    assert first.text == "<mark>Aspirin eases\nheadache &lt;b&gt;</mark>. It lowers fever."
    assert second.text == "Triptans."
    assert first.href == "/documents/d1?chunk=d1%3Achunk_0#d1%3Achunk_0"


def test_quoted_rows_of_a_table_are_shown_as_a_table() -> None:
    said = "It was common. [1] Event | Drug | Placebo [1] Rash | 14/120 | 3/120 [1] So it goes. [1]"
    view = answer_view(Answer(said, ("d1:chunk_0",)), TEXTS, LABELS)
    assert [(one.is_table, one.has_header, len(one.rows)) for one in view.blocks] == [
        (False, False, 1),
        (True, True, 2),
        (False, False, 1),
    ]
    assert view.blocks[1].rows[1].cells == ("Rash", "14/120", "3/120")


def test_verdicts_stand_beside_their_sentences() -> None:
    claims = (
        JudgedClaim("Aspirin eases headache <b>.", (), {"d1:chunk_0": Opinion("supported", 1.0)}),
        JudgedClaim("It cures everything.", (), {"d1:chunk_0": Opinion("contradicted")}),
    )
    view = answer_view(ANSWER, TEXTS, LABELS, JudgedAnswer("words", claims))
    assert [one.verdict and one.verdict[0] for one in view.sentences] == [
        "supported",
        "contradicted",
    ]


def test_a_source_that_nobody_knows_is_said() -> None:
    view = answer_view(Answer("So it is.", ("gone",)), {}, {})
    assert view.sources[0].label is None


def test_a_question_is_answered_or_refused(reading: TestClient) -> None:
    text = reading.get("/answer?q=what+eases+headache+and+lowers+fever&judged=on").text
    assert 'href="#source-1"' in text
    assert re.search(r'class="badge \w+" title="[^"]+">(not )?supported', text)
    refused = reading.get("/answer?q=weather+in+paris").text
    assert "No answer" in refused
    assert 'href="/search?q=weather+in+paris"' in refused
    assert reading.get("/answer").status_code == 400


def test_a_comparison_shows_what_became_of_the_answers(pages: TestClient) -> None:
    for name, depth in (("said_a", "1"), ("said_b", "100")):
        address = f"/v1/evaluate?evaluation_id={name}&depth={depth}&answers=true"
        assert pages.post(address, json=TEST_SET).status_code == 200
    whole = pages.get("/compare?a=said_a&b=said_b").text
    assert '<h2 id="answers">' in whole
    assert "Groundedness" in whole
    assert "What flipped" in whole
    one = pages.get("/compare/query?a=said_a&b=said_b&query=q1").text
    for run in ("said_a", "said_b"):
        assert f'hx-get="/runs/{run}/answer/q1" hx-trigger="load" hx-target="this"' in one
    assert '<h2 id="answers">' not in pages.get("/compare?a=run_a&b=run_b").text


def test_a_query_that_only_one_run_answered_has_flipped() -> None:
    said, refused = Answer("So it is."), Answer("", grounded=False, refusal_reason="unknown")
    sides = [
        {name: QueryOutcome(name, (), answer=answer) for name, answer in side.items()}
        for side in (
            {"q1": said, "q2": refused, "q3": said, "q4": None},
            {"q1": refused, "q2": said, "q3": said, "q4": said},
        )
    ]
    found = answer_changes(*sides)
    assert [(one.query_id, one.before, one.after) for one in found] == [
        ("q1", "answered", "refused"),
        ("q2", "refused", "answered"),
    ]
