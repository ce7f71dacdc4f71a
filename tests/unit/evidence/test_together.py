"""Is a short query served by one passage that has all of it, and that does more than mention it?"""

from __future__ import annotations

import pytest

from assay.evidence.floor import Content, judge
from assay.evidence.together import Index, only_mentioned, things_asked, why_apart
from assay.model.answers import Passage
from assay.model.document import Chunk

UNLIKELY, HALFWAY, SURE = 0.1, 0.4, 0.9
LONG = Index(is_long=lambda passage: True)


def passage(text: str, section: str = "", title: str = "", name: str = "d") -> Passage:
    return Passage(Chunk(f"{name}:chunk_0", name, text, title=title, section_label=section), 1.0)


def apart(query: str, *texts: str, sure: float = UNLIKELY) -> str:
    found = [passage(text, name=f"d{at}") for at, text in enumerate(texts)]
    return why_apart(things_asked(query, lambda text: ()), sure, found)


@pytest.mark.parametrize(
    ("query", "texts", "missing"),
    [
        (
            "tinnitus masking",
            ("Tinnitus may occur.", "Masking of the allocation."),
            "tinnitus and masking together",
        ),
        ("kidney transplant rejection", ("Kidney function was rejected as an endpoint.",),
         "kidney transplant"),
        ("thyroid cancer radioiodine", ("Thyroid function; lung nodules, breast, later cancer",),
         "thyroid cancer and radioiodine"),
        ("cystic fibrosis", ("Codes: CF (community member female), CM (male)",), "cystic fibrosis"),
        ("cystic fibrosis", ("A cystic lesion; the liver showed some signs of fibrosis",),
         "cystic fibrosis"),
        ("multiplication table", ("Multiple doses were given.",), "multiplication"),
        ("guitar chords", ("Vocal cords were inspected.",), "guitar and chords"),
        ("parametritis", ("Parameters were estimated.",), "parametritis"),
        ("meningism", ("The meninges were seen.",), "meningism"),
    ],
)  # fmt: skip
def test_words_that_stand_apart_are_no_answer(
    query: str, texts: tuple[str, ...], missing: str
) -> None:
    assert apart(query, *texts) == f"nothing here is about {missing}"


def test_a_disease_is_written_however_near_the_passages_are() -> None:
    assert apart("parametritis", "Parameters were estimated.", sure=SURE)
    assert not apart("parametritis", "Parametritis was treated.", sure=SURE)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cystic fibrosis", "Patients with CF inhaled saline."),
        ("cystic fibrosis", "Cystic fibrosis (CF) is inherited."),
        ("thyroid cancer radioiodine", "Carcinoma of the thyroid was ablated with radioiodine."),
        ("kidney transplant rejection", "Rejection after renal transplantation was rare."),
        ("multiplication table", "Tables helped with multiplying and multiplication."),
        ("tinnitus masking", "Masking of tinnitus with noise"),
        ("cesarean", "Caesarean section was not more frequent."),
        ("estrogens", "An oestrogen was given."),
    ],
)
def test_other_spellings_and_names_are_the_same_thing(query: str, text: str) -> None:
    assert apart(query, text) == ""


def test_what_much_speaks_for_may_be_put_in_other_words_but_not_a_disease() -> None:
    assert apart("veggie burgers", "Plant patties were eaten.", sure=HALFWAY) == ""
    assert apart("gout flares", "Gout attacks were treated.", sure=SURE) == ""
    assert apart("gout flares", "Joint attacks were treated.", sure=SURE) == (
        "nothing here is about gout"
    )


def test_of_two_diseases_a_document_about_one_serves_where_much_speaks_for_it() -> None:
    def said(title: str) -> str:
        asked = things_asked("haemolytic anaemia thalassaemia", lambda text: ())
        return why_apart(asked, SURE, [passage("Thalassemia is inherited.", title=title)])

    assert said("Thalassemias") == ""
    assert said("Blood") == "nothing here is about haemolytic anaemia"


@pytest.mark.parametrize("query", ["Saline reduces wheezing in asthma and improves sleep.", ""])
def test_a_description_and_a_query_of_nothing_are_not_held_against_words(query: str) -> None:
    assert things_asked(query, lambda text: ()) == ()


def mentioned(query: str, *found: Passage, intents: tuple[str, ...] = ()) -> bool:
    asked = things_asked(query, lambda text: ())
    return bool(only_mentioned(query, asked, found, LONG, intents))


EXCLUDED = passage("Excluded: sarcoidosis, gout, pregnancy.", "eligibility")


def test_who_asks_something_of_a_disease_is_not_served_by_a_mention() -> None:
    asked = things_asked("treatment of sarcoidosis", lambda text: ())
    assert only_mentioned("treatment of sarcoidosis", asked, [EXCLUDED], LONG) == (
        "nothing here is about sarcoidosis, which is only mentioned"
    )


@pytest.mark.parametrize(
    "found",
    [
        passage("Sarcoidosis was confirmed. Active sarcoidosis is included.", "eligibility"),
        passage("Indicated for sarcoidosis.", "indications"),
        passage("Excluded: sarcoidosis.", "eligibility", title="A trial in sarcoidosis"),
        passage("Patients with sarcoidosis take 10 mg.", ""),
    ],
)
def test_more_than_a_mention_serves(found: Passage) -> None:
    assert not mentioned("treatment of sarcoidosis", EXCLUDED, found)


def test_a_name_alone_is_looked_up_and_so_is_what_a_section_lists() -> None:
    assert not mentioned("sarcoidosis", EXCLUDED)
    assert not mentioned("sarcoidosis exclusion criteria", EXCLUDED, intents=("eligibility",))
    short = things_asked("treatment of sarcoidosis", lambda text: ())
    assert not only_mentioned("treatment of sarcoidosis", short, [EXCLUDED])  # all there is of it


def test_synonyms_of_the_user_are_other_names() -> None:
    content = Content(others=lambda text: ("lofgren",) if text == "sarcoidosis" else ())
    found = passage("Therapy of Lofgren: rest.", "")
    assert judge("sarcoidosis therapy", [found], content=content).nothing == ""
    assert judge("sarcoidosis therapy", [found]).nothing == "nothing here is about sarcoidosis"


def test_alternatives_need_not_stand_together() -> None:
    found = [passage("Gout is painful.", name="a"), passage("Scurvy is rare.", name="b")]
    assert judge("gout scurvy", found).nothing
    assert judge("gout scurvy", found, content=Content(is_plain=False)).nothing == ""


def test_a_query_that_only_asks_is_not_about_anything() -> None:
    assert judge("trials", [passage("Aspirin was given.")]).nothing == ""
