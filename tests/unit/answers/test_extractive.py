"""Does the embedded answerer answer with the right sentences, and refuse where it should?"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.answers.extractive import ExtractiveAnswerer
from assay.evidence.confidence import LOOKED_AT
from assay.model.answers import Passage
from assay.model.document import Chunk, SpeakerRole
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
    for part in re.split(r" \[\d\]", said.text):
        assert part.strip() in joined


@pytest.mark.req("K6")
def test_a_question_about_something_else_is_refused() -> None:
    for question in ("who won the chess championship", "cataract surgery lens choice"):
        said = ExtractiveAnswerer().answer(question, PASSAGES)
        assert not said.grounded
        assert said.text == ""
        assert said.refusal_reason is not None
        assert re.search("confidence 0.0|nothing that was found is about", said.refusal_reason)


def test_the_gate_can_be_opened_and_shut() -> None:
    vague = "how do the doses compare that one could possibly ask somebody about"
    assert not ExtractiveAnswerer().answer(vague, PASSAGES).grounded
    assert ExtractiveAnswerer(gate=0.0).answer(vague, PASSAGES).grounded
    assert not ExtractiveAnswerer(gate=1.0).answer(QUESTION, PASSAGES).grounded


def test_repetitions_are_said_once() -> None:
    twice = [passage("The dose is 5 mg. Take it daily."), passage("The dose is 5 mg.", "e")]
    said = ExtractiveAnswerer(gate=0.0).answer("what is the dose", twice)
    assert said.text.count("The dose is 5 mg.") == 1
    assert said.citations == ("d:chunk_0",)


def test_only_the_first_passages_are_read() -> None:
    many = [passage("Nothing here.", f"d{at}") for at in range(LOOKED_AT)]
    said = ExtractiveAnswerer(gate=0.0).answer("dose", [*many, passage("The dose is 5 mg.", "x")])
    assert "x:chunk_0" not in said.citations


@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=4))
def test_any_text_gives_the_same_answer_twice(question: str, texts: list[str]) -> None:
    found = [passage(text, f"d{at}") for at, text in enumerate(texts)]
    said = ExtractiveAnswerer(gate=0.0).answer(question, found)
    assert said == ExtractiveAnswerer(gate=0.0).answer(question, found)
    assert said.grounded or said.refusal_reason
    assert set(said.citations) <= {one.chunk.chunk_id for one in found}


LABEL = {"drugs": ("ZORVEX", "mavrotinib"), "generics": ("mavrotinib",), "brands": ("ZORVEX",)}


def label(text: str, title: str = "ZORVEX (mavrotinib)", name: str = "label-zorvex") -> Passage:
    chunk = Chunk(f"{name}:chunk_0", name, text, title=title, metadata=LABEL)
    return Passage(chunk, 1.0, {"dense": 0.9})


def ask(question: str, *passages: Passage) -> str:
    """What is said, or why not."""
    said = ExtractiveAnswerer(DENSE).answer(question, passages)
    return said.text if said.grounded else f"refused: {said.refusal_reason}"


DOSE = label("The recommended dose is 80 mg once daily. Take it with food.")


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What is the recommended dose of apixaban?", "apixaban"),
        ("recommended dose of Eliquis", "Eliquis"),
        ("maximum daily dose of aspirin", "aspirin"),
        ("recommended dose in NCT01234567", "NCT01234567"),
        ("recommended dose in the PARAGON-HF trial", "PARAGON-HF"),
        ("what is the recommended dose of Qualizorb once daily", "Qualizorb"),
    ],
)
def test_the_label_of_another_drug_answers_nothing(question: str, missing: str) -> None:
    assert ask(question, DOSE) == f"refused: nothing that was found is about {missing}"


@pytest.mark.parametrize("drug", ["mavrotinib", "ZORVEX", "Zorvex"])
def test_a_label_answers_for_each_name_of_its_drug(drug: str) -> None:
    assert ask(f"recommended dose of {drug}", DOSE).startswith("The recommended dose is 80 mg")


def test_a_label_that_mentions_another_drug_does_not_answer_for_it() -> None:
    passing = label("The dose of warfarin should be reduced when ZORVEX is started at 80 mg.")
    assert ask("recommended dose of warfarin", passing).startswith("refused:")
    both = ask("dose of warfarin with ZORVEX", passing)
    assert both.startswith("The dose of warfarin should be reduced")


def test_a_review_answers_with_sentences_that_have_the_name() -> None:
    review = passage(
        "The usual dose of warfarin is 2 mg to 10 mg daily. The usual dose of others is fixed.",
        title="Choosing an anticoagulant",
    )
    said = ask("usual dose of warfarin", review)
    assert said.startswith("The usual dose of warfarin is 2 mg to 10 mg daily. [1]")
    only = passage("The usual dose of others is fixed.", title="Choosing an anticoagulant")
    assert ask("usual dose of warfarin", only).startswith("refused:")


def test_a_trial_answers_for_itself_only() -> None:
    chunk = Chunk("NCT01111111:chunk_4", "NCT01111111", "Serious adverse events were seen in 12%.")
    trial = Passage(chunk, 1.0, {"dense": 0.9})
    assert ask("serious adverse events in NCT01111111", trial).startswith("Serious adverse")
    assert ask("serious adverse events in NCT02222222", trial) == (
        "refused: nothing that was found is about NCT02222222"
    )


def test_a_heading_is_no_answer() -> None:
    empty = passage("Adverse events", title="A trial of warfarin")
    assert ask("adverse events of warfarin", empty).startswith("refused:")


def test_a_condition_of_which_nothing_speaks_is_refused() -> None:
    assert ask("dose of ZORVEX for migraine", DOSE) == (
        "refused: what was found about ZORVEX says nothing of migraine"
    )
    assert ask("What does ZORVEX cost?", DOSE).startswith("refused:")
    spoken_of = label("In migraine the recommended dose is 40 mg once daily.")
    assert "40 mg" in ask("dose of ZORVEX for migraine", spoken_of)


@pytest.mark.parametrize(
    "people", ["a child", "a 6-year-old", "pregnant women", "a breastfeeding mother"]
)
def test_what_is_said_of_adults_is_no_answer_for_others(people: str) -> None:
    assert ask(f"recommended dose of ZORVEX for {people}", DOSE).startswith("refused:")


def test_a_group_of_people_is_met_in_other_words() -> None:
    said = label("Safety and dose in pediatric patients have not been established.")
    assert ask("dose of ZORVEX for a child", said).startswith("Safety and dose in pediatric")


def test_small_cell_is_not_what_non_small_cell_is() -> None:
    trial = passage("Survival was 9 months in non-small cell lung cancer.", title="Lung trial")
    assert ask("survival in small cell lung cancer", trial).startswith("refused:")
    assert "9 months" in ask("survival in non-small cell lung cancer", trial)


def test_a_row_comes_with_the_names_of_its_columns() -> None:
    table = label("Clearance | Dose\n\n50 or above | 80 mg\n15 to 29 | 20 mg", name="t")
    said = ask("dose of ZORVEX at a clearance of 20", table)
    assert said.startswith("Clearance | Dose [1] 15 to 29 | 20 mg [1]")


def test_the_dose_of_an_adult_is_not_quoted_for_a_child_nor_the_other_way_round() -> None:
    both = label(
        "For adults the maximum dose is 80 mg daily.\nFor children the maximum dose is 20 mg daily."
    )
    assert "80 mg" not in ask("maximum dose of ZORVEX for a child", both)
    assert "20 mg" in ask("maximum dose of ZORVEX for a child", both)
    assert ask("maximum dose of ZORVEX", both).startswith("For adults the maximum dose is 80 mg")


def answered(question: str, *passages: Passage) -> str:
    """What the answerer says, whatever its confidence."""
    return ExtractiveAnswerer(gate=0.0).answer(question, passages).text


def test_a_document_on_the_condition_in_question_answers_for_a_drug() -> None:
    """Another trial of the drug has the words of the condition too, but not side by side."""
    right = passage("Breast cancer patients took 850 mg of metformin.", "NCT01", "Metformin")
    other = passage(
        "Metformin, a dose of 500 mg, lowered the risk of breast, lung and colon cancer.",
        "psoriasis",
        "Metformin in psoriasis",
    )
    question = "What is the dose of metformin in breast cancer?"
    assert ExtractiveAnswerer(gate=0.0).answer(question, [other, right]).citations == (
        "NCT01:chunk_0",
    )
    assert "500 mg" in answered("What is the dose of metformin?", other)


def test_a_study_of_something_else_says_nothing_of_a_drug_it_mentions() -> None:
    study = passage(
        "The dose of acetaminophen was 1 g.", "PMC1", "The effect of camicinal on emptying"
    )
    guide = passage("The dose of acetaminophen is 1 g.", "guide", "Pain at home")
    assert answered("What is the dose of acetaminophen?", study) == ""
    assert "1 g" in answered("What is the dose of acetaminophen?", study, guide)


def test_the_code_of_a_compound_is_a_name() -> None:
    text = "Participants received 6.4 mg/kg of DS-8201a."
    trial = Passage(Chunk("NCT03:chunk_0", "NCT03", text, "NCT03: DS-8201a"), is_asked_for=True)
    costs = passage("The mean annual cost is 15,000 euros.", "costs", "Costs of care")
    assert answered("What does DS-8201a cost?", trial, costs) == ""
    assert "6.4 mg/kg" in answered("What dose of ds-8201a was received?", trial, costs)


def test_what_is_said_of_two_drugs_names_both() -> None:
    label = passage(
        "Lipitor may interact with rifampin. Cyclosporine raises levels of Lipitor.",
        "label",
        "Lipitor",
    )
    said = answered("Does Lipitor interact with cyclosporine?", label)
    assert said.startswith("Cyclosporine raises levels of Lipitor.")


@pytest.mark.parametrize(
    ("question", "says", "leaves_out"),
    [
        ("Can I take Zorvex with nitroglycerin?", "contraindicated", "cleared"),
        ("Is Zorvex safe with Imdur?", "contraindicated", "cleared"),
        ("Can Zorvex be combined with tamsulosin?", "alpha-blockers", "contraindicated"),
    ],
)
def test_a_label_speaks_of_another_drug_by_its_class(
    question: str, says: str, leaves_out: str
) -> None:
    said = answered(
        question,
        label("Zorvex is cleared by the liver. Take Zorvex with water."),
        label("Zorvex with organic nitrates in any form is contraindicated."),
        label("Start at 5 mg in patients on alpha-blockers."),
    )
    first = said.partition("[1]")[0]
    assert says in first
    assert leaves_out not in first


@pytest.mark.parametrize(
    ("question", "text", "first"),
    [
        (
            "What are the side effects of Zorvex?",
            "Zorvex can cause serious side effects. The most common adverse reactions are rash"
            " and cough. These are not all the possible side effects of Zorvex.",
            "The most common",
        ),
        (
            "What is Zorvex used for?",
            "Zorvex can be used alone or with others. Zorvex is indicated for gout.",
            "Zorvex is indicated for gout.",
        ),
    ],
)
def test_what_only_repeats_the_question_does_not_answer_it(
    question: str, text: str, first: str
) -> None:
    assert answered(question, label(text)).startswith(first)


def test_how_a_disease_is_treated_is_not_said_by_labels_that_mention_it() -> None:
    question = "How is gout treated?"
    mention = label("Gout was seen in some who were treated with Zorvex.")
    topic = passage("Gout is treated with colchicine.", "gout", "Gout")
    said = answered(question, mention, topic)
    assert said.startswith("Gout is treated with colchicine.")
    assert "Zorvex" not in said
    assert not answered(question, mention)


def test_what_is_asked_of_two_drugs_is_answered_for_both_or_refused() -> None:
    dose = label("The dose is 50 mg. In patients on ritonavir the dose is 25 mg.")
    study = passage("Fluoxetine is an SSRI. Many take ritonavir.", "paper", "Depression")
    said = answered("What dose of Zorvex with Norvir?", dose, study)
    assert said.startswith("In patients on ritonavir the dose is 25 mg. [1]")
    assert "50 mg" not in said
    assert not answered("Can Zorvex be taken with Prozac?", dose, study)


@pytest.mark.parametrize(
    "question",
    [
        "What is the dose of simvastatin?",
        "Is simvastatin better than Zorvex?",
        "What are the side effects of simvastatin?",
        "Can I take simvastatin with nitroglycerin?",
    ],
)
def test_a_class_never_makes_another_member_the_subject(question: str) -> None:
    text = "Zorvex 10 mg is a statin. Statins cause muscle pain. Avoid statins with nitrates."
    assert not answered(question, label(text, title="ZORVEX (atorvastatin)"))


def test_what_is_said_of_a_class_is_said_of_its_members_but_for_a_dose() -> None:
    class_note = passage("ACE inhibitors 10 mg are contraindicated in pregnancy.", "note", "Birth")
    seen = passage("He takes lisinopril every morning.", "visit", "Clinic visit")
    said = answered("Is lisinopril safe in pregnancy?", class_note, seen)
    assert said.startswith("ACE inhibitors")
    assert not answered("Dose of lisinopril in pregnancy?", class_note, seen)


def test_a_class_is_answered_from_its_members() -> None:
    assert answered("Do statins cause muscle pain?", label("Atorvastatin causes muscle pain."))


def test_sentences_of_the_section_in_question_come_first() -> None:
    uses = Passage(Chunk("r:chunk_1", "r", "To regrow hair.", "Rogaine"), is_asked_for=True)
    other = passage("For external use only.", "r", "Rogaine")
    assert answered("What is Rogaine used for?", uses, other).startswith("To regrow hair. [1]")


def test_a_range_that_ends_below_a_number_has_those_between() -> None:
    rows = ("under 4 years | none", "4 to under 6 years | 5 mL", "6 to under 12 years | 10 mL")
    table = passage("\n".join(("Age | Dose", "", *rows)), "syrup", "Syrup")
    said = answered("syrup dose at age 7", table)
    assert said.startswith("Age | Dose [1] 6 to under 12 years | 10 mL [1]")


def test_a_price_that_nobody_states_is_not_made_up() -> None:
    label = passage("Zelora costs patients little effort. It is taken daily.", "z", "Zelora")
    said = ExtractiveAnswerer(gate=0.0).answer("What does Zelora cost?", [label])
    assert said.refusal_reason == "the results have no sentence that says a price"


def test_the_dose_of_another_arm_is_not_quoted() -> None:
    text = "Pembrolizumab\nPembrolizumab 200 mg every 3 weeks.\nDocetaxel\n75 mg/m2 every 3 weeks."
    chunk = Chunk("NCT09:chunk_0", "NCT09", text, "Pembrolizumab versus docetaxel")
    arms = Passage(chunk, is_asked_for=True)
    assert "75 mg" not in answered("What is the dose of pembrolizumab?", arms)
    said = answered("What is the dose of docetaxel?", arms)
    assert "75 mg/m2" in said
    assert "200 mg" not in said


def test_events_are_not_adverse_events() -> None:
    about = passage("Aspirin lowers the risk of recurrent events.", "a", "Aspirin after infarction")
    said = ExtractiveAnswerer(gate=0.0).answer("adverse events of aspirin", [about])
    assert said.refusal_reason == "what was found about aspirin says nothing of adverse events"


def test_of_two_treatments_a_trial_of_both_answers() -> None:
    """Suramin is on no list of drugs: only the first document's name says what it is."""
    both = passage("Paclitaxel begins after 400 mg of suramin.", "NCT1", "Suramin and paclitaxel")
    one = passage("Twelve doses of paclitaxel every week.", "NCT2", "Ipatasertib + paclitaxel")
    said = ExtractiveAnswerer(gate=0.0).answer("suramin dose with paclitaxel", [both, one])
    assert said.citations == ("NCT1:chunk_0",)


