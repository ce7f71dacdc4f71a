"""Which parts of a query are more than words?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.identifiers import code_of, mentions
from assay.analysis.language import language_of
from assay.analysis.misspelt import distance, nearest
from assay.analysis.query import read


def conditions(query: str) -> tuple[list[list[str]], list[str]]:
    asked = read(query)
    return (
        [[clause.text for clause in group] for group in asked.must],
        [clause.text for clause in asked.must_not],
    )


def test_phrases_exclusions_alternatives_and_prefixes() -> None:
    assert conditions('"heart failure" -diabetes dose') == ([["heart failure"]], ["diabetes"])
    assert conditions('“heart failure” -"type 2"') == ([["heart failure"]], ["type 2"])
    assert conditions("aspirin OR clopidogrel OR ticagrelor stroke") == (
        [["aspirin", "clopidogrel", "ticagrelor"]], [],
    )  # fmt: skip
    assert conditions("title:metformin") == ([["metformin"]], [])
    assert read("drug:metformin").must[0][0].field == "names"
    assert read('"heart failure" -diabetes dose').plain == "heart failure dose"


@pytest.mark.parametrize(
    "query",
    [
        "non-small cell lung cancer", "aspirin or clopidogrel", "risk ratio: 0.82",
        "5-year survival",
        "what is the best of a long line of “treatments” for gout?", "mg/kg - daily", "COVID-19",
        "https://example.org/a:b", "doi:10.1000/x", "ratio 1:2", "-2 SD", "a - b",
    ],
)  # fmt: skip
def test_plain_queries_have_no_conditions(query: str) -> None:
    assert conditions(query) == ([], [])


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("foo:bar aspirin", "foo: is not a field"),
        ('"unclosed aspirin', "no partner"),
        ("metform* dose", "mean nothing here"),
        ("(low aspirin OR warfarin) stroke", "parentheses do not group"),
        ("drugs that should NOT be given in the first week", "NOT is read as a word"),
        ("aspirin AND stroke", "AND is not needed"),
        ("-aspirin", "only says what must not be there"),
        ("NOT aspirin", "only says what must not be there"),
    ],
)
def test_what_is_not_understood_is_said(query: str, note: str) -> None:
    assert any(note in one for one in read(query).notes)


@given(st.text(alphabet='ab-":() OR*~^title\n“”', max_size=80))
def test_no_query_is_too_strange(query: str) -> None:
    asked = read(query)
    assert all(weight > 0 for weight in asked.weights.values())


def test_exact_forms_count_more_than_loose_ones() -> None:
    weights = read("IL-6 inhibitors").weights
    assert weights["body", "inhibitor"] == 1.0
    assert weights["forms", "il6"] > weights["body", "il6"] > 0
    added = read("mi\n~myocardial infarction\nheart attack").weights
    assert added["body", "myocardi"] < added["body", "heart"] == added["body", "mi"]


def test_codes_are_what_must_match_exactly() -> None:
    def codes(query: str) -> list[str]:
        return [clause.text for clause in read(query).codes]

    assert codes("RR 0.82 (0.72-0.94)") == ["0.82", "0.72", "0.94"]
    assert codes("cholecalciferol 50000 IU weekly") == ["50000 IU"]
    assert codes("how should NSTEMI be coded for billing, is it I21.4?") == ["I21.4"]
    assert codes("EGFR L858R in adults treated with osimertinib") == ["L858R"]
    assert codes("repressing IL-18 had negative effects in 400 of 1200 patients since 2009") == []
    assert codes("I21.4") == ["I21.4"]
    assert codes("type 2 diabetes in 30 adults") == []
    assert codes("0093-1893-05") == codes("NDC 0093-1893-05")[-1:] == ["0093-1893-05"]
    (whole,) = read("C3421-019").codes
    assert (whole.terms, whole.forms) == (("c3421", "019"), ())


@pytest.mark.parametrize(
    "when",
    ["q8h", "Q2W", "q4-6h", "3x", "x2", "2x/day", "12-week", "10-year-old", "48h", "1st", "2-fold",
     "2017", "2017-11", "2017-11-05", "05.11.2017", "5-Nov-2017", "2015-2017"],
)  # fmt: skip
def test_how_often_and_when_is_no_code(when: str) -> None:
    assert read(when).codes == read(f"enoxaparin {when}").codes == ()


@pytest.mark.parametrize(
    ("query", "code", "kind"),
    [
        ("NCT04381936", "nct04381936", "trial"),
        ("adverse events in nct04381936?", "nct04381936", "trial"),
        ("ISRCTN 30952488", "isrctn30952488", "trial"),
        ("ACTRN: 12607000123459 results", "actrn12607000123459", "trial"),
        ("ACTRN12607000123459", "actrn12607000123459", "trial"),
        ("EudraCT number: 2009-012345-41", "200901234541", "trial"),
        ("DRKS00004567", "drks00004567", "trial"),
        ("JPRN-UMIN000007654", "umin000007654", "trial"),
        ("UMIN-CTR: 000007654", "umin000007654", "trial"),
        ("ChiCTR-TRC-10001234", "chictrtrc10001234", "trial"),
        ("CTRI/2011/07/001890 dose", "ctri201107001890", "trial"),
        ("NTR 2345", "ntr2345", "trial"),
        ("PMID: 32678530", "32678530", "PubMed article"),
        ("pmid32678530", "32678530", "PubMed article"),
        ("PMC7383595 results", "pmc7383595", "PMC article"),
        ("doi:10.1056/NEJMoa2021436.", "101056nejmoa2021436", "DOI"),
        ("see https://doi.org/10.1056/NEJMoa2021436", "101056nejmoa2021436", "DOI"),
        ("C3F1A2B4-0000-4D0A-9B1C-0123456789AB dose", "c3f1a2b400004d0a9b1c0123456789ab", "label"),
        ("trial-7:chunk_3", "trial7chunk3", ""),
        ("KEYNOTE-189 survival", "keynote189", ""),
    ],
)
def test_identifiers_are_recognised(query: str, code: str, kind: str) -> None:
    assert (code, kind) in [(one.code, one.kind) for one in mentions(query)]


def test_numbers_and_words_are_no_identifiers() -> None:
    assert not mentions("500 mg twice daily for 14 days")
    assert not mentions("heart failure with reduced ejection fraction")
    assert code_of("PMID 123") == code_of("pmid:123") == "123"


def test_the_nearest_word_needs_one_mistake_or_two() -> None:
    known = {"metformin": 9, "warfarin": 4, "hypertens": 7, "heparin": 2}

    def meant(word: str) -> str | None:
        def starting(start: str) -> list[tuple[str, int]]:
            return [(term, count) for term, count in known.items() if term.startswith(start)]

        return nearest(word, lambda terms: {one: known.get(one, 0) for one in terms}, starting)

    assert meant("metfromin") == "metformin"
    assert meant("warfrin") == "warfarin"
    assert meant("metphormin") == "metformin"
    assert meant("hypertnes") == "hypertens"
    assert meant("zebra") is None
    assert meant("abc") is None
    assert [distance(*pair) for pair in [("ab", "ba"), ("kitten", "sitting"), ("", "a")]] == [
        1,
        3,
        1,
    ]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Nebenwirkungen der Behandlung mit Metoprolol", "German"),
        ("quels sont les effets secondaires", "French"),
        ("efectos secundarios de la metformina", "Spanish"),
        ("сердечная недостаточность", "Cyrillic letters"),
        ("高血压", "Chinese characters"),
        ("side effects of metformin in the elderly", ""),
    ],
)
def test_another_language_is_recognised(text: str, language: str) -> None:
    assert language_of(text) == language


@given(st.text("abcde", min_size=5, max_size=9), st.sets(st.text("abcde", min_size=4, max_size=9)))
def test_the_nearest_word_is_the_most_frequent_of_those_one_mistake_away(
    term: str, others: set[str]
) -> None:
    mistaken = {term[:at] + term[at + 1 :] for at in range(1, len(term))}
    mistaken |= {f"{term[:at]}x{term[at:]}" for at in range(1, len(term) + 1)}
    known = {other: 1 + number for number, other in enumerate(sorted(mistaken | others - {term}))}
    asked: list[str] = []

    def counts(others: Sequence[str]) -> dict[str, int]:
        asked.extend(others)
        return {other: known.get(other, 0) for other in others}

    found = nearest(
        term, counts, lambda start: [one for one in known.items() if one[0].startswith(start)]
    )
    near = {other for other in known if other[0] == term[0] and distance(term, other) == 1}
    assert found == max(near, key=lambda other: known[other])
    half = term[: max(3, len(term) // 2)]
    assert not any(other.startswith(half) for other in asked), "those are listed at once"
