"""Are facts that only certain words can state told from what merely sounds like them?"""

from __future__ import annotations

import pytest

from assay.evidence.attributes import DOSE, attributes_asked, states_all


@pytest.mark.parametrize(
    ("question", "states", "does_not"),
    [
        ("dose of zelomab", "Patients receive 15 mg/kg.", "Glucose was 126 mg/dL."),
        ("dose of zelomab", "Give 300 kBq/kg once.", "Ferritin was 40 nanograms, 12 ng/mL."),
        ("dose of zelomab", "20,000 IUs weekly", "Albumin of 3 g per deciliter"),
        ("dose of zelomab", "600 I.U. a day", "TSH of 4 mIU per litre; 30 mg/g creatinine"),
        ("how much is in each tablet of zelomab", "a 5mg tablet", "each tablet is white"),
        ("dose of radiotherapy", "40 Gy in 15 fractions", "Zelomab 40 mg"),
        ("how old did men have to be", "Men of 45 years or older", "No biopsy within 2 years"),
        ("minimum age in the study", "Age: 18 to 70", "At stage 3 of disease"),
        ("how often was zelomab taken", "Zelomab 5 mg twice a day", "Nausea was frequent."),
        ("how frequently is zelomab given", "5 mg on day 1 of a cycle", "It was given to many."),
        ("what is given every three weeks", "Zelomab once every 21 days", "once every 12 days"),
        ("what is given every 14 days", "Zelomab Q2W", "Zelomab Q4W"),
        ("who sponsored the zelomab trial", "It was funded by Acme.", "the sponsor may end it"),
        ("how many women took part", "In all, 101 women were seen.", "Women were seen in 2009."),
        ("is Zelora indicated for gout", "Zelora treats gout.", "Gout was seen with Zelora."),
        ("which ICD code is used for gout", "M10.9 is gout.", "SGLT2 inhibitors for gout [8,10]"),
        ("how was zelomab given", "Zelomab was infused over an hour.", "Zelomab is an antibody."),
        ("who gets zelomab Q4W", "once every four weeks", "every 4 months"),
        ("zelomab dosing", "Two capsules at night.", "n | 182 | 170"),
        ("how much zelomab", "10 units once daily", "It was given daily in 8 (12%)."),
        ("maximum dose of zelomab", "at most 4 g daily", "The starting dose is 5 mg daily."),
        ("max dose of zelomab", "0.9 mg/kg, maximum 90 mg", "a maximum follow-up of 3 years"),
        ("maximum dose of zelomab", "The range is 10 to 80 mg.", "Take 10 mg with 2 meals."),
        (
            "half-life of zelomab",
            "The terminal half-life was about 14 hours.",
            "One-third to one-half of the subjects stayed for 5 half-lives, and 2 withdrew.",
        ),
        ("hazard ratio in ORBITAL", "(HR 0.80; 95% CI 0.73 to 0.87)", "0.80 of the hazard"),
        ("odds ratio of relapse", "OR, 1.9", "1 or 2 relapses"),
        ("can women use Zelora", "For use by men only.", "Three 60 g cans"),
        (
            "What does Zelora cost?",
            "A pack costs about 300 dollars.",
            "At no cost of efficacy, doses were halved.",
        ),
        ("price of Zelora", "The price is €12.50.", "Reimbursement varies."),
        (
            "When was Zelora approved by the FDA?",
            "Zelora was approved in 1998.",
            "This leaflet has been approved by the U.S. Food and Drug Administration.",
        ),
        (
            "In which year was zelomab discovered?",
            "Discovered in 1975, it came to market late.",
            "Two new lesions were discovered.",
        ),
        (
            "Who developed Zelora?",
            "It was developed by Zelo Laboratories.",
            "Two patients developed a rash.",
        ),
        ("Who makes Zelora?", "Distributed by: Zelo Pharma Inc.", "It makes the skin dry."),
        ("Is Zelora available as a generic?", "A generic is sold in Europe.", "It is available."),
        ("What is the ATC code of zelomab?", "ATC code: L04AB04.", "The code is on the package."),
        (
            "What dose is given every 6 months?",
            "60 mg subcutaneously every six months.",
            "180 mg once every 12 weeks.",
        ),
        ("what is given every 2 weeks", "40 mg every other week", "40 mg every week"),
        ("what is given every 6 months", "Zelomab 60 mg Q6M", "Zelomab 60 mg Q12W"),
    ],
)
def test_a_sentence_states_the_fact_or_not(question: str, states: str, does_not: str) -> None:
    facts = attributes_asked(question)
    assert facts
    assert states_all(states, facts)
    assert not states_all(does_not, facts)


@pytest.mark.parametrize(
    "question",
    [
        "What is the cost-effectiveness of zelomab?",
        "When should Zelora be taken?",
        "Who should not take Zelora?",
        "What is the generic name of Zelora?",
        "How often did nausea occur?",
        "In how many cases did it fail?",
        "Who developed a rash?",
    ],
)
def test_other_questions_ask_for_no_such_fact(question: str) -> None:
    assert attributes_asked(question) == ()


@pytest.mark.parametrize(
    "question",
    [
        "How much IL-6 fell with zelomab",
        "how much weight was lost on zelomab",
        "dose-limiting toxicity of zelomab",
        "what to do after a missed dose of zelomab",
        "does zelomab need a dose adjustment",
        "by how much did zelomab lower the pressure",
        "which doses of zelomab were compared for adverse events",
    ],
)
def test_a_dose_that_is_only_mentioned_is_not_asked_for(question: str) -> None:
    assert DOSE not in attributes_asked(question)


def test_which_dose_asks_for_a_dose_and_dose_limiting_toxicities_for_none() -> None:
    names = [one.name for one in attributes_asked("Which radiotherapy dose did the trial give?")]
    assert names == ["a dose of radiation"]
    assert not attributes_asked("Which doses were given without dose-limiting toxicities?")