def test_a_trial_of_both_drugs_answers_and_one_of_another_combination_does_not() -> None:
    both = passage("The dose of zelomab was 3 mg, of apixaban 5 mg.", "NCT1", "Zelomab + apixaban")
    one = passage(
        "A dose of zelomab of 9 mg is allowed with apixaban.", "NCT2", "Nivolumab, apixaban"
    )
    question = "What dose of zelomab was given with apixaban each day?"
    assert ExtractiveAnswerer(gate=0.0).answer(question, [one, both]).citations == ("NCT1:chunk_0",)


def trial(text: str, title: str = "Zorvex in gout", name: str = "NCT04000001") -> Passage:
    chunk = Chunk(
        f"{name}:chunk_2",
        name,
        text,
        title=title,
        section_label="eligibility",
        metadata={"heading": "Eligibility criteria"},
    )
    return Passage(chunk, 1.0, {"dense": 0.8}, is_asked_for=True)


CRITERIA = trial(
    "Eligibility criteria\nInclusion Criteria:\n* Urate of 8 or more\nExclusion Criteria:\n"
    "* Asthma\n* Pregnancy\nAge: 18 Years to any"
)


def test_asked_for_what_includes_nothing_that_excludes_is_said() -> None:
    said = ask("inclusion criteria of the gout trial", CRITERIA)
    assert said.startswith("Inclusion Criteria: [1] * Urate of 8 or more [1]")
    assert "Asthma" not in said
    assert "Exclusion" not in said
    assert "18 Years" in said


