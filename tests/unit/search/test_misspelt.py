"""A misspelt drug is searched under its right name, or nothing about another drug is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.model.document import Chunk
from assay.search.request import SearchOptions
from assay.search.why import Verdict
from tests.unit.search.corpus import filled

MAXIMUM = "The maximum dose of metformin is 2,550 mg."
ROWS = [
    Chunk("gliclazide:chunk_0", "gliclazide", "The maximum dose is 320 mg a day.", "Gliclazide"),
    Chunk("vildagliptin:chunk_0", "vildagliptin", "The maximum dose is 100 mg.", "Vildagliptin"),
    Chunk("metformin:chunk_0", "metformin", MAXIMUM, "Metformin"),
    Chunk("prednisolone:chunk_0", "prednisolone", "The dose is 5 mg to 60 mg.", "Prednisolone"),
    Chunk("high:chunk_0", "high", "Hyperkalaemia is treated with calcium.", "Hyperkalaemia"),
    Chunk("infarct:chunk_0", "infarct", "Myocardial infarction needs aspirin.", "Infarction"),
    Chunk("joint:chunk_0", "joint", "Dupuytren's disease bends a finger.", "Dupuytren's disease"),
    Chunk("gene:chunk_0", "gene", "Tumours with BRAF V600E or KRAS G12C respond.", "Targets"),
    Chunk("cytokine:chunk_0", "cytokine", "TNF-alpha was raised.", "Cytokines"),
    Chunk("vaccine:chunk_0", "vaccine", "The vaccine against influenza works.", "Vaccine"),
    *(
        Chunk(f"other-{at}:chunk_0", f"other-{at}", f"Notes on bread, diet and care {at}.", "Notes")
        for at in range(12)
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("misspelt") / "home", ROWS) as opened:
        yield opened


@pytest.mark.parametrize("query", ["maximum dose of metfromin", "metformn maximum dose"])
def test_the_only_drug_that_can_be_meant_is_searched_and_that_is_said(
    here: Workspace, query: str
) -> None:
    response = here.search(query)
    meant = query.replace("metfromin", "metformin").replace("metformn", "metformin")
    assert (response.query, response.searched_for, response.did_you_mean) == (query, meant, meant)
    assert response.results[0].chunk.doc_id == "metformin"
    assert any(f"searched for “{meant}” instead" in note for note in response.notes)
    answered = here.answer(query, components="bm25")
    assert "2,550" in answered.answer.text
    assert "320" not in answered.answer.text
    assert (answered.did_you_mean, answered.searched_for) == (meant, meant)
    assert answered.to_dict()["searched_for"] == meant


def test_where_it_is_not_certain_nothing_is_shown_but_the_suggestion(here: Workspace) -> None:
    query = "maximum dose of vildaglyptn"
    response = here.search(query)
    assert (response.results, response.searched_for) == ((), "")
    assert response.did_you_mean == "maximum dose of vildagliptin"
    for floor in (True, False):
        answered = here.answer(query, floor=floor)
        assert not answered.answer.grounded
        assert "did you mean" in str(answered.answer.refusal_reason)
        assert answered.did_you_mean == "maximum dose of vildagliptin"


def _command(here: Workspace, verb: str) -> list[str]:
    return ["--home", str(here.home), verb, "--components", "bm25"]


def test_the_command_says_what_it_answers(
    here: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*_command(here, "answer"), "maximum dose of metfromin"]) == 0
    assert "answering “maximum dose of metformin”" in capsys.readouterr().out
    assert run([*_command(here, "search"), "metfromin dose"]) == 0
    out = capsys.readouterr().out
    assert "searched for “metformin dose” instead" in out
    assert "did you mean" not in out


@pytest.mark.parametrize("query", ["prednisone dose", "hypokalaemia treatment", "hypokalemia"])
def test_a_known_name_is_never_taken_for_its_neighbour(here: Workspace, query: str) -> None:
    response = here.search(query)
    assert (response.did_you_mean, response.searched_for, response.results) == ("", "", ())
    assert response.nothing_about == f"nothing here is about {query.split(maxsplit=1)[0]}"


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("treatment of ebola", "ebola"),
        ("dengue vaccine", "dengue"),
        ("side effects in leprosy", "leprosy"),
        ("how to bake bread", "bake"),
        ("ADHD in adults", "ADHD"),
    ],
)
def test_a_subject_that_no_document_has_is_named(here: Workspace, query: str, missing: str) -> None:
    response = here.search(query)
    assert response.nothing_about == f"nothing here is about {missing}"
    assert response.results == ()
    assert (response.confidence or 0) <= 0.05


@pytest.mark.parametrize("query", ["vaccine against influenza", "bread", "infarction aspirin"])
def test_what_is_there_is_above_the_floor(here: Workspace, query: str) -> None:
    response = here.search(query)
    assert response.results
    assert (response.confidence or 1) >= 0.05


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("BRAFV600E", "gene"), ("BRAF-V600E", "gene"), ("KRASG12C", "gene"), ("kras g12c", "gene"),
        ("TNFa", "cytokine"), ("TNFalpha", "cytokine"), ("TNFα", "cytokine"),
    ],
)  # fmt: skip
def test_joined_names_are_found(here: Workspace, query: str, document: str) -> None:
    response = here.search(query)
    assert response.nothing_about == ""
    assert response.results[0].chunk.doc_id == document


def test_options_of_a_program_have_the_synonyms_of_the_settings(here: Workspace) -> None:
    plain, own = here.search("MI"), here.search("MI", SearchOptions(k=3))
    assert plain.synonyms == own.synonyms != ()
    assert own.results[0].chunk.doc_id == "infarct"


def test_why_knows_that_nothing_is_shown_whatever_the_rank(here: Workspace) -> None:
    query = "apixaban dose"
    assert here.search(query, k=2).withheld
    for name in ("prednisolone", "high"):
        why = here.why(query, name, k=1)
        assert why.verdict is Verdict.WITHHELD
        assert "nothing here is about apixaban" in why.sentence


def test_terms_are_printed_when_they_are_asked_for(
    here: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*_command(here, "search"), "metformin"]
    assert run(command) == 0
    assert " = metformin " not in capsys.readouterr().out
    assert run([*command, "--terms"]) == 0
    assert " = metformin " in capsys.readouterr().out


def test_the_help_of_weights_by_type_gives_an_example_that_works(here: Workspace) -> None:
    from assay.search.request import SEARCH_OPTIONS, read_changes

    example = SEARCH_OPTIONS["type_weights"].help.partition("such as ")[2].removesuffix(".")
    assert here.search("metformin", **read_changes({"type_weights": example})).results


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("title:metformin", "only passages with “metformin” in the title"),
        ("drug:metformin", "only passages with “metformin” in the names of the document"),
        ("(bread OR vaccine)", "only passages with “bread” or “vaccine”"),
        ("bread NOT diet", "only passages without diet"),
    ],
)
def test_conditions_are_said_as_they_were_meant(here: Workspace, query: str, note: str) -> None:
    assert note in here.search(query).notes


@pytest.mark.parametrize("query", ["-metformin", "NOT metformin"])
def test_a_query_that_only_leaves_out_says_so(here: Workspace, query: str) -> None:
    response = here.search(query)
    assert (response.results, response.nothing_about) == ((), "")
    assert any("only says what must not be there" in note for note in response.notes)


def test_two_identifiers_are_said_to_be_searched_together(tmp_path: Path) -> None:
    rows = [Chunk(f"{name}:chunk_0", name, "A trial.") for name in ("NCT00000021", "NCT00000022")]
    with filled(tmp_path / "home", rows) as opened:
        response = opened.search("NCT00000021 OR NCT00000022")
    assert len(response.results) == 2
    assert sum(note.endswith("only these were searched") for note in response.notes) == 2
    assert not any("no passage has" in note for note in response.notes)


@pytest.mark.parametrize("word", ["contraindicatons", "contraindcation"])
def test_a_misspelt_word_that_asks_for_a_section_asks_for_it(here: Workspace, word: str) -> None:
    response = here.search(f"metformin {word}")
    assert response.searched_for.startswith("metformin contraindication")
    assert "contraindications" in {one["intent"] for one in response.intents}


@pytest.mark.parametrize("name", ["Dupuytrenn's", "Dupuytrem's"])
def test_the_only_name_of_a_disease_that_can_be_meant_is_searched(
    here: Workspace, name: str
) -> None:
    response = here.search(f"How is {name} disease treated?")
    assert response.searched_for == "How is dupuytren's disease treated?"
    assert response.results[0].chunk.doc_id == "joint"


def test_where_it_is_not_certain_nobody_answers_for_another_disease(here: Workspace) -> None:
    answered = here.answer("How is Dupuytremm's disease treated?", components="bm25")
    assert not answered.answer.grounded
    assert answered.did_you_mean == "How is dupuytren's disease treated?"
