"""Is it read from a query what it asks for?"""

from __future__ import annotations

import pytest

from assay.errors import UsageError
from assay.model.names import words
from assay.search.boost import default_lexicon, detect


def seen(query: str, intent: str | None = None) -> dict[str, tuple[float, float]]:
    return {
        one.intent: (one.confidence, round(one.factor, 9))
        for one in detect(query, default_lexicon(), intent)
    }


@pytest.mark.req("R11")
def test_tabular_query_detection() -> None:
    assert seen("pembrolizumab adverse events")["tabular"] == (0.9, 2.8)


@pytest.mark.req("R11")
@pytest.mark.parametrize(
    ("query", "confidence"),
    [
        ("side effects of statins", 0.8),
        ("effect size of exercise", 0.9),
        ("outcome measures in asthma trials", 0.9),
        ("results table of KEYNOTE", 1.0),
        ("hyperkalemia table", 0.7),
        ("tables on hyperkalemia", 0.7),
        ("table of doses", 0.9),
        ("demographics of participants", 0.7),
        ("baseline characteristics", 0.75),
    ],
)
def test_phrases_of_the_table_router(query: str, confidence: float) -> None:
    assert seen(query)["tabular"] == (confidence, round(1 + 2 * confidence, 9))


@pytest.mark.req("R11", "R13")
@pytest.mark.parametrize(
    "query",
    [
        *("diabetes pathophysiology", "cancer research trends", "", "  "),
        *("resultant methodical dosed", "table salt in hypertension", "tilt table test"),
    ],
)
def test_queries_without_intent(query: str) -> None:
    assert seen(query) == {}


@pytest.mark.req("R12")
def test_manual_intent_override() -> None:
    assert seen("diabetes", "tabular") == {"tabular": (1.0, 3.0)}
    assert seen("adverse events", "eligibility") == {"eligibility": (1.0, 3.0)}
    assert seen("diabetes", "dosage") == {"dosage": (1.0, 2.0)}
    assert seen("adverse events", "none") == {}
    with pytest.raises(UsageError, match=r"no intent 'tables'.*known: tabular, eligibility"):
        seen("x", "tables")


@pytest.mark.req("R13")
def test_eligibility_intent_detection() -> None:
    assert seen("eligibility criteria for breast cancer trials") == {"eligibility": (1.0, 3.0)}


@pytest.mark.req("R13")
def test_multi_intent_detection() -> None:
    found = seen("pembrolizumab dosage and adverse events")
    assert found == {"tabular": (0.9, 2.8), "adverse_events": (0.9, 1.8), "dosage": (0.7, 1.4)}


@pytest.mark.parametrize(
    "query",
    [
        "ADVERSE EVENTS",
        "adverse-event",
        "adverse\u2010events",
        "ad\u00adverse events",
        "(adverse  event)",
        "adverse\nevents?",
        "ａｄｖｅｒｓｅ ｅｖｅｎｔｓ",
    ],
)
def test_case_hyphens_and_plurals_do_not_matter(query: str) -> None:
    assert seen(query)["adverse_events"][0] == 0.9


@pytest.mark.parametrize(
    "query", ["adversevents", "adverse", "preadverse events", "adverse eventful"]
)
def test_only_whole_words_match(query: str) -> None:
    assert "adverse_events" not in seen(query)


