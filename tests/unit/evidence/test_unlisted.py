"""Is a question after what is *not* listed told from one after what is?"""

from __future__ import annotations

import pytest

from assay.evidence.unlisted import asks_what_is_not


@pytest.mark.parametrize(
    "question",
    [
        "what is not a contraindication to Lipitor",
        "Which of these is not a side effect of metformin?",
        "which adverse reactions are not common adverse reactions of Humira",
        "Which drugs do not interact with warfarin?",
        "Which antibiotics don't interact with warfarin?",
        "What isn\u2019t an indication for apixaban?",
        "in which patients is Lipitor not contraindicated",
        "list what is not an exclusion criterion of NCT00000001",
    ],
)
def test_what_is_not_listed_is_asked_for(question: str) -> None:
    assert asks_what_is_not(question)


@pytest.mark.parametrize(
    "question",
    [
        "who should not take Lipitor",
        "Which patients are not eligible for the trial?",
        "what should not be taken with warfarin",
        "which drugs must not be combined with simvastatin",
        "what are the contraindications of Lipitor",
        "contraindications to statins, not interactions",
        "patients not indicated for surgery",
        "What happens if the dose is not taken?",
        "which drugs interact with warfarin",
        "what is the dose for adults who do not respond",
    ],
)
def test_what_is_listed_is_asked_for(question: str) -> None:
    assert not asks_what_is_not(question)