def test_asked_for_what_excludes_nothing_that_includes_is_said() -> None:
    said = ask("exclusion criteria of NCT04000001", CRITERIA)
    assert said == "Exclusion Criteria: [1] * Asthma [1] * Pregnancy [1]"


def test_who_can_join_is_a_question_for_what_includes() -> None:
    said = ask("Who can join NCT04000001?", CRITERIA)
    assert "Urate of 8 or more" in said
    assert "Asthma" not in said


@pytest.mark.parametrize(
    "question",
    [
        "inclusion criteria of the lupus trial",
        "what are the inclusion criteria of NIMBUS",
        "exclusion criteria in chronic gout",
        "exclusion criteria for type 2 gout",
        "inclusion criteria of the HLA-positive gout trial",
    ],
)
def test_a_subject_of_any_kind_that_is_not_there_is_refused(question: str) -> None:
    assert ask(question, CRITERIA).startswith(("refused: nothing that", "refused: what was found"))


def test_what_is_about_another_of_its_kind_is_not_added() -> None:
    a = passage("Nitrofix for eight weeks cures hepatitis E.", "a")
    b = passage("Zerofix 5 mg daily treats hepatitis D.", "b")
    assert (
        ask("treatment of hepatitis E", a, b) == "Nitrofix for eight weeks cures hepatitis E. [1]"
    )
    codes = passage("M54.5 is low back pain. J18.9 is pneumonia.", "c")
    assert ask("what is M54.5", codes) == "M54.5 is low back pain. [1]"


