"""Does a query mean to this index what its writer meant?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.model.document import Chunk
from assay.search.response import SearchResponse
from tests.unit.search.corpus import filled

TEXTS = {
    "cytokine": ("Tocilizumab", "Tocilizumab blocks the IL-6 receptor and lowers CRP."),
    "checkpoint": ("Durvalumab", "Durvalumab binds PD-L1 on tumour cells."),
    "coding": ("Coding", "I21.4 stands for NSTEMI, E11.9 for type 2 diabetes."),
    "vitamin": ("Vitamin D", "Cholecalciferol 50,000 IU weekly for eight weeks."),
    "outcome": ("Outcome", "Mortality fell (RR 0.82; 95% CI 0.72 to 0.94) at day 28."),
    "metformin": ("Metformin", "Metformin may be given up to 2,550 mg a day in diabetes."),
    "bleeding": ("Bleeding", "Haemorrhage is the main risk of warfarin in heart failure."),
    "failure": ("Heart failure", "Carvedilol lowers mortality in heart failure."),
    "stroke": ("Stroke", "After a stroke the heart may fail; failure of the heart is rare."),
    "compound": ("Dose finding", "MLN8237 was given to 20 adults, AZD1775 to others."),
    "implant": ("Zoladex", "An implant every 12 weeks."),
    "VITAL-7": ("VITAL-7", "The study of fish oil and sunlight had 900 participants."),
}


def chunks() -> list[Chunk]:
    plain = [
        Chunk(f"{name}:chunk_0", name, text, title=title) for name, (title, text) in TEXTS.items()
    ]
    trial = [
        Chunk(
            f"NCT04000001:chunk_{at}", "NCT04000001", text, title="Apixaban in dialysis",
            metadata={"identifiers": ("NCT04000001", "31234567", "10.1000/apix.1"),
                      "names": ("apixaban", "kidney failure"), "acronym": "AXIOM"},
        )
        for at, text in enumerate(("Adults on dialysis.", "Bleeding in 10 of 90 adults."))
    ]  # fmt: skip
    filler = [
        Chunk(f"other-{at}:chunk_0", f"other-{at}", f"Notes on adults, mortality and risk {at}.")
        for at in range(30)
    ]
    return [*plain, *trial, *filler]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("reading") / "home", chunks()) as opened:
        yield opened


def documents(response: SearchResponse) -> list[str]:
    return [hit.chunk.doc_id for hit in response.results]


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("interleukin-6", "cytokine"),
        ("IL6", "cytokine"), ("il 6", "cytokine"), ("PDL1", "checkpoint"), ("pd l1", "checkpoint"),
        ("E119", "coding"), ("I21.4", "coding"), ("i214", "coding"), ("50000 IU", "vitamin"),
        ("RR 0.82 (0.72-0.94)", "outcome"), ("2550 mg", "metformin"), ("2550mg", "metformin"),
        ("hemorrhage", "bleeding"), ("tumor", "checkpoint"), ("VITAL 7", "VITAL-7"),
    ],
)  # fmt: skip
def test_another_spelling_finds_it_first(here: Workspace, query: str, document: str) -> None:
    assert documents(here.search(query))[0] == document
    assert documents(here.search(query, components=("bm25",)))[0] == document


def test_the_exact_spelling_comes_before_the_loose_one(tmp_path: Path) -> None:
    both = [
        Chunk(f"{name}:chunk_0", name, f"Levels of {text} were raised.")
        for name, text in (("joined", "IL8"), ("hyphened", "IL-8"))
    ]
    with filled(tmp_path / "home", both) as opened:
        for query, first in (("IL8", "joined"), ("IL-8", "hyphened")):
            found = documents(opened.search(query, components=("bm25",)))
            assert found == [first, *({"joined", "hyphened"} - {first})]


@pytest.mark.parametrize(
    "query",
    ["NCT04000001", "nct04000001", "PMID: 31234567", "31234567", "doi:10.1000/apix.1",
     "https://doi.org/10.1000/apix.1"],
)  # fmt: skip
def test_an_identifier_goes_straight_to_its_document(here: Workspace, query: str) -> None:
    response = here.search(query)
    assert documents(response) == ["NCT04000001", "NCT04000001"]
    assert any("is document NCT04000001: only this was searched" in one for one in response.notes)
    assert documents(here.search(query, components=("bm25",))) == ["NCT04000001", "NCT04000001"]


def test_a_query_that_contains_one_is_about_that_document(here: Workspace) -> None:
    response = here.search("mortality and bleeding in NCT04000001")
    assert {*documents(response)} == {"NCT04000001"}
    assert response.results[0].chunk.chunk_id == "NCT04000001:chunk_1"


def test_the_id_of_a_passage_and_an_acronym_bring_theirs_first(here: Workspace) -> None:
    passage = here.search("NCT04000001:chunk_1")
    assert passage.results[0].chunk.chunk_id == "NCT04000001:chunk_1"
    study = here.search("AXIOM")
    assert documents(study)[:2] == ["NCT04000001", "NCT04000001"]
    assert any("it comes first" in one for one in study.notes)


def test_a_study_that_is_named_in_passing_is_the_subject_and_pins_nothing(here: Workspace) -> None:
    study = here.search("AXIOM mortality of adults")
    assert "NCT04000001" in documents(study)
    assert not any(boost.rule == "exact" for hit in study.results for boost in hit.boosts)
    assert "AXIOM is document NCT04000001: the query is about it" in study.notes


def test_an_unknown_identifier_finds_nothing_and_says_so(here: Workspace) -> None:
    response = here.search("NCT99999999")
    assert not response.results
    assert "no document here is NCT99999999 (trial)" in response.notes


def test_documents_that_the_caller_names_count_more(here: Workspace) -> None:
    assert {*documents(here.search("NCT04000001 mortality", doc_id=["failure"]))} == {"failure"}


def test_an_exact_code_is_not_lost_in_fusion_and_the_account_says_why(here: Workspace) -> None:
    query = "adults mortality 50000 IU"
    response = here.search(query)
    first = response.results[0]
    assert first.chunk.doc_id == "vitamin"
    boost = next(one for one in first.boosts if one.applied)
    assert (boost.rule, boost.matched) == ("exact", "50000 IU")
    assert first.score == pytest.approx(first.fused * boost.factor)
    assert first.score > response.results[1].score
    assert documents(here.search(query, boosts=False))[0] != "vitamin"


def test_phrases_and_exclusions_hold_for_every_component(here: Workspace) -> None:
    found = here.search('"heart failure" -carvedilol', k=50)
    assert {*documents(found)} == {"bleeding"}
    assert found.components_used == ("bm25", "splade", "dense")
    assert "only passages with “heart failure”" in found.notes
    assert "carvedilol" not in found.subject
    either = {*documents(here.search("carvedilol OR warfarin", k=50))}
    assert either == {"failure", "bleeding"}
    assert {*documents(here.search("title:stroke", k=50))} == {"stroke"}
    assert {*documents(here.search("drug:apixaban", k=50))} == {"NCT04000001"}
    assert {*documents(here.search('"heart failure"', k=50, components=("dense",)))} == {
        "bleeding", "failure",
    }  # fmt: skip


def test_a_phrase_that_nobody_wrote_is_said_and_not_insisted_on(here: Workspace) -> None:
    response = here.search('"lowers carvedilol" mortality')
    assert documents(response)[0] == "failure"
    assert any("no passage has “lowers carvedilol”" in one for one in response.notes)


def test_did_you_mean(here: Workspace) -> None:
    response = here.search("metfromin in diabtes of adults")
    meant = "metformin in diabetes of adults"
    assert (response.did_you_mean, response.searched_for) == (meant, meant)
    assert any(one.startswith("no document has metfromin, diabtes:") for one in response.notes)
    assert here.search("metformin in diabetes").did_you_mean == ""
    assert here.search("HFrEF").did_you_mean == ""
    assert here.search("PD-L3 or NSTEMO").did_you_mean == ""


def test_words_that_no_document_has_are_said(here: Workspace) -> None:
    assert "no document has any of these words" in here.search("qwxyz plugh").notes
    german = here.search("Nebenwirkungen der Behandlung mit Metoprolol")
    assert any("looks like German" in one for one in german.notes)
    brief = here.search("Nebenwirkungen von Metformin")
    assert any("looks like German" in one for one in brief.notes)


@pytest.mark.parametrize(
    "query",
    ['"', '""', "-", "--", "OR", "OR OR", 'title:""', "-title:x", "(((", '"a" OR', "*", "\u200b a",
     "title:title:title", '-"', "x" * 900,
     "- - -", 'a"b"c', "NCT", "doi:", "10.1/", "²³", "μ", "''"],
)  # fmt: skip
def test_no_query_is_too_strange(here: Workspace, query: str) -> None:
    answer = here.search(query)
    assert len(answer.results) <= 10
    assert answer.query == " ".join(answer.query.split())


@pytest.mark.parametrize("query", ["Z99.9", "ABCD12345", "Z99.9 Q88.1"])
def test_codes_that_no_document_has_find_nothing(here: Workspace, query: str) -> None:
    response = here.search(query)
    assert response.results == ()
    assert "no document has any of these words" in response.notes
    with_words = here.search(f"{query} dose")
    assert with_words.total_candidates


def test_a_synonym_may_stand_for_each_of_two_brands(tmp_path: Path) -> None:
    texts = {"first": "Sertraline was given.", "second": "Paroxetine was given.", "no": "Rest."}
    rows = [Chunk(f"{name}:chunk_0", name, text) for name, text in texts.items()]
    with filled(tmp_path / "home", rows) as opened:
        found = opened.search("Zoloft OR Paxil", floor=False)
        assert {*documents(found)} == {"first", "second"}
        assert any("sertraline" in note and "Paxil" in note for note in found.notes)
        words = opened.search("Zoloft OR Paxil", floor=False, components=("bm25",))
        assert {*documents(words)} == {"first", "second"}
        quoted = opened.search('"Zoloft" OR sertraline', floor=False)
        assert {*documents(quoted)} == {"first"}
        assert not any("only passages" in one for one in opened.search("Zoloft or Paxil").notes)


@pytest.mark.parametrize(
    ("query", "document", "searched"),
    [
        ("tooth paste for children", "joined", "toothpaste for children"),
        ("toothpaste", "joined", ""),
        ("earwax removal", "parted", "ear wax removal"),
        ("ear wax", "parted", ""),
    ],
)
def test_a_word_is_found_as_the_documents_write_it_as_one_or_as_two(
    tmp_path: Path, query: str, document: str, searched: str
) -> None:
    texts = {
        "joined": "Fluoride toothpaste was given to children.",
        "parted": "Removal of ear wax with drops.",
        "teeth": "One tooth was lost.",
        "zinc": "Zinc paste on the ear, or candle wax.",
    }
    rows = [Chunk(f"{name}:chunk_0", name, text) for name, text in texts.items()]
    with filled(tmp_path / "home", rows) as opened:
        found = opened.search(query)
        assert (documents(found)[0], found.searched_for) == (document, searched)


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("ISRCTN30952488", "british"), ("isrctn 30952488", "british"),
        ("ACTRN12607000123459", "australian"), ("ACTRN 12607000123459", "australian"),
        ("EudraCT 2009-012345-41", "european"), ("2009-012345-41", "european"),
        ("UMIN000007654", "japanese"), ("JPRN-UMIN000007654", "japanese"),
        ("CTRI/2011/07/001890", "indian"), ("NTR2345", "dutch"), ("NCT09876543", "american"),
    ],
)  # fmt: skip
def test_a_registration_is_found_where_an_article_prints_it(
    tmp_path: Path, query: str, document: str
) -> None:
    texts = {
        "british": "Trial registration: Current Controlled Trials ISRCTN30952488.",
        "australian": "The trial was registered (ACTRN: 12607000123459).",
        "european": "Registered as EudraCT 2009-012345-41 before enrolment.",
        "japanese": "Registered with JPRN-UMIN000007654.",
        "indian": "Trial registry number CTRI/2011/07/001890.",
        "dutch": "Dutch trial register, registration NTR 2345.",
        "american": "ClinicalTrials.gov identifier: NCT09876543.",
        "citing": "As others did (ISRCTN11112222), adults were asked to rest.",
    }
    rows = [
        Chunk(f"{name}:chunk_{at}", name, text)
        for name, first in texts.items()
        for at, text in enumerate((first, "Adults walked for an hour."))
    ]
    with filled(tmp_path / "home", rows) as opened:
        whole = opened.search(query)
        assert documents(whole)[0] == document
        assert not any("no document here is" in note for note in whole.notes)
        longer = opened.search(f"{query} walking", floor=False)
        assert {*documents(longer)} == {document}
        cited = opened.search("ISRCTN11112222")
        assert documents(cited) == ["citing"]
        assert "stands in document citing" in cited.notes[0]
        absent = opened.search("ISRCTN99998888")
        assert "no document here is ISRCTN99998888 (trial)" in absent.notes


@pytest.mark.parametrize(
    ("query", "instead", "first"),
    [
        ("MLN 8237 in adults", "mln8237 in adults", "compound"),
        ("AZD 1775", "azd1775", "compound"),
        ("Glucophage 2,550 mg a day", "metformin 2,550 mg a day", "metformin"),
        ("goserelin every 12 weeks", "zoladex every 12 weeks", "implant"),
    ],
)
def test_other_spellings_and_names_are_searched_instead(
    here: Workspace, query: str, instead: str, first: str
) -> None:
    found = here.search(query)
    assert (found.searched_for, found.results[0].chunk.doc_id) == (instead, first)


@pytest.mark.parametrize("query", ["VITAL 7", "vital seven", "heart failure", "IL 6"])
def test_what_is_there_as_it_was_typed_is_not_replaced(here: Workspace, query: str) -> None:
    assert not here.search(query).searched_for


def test_a_drug_is_not_replaced_by_a_trade_name_with_the_stem_of_another_word(
    tmp_path: Path,
) -> None:
    text = "The incidence of side effects was 4 in 90; the dose was the same."
    rows = [Chunk("a:chunk_0", "a", text, "Side effects and their incidence")]
    with filled(tmp_path / "home", rows) as opened:
        for query in ("Zyrtec dose", "Reactine side effects"):  # another name is Incidal
            found = opened.search(query)
            assert (found.searched_for, found.results) == ("", ())
            assert found.nothing_about == f"nothing here is about {query.split()[0]}"


def test_the_number_of_a_trial_that_lacks_a_zero_is_suggested_whole(here: Workspace) -> None:
    assert here.search("NCT4000001").did_you_mean == "NCT04000001"
    assert here.search("NCT4000002").did_you_mean == ""


def test_an_abbreviation_is_not_joined_to_the_name_before_it(here: Workspace) -> None:
    response = here.search("durvalumab AEs")  # which has the stem of durvalumab
    assert (response.did_you_mean, response.searched_for) == ("", "")
    assert "adverse_events" in {one["intent"] for one in response.intents}


def test_words_are_not_joined_to_the_id_of_a_document(tmp_path: Path) -> None:
    rows = [
        Chunk("warfarin-inr:chunk_0", "warfarin-inr", "The INR target on warfarin is 2.5.", "INR"),
        Chunk("other:chunk_0", "other", "Nothing of the kind.", "Other"),
    ]
    with filled(tmp_path / "home", rows) as opened:
        found = opened.search("warfarin INR target")
        assert (found.searched_for, found.nothing_about) == ("", "")
        assert found.results[0].chunk.doc_id == "warfarin-inr"


def test_the_study_that_is_named_comes_first(here: Workspace) -> None:
    found = here.search("the AXIOM trial")
    assert found.results[0].chunk.doc_id == "NCT04000001"
    assert any("it comes first" in note for note in found.notes)


def test_nothing_of_another_drug_is_lifted_beside_words_of_another_language(tmp_path: Path) -> None:
    rows = [
        Chunk("h:chunk_0", "h", "Children: 0.5 mg twice a day.", "Haloperidol", "dosage"),
        Chunk("p:chunk_0", "p", "Paracetamol was allowed for pain.", "Valerian", "methods"),
        Chunk("v:chunk_0", "v", "The dose was two tablets a day.", "Valerian", "dosage"),
    ]
    with filled(tmp_path / "home", rows) as opened:
        found = opened.search("dosis máxima de paracetamol en niños", floor=False)
    assert found.results[0].chunk.doc_id == "p"
    assert not any(
        boost.applied for hit in found.results[1:] for boost in hit.boosts if boost.rule == "intent"
    )
