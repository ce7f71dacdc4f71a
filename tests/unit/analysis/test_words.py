"""Do all spellings of one name meet, and only those?"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.spelling import base
from assay.analysis.words import Lines, Vocabulary, analyse, tokens, vocabulary

SAME_NAME = [
    ["IL-6", "IL6", "IL 6", "il‑6", "Il-6", "interleukin-6", "Interleukin 6"],
    ["IL-17A", "IL17A", "IL 17A"],
    ["PD-L1", "PDL1", "PD L1", "anti-PD-L1", "PD-L1-positive"],
    ["IFN-γ", "IFNγ", "IFN gamma", "IFN-gamma", "IFNgamma", "interferon-γ", "interferon gamma"],
    ["TNF-α", "TNFα", "TNF alpha", "TNF-alpha", "TNFa", "TNFalpha"],
    ["BRAF V600E", "BRAFV600E", "BRAF-V600E", "braf v600e", "BRAF Val600Glu"],
    ["JAK2 V617F", "JAK2V617F"],
    ["PIK3CA H1047R", "PIK3CAH1047R"],
    ["NF-κB", "NFκB", "NF-kB", "NFkB"],
    ["TGF-β1", "TGFβ1", "TGF-beta1"],
    ["NT-proBNP", "NTproBNP", "NT-pro-BNP"],
    ["CHA₂DS₂-VASc", "CHA2DS2-VASc", "CHA2DS2VASc"],
    ["COVID-19", "covid19", "COVID 19"],
    ["SARS-CoV-2", "SARSCoV2", "SARS-CoV2"],
    ["E11.9", "E119", "e11.9"],
    ["I21.4", "I214"],
    ["10 mg", "10mg", "10-mg", "10\u00a0mg"],
    ["50 µg", "50 μg", "50µg", "50 mcg", "50 micrograms", "50mcg"],
    ["0.5 mL", "0.5ml", "0·5 mL"],
    ["2,550", "2550"],
    ["50,000 IU", "50000 IU", "50000IU"],
    ["1,234,567", "1234567"],
    ["p.Leu858Arg", "L858R", "p.L858R"],
    ["c.5266dupC", "C.5266DUPC"],
    ["CD4+", "CD4", "CD4⁺"],
    ["pre-eclampsia", "preeclampsia", "preeclampsias"],
    ["T-DXd", "TDXd"],
    ["β-blockers", "beta-blocker", "beta blockers"],
]
SAME_WORD = [
    ("haemorrhage", "hemorrhage"), ("leukaemia", "leukemia"), ("oestrogen", "estrogen"),
    ("tumour", "tumor"), ("tumours", "tumors"), ("anaemic", "anemic"), ("oedema", "edema"),
    ("lymphoedema", "lymphedema"), ("diarrhoea", "diarrhea"), ("dyspnoea", "dyspnea"),
    ("foetal", "fetal"), ("coeliac", "celiac"), ("oesophageal", "esophageal"),
    ("paediatric", "pediatric"), ("gynaecology", "gynecology"), ("aetiology", "etiology"),
    ("ischaemic", "ischemic"), ("anaesthesia", "anesthesia"), ("caesarean", "cesarean"),
    ("randomised", "randomized"), ("hospitalisation", "hospitalization"),
    ("analysed", "analyzed"), ("centre", "center"), ("centred", "centered"),
    ("millilitres", "milliliters"), ("fibre", "fiber"), ("titre", "titer"),
    ("labelled", "labeled"), ("signalling", "signaling"), ("behavioural", "behavioral"),
    ("sulphate", "sulfate"), ("leucocyte", "leukocyte"), ("programme", "program"),
    ("ageing", "aging"), ("Sjögren", "Sjogren"), ("naïve", "naive"), ("café", "cafe\u0301"),
    ("ﬁbrosis", "fibrosis"), ("Crohn’s", "Crohns"), ("micrograms", "mcg"),
]  # fmt: skip
DIFFERENT = [
    ("IL-6", "IL-16"), ("PD-1", "PD-L1"), ("0.82", "82"), ("2.5 mg", "25 mg"), ("E11.9", "E11.65"),
    ("10 mg", "10 ml"), ("50 µg", "50 mg"), ("L858R", "T790M"),
    ("KRASG12C", "KRASG12D"), ("TNF-α", "TNF-β"),
    ("10⁹", "109"), ("study¹²", "study 12"), ("0.72-0.94", "0.720.94"), ("aerobic", "anaerobic"),
]  # fmt: skip


def names(text: str) -> set[str]:
    """All that a query with this text looks for, and a document with it is found by."""
    words = analyse(text)
    return {*words.terms, *words.forms}


@pytest.mark.parametrize("spellings", SAME_NAME, ids=lambda some: some[0])
def test_every_two_spellings_of_a_name_share_a_term(spellings: list[str]) -> None:
    for one, other in combinations(spellings, 2):
        shared = names(one) & names(other)
        assert any(len(term) > (3 if term.isdigit() else 1) for term in shared), (
            one, other, names(one), names(other),
        )  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME_WORD)
def test_two_spellings_of_a_word_are_one_term(one: str, other: str) -> None:
    assert analyse(one).terms == analyse(other).terms != []


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_stays_apart(one: str, other: str) -> None:
    assert names(one) != names(other)
    whole = {term for term in names(one) & names(other) if len(term) > 3}
    assert not whole or analyse(one).terms != analyse(other).terms


def test_numbers_are_whole_and_ranges_are_two() -> None:
    assert analyse("RR 0.82 (95% CI 0.72-0.94)").terms == ["rr", "0.82", "95", "ci", "0.72", "0.94"]
    assert analyse("2,550 mg and 1,25-dihydroxyvitamin").terms[:2] == ["2550", "mg"]
    assert "1.25" not in analyse("1,25-dihydroxyvitamin D").terms


def test_plain_english_is_cut_as_ever() -> None:
    assert analyse("The patients were treated with statins.").terms == [
        "patient", "were", "treat", "statin",
    ]  # fmt: skip
    assert analyse("of the and").terms == []
    assert base("exercises") == base("exercising")


def test_other_scripts_have_words_too() -> None:
    assert analyse("高血压").terms == ["高血", "血压"]
    assert analyse("сердечная недостаточность").terms == ["сердечная", "недостаточность"]


def test_tokens_say_where_words_stand() -> None:
    text = "Anti-PD-L1 at 10 mg (IFN-γ)."
    found = {term: text[token.start : token.end] for token in tokens(text) for term in token.terms}
    assert found["pdl1"] == "Anti-PD-L1"
    assert found["pd"] == "PD"
    assert found["10mg"] == "10 mg"
    assert found["gamma"] == "γ"
    assert found["ifngamma"] == "IFN-γ"


@given(st.text(max_size=200))
def test_any_text_is_cut_and_every_token_lies_within_it(text: str) -> None:
    words = analyse(text)
    assert all(term and " " not in term for term in (*words.terms, *words.forms))
    for token in tokens(text):
        assert 0 <= token.start < token.end <= len(text)
    assert analyse(text) == words


WRITTEN = st.lists(
    st.sampled_from(
        [name for names in SAME_NAME for name in names] + ["aspirin", "of", "100", "mg"]
    ),
    max_size=8,
).map(" ".join)


@given(WRITTEN, WRITTEN)
def test_the_vocabulary_of_a_text_is_that_of_its_words(text: str, question: str) -> None:
    """What is looked for may be a name in two parts, which is found only when needed."""
    every = frozenset[str]().union(*analyse(text))
    wanted = frozenset[str]().union(*analyse(question))
    assert Vocabulary(text).among(wanted) == every & wanted
    assert Vocabulary(text).every == every


def test_a_count_that_is_written_onto_a_word_hides_no_word() -> None:
    assert "neutropenia" in analyse("Febrile Neutropenia21/503").forms
    assert "rad" not in vocabulary("RAD001").every


def test_lines_have_the_words_of_the_whole_text() -> None:
    parts = (
        "IL-6 and TNF alpha",
        " nct01 oesophagus | type ",
        "Type 2 diabetes, 10 mg of interleukin 6\n5 g",
    )
    lines, whole = Lines(*parts), "\n".join(parts)
    assert lines == whole
    assert vocabulary(lines).every == Vocabulary(whole).every
    asked = frozenset(("il6", "tnfa", "esophagus", "type2", "diabet", "10mg", "5g", "other"))
    assert vocabulary(lines).among(asked) == Vocabulary(whole).among(asked)
    for word in ("diabetology", "interleukin6", "oesoph", "inter"):
        like = sorted(vocabulary(lines).beginning_like(word))
        assert like == sorted(w for w in Vocabulary(whole).every if w[:6] == word[:6] and word[5:])


def test_what_is_known_of_the_parts_is_not_worked_out_again() -> None:
    text = "A passage that was read for the first of many rules."
    vocabulary(text)
    before = vocabulary.cache_info().misses
    vocabulary(Lines("a title of its own", "its names", text))
    assert vocabulary.cache_info().misses - before == 3  # the whole, the title and the names