def test_a_dose_under_the_heading_of_some_people_is_not_the_dose() -> None:
    told = label(
        "2.1 Adults\nThe dosage range of ZORVEX is 10 to 80 mg daily.\n\n"
        "2.2 Gout in Pediatric Patients (10-17 years)\nThe maximum recommended dose is 20 mg.\n\n"
        "2.3 Renal Impairment\nThe maximum recommended dose is 5 mg daily."
    )
    assert ask("maximum dose of ZORVEX", told) == (
        "The dosage range of ZORVEX is 10 to 80 mg daily. [1]"
    )
    assert "20 mg" in ask("maximum dose of ZORVEX in children", told)
    assert ask("maximum dose of ZORVEX in renal impairment", told).startswith(
        "2.3 Renal Impairment [1] The maximum recommended dose is 5 mg"
    )


def test_a_dose_of_animals_is_not_the_dose() -> None:
    told = label("At a maximum dose of 120 mg/kg, rats had tremor.\nNo more than 80 mg is given.")
    assert ask("maximum dose of ZORVEX", told) == "No more than 80 mg is given. [1]"


def test_an_amount_is_of_the_drug_beside_it() -> None:
    both = passage(
        "Doses of taspoglutide went up to 30 mg weekly with metformin.", "n", "Add-on to metformin"
    )
    assert ask("maximum dose of metformin", both).startswith("refused:")
    told = passage("Arm A had cisplatin 40 mg/m2, arm B vinorelbine 6 mg/m2.", "v")
    assert "40 mg/m2" in ask("dose of cisplatin", told)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("dose of paracetamol in children", "Children receive paracetamol 15 mg/kg."),
        ("maximum dose of paracetamol", "Adults have paracetamol, maximum 4 g daily."),
        ("max dose of alteplase", "Alteplase 0.9 mg/kg, maximum 90 mg, within 4.5 hours."),
        ("insulin glargine dose", "Insulin glargine starts at 10 units once daily."),
        ("hazard ratio in ORBITAL-HF", "ORBITAL-HF lowered death (HR 0.80; 95% CI 0.73 to 0.87)."),
    ],
)
def test_what_is_asked_need_not_be_called_by_its_name(question: str, text: str) -> None:
    assert ask(question, passage(text, dense=0.6)) == f"{text} [1]"


def test_the_age_in_question_decides_about_the_row() -> None:
    table = label(
        "Age | Dose\n\nchildren under 4 years | do not use\nchildren 4 to 11 years | 5 mL"
    )
    assert ask("how much ZORVEX for a 3 year old", table) == (
        "Age | Dose [1] children under 4 years | do not use [1]"
    )


def test_what_a_patient_said_is_not_what_the_doctor_asked() -> None:
    asked = Chunk("i:0", "i", "Any trouble with citalopram?", speaker_role=SpeakerRole.CLINICIAN)
    told = Chunk("i:1", "i", "The citalopram makes me dizzy.", speaker_role=SpeakerRole.PATIENT)
    question = "What did the patient say about citalopram?"
    both = [Passage(one, 1.0, {"dense": 0.8}) for one in (asked, told)]
    assert ask(question, both[0]).startswith("refused:")
    assert ask(question, *both) == "The citalopram makes me dizzy. [1]"


def test_a_trial_is_not_of_what_its_criteria_mention() -> None:
    other = trial("Inclusion Criteria:\n* Gout, lupus or asthma", "Zorvex in arthritis")
    assert ask("inclusion criteria of the lupus trial", other).startswith("refused:")


def test_a_dose_for_some_people_is_quoted_for_them_only() -> None:
    told = label("ZORVEX starts at 25 mg with food.\nIn renal impairment ZORVEX starts at 5 mg.")
    assert ask("dose of ZORVEX in renal impairment", told) == (
        "In renal impairment ZORVEX starts at 5 mg. [1]"
    )


COUGH = passage(
    "In all, 612 children took levodropropizine for cough. Nausea was recorded in 24 patients "
    "(3.9%). Adults with nausea were 31 patients (5.0%). Nausea is unpleasant to children.",
    "cough",
    "Levodropropizine for cough",
)
PROSTATE = Passage(
    Chunk(
        "NCT09000003:chunk_0",
        "NCT09000003",
        "Eligibility\nInclusion Criteria:\n  Rising PSA on two occasions at least\n"
        "  Men of 45 years or older\n  Ferritin > 30 ng/mL\nExclusion Criteria:\n"
        "  Surgery within 2 years",
        title="NCT09000003: Darolutamide",
        section_label="eligibility",
    ),
    1.0,
    {},
)


def test_how_many_is_answered_with_a_number_of_the_people_in_question() -> None:
    said = ExtractiveAnswerer().answer("How many children had nausea?", [COUGH]).text
    assert "Nausea was recorded in 24 patients (3.9%)." in said
    assert "31 patients" not in said


@pytest.mark.parametrize(
    ("question", "says", "does_not"),
    [
        ("How old did men have to be in NCT09000003?", "Men of 45 years or older", "PSA"),
        ("What ferritin was required in NCT09000003?", "Ferritin > 30 ng/mL", "zzz"),
    ],
)
def test_what_was_required_is_answered_by_a_criterion(
    question: str, says: str, does_not: str
) -> None:
    said = ExtractiveAnswerer().answer(question, [PROSTATE]).text
    assert says in said
    assert does_not not in said


