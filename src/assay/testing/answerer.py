"""Does an answerer keep its contract?

Call ``check_answerer`` with an answerer that can answer ``QUESTION`` from ``PASSAGES``; it raises
``AssertionError`` at the first broken promise. Every answerer of assay passes it.
"""

from __future__ import annotations

from assay.model.answers import Answer, Answerer, Passage
from assay.model.document import Chunk

QUESTION = "What is the dose of examplol in renal impairment?"
_LABEL = "2 DOSAGE\nIn renal impairment the dose of examplol is 5 mg once daily. Take it with food."
PASSAGES = (
    Passage(
        Chunk("label-1:chunk_2", "label-1", _LABEL, title="EXAMPLOL"),
        0.9,
        {"bm25": 12.0, "dense": 0.86},
    ),
    Passage(
        Chunk("trial-1:chunk_7", "trial-1", "Examplol 10 mg was given to 120 adults for a year."),
        0.4,
        {"bm25": 4.0, "dense": 0.71},
    ),
)


def check_answerer(answerer: Answerer) -> None:
    """Ask with and without passages, and look at what comes back."""
    assert answerer.name, "a run records who answered"
    given = list(PASSAGES)
    _check(answerer.answer(QUESTION, given))
    assert given == list(PASSAGES), "passages belong to the caller"
    refused = answerer.answer(QUESTION, ())
    _check(refused)
    assert not refused.grounded, "no passage, no answer"
    assert refused.citations == (), "a refusal rests on nothing"


def _check(said: Answer) -> None:
    assert isinstance(said, Answer)
    if said.grounded:
        assert said.text.strip(), "a grounded answer says something"
        assert said.refusal_reason is None, "a grounded answer is no refusal"
    else:
        assert said.refusal_reason, "a refusal says why"
    assert all(said.citations), "a citation is the id of a chunk"
    assert len(set(said.citations)) == len(said.citations), "a source is cited once"