@pytest.mark.req("R13")
@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("zelomab AEs", "adverse_events"),
        ("TEAEs with zelomab", "adverse_events"),
        ("SAE zelomab", "adverse_events"),
        ("zelomab safety", "adverse_events"),
        ("side effects of zelomab", "adverse_events"),
        ("contraindications of zelomab", "contraindications"),
        ("who should not take zelomab", "contraindications"),
        ("which patients must not receive zelomab", "contraindications"),
        ("who can't take zelomab", "contraindications"),
        ("who cannot take part in the zelomab trial", "eligibility"),
        ("zelomab drug interactions", "interactions"),
        ("zelomab warnings", "warnings"),
        ("boxed warning of zelomab", "boxed_warning"),
        ("what is zelomab used for", "indications"),
        ("what is the new drug zelomab used for", "indications"),
        ("how much can I take", "dosage"),
        ("how much zelomab can my child take", "dosage"),
        ("how many milligrams of zelomab", "dosage"),
        ("how often do I take zelomab", "dosage"),
        ("how frequently is zelomab injected", "dosage"),
        ("can I take zelomab with nitrates", "interactions"),
        ("may patients use zelomab with grapefruit juice", "interactions"),
        ("can zelomab be combined with alcohol", "interactions"),
        ("herb-drug interactions of zelomab", "interactions"),
        ("interaction between zelomab and fenavir", "interactions"),
        ("zelomab overdose", "overdosage"),
        ("zelomab overdosage", "overdosage"),
        ("what happens if I take too much zelomab", "overdosage"),
        ("my son swallowed too many zelomab tablets", "overdosage"),
        ("inclusion/exclusion NCT00000001", "eligibility"),
        ("inclusion and exclusion of the zelomab trial", "eligibility"),
        ("dosage forms of zelomab", "dosage_forms"),
        ("dose-limiting toxicity of zelomab", "adverse_events"),
        ("half-life of zelomab", "pharmacology"),
        ("zelomab half life", "pharmacology"),
        ("how does zelomab work", "pharmacology"),
        ("mechanism of action of zelomab", "pharmacology"),
        ("how should zelomab be stored", "storage"),
        ("zelomab storage temperature", "storage"),
    ],
)
def test_the_words_of_the_field(query: str, intent: str) -> None:
    assert intent in seen(query)


@pytest.mark.parametrize(
    "query",
    [
        *("glycogen storage disease", "iron storage", "cold storage of platelets"),
        *("methods of contraception", "dose-response curve", "periodic table", "food safety"),
        *("protein interactions", "early warning score", "low-dose aspirin", "dose escalation"),
        *("table tennis injuries", "water table", "multiplication table", "gene dosage"),
        *("dosage compensation", "dose-dense chemotherapy", "dose\u2011intense regimen"),
        *("gene-environment interactions", "host\u2013pathogen interactions"),
        *("interaction between nurses and patients", "safety pin", "indication of trend"),
        *("results-oriented management", "outcome-based payment", "safety-critical systems"),
        *("inclusion body myositis", "social exclusion of migrants"),
    ],
)
def test_words_that_only_sound_like_an_intent(query: str) -> None:
    assert seen(query) == {}


def test_a_phrase_inside_a_longer_one_does_not_count() -> None:
    found = seen("dose limiting toxicity")
    assert found == {"adverse_events": (0.8, 1.6), "results": (0.7, 1.4)}
    assert seen("dose and toxicity") == {"adverse_events": (0.7, 1.4), "dosage": (0.7, 1.4)}
    assert seen("dose and dose limiting toxicity")["dosage"] == (0.7, 1.4)


def test_plural_endings_come_off_and_other_endings_stay() -> None:
    assert words("toxicities doses illness virus basis gas") == (
        *("toxicity", "dose", "illness", "virus", "basis", "gas"),
    )


def test_detection_as_json() -> None:
    (one,) = detect("eligible patients", default_lexicon())
    assert one.to_dict() == {
        "rule": "intent",
        "intent": "eligibility",
        "confidence": 0.9,
        "factor": pytest.approx(2.7),
        "phrase": "eligible",
    }


@pytest.mark.parametrize(
    "query", ["Viagra and doxazosin", "adalimumab with abatacept", "anakinra & Humira together"]
)
def test_two_drugs_and_nothing_more_ask_what_they_do_together(query: str) -> None:
    assert seen(query) == {"interactions": (0.7, 1.4)}


@pytest.mark.parametrize(
    "query",
    [
        "Femara or Arimidex",
        "docetaxel and asthma",
        "trastuzumab plus pertuzumab",
        "bread and butter",
    ],
)
def test_a_drug_alone_or_a_choice_asks_for_no_interactions(query: str) -> None:
    assert seen(query) == {}


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("Nebenwirkungen von Atorvastatin", "adverse_events"),
        ("dosis de adalimumab", "dosage"),
        ("posología de adalimumab", "dosage"),
        ("effets secondaires du mirabegron", "adverse_events"),
        ("contraindicaciones del sildenafil", "contraindications"),
        ("Wechselwirkungen mit Phenprocoumon", "interactions"),
    ],
)
def test_sections_are_asked_for_in_other_languages(query: str, intent: str) -> None:
    assert intent in seen(query)