ITCH = Passage(
    Chunk(
        "NCT09000004:chunk_1",
        "NCT09000004",
        "Results\nOutcome Measurement:\n  Mean Itch Score at Week 8\n  Scores from 0 to 10.\n"
        "  Time frame: 8 weeks\nResults 1:\n  Arm/Group Title: Nalfurafine 5 ug\n"
        "  Arm/Group Description: Nalfurafine 5 ug orally each evening\n"
        "  Mean (Standard Deviation)\n  Unit of Measure: units on a scale  3.87         (0.42)\n",
        title="NCT09000004: Nalfurafine 5 ug; Placebo",
        section_label="results",
    ),
    1.0,
    {},
)


def test_a_value_of_a_trial_is_cited_with_its_arm_and_measure() -> None:
    answerer = ExtractiveAnswerer()
    said = answerer.answer("What was the mean itch score with nalfurafine at week 8?", [ITCH])
    assert said.text.startswith(
        "Mean Itch Score at Week 8 [1] Arm/Group Title: Nalfurafine 5 ug [1] "
        "Mean (Standard Deviation) Unit of Measure: units on a scale 3.87 (0.42) [1]"
    )
    dose = answerer.answer("What dose of nalfurafine was given?", [ITCH]).text
    assert "orally each evening" in dose
    assert "3.87" not in dose


TINGLING = passage(
    "Gloves with ice were worn while the drip was running. Tingling was measured with a "
    "questionnaire of ten items. Feet were looked at, too, and so were hands.",
    "ice",
    "Cooling gloves in oncology",
)
WASHED = passage(
    "The hands and feet of workers were washed. Hands and feet were looked at with gloves.",
    "wash",
    "Washing at work",
)
EVENTS = passage(
    "Treatment-emergent adverse events after the bath were defined as adverse events that began "
    "after it. Adverse events after the bath were rash in 4 and dizziness in 2.",
    "bath",
    "Balneotherapy",
)


def test_a_document_that_shares_everyday_words_is_not_quoted_beside_the_subject() -> None:
    asked = "How was tingling of hands and feet measured?"
    said = ExtractiveAnswerer(gate=0.0).answer(asked, [TINGLING, WASHED])
    assert said.citations == ("ice:chunk_0",)
    assert "workers" not in said.text
    other = ExtractiveAnswerer(gate=0.0).answer("How were hands washed?", [WASHED, TINGLING])
    assert "workers were washed" in other.text


def test_a_definition_does_not_say_which_events_there_were() -> None:
    answerer = ExtractiveAnswerer(most=1)
    asked = "treatment-emergent adverse events after the bath"
    assert answerer.answer(asked, [EVENTS]).text.startswith("Adverse events after the bath were")
    asked = "how were treatment-emergent adverse events after the bath defined"
    assert "began after it" in answerer.answer(asked, [EVENTS]).text


@pytest.mark.parametrize(
    "question", ["How is an underactive thyroid treated?", "How is hypothyroidism treated?"]
)
def test_the_opposite_condition_does_not_answer(question: str) -> None:
    right = passage("Hypothyroidism is treated with thyroxine.", "a", "Hypothyroidism")
    wrong = passage(
        "Hyperthyroidism is treated with methimazole; hypothyroidism may follow it.",
        "b",
        "Hyperthyroidism",
    )
    said = ExtractiveAnswerer(gate=0.0).answer(question, [wrong, right])
    assert said.citations == ("a:chunk_0",)
    assert not ExtractiveAnswerer(gate=0.0).answer(question, [wrong]).grounded


def test_a_source_with_much_less_of_the_question_is_not_quoted() -> None:
    question = "How often a day was the broccoli sprout extract taken?"
    right = passage("Broccoli sprout extract was taken three times daily.", "a")
    weak = passage("Of the extract taken per day, 450 mg were given daily.", "b")
    heading = passage("Outcomes of the broccoli sprout study", "a")
    said = ExtractiveAnswerer(gate=0.0).answer(question, [heading, right, weak])
    assert set(said.citations) == {"a:chunk_0"}


def test_headings_that_ask_are_not_quoted() -> None:
    text = "How is it diagnosed?\nBy its rash.\nWhat are the treatments for pinta?\nPenicillin."
    said = ExtractiveAnswerer(gate=0.0).answer(
        "How is pinta treated?", [passage(text, title="Pinta")]
    )
    assert "?" not in said.text


@pytest.mark.parametrize(
    ("question", "text", "title"),
    [
        (
            "For how long is the lignocaine patch worn each day?",
            "One was worn for 12 hours.",
            "Lidocaine Patch",
        ),
        (
            "How much pembrolizumab was given every three weeks?",
            "200 mg every 3 weeks",
            "Pembrolizumab",
        ),
        ("What dose of Kadcyla was given?", "It was given at 3.6 mg/kg.", "T-DM1"),
        ("What is the dose of radium-223?", "Ra-223 dichloride 55 kBq/kg was injected.", "Ra-223"),
        ("How much ground linseed was eaten per day?", "Flaxseed: 25 g per day ground", "Flaxseed"),
        ("Quelle est la dose d'amlodipine?", "L'amlodipine 5 mg par jour.", "Amlodipine"),
    ],
)
def test_other_names_and_spellings_are_answered(question: str, text: str, title: str) -> None:
    said = ExtractiveAnswerer(gate=0.0).answer(question, [passage(text, title=title)])
    assert text.split(".", maxsplit=1)[0] in said.text, said.refusal_reason


@pytest.mark.parametrize(
    ("question", "section", "text"),
    [
        (
            "What is the dose of Humira in multiple sclerosis?",
            "warnings",
            "Multiple sclerosis was seen.",
        ),
        (
            "How much does the C-Tb test cost?",
            "other",
            "Due to costs the WHO issued in 2011 a statement [17].",
        ),
        (
            "What is the dose of propranolol in tremor?",
            "other",
            "Treatment of tremor may not be necessary.",
        ),
    ],
)
def test_what_only_looks_like_the_fact_is_no_answer(question: str, section: str, text: str) -> None:
    drug = {"drugs": ("Humira",)} if "Humira" in question else {}
    title = "Humira" if drug else "C-Tb and propranolol"
    rows = [
        Passage(Chunk("d:chunk_0", "d", text, title, section_label=section, metadata=drug)),
        Passage(
            Chunk(
                "d:chunk_1", "d", "40 mg every week.", title, section_label="dosage", metadata=drug
            )
        ),
    ]
    assert not ExtractiveAnswerer(gate=0.0).answer(question, rows[: 1 + bool(drug)]).grounded


