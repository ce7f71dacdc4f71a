"""Are refusals in words told from answers?"""

from __future__ import annotations

import pytest

from assay.evidence.refusals import refuses

REFUSALS = [
    "I don't know.",
    "I don\u2019t know.",
    "I do not have enough information to answer this question.",
    "The provided documents do not contain information about this question.",
    "I cannot answer this question based on the given context.",
    "Sorry, there is not enough evidence in the passages to say.",
    "I'm sorry, but I can't find that in the sources. Please consult a pharmacist.",
    "Unfortunately, the context does not mention the dose in children.",
    "Based on the provided context, I am unable to determine the dose.",
    "The question cannot be answered from the given sources.",
    "There is no information about this in the retrieved documents.",
    "Not stated in the context.",
    "No relevant documents were found.",
    "Insufficient evidence to answer.",
    "It is not possible to say.",
]
ANSWERS = [
    "There is no evidence that aspirin prevents dementia.",
    "There was insufficient evidence that the drug lowers mortality.",
    "I don't know of interactions. Examplol is taken with food.",
    "The dose is 5 mg once daily.",
    "Examplol cannot be given in renal failure.",
    "No deaths were found in the treated group.",
    "Sumatriptan should not be used after a heart attack.",
    "The trial did not report overall survival.",
    "None of the patients died.",
    "Please take it with food.",
    "The context does not mention children. In adults the dose is 5 mg.",
    "The results do not differ between the two arms.",
    "Information on 120 adults was collected.",
    "14.9%.",
    "Yes.",
    "",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_words_that_refuse(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_words_that_answer(text: str) -> None:
    assert not refuses(text)
