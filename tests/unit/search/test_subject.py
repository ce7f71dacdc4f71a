"""Is it told what a query is about, and which candidates are about the same?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.model.names import names_of
from assay.search.boost import default_lexicon
from assay.search.subject import By, Pool, Scope, pool_rarity, scope_of, stands_in, subject_of

TEXTS = (
    ("Zelora (zelomab)", "The recommended dose is 40 mg every other week."),
    ("Zelora (zelomab)", "Reduce the dose in renal impairment."),
    ("Fenavir tablets", "The maximum dose is 80 mg. Do not combine with zelomab."),
    ("Treatment of heart failure", "Patients took brexidine."),
    ("Treatment of renal failure", "The heart was examined in each patient."),
    ("A study of sleep", "Doses were halved."),
)


def scope(query: str, texts: Sequence[tuple[str, str]] = TEXTS) -> Scope:
    """The scope of a query among chunks of documents with these titles."""
    names = [names_of(f"doc{at}", title, {}) for at, (title, _) in enumerate(texts)]

    def having(term: str, places: Sequence[int]) -> list[int]:
        return [at for at in places if stands_in(term, texts[at][1])]

    pool = Pool(names, having, pool_rarity([f" {text.lower()} " for _, text in texts]))
    return scope_of(subject_of(query, default_lexicon()), pool)


def about(query: str, texts: Sequence[tuple[str, str]] = TEXTS) -> list[int]:
    found = scope(query, texts).about(range(len(texts)))
    return [at for at, is_about in found.items() if is_about]


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("warfarin dose", ("warfarin",)),
        ("maximum dose of metformin", ("metformin",)),
        ("what is Zelora used for?", ("zelora",)),
        ("how much zelomab can I take", ("zelomab",)),
        ("adverse events", ()),
        ("eligibility criteria for breast cancer trials", ("breast", "cancer")),
        ("IL-6 inhibitors: safety", ("il 6", "inhibitor")),
        ("NCT01234567 adverse events", ("nct01234567",)),
        ("dose 5 of 12", ()),
        ("dose-response of statins", ("dose response", "statin")),
    ],
)
def test_the_words_beside_the_intent_are_the_subject(query: str, terms: tuple[str, ...]) -> None:
    assert subject_of(query, default_lexicon()).terms == terms


def test_a_document_that_is_named_so_is_the_subject_and_one_that_mentions_it_is_not() -> None:
    assert about("maximum dose of zelomab") == [0, 1]
    assert about("dose of Zelora") == [0, 1]
    assert scope("dose of Zelora").by is By.NAMES


def test_words_that_stand_together_in_a_name_are_one_term() -> None:
    assert scope("heart failure dosing").terms == ("heart failure",)
    assert about("heart failure dosing") == [3]


def test_what_a_query_names_is_shown_in_its_own_words() -> None:
    """The account of a score showed folded words: brain, metastase."""
    found = scope("Brain metastases, IL-6 and heart  failures: dosing")
    assert found.terms == ("Brain", "metastases", "IL-6", "heart failures")
    assert scope("ZELORA's dosing").named == "ZELORA's"


def test_where_no_document_is_named_so_the_text_decides() -> None:
    found = scope("brexidine dose")
    assert (found.by, found.key) == (By.TEXT, "brexidine")
    assert about("brexidine dose") == [3]


def test_nothing_is_about_a_drug_that_is_not_there() -> None:
    assert about("dose of apixaban") == []
    assert about("dose of apixaban in renal failure") == []


def test_names_and_text_together_must_have_enough_of_the_terms() -> None:
    assert about("zelomab dose in renal impairment") == [1]


LABELS: tuple[tuple[str, dict[str, object], str], ...] = (
    ("Zelora (zelomab)", {"names": ("Zelora", "zelomab")}, "Arthritis of the hip: 40 mg."),
    ("Zelora (zelomab)", {"names": ("Zelora", "zelomab")}, "Psoriasis: 80 mg."),
    ("Rare arthritis of the hip", {"names": ("arthritis",)}, "Some took zelomab, 50 mg."),
    ("Brexit tablets", {}, "Arthritis: one tablet."),
    ("Zelomab in daily care", {"names": ("zelomab",)}, "The dose was halved."),
)


@pytest.mark.parametrize(
    ("query", "key", "found"),
    [
        ("dose of zelomab in arthritis of the hip", "zelomab", [0, 1]),
        ("Zelora dose for migraine", "zelora", [0, 1]),  # the label is about its drug in any case
        ("dosing of Brexit in arthritis of the hip", "brexit", [3]),
    ],
)
def test_a_drug_comes_before_its_condition(query: str, key: str, found: list[int]) -> None:
    names = [names_of(f"doc{at}", title, more) for at, (title, more, _) in enumerate(LABELS)]

    def having(term: str, places: Sequence[int]) -> list[int]:
        return [at for at in places if stands_in(term, LABELS[at][2])]

    rarity = {"hip": 3.0, "arthritis": 2.0, "migraine": 5.0}
    pool = Pool(names, having, lambda word: rarity.get(word, 1.0))
    scope = scope_of(subject_of(query, default_lexicon()), pool)
    assert scope.key == key
    assert [at for at, is_about in scope.about(range(5)).items() if is_about] == found
    assert scope.own(range(5)) == set(found)


TRIAL = (
    ("NCT1: Zelenium; Placebo", "Rash: 0/344."),
    ("NCT1: Zelenium; Placebo", "Mean radiation dermatitis score."),
    ("NCT2: Soap", "Radiation dermatitis: 4/10."),
)


def test_what_a_passage_of_a_trial_says_counts_for_the_whole_trial() -> None:
    """Of a trial's own adverse events it was said that they are about another subject."""
    names = [names_of(title[:4], title, {}) for title, _ in TRIAL]
    pool = Pool(
        names,
        lambda term, places: [at for at in places if stands_in(term, TRIAL[at][1])],
        pool_rarity([f" {text.lower()} " for _, text in TRIAL]),
    )
    query = "zelenium radiation dermatitis adverse events"
    found = scope_of(subject_of(query, default_lexicon()), pool).about(range(3))
    assert found == {0: True, 1: True, 2: False}