def test_counts_of_the_arm_that_the_question_names_are_quoted() -> None:
    title = "NCT00000001: 6 mg Estradiol; 30 mg Estradiol"
    text = "Adverse Events 1:\n  Total: 3/34\n  Nausea 2/34\nAdverse Events 2:\n  Nausea 3/32"
    trial = Passage(Chunk("NCT00000001:chunk_3", "NCT00000001", text, title))
    answer = ExtractiveAnswerer(gate=0.0).answer
    said = answer("How many patients on 6 mg estradiol had nausea?", [trial])
    assert said.text.startswith("6 mg Estradiol [1] Nausea 2/34 [1]")
    assert "3/32" not in said.text
    both = answer("How many patients had nausea with estradiol?", [trial]).text
    assert "6 mg Estradiol [1] Nausea 2/34" in both
    assert "30 mg Estradiol [1] Nausea 3/32" in both


def test_a_question_in_another_language_is_answered_in_it() -> None:
    own = passage("La metformina es el tratamiento de la diabetes; dosis inicial 500 mg.", "a")
    other = passage("The initial dose was given to all, with metformin 850 mg.", "b", "Metformin")
    said = ExtractiveAnswerer(gate=0.0).answer(
        "¿Cuál es la dosis inicial de la metformina?", [other, own]
    )
    assert said.citations == ("a:chunk_0",)


ARMS = "NCT00000002: Cisplatin and Zorvexin; Cisplatin"
OF_ARMS = [
    Passage(Chunk("NCT00000002:chunk_0", "NCT00000002", text, ARMS, section, spans=(span,)))
    for section, span, text in (
        (
            "results",
            (0, 100),
            "Outcome Measurement:\n  Overall Survival (OS)\n  Time frame: 2 years\nResults 1:\n"
            "  Arm/Group Title: Cisplatin and Zorvexin",
        ),
        (
            "results",
            (101, 200),
            "Arm/Group Description: cisplatin and zorvexin given as an infusion\n"
            "  Median (95% Confidence Interval)\n  Unit of Measure: months  14.5\nResults 2:\n"
            "  Arm/Group Title: Cisplatin\n  Arm/Group Description: cisplatin alone\n"
            "  Median (95% Confidence Interval)\n  Unit of Measure: months  9.1",
        ),
        (
            "adverse_events",
            (201, 300),
            "Adverse Events 1:\n  Total: 9/60\n  Asthenia 2/60\nAdverse Events 2:\n  Total: 5/58",
        ),
        ("adverse_events", (301, 400), "Asthenia 1/58\n  Chest pain 0/58"),
    )
]


@pytest.mark.parametrize(
    ("question", "says", "never"),
    [
        ("how many patients in the arm Cisplatin and Zorvexin had asthenia?", "2/60", "1/58"),
        ("how many patients in the arm Cisplatin had asthenia?", "Cisplatin [1] Asthenia 1/58",
         "2/60"),
        ("what was the median overall survival with cisplatin and zorvexin?", "14.5", "9.1"),
    ],
)  # fmt: skip
def test_a_count_is_that_of_the_arm_and_the_event_wherever_the_arm_is_named(
    question: str, says: str, never: str
) -> None:
    said = ExtractiveAnswerer(gate=0.0).answer(f"In NCT00000002, {question}", OF_ARMS).text
    assert says in said
    assert never not in said
    assert "Total" not in said


def test_a_count_of_another_event_is_no_answer() -> None:
    asked = "In NCT00000002, how many patients in the arm Cisplatin had nausea and chest tightness?"
    said = ExtractiveAnswerer(gate=0.0).answer(asked, OF_ARMS)
    assert (said.grounded, said.text) == (False, "")


def test_sentences_name_a_disease_by_any_of_its_names_or_stand_under_it() -> None:
    review = passage(
        "Pneumonitis is a frequent reason to stop. Cough comes first. Grade 2 needs prednisone.",
        "review",
        "Pneumonitis under antibodies: recognition and management",
    )
    study = passage(
        "Most people with lung cancer have spread at diagnosis. Immunotherapy of lung cancer"
        " releases the brake.",
        "study",
        "Immunotherapy of lung cancer",
    )
    rare = passage("Lung inflammation was rare.", "study", "Immunotherapy of lung cancer")
    asked = "lung inflammation from cancer immunotherapy, signs and treatment"
    said = ExtractiveAnswerer(gate=0.0).answer(asked, [study, review, rare])
    assert "prednisone" in said.text
    assert "diagnosis" not in said.text


def test_no_dose_is_given_for_what_a_label_only_speaks_of() -> None:
    drug = {"drugs": ("Zorvex",)}
    rows = [
        Passage(Chunk(f"z:chunk_{at}", "z", text, "Zorvex", section, metadata=drug))
        for at, (section, text) in enumerate(
            (
                ("dosage", "The dose in gout is 40 mg every week."),
                ("patient_information", "Tell your doctor if you have multiple sclerosis."),
                ("clinical_pharmacology", "Heart failure did not change its clearance."),
            )
        )
    ]
    answer = ExtractiveAnswerer(gate=0.0).answer
    assert answer("What is the dose of Zorvex in gout?", rows).grounded
    for condition in ("multiple sclerosis", "heart failure"):
        assert not answer(f"What is the dose of Zorvex in {condition}?", rows).grounded


def test_a_missed_dose_and_an_effect_are_answered_by_what_says_so() -> None:
    rows = label(
        "The recommended dose is 80 mg once daily. If you miss a dose, wait for the next one. "
        "Use an effective method of contraception. Symptoms improved in 40 of 50."
    )
    said = ask("What should I do if I missed a dose of Zorvex?", rows)
    assert said.startswith("If you miss a dose")
    assert ask("Is Zorvex effective?", rows).startswith("Symptoms improved in 40 of 50.")


