"""Do synonyms find what other words say, and are bad files refused by line?"""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.analysis.drugs import other_names
from assay.errors import FormatError, LimitError, MissingFileError, UsageError
from assay.model.document import Chunk
from assay.search.question import ask
from assay.search.synonyms import Synonyms, built_in, read_synonyms, rules_of
from tests.unit.search.corpus import filled

FILE = """\
# heart
Heart Attack, myocardial infarction, MI   # both ways
tumour => tumor, neoplasm

coeliac, celiac
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "synonyms.txt"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("query", "added"),
    [
        ("treatment after heart attack", ("myocardial infarction", "mi")),
        ("mi in women", ("heart attack", "myocardial infarction")),
        ("tumour growth", ("tumor", "neoplasm")),
        ("neoplasm growth", ()),
        ("heart attacked", ()),
        ("mitral valve", ()),
        ("", ()),
    ],
)
def test_what_is_added(path: Path, query: str, added: tuple[str, ...]) -> None:
    assert read_synonyms(path).expansions(query) == added


@pytest.mark.parametrize("line", ["alone", "a =>", "=> b", ", ,", "a, , "])
def test_a_line_that_is_no_rule_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(f"a, b\n{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"bad\.txt:2: "):
        read_synonyms(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        read_synonyms(tmp_path / "none.txt")
    with pytest.raises(MissingFileError):
        read_synonyms(tmp_path)
    latin = tmp_path / "latin.txt"
    latin.write_bytes("ménière, x".encode("latin-1"))
    with pytest.raises(FormatError, match="UTF-8"):
        read_synonyms(latin)
    large = tmp_path / "large.txt"
    large.write_bytes(b"#" * ((16 << 20) + 1))
    with pytest.raises(LimitError):
        read_synonyms(large)


@pytest.mark.slow
def test_a_search_finds_what_other_words_say(tmp_path: Path, path: Path) -> None:
    rows = [
        Chunk("a:chunk_0", "a", "Myocardial infarction was confirmed by troponin.", "One"),
        Chunk("b:chunk_0", "b", "The attack of asthma began at night.", "Two"),
    ]
    with filled(tmp_path / "home", rows, synonyms=path) as opened:
        answer = opened.search("heart attack", components="bm25")
        plain = opened.search("heart attack", components="bm25", synonyms=False, floor=False)
    assert answer.results[0].chunk.doc_id == "a"
    assert answer.synonyms == ("myocardial infarction", "mi")
    assert [hit.chunk.doc_id for hit in plain.results] == ["b"]


def test_a_word_inside_another_does_not_count_as_said() -> None:
    rules = Synonyms({("heart", "attack"): ("myocardial infarction", "mi")})
    assert rules.expansions("heart attack in the family") == ("myocardial infarction", "mi")
    assert rules.expansions("heart attack or mi") == ("myocardial infarction",)


@pytest.mark.parametrize(
    ("query", "added"),
    [
        ("Coumadin dose", "warfarin"),
        ("IL6 blockade", "interleukin-6"),
        ("interleukin-6", "il-6"),
        ("A1C target", "hba1c"),
        ("MI in women", "myocardial infarction"),
        ("heart attack in women", "myocardial infarction"),
        ("shingles vaccine", "herpes zoster"),
        ("HFrEF", "heart failure with reduced ejection fraction"),
    ],
)
def test_the_rules_that_come_with_assay(query: str, added: str) -> None:
    assert added in built_in().expansions(query)


@pytest.mark.parametrize("query", ["as needed", "all patients", "mi", "luminal cells", "warfarin"])
def test_words_are_no_abbreviations(query: str) -> None:
    assert built_in().expansions(query) == ()


def test_the_built_in_rules_are_small_and_say_where_they_are_from() -> None:
    folder = Path(assay.__file__).parent / "data" / "synonyms"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
    sources = (folder / "SOURCES.md").read_text(encoding="utf-8")
    assert all(path.name in sources for path in folder.glob("*.txt"))


def test_a_request_may_bring_its_own(tmp_path: Path) -> None:
    rows = [
        Chunk("a:chunk_0", "a", "Gelbsucht is what some call it.", "One"),
        Chunk("b:chunk_0", "b", "Warfarin thins the blood.", "Two"),
    ]
    with filled(tmp_path / "home", rows) as opened:
        assert opened.search("coumadin bleeding", components="bm25").searched_for == (
            "warfarin bleeding"  # no document has the trade name
        )
        own = opened.search("jaundice", components="bm25", synonym_rules="jaundice => gelbsucht")
        assert own.synonyms == ("gelbsucht",)
        assert [hit.chunk.doc_id for hit in own.results] == ["a"]
        assert not opened.search("coumadin", synonym_rules="none").searched_for
        assert opened.search("coumadin", synonym_rules="built-in").searched_for == "warfarin"
        with pytest.raises(UsageError, match="a rule is"):
            opened.search("coumadin", synonym_rules="alone")


def test_models_are_told_what_an_abbreviation_alone_means() -> None:
    brief = ask("HFrEF", built_in())
    assert brief.for_component("dense") == "hfref heart failure with reduced ejection fraction"
    long = ask("does HFrEF get worse in cold weather", built_in())
    assert long.for_component("dense") == long.text
    assert "reduced ejection" in long.for_component("bm25")


def test_codes_of_compounds_are_looked_for_and_models_are_not_told_them() -> None:
    asked = ask("pembrolizumab dose", built_in())
    assert asked.for_component("dense") == "pembrolizumab dose"
    assert "mk-3475" in asked.for_component("bm25")
    by_code = ask("MK-3475 dose", built_in())
    assert by_code.for_component("dense") == "mk-3475 dose pembrolizumab"


def test_a_synonym_counts_less_than_the_word_itself(tmp_path: Path) -> None:
    rows = [
        Chunk("a:chunk_0", "a", "A heart attack is treated at once.", "One"),
        Chunk("b:chunk_0", "b", "A myocardial infarction is treated at once.", "Two"),
    ]
    with filled(tmp_path / "home", rows) as opened:
        for query, first in (("heart attack", "a"), ("myocardial infarction", "b")):
            found = opened.search(query, components="bm25").results
            assert found[0].chunk.doc_id == first
            assert len(found) == 2


@pytest.mark.parametrize(
    ("typed", "usual"),
    [
        ("suxamethonium", "succinylcholine"),
        ("aciclovir", "acyclovir"),
        ("isoprenaline", "isoproterenol"),
        ("linseed", "flaxseed"),
        ("Padcev", "enfortumab vedotin"),
        ("Leqembi", "lecanemab"),
        ("Marcaine", "bupivacaine"),
    ],
)
def test_names_of_other_countries_and_newer_brands_are_known(typed: str, usual: str) -> None:
    assert usual in built_in().expansions(f"{typed} dose")
    if typed.islower():
        assert typed in built_in().expansions(usual)
    assert usual == "flaxseed" or {typed.lower(), usual} <= {*other_names(typed)}


@pytest.mark.parametrize(
    ("query", "added"),
    [
        ("EGFR exon 21", ("epidermal growth factor receptor",)),
        ("eGFR below 30", ("gfr", "glomerular filtration rate")),
        ("PSA at 60", ("prostate-specific antigen",)),
        ("PsA of the hands", ("psoriatic arthritis",)),
    ],
)
def test_abbreviations_that_differ_in_capitals_mean_different_things(
    query: str, added: tuple[str, ...]
) -> None:
    assert built_in().expansions(query) == added


def test_a_drug_is_known_by_all_of_its_names() -> None:
    assert "zoladex" in built_in().others("goserelin")
    assert "goserelin" in built_in().others("zoladex")
    assert built_in().others("sunshine") == ()


def test_trade_names_members_and_classes_are_looked_for_and_hardly_count() -> None:
    asked = ask("filgrastim after chemotherapy", built_in())
    assert "neupogen" in asked.faint
    assert "neupogen" not in asked.for_component("dense")
    assert {"atorvastatin", "simvastatin"} <= ask("statins and sleep", built_in()).faint
    both = ask("Viagra with nitroglycerin", built_in())
    assert "nitrate" in both.synonyms
    assert "nitrate" not in both.faint  # labels speak of other drugs by their class
    assert "nitrate" not in ask("nitroglycerin dose", built_in()).synonyms
    assert ask("filgrastim", rules_of("jaundice => icterus")).synonyms == ()


def test_a_document_is_found_by_a_name_that_it_does_not_use(tmp_path: Path) -> None:
    rows = [
        Chunk("n:chunk_0", "n", "It was given for five days.", "Neupogen or placebo"),
        *(
            Chunk(
                f"m{at}:chunk_0",
                f"m{at}",
                f"No filgrastim or other support of the marrow within the last {at} days",
                "Imatinib",
                "eligibility",
            )
            for at in range(40)
        ),
    ]
    with filled(tmp_path / "home", rows) as opened:
        found = opened.search("filgrastim", k=50).results
        assert found[0].chunk.doc_id == "n"
        assert not opened.search("dose of pegfilgrastim", components="bm25").results


def test_a_class_beside_a_drug_is_not_the_subject(tmp_path: Path) -> None:
    rows = [
        Chunk("a:chunk_0", "a", "Rash after a TNF inhibitor failed.", "Abatacept",
              section_label="adverse_events"),
        Chunk("h:chunk_0", "h", "Rash in many.", "Humira (adalimumab)", metadata={
              "drugs": ("Humira", "adalimumab")}, section_label="adverse_events"),
    ]  # fmt: skip
    with filled(tmp_path / "home", rows) as opened:
        found = opened.search("adverse events of abatacept after a TNF inhibitor").results
        lifted = [hit.chunk.doc_id for hit in found for one in hit.boosts if one.applied]
        assert "a" in lifted
        assert "h" not in lifted
        alone = opened.search("adverse events of TNF inhibitors").results
        assert alone[0].chunk.doc_id == "h"


def test_a_disease_is_found_by_the_name_that_documents_use(tmp_path: Path) -> None:
    rows = [
        Chunk("a:chunk_0", "a", "Wilson disease is treated with penicillamine.", "Wilson Disease"),
        Chunk(
            "b:chunk_0", "b", "Herpes zoster oticus affects the facial nerve.", "Herpes of the ear"
        ),
        Chunk("c:chunk_0", "c", "Asthma is treated with inhalers for years.", "Asthma"),
    ]
    with filled(tmp_path / "home", rows) as opened:
        for query, meant, first in (
            ("hepatolenticular degeneration treatment", "wilson disease treatment", "a"),
            ("Ramsay Hunt syndrome", "herpes zoster oticus", "b"),
        ):
            found = opened.search(query, components="bm25")
            assert found.searched_for == meant
            assert found.results[0].chunk.doc_id == first
            assert not opened.search(query, synonym_rules="none").searched_for
        assert not opened.search("asthma inhalers", components="bm25").searched_for
