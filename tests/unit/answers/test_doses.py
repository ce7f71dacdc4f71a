"""Is a dose found in whatever words a text states it, and only that of the substance asked for?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.answers.extractive import ExtractiveAnswerer
from assay.app.workspace import Workspace
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