def test_the_document_that_is_named_with_most_of_the_words_is_the_subject() -> None:
    texts = (
        ("CPAP in obesity", "cpap in obesity with good adherence to it"),
        ("Adherence to many pills", "they were red"),
        ("Diet in obesity", "obesity and cpap"),
        ("Masks for CPAP", "cpap in obesity"),
    )
    assert 0 in about("adherence CPAP obesity adverse events", texts)
    assert 1 not in about("adherence CPAP obesity adverse events", texts)


def test_a_query_without_subject_and_one_with_filters_are_about_everything() -> None:
    assert about("adverse events") == [*range(len(TEXTS))]
    assert Scope(By.FILTERS).about([3, 4]) == {3: True, 4: True}


def test_the_title_of_a_document_asks_for_no_section() -> None:
    titled = (("Safety and tolerability of zelomab in severe asthma", "x"), ("Other", "y"))
    found = scope("Safety and tolerability of zelomab in severe asthma", titled)
    assert found.by is By.TITLE
    assert about("Safety and tolerability of zelomab in severe asthma", titled) == []


def test_the_code_of_a_document_is_enough_by_itself() -> None:
    texts = (("Zelomab", "a"), ("Fenavir", "b"))
    names = [names_of(code, title, {}) for code, (title, _) in
             zip(("NCT01234567", "NCT07654321"), texts, strict=True)]  # fmt: skip
    pool = Pool(names, lambda term, places: [], pool_rarity(names))
    query = "NCT07654321: nausea, vomiting and headaches were reported as adverse events"
    assert scope_of(subject_of(query, default_lexicon()), pool).about([0, 1]) == {0: False, 1: True}


@pytest.mark.parametrize(
    ("term", "text", "stands"),
    [
        ("heart failure", "Heart-failures were rare", True),
        ("biopsy", "two BIOPSIES", True),
        ("statin", "atorvastatin", False),
        ("il 6", "levels of IL-6", True),
        ("heart failure", "failure of the heart", False),
    ],
)
def test_whole_words_side_by_side_stand_in_a_text(term: str, text: str, stands: bool) -> None:
    assert stands_in(term, text) is stands


def test_names_come_from_title_id_and_metadata() -> None:
    names = names_of("NCT1", "A trial", {"names": ("Zelomab", "Heart Failures"), "year": 2019})
    assert names == " a trial | nct1 | zelomab | heart failure "
    older = names_of("d", "", {"products": "Zelora; Zelora XR"})
    assert older == " d | zelora | zelora xr "


def test_a_synonym_stands_for_a_term() -> None:
    texts = (("Acetaminophen tablets", "a"), ("Myocardial infarction", "b"), ("Sleep", "c"))
    names = [names_of(f"doc{at}", title, {}) for at, (title, _) in enumerate(texts)]
    rules = {"paracetamol": ("acetaminophen",), "heart attack": ("myocardial infarction",)}

    def others(text: str) -> list[str]:
        return [other for said, added in rules.items() if said in text for other in added]

    pool = Pool(names, lambda term, places: [], pool_rarity(names), others)
    for query, place in (("paracetamol dose", 0), ("heart attack results", 1)):
        found = scope_of(subject_of(query, default_lexicon()), pool)
        assert found.by is By.NAMES
        assert [at for at, is_about in found.about(range(3)).items() if is_about] == [place]
