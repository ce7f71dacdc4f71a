"""Is a dose found in whatever words a text states it, and only that of the substance asked for?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.answers.extractive import ExtractiveAnswerer
from assay.app.workspace import Workspace
from assay.evidence.floor import judge
from assay.model.answers import Passage
from assay.model.document import Chunk
from tests.unit.search.corpus import filled

TEXTS = {
    "Acalabrutinib capsules": "Acalabrutinib is taken as 100 mg every 12 hours until progression.",
    "Tenecteplase in stroke": "Tenecteplase 0.25 mg/kg is given at once, not to exceed 25 mg.",
    "Loratadine leaflet": "Adults and children over 12 take one 10 mg tablet of loratadine a day.",
    "Praziquantel": "People with bilharzia swallow praziquantel 40 mg per kilogram once.",
    "Terbutaline inhaler": "Two puffs of terbutaline when needed, no more than eight puffs a day.",
    "Aminocaproic acid": "Aminocaproic acid 4 g over an hour, then 1 g hourly.",
    "Fosfomycin for cystitis": "For cystitis, fosfomycin 3 g once is enough.",
    "Glucagon": "Inject glucagon 1 mg into the thigh. Repeat after fifteen minutes if needed.",
    "Trazodone": "Trazodone starts at 50 mg at bedtime; 400 mg daily is the most.",
    "Dalteparin prophylaxis": "Dalteparin 5000 IU under the skin prevents thrombosis.",
    "Lacosamide": "Lacosamide: 50 mg twice daily, raised each week up to 200 mg twice daily.",
    "Carbetocin after birth": "Give 100 micrograms carbetocin intravenously after the birth.",
    "Betaxolol eye drops": "One drop of betaxolol 0.5% in each eye morning and evening.",
    "Buprenorphine patches": "Buprenorphine patches of 5 micrograms per hour stay for a week.",
    "Dulaglutide": "Start dulaglutide with 0.75 mg weekly; after four weeks 1.5 mg weekly.",
    "Flumazenil": "Flumazenil 0.2 mg intravenously each minute until the patient wakes.",
    "Tofacitinib": "Tofacitinib: 5 mg twice daily; with creatinine clearance below 50 5 mg a day.",
    "Polymyxin B": "Polymyxin is loaded with 2 million units, then 1 million units every 12 hours.",
    "Macrogol": "Three sachets of macrogol a day soften stools.",
    "Examplostatin": "Examplostatin 20 mg each evening lowered LDL by half.",
}
QUESTIONS = [
    ("acalabrutinib dose", "100 mg"), ("maximum dose of tenecteplase", "25 mg"),
    ("dose of loratadine for adults", "10 mg"), ("dosage of praziquantel", "40 mg"),
    ("maximum dose of terbutaline", "eight puffs"), ("dose of aminocaproic acid", "4 g"),
    ("fosfomycin dosage for cystitis", "3 g"), ("dose of glucagon", "1 mg"),
    ("trazodone maximum dose", "400 mg"), ("dalteparin prophylactic dose", "5000 IU"),
    ("lacosamide dosing", "50 mg"), ("how much carbetocin after birth", "100 micrograms"),
    ("betaxolol dose", "One drop"), ("buprenorphine patch dose", "5 micrograms"),
    ("dulaglutide starting dose", "0.75 mg"), ("dose of flumazenil", "0.2 mg"),
    ("tofacitinib dose in renal impairment", "5 mg a day"),
    ("polymyxin loading dose", "2 million units"),
    ("macrogol dose", "Three sachets"), ("dose of Examplostatin", "20 mg"),
]  # fmt: skip


@pytest.fixture(scope="module")
def drugs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    rows = [
        Chunk(f"d{at}:chunk_0", f"d{at}", text, title)
        for at, (title, text) in enumerate(TEXTS.items())
    ]
    with filled(tmp_path_factory.mktemp("doses") / "home", rows) as opened:
        yield opened


@pytest.mark.parametrize(("question", "says"), QUESTIONS)
def test_a_text_states_a_dose_without_the_word(drugs: Workspace, question: str, says: str) -> None:
    answer = drugs.answer(question, components="bm25").answer
    assert says in answer.text, answer.refusal_reason


@pytest.mark.parametrize(
    "question", ["dose of warfarin", "maximum dose of macrogol", "dulaglutide dose in children"]
)
def test_what_no_text_states_is_refused(drugs: Workspace, question: str) -> None:
    answer = drugs.answer(question, components="bm25").answer
    assert not answer.text


def passage(text: str, name: str, title: str) -> Passage:
    return Passage(Chunk(f"{name}:chunk_0", name, text, title=title), 1.0, {})


GASTRIC = passage(
    "Glucose absorption rose. | Cmax of glucose (mmol/L) | 75 mg (n = 6) | 9.7",
    "gut",
    "The effect of camicinal on gastric emptying and glucose absorption",
)
PEN = passage(
    "Each pen contains adalimumab 40 mg, sodium chloride 4.9 mg, sodium citrate 0.2 mg.",
    "pen",
    "Effect of adalimumab: a randomised trial",
)
DRIP = passage("Glucose 25 g is given intravenously.", "drip", "Hypoglycaemia")


@pytest.mark.parametrize(
    ("question", "found", "says"),
    [
        ("dose of glucose", GASTRIC, ""),
        ("glucose dose", GASTRIC, ""),
        ("dose of sodium", PEN, ""),
        ("dose of glucose", DRIP, "25 g"),
    ],
)
def test_what_is_measured_is_not_what_is_given(question: str, found: Passage, says: str) -> None:
    text = ExtractiveAnswerer().answer(question, [found]).text
    assert says in text if says else not text


WOMEN = passage(
    "Adverse events of estradiol in women were bleeding and breast pain.",
    "w",
    "Estradiol after the menopause: adverse events in postmenopausal women",
)


def test_what_is_said_of_women_does_not_answer_for_men() -> None:
    answerer = ExtractiveAnswerer()
    assert "bleeding" in answerer.answer("adverse events of estradiol", [WOMEN]).text
    assert "bleeding" in answerer.answer("adverse events of estradiol in women", [WOMEN]).text
    assert not answerer.answer("adverse events of estradiol in men", [WOMEN]).text


ANAEMIA = passage(
    "INTERVENTION 1:\n  Darbepoetin\n  Response was a rise of hemoglobin by at least 2 grams per "
    "deciliter (g/dL).\n  Ferritin had to be 100 mcg per litre.\n"
    "  Participants received peginesatide plus vitamin K 2,500 international units weekly.\n",
    "ana",
    "Anaemia: peginesatide",
)
SEEDS = passage(
    "Lutetium vipivotide: 185 MBq/kg by vein on day 1. External beams gave 54 Gy in 27 fractions.",
    "lut",
    "Lutetium vipivotide and external radiotherapy",
)
DRUGS_IN_MODELS = passage(
    "Single-agent XQ 12 (olaparib) dosed orally at 3 mg/day in 21-day cycles. This inhibitor was "
    "active in animal models of tumours.",
    "ola",
    "Olaparib (XQ 12)",
)
TWO_IN_ONE = passage(
    "Participants took bicalutamide 900 milligram (mg) along with 7 mg capsule of dexamethasone.",
    "two",
    "Bicalutamide + Dexamethasone",
)
CAPSULE = passage(
    "Silymarin 140mg capsule taken orally twice a day. Blood was drawn at noon.", "sil", "Silymarin"
)


@pytest.mark.parametrize(
    ("question", "found", "says", "does_not"),
    [
        ("dose of peginesatide", ANAEMIA, "2,500 international units", "deciliter"),
        ("What dose of lutetium vipivotide was given?", SEEDS, "185 MBq/kg", "54 Gy"),
        ("What dose of radiotherapy was given?", SEEDS, "54 Gy", "185 MBq"),
        ("What dose of olaparib was given?", DRUGS_IN_MODELS, "3 mg/day", ""),
        ("What dose of dexamethasone was given?", TWO_IN_ONE, "7 mg capsule", ""),
        ("how much silymarin is in each capsule", CAPSULE, "140mg", ""),
    ],
)
def test_amounts_in_other_units_are_doses_and_concentrations_are_none(
    question: str, found: Passage, says: str, does_not: str
) -> None:
    answer = ExtractiveAnswerer().answer(question, [found])
    assert says in answer.text, answer.refusal_reason
    assert not does_not or does_not not in answer.text


TRIAL_OF_CODE = passage(
    "INTERVENTION 1:\n  QX4471 60 mg\n  QX4471 (zanubrutinib) 60 mg once daily\n"
    "INTERVENTION 2:\n  Ibrutinib 420 mg\n  Ibrutinib 420 mg once daily",
    "NCT09000001",
    "NCT09000001: QX4471 60 mg; Ibrutinib 420 mg",
)
TRIAL_OF_OTHERS = passage(
    "Strong inhibitors (ketoconazole) 200 mg are not allowed with Ibrutinib 420 mg.",
    "NCT09000002",
    "NCT09000002: Ibrutinib 420 mg",
)


def test_a_name_in_brackets_after_a_name_of_the_subject_is_one_of_its_names() -> None:
    answerer = ExtractiveAnswerer()
    text = answerer.answer("What dose of zanubrutinib was given?", [TRIAL_OF_CODE]).text
    assert "60 mg once daily" in text
    assert "420" not in text
    assert not answerer.answer("What dose of ketoconazole was given?", [TRIAL_OF_OTHERS]).text


def test_a_drug_that_a_trial_names_in_brackets_is_not_only_mentioned() -> None:
    asked = "What dose of zanubrutinib was given?"
    judged = judge(asked, [TRIAL_OF_CODE], intents=("dosage",))
    assert not judged.nothing
    assert not judged.only_mentioned
    asked = "What dose of ketoconazole was given?"
    assert "only mentioned" in judge(asked, [TRIAL_OF_OTHERS], intents=("dosage",)).only_mentioned


def of_methods(text: str) -> Passage:
    chunk = Chunk(
        "PMC90:chunk_3",
        "PMC90",
        text,
        title="Nefopam versus placebo after thyroidectomy: a randomised trial",
        section_label="methods",
    )
    return Passage(chunk, 1.0, {})


ANAESTHESIA = of_methods(
    "Anaesthesia was induced with remifentanil 1 µg/kg and rocuronium 0.3 mg/kg intravenously. "
    "Patients taking prednisolone 20 mg daily were excluded. Nefopam 20 mg was infused. "
    "Ondansetron was at hand."
)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("What dose of rocuronium was given?", "0.3 mg/kg"),
        ("What is the recommended dose of rocuronium?", ""),
        ("What is the dose of rocuronium?", ""),
        ("maximum dose of rocuronium", ""),
        ("What dose of prednisolone was given?", ""),
        ("What dose of ondansetron was given?", ""),
    ],
)
def test_methods_state_the_dose_of_what_was_given_beside_the_subject(
    question: str, says: str
) -> None:
    answer = ExtractiveAnswerer().answer(question, [ANAESTHESIA])
    assert says in answer.text if says else not answer.text
    judged = judge(question, [ANAESTHESIA], intents=("dosage",))
    assert bool(judged.nothing or judged.only_mentioned) is not bool(says)


def of_trial(at: int, section: str, text: str) -> Passage:
    title = "NCT09000005: Hydroxychloroquine 200 mg"
    return Passage(Chunk(f"h:chunk_{at}", "NCT09000005", text, title, section), 1.0, {})


HYDROXYCHLOROQUINE = [
    of_trial(0, "interventions", "Hydroxychloroquine 200 mg twice daily for four weeks."),
    of_trial(
        1,
        "eligibility",
        "Inclusion Criteria:\n  Women with endometriosis\nExclusion Criteria:\n"
        "  Treatment with hydroxychloroquine for lupus within 24 months",
    ),
]


def test_a_dose_is_not_for_what_keeps_patients_out() -> None:
    answerer = ExtractiveAnswerer()
    asked = "dose of hydroxychloroquine for {}"
    assert "200 mg" in answerer.answer(asked.format("endometriosis"), HYDROXYCHLOROQUINE).text
    assert not answerer.answer(asked.format("lupus"), HYDROXYCHLOROQUINE).text


LABEL = Chunk(
    "valo:chunk_1",
    "valo",
    "2.1 Adults\nThe dose may be increased to a maximum of 100 mg.\n\n"
    "2.2 Ritonavir\nDo not exceed a maximum single dose of 25 mg of Valopril in 48 hours.\n\n"
    "2.3 Crohn's Disease\nThe dose of Valopril is 160 mg on Day 1. Two weeks later give 80 mg.\n\n"
    "2.4 Ulcerative Colitis\nThe dose of Valopril is 20 mg.\n\n"
    "2.5 Pediatric Patients\nThe starting dose is 5 mg.\n\n"
    "Extremely Flammable\nAvoid fire and flame.",
    "Valopril (valopril)",
    section_label="dosage",
    metadata={"drugs": ("valopril",)},
)


@pytest.mark.parametrize(
    ("question", "says", "not_said"),
    [
        ("What is the maximum dose of Valopril?", "100 mg", "25 mg"),
        ("What is the maximum dose of Valopril with ritonavir?", "25 mg", "160 mg"),
        ("Dose of Valopril in Crohn's disease", "160 mg", "20 mg"),
        ("Dose of Valopril in ulcerative colitis", "20 mg", "160 mg"),
    ],
)
def test_a_dose_for_others_is_no_answer(question: str, says: str, not_said: str) -> None:
    answer = ExtractiveAnswerer(gate=0.0).answer(question, [Passage(LABEL, 1.0, {})])
    assert says in answer.text, answer.refusal_reason
    assert not_said not in answer.text


def test_the_dose_of_a_vaccine_is_not_that_of_the_drug_beside_it() -> None:
    trial = Chunk(
        "NCT09999998:chunk_0",
        "NCT09999998",
        "Herceptin will be dosed at 8 mg/kg. NeuVax is given every 3 weeks after Herceptin.",
        "NCT09999998: Herceptin + NeuVax Vaccine",
        section_label="interventions",
    )
    asked = "What is the dose of NeuVax?"
    assert not ExtractiveAnswerer(gate=0.0).answer(asked, [Passage(trial, 1.0, {})]).text


@pytest.mark.parametrize(
    ("drug", "says", "not_said"),
    [("T-DM1", "3.6 mg/kg", "8 mg/kg"), ("trastuzumab", "8 mg/kg", "3.6 mg/kg")],
)
def test_a_part_of_a_name_is_another_drug(drug: str, says: str, not_said: str) -> None:
    trial = Chunk(
        "NCT09999999:chunk_0",
        "NCT09999999",
        "Patients received trastuzumab emtansine 3.6 mg/kg.\n\n"
        "Patients received trastuzumab 8 mg/kg with docetaxel.",
        "NCT09999999: T-DM1; Trastuzumab",
        section_label="interventions",
    )
    asked = f"What dose of {drug} did patients receive?"
    answer = ExtractiveAnswerer(gate=0.0).answer(asked, [Passage(trial, 1.0, {})])
    assert says in answer.text, answer.refusal_reason
    assert not_said not in answer.text


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Dose of Valopril in children", "2.5 Pediatric Patients [1] The starting dose is 5 mg."),
        ("Is Valopril flammable?", "Extremely Flammable [1] Avoid fire and flame."),
    ],
)
def test_a_heading_is_quoted_where_only_it_shows_that_a_sentence_answers(
    question: str, says: str
) -> None:
    answer = ExtractiveAnswerer(gate=0.0).answer(question, [Passage(LABEL, 1.0, {})])
    assert says in answer.text, answer.refusal_reason


RESISTANT = passage(
    "Patients with MDR-TB received levofloxacin 20 mg/kg.",
    "tb",
    "Levofloxacin in multidrug-resistant tuberculosis: a randomised trial",
)
COLITIS = passage(
    "Patients received infliximab 5 mg/kg. It is also used in Crohn disease.",
    "uc",
    "Infliximab versus ciclosporin for ulcerative colitis: a randomised trial",
)


@pytest.mark.parametrize(
    ("question", "found", "says"),
    [
        ("What is the dose of infliximab for Crohn disease?", COLITIS, ""),
        ("What is the dose of infliximab for ulcerative colitis?", COLITIS, "5 mg/kg"),
        ("What dose of infliximab was given?", COLITIS, "5 mg/kg"),
        ("What dose of levofloxacin was studied in MDR-TB?", RESISTANT, "20 mg/kg"),
    ],
)
def test_a_study_of_one_disease_gives_no_dose_for_another(
    question: str, found: Passage, says: str
) -> None:
    answer = ExtractiveAnswerer().answer(question, [found])
    assert says in answer.text, answer.refusal_reason
    assert bool(says) == bool(answer.text)