def test_an_item_of_a_list_comes_with_the_words_that_lead_to_it() -> None:
    rows = label(
        "Do not take Zorvex if you:\n- drink more than two glasses of alcohol a day. Ask first.\n"
        "- are younger than 18 years\n\nDo not use\n- with grapefruit juice"
    )
    said = ask("Can I drink alcohol with Zorvex?", rows)
    assert said.startswith("Do not take Zorvex if you: [1] - drink more than two glasses")
    assert "Do not use [1] - with grapefruit" in ask("May I have grapefruit with Zorvex?", rows)
    assert "Do not take Zorvex if you: [1] Ask first" not in said


def test_a_use_is_told_by_what_says_so() -> None:
    drug = {"drugs": ("Zorvex",)}
    rows = [
        Passage(Chunk(f"z:chunk_{at}", "z", text, "Zorvex", section, metadata=drug))
        for at, (section, text) in enumerate(
            (
                ("indications", "Zorvex is indicated for gout."),
                ("warnings", "New cases of multiple sclerosis were seen with Zorvex."),
                ("boxed_warning", "Zorvex is not approved for patients with stroke."),
            )
        )
    ]
    answer = ExtractiveAnswerer(gate=0.0).answer
    for asked in ("Is Zorvex indicated for {}?", "Can Zorvex be used to treat {}?"):
        assert answer(asked.format("gout"), rows).text.startswith("Zorvex is indicated for gout.")
        assert not answer(asked.format("multiple sclerosis"), rows).grounded
        said = answer(asked.format("stroke"), rows).text
        assert said.startswith("Zorvex is not approved for patients with stroke.")
    assert answer("Does Zorvex cause multiple sclerosis?", rows).text.startswith("New cases")


def test_a_code_is_that_of_the_disease_in_question() -> None:
    guide = passage("Use ICD-10-CM code K35.8 for appendicitis. J45.9 is the code of asthma.")
    assert ask("What is the ICD-10 code for asthma?", guide) == "J45.9 is the code of asthma. [1]"


def test_what_is_allowed_for_some_people_is_answered_by_what_is_said_of_them() -> None:
    rows = label("Women who are breastfeeding should not use Zorvex. Store it below 25 °C.")
    assert ask("Is Zorvex allowed in breastfeeding?", rows).startswith("Women who are")


def test_an_age_in_letters_is_an_age() -> None:
    rows = label("Age | Dose\nchildren under 4 years of age | do not use\nadults | 5 mL")
    said = ask("May I give Zorvex to my two-year-old?", rows)
    assert "do not use" in said
    assert "5 mL" not in said


def test_what_the_patient_said_is_answered_from_the_interview() -> None:
    book = passage("Painful swelling of hands and feet is common.", "book")
    turn = Chunk("v:1", "v", "Both feet tingle.", speaker_role=SpeakerRole.PATIENT)
    spoken = Passage(turn, 1.0, {"dense": 0.8})
    asked = "What did the patient say about his feet?"
    assert ask(asked, book, spoken) == "Both feet tingle. [1]"
    assert "swelling" in ask("What do patients report about their feet?", book)


def test_a_name_alone_adds_no_sentence() -> None:
    rows = label("Alcohol makes drowsiness worse.\nZorvex is white.\nZorvex comes in boxes.")
    assert ask("Does alcohol change how Zorvex works?", rows) == (
        "Alcohol makes drowsiness worse. [1]"
    )


def test_a_dose_under_a_heading_of_ages_is_that_for_a_child_of_this_age() -> None:
    rows = label("2.2 Gout in Pediatric Patients (10 to 17 years)\nThe dose of Zorvex is 5 mg.")
    assert ask("What is the dose of Zorvex for a 12-year-old with gout?", rows).startswith(
        "2.2 Gout in Pediatric Patients (10 to 17 years) [1] The dose of Zorvex is 5 mg."
    )


def test_a_condition_by_another_name_is_what_was_asked_for() -> None:
    text = "In heart failure with preserved ejection fraction, spironolactone changed nothing."
    review = passage(text, "review", "Diastolic heart failure")
    said = ExtractiveAnswerer(DENSE).answer("Did spironolactone help in HFpEF?", [review])
    assert said.text.startswith("In heart failure with preserved")


def test_what_happened_to_the_patient_is_told_in_the_conversation() -> None:
    article = passage("Patients with chest pain have a scan.", "pmc", "Chest pain")
    turn = Chunk("v:chunk_1", "v", "I have never had chest pain.", "Visit", section_label="turn")
    said = ExtractiveAnswerer(gate=0.0).answer(
        "Did the patient have chest pain?", [article, Passage(turn, 1.0, {"dense": 0.8})]
    )
    assert said.citations == ("v:chunk_1",)


def test_who_must_not_take_a_drug_is_told_the_whole_list() -> None:
    label = passage(
        "Who should not take Zorvex?\nDo not take Zorvex if you:\n"
        "- are pregnant. Zorvex may harm your baby.\n- have liver problems.\n"
        "- are allergic to Zorvex.\nBefore you start\nTell your doctor if you:\n- have diabetes",
        title="Zorvex",
    )
    said = ExtractiveAnswerer(DENSE).answer("Who should not take Zorvex?", [label]).text
    items = "- are pregnant. [1] - have liver problems. [1] - are allergic to Zorvex. [1]"
    assert f"Do not take Zorvex if you: [1] {items}" in said
    one = ExtractiveAnswerer(DENSE).answer("May I take Zorvex with liver problems?", [label]).text
    assert "- have liver problems." in one
    assert "pregnant" not in one


def test_what_a_publisher_says_of_an_article_is_no_answer() -> None:
    article = passage(
        "Zorvex contains baclofen and sorbitol. The online version of this article contains "
        "supplementary material, which is available to authorized users.",
        title="A trial of Zorvex",
    )
    said = ExtractiveAnswerer(DENSE).answer("What does Zorvex contain?", [article]).text
    assert said.startswith("Zorvex contains baclofen")
    assert "online version" not in said


def test_how_long_a_drug_takes_to_work_is_a_time() -> None:
    label = passage(
        "Directions: apply Zorvex twice a day; it will not work for all. "
        "Results may occur at 2 months with twice a day usage.",
        title="Zorvex",
    )
    said = ExtractiveAnswerer(DENSE).answer("How long does Zorvex take to work?", [label]).text
    assert said.startswith("Results may occur at 2 months")


def test_what_people_got_is_no_word_that_a_passage_must_have() -> None:
    text = passage("Of 60 children on Zorvex, 50.9% had adverse effects.", title="Zorvex in anemia")
    question = "How many of the children got adverse effects from Zorvex?"
    assert "50.9%" in ExtractiveAnswerer(DENSE).answer(question, [text]).text


def of_label(title: str, section: str, text: str, *, is_asked_for: bool = False) -> Passage:
    """A passage of a drug's label."""
    brand, _, generic = title.rstrip(")").partition(" (")
    names = {"brands": (brand,), "generics": (generic,)}
    made = Chunk(f"{title}:{section}", title, text, title, section_label=section, metadata=names)
    return Passage(made, 1.0, {"dense": 0.8}, is_asked_for=is_asked_for)


WORKS = of_label(
    "GLUCOPHAGE (metformin)",
    "clinical_pharmacology",
    "Mechanism of Action\nMetformin decreases hepatic glucose production and improves insulin "
    "sensitivity.",
)
KEPT = of_label(
    "LANTUS (insulin glargine)",
    "how_supplied",
    "Unopened LANTUS: refrigerate at 36°F-46°F (2°C-8°C). Do not freeze.",
)
TREATS = of_label(
    "PRINIVIL (lisinopril)",
    "indications",
    "PRINIVIL is an ACE inhibitor indicated for hypertension and heart failure.",
    is_asked_for=True,
)
TOGETHER = of_label(
    "ELIQUIS (apixaban)",
    "dosage",
    "Reduce the dose by 50% when ELIQUIS is coadministered with ketoconazole or ritonavir.",
)
PLAIN = of_label("ELIQUIS (apixaban)", "adverse_events", "Most adverse reactions are bleedings.")


@pytest.mark.parametrize(
    ("question", "found", "says"),
    [
        ("How does metformin work?", WORKS, "hepatic glucose production"),
        ("What is the mechanism of action of metformin?", WORKS, "hepatic glucose production"),
        ("How should Lantus be stored?", KEPT, "refrigerate"),
        ("Where should I keep my Lantus?", KEPT, "refrigerate"),
        ("Can Lantus be left out of the fridge?", KEPT, "refrigerate"),
        ("What is lisinopril prescribed for?", TREATS, "hypertension"),
        ("Does Eliquis interact with ketoconazole?", TOGETHER, "Reduce the dose by 50%"),
        ("What is the dose of apixaban with ketoconazole?", TOGETHER, "Reduce the dose by 50%"),
        ("Is it safe to combine Eliquis and ketoconazole?", TOGETHER, "Reduce the dose by 50%"),
        ("How should Eliquis be stored?", PLAIN, ""),
        ("How does Eliquis work?", PLAIN, ""),
        ("Does Eliquis interact with ketoconazole?", PLAIN, ""),
    ],
)
def test_a_text_answers_in_other_words_than_the_question(
    question: str, found: Passage, says: str
) -> None:
    answer = ExtractiveAnswerer(DENSE).answer(question, [found])
    assert says in answer.text, answer.refusal_reason
    assert bool(says) == bool(answer.text)


SHORT_CRITERIA = Passage(
    Chunk(
        "NCT01151046:e",
        "NCT01151046",
        "Inclusion Criteria:\n  Locally advanced or metastatic breast cancer\n"
        "  18 years of age\nExclusion Criteria:\n  Received prior treatment with exemestane\n"
        "  Pregnancy\n  Symptomatic metastases of the brain, or of the spinal cord with a deficit",
        title="NCT01151046: MM-121 + Exemestane",
        section_label="eligibility",
    ),
    1.0,
    {"dense": 0.8},
    is_asked_for=True,
)


@pytest.mark.parametrize(
    ("question", "says", "never"),
    [
        ("Were patients with prior exemestane excluded from NCT01151046?", ["exemestane"], "brain"),
        ("Who can join NCT01151046?", ["Locally advanced", "18 years"], "Pregnancy"),
        (
            "What are the exclusion criteria of NCT01151046?",
            ["prior treatment with exemestane", "Pregnancy", "Symptomatic"],
            "Locally",
        ),
    ],
)
def test_short_criteria_are_criteria_and_all_are_listed(
    question: str, says: list[str], never: str
) -> None:
    text = ExtractiveAnswerer(DENSE).answer(question, [SHORT_CRITERIA]).text
    assert all(one in text for one in says), text
    assert never not in text


def test_a_fact_is_found_in_a_later_passage_about_the_name() -> None:
    early = [
        of_label("VIAGRA (sildenafil)", f"s{at}", f"Part {at} of the text on VIAGRA and men.")
        for at in range(LOOKED_AT + 3)
    ]
    late = of_label(
        "VIAGRA (sildenafil)", "pk", "Sildenafil has a terminal half life of about 4 hours."
    )
    answer = ExtractiveAnswerer(DENSE).answer("half-life of sildenafil", [*early, late])
    assert "about 4 hours" in answer.text, answer.refusal_reason


def test_what_a_study_says_of_interactions_in_general_is_not_said_of_two_drugs() -> None:
    found = [
        of_label("PRINIVIL (lisinopril)", "drug_interactions", "Lithium: toxicity of lithium."),
        passage(
            "A value was left out after a drug with major interactions with warfarin.",
            title="Generic warfarin: a randomized trial",
        ),
    ]
    assert (
        not ExtractiveAnswerer(DENSE).answer("Does lisinopril interact with warfarin?", found).text
    )


def test_which_drugs_a_trial_allows_is_not_how_they_interact() -> None:
    trial = passage(
        "Anticoagulants for line maintenance (warfarin 1 mg/day) are allowed.",
        name="NCT00046891",
        title="NCT00046891: Ginkgo biloba",
    )
    assert (
        not ExtractiveAnswerer(DENSE)
        .answer("Does ginkgo biloba interact with warfarin?", [trial])
        .text
    )


def test_a_list_does_not_answer_what_is_not_on_it() -> None:
    label = passage("Lipitor is contraindicated in active liver disease.", "lipitor", "Lipitor")
    assert "active liver disease" in ask("contraindications of Lipitor", label)
    assert ask("what is not a contraindication to Lipitor", label).startswith("refused: this asks")
