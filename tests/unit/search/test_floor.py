"""A search says that nothing is about a query, and shows the nearest results on request."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assay.app.evaluation_request import EvaluationRequest
from assay.app.workflow import BatchConfig, BatchQuery, BatchRequest, retrieve
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.model.document import Chunk
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.search import pipeline
from tests.unit.search.corpus import filled

ROWS = [
    Chunk("lipitor:chunk_0", "lipitor", "The starting dose is 10 mg once daily.", "Lipitor"),
    Chunk("humira:chunk_0", "humira", "The starting dose is 40 mg every other week.", "Humira"),
]
ABSENT = "starting dose of apixaban"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return filled(tmp_path / "home", ROWS)


def test_results_about_something_else_are_withheld_and_counted(workspace: Workspace) -> None:
    with workspace:
        response = workspace.search(ABSENT, components="bm25")
        assert response.results == ()
        assert response.nothing_about == "nothing here is about apixaban"
        assert response.withheld == 2
        assert any("2 results withheld" in line for line in response.warnings)
        assert workspace.answer(ABSENT, components="bm25").answer.refusal_reason == (
            "nothing here is about apixaban"
        )


def test_they_are_shown_on_request_and_the_response_still_says_so(workspace: Workspace) -> None:
    with workspace:
        response = workspace.search(ABSENT, components="bm25", floor=False)
        assert {hit.chunk.doc_id for hit in response.results} == {"lipitor", "humira"}
        assert response.nothing_about == "nothing here is about apixaban"
        assert response.withheld == 0


def test_what_is_there_is_shown(workspace: Workspace) -> None:
    with workspace:
        response = workspace.search("Humira starting dose", components="bm25")
        assert response.results[0].chunk.doc_id == "humira"
        assert (response.nothing_about, response.withheld) == ("", 0)


@pytest.mark.parametrize("sign", ["™", "®", "℠", "©", " ™", "™ ®"])
def test_the_sign_of_a_trade_mark_is_no_part_of_a_name(tmp_path: Path, sign: str) -> None:
    rows = [
        *ROWS,
        Chunk("tivara:chunk_0", "tivara", f"Tivara{sign} is taken with food.", f"Tivara{sign}"),
    ]
    with filled(tmp_path / "home", rows) as workspace:
        for query in (f"Humira{sign} starting dose", f"starting dose of Humira{sign}"):
            response = workspace.search(query, components="bm25")
            assert (response.nothing_about, response.notes) == ("", ())
            assert response.results[0].chunk.doc_id == "humira"
        for query in ("Tivara dose", f"Tivara{sign} dose", f"food with Tivara{sign}"):
            response = workspace.search(query, components="bm25")
            assert (response.nothing_about, response.notes) == ("", ())
            assert response.results[0].chunk.doc_id == "tivara"


MENTIONED = [
    *ROWS,
    Chunk(
        "NCT01234567:chunk_0",
        "NCT01234567",
        "Who takes warfarin is excluded. Adverse events were mild.",
        "NCT01234567: Nivolumab",
        section_label="eligibility",
    ),
    Chunk(
        "viagra:chunk_0",
        "viagra",
        "Viagra is contraindicated with riociguat. Warfarin was not changed by it.",
        "Viagra",
        section_label="contraindications",
    ),
    Chunk("notes:chunk_0", "notes", "Heparin: common adverse events are bleeds.", "Ward round"),
]


@pytest.mark.parametrize(
    "query", ["adverse events of warfarin", "warfarin dose", "warfarin overdose"]
)
def test_a_drug_that_is_only_mentioned_is_shown_with_a_note_and_nobody_answers(
    tmp_path: Path, query: str
) -> None:
    said = "nothing here is about warfarin, which is only mentioned"
    with filled(tmp_path / "home", MENTIONED) as workspace:
        for boosts in (True, False):
            response = workspace.search(query, components="bm25", boosts=boosts)
            assert (response.nothing_about, response.withheld) == ("", 0)
            assert "NCT01234567" in {hit.chunk.doc_id for hit in response.results}
            assert said in response.notes
            assert response.only_mentioned == said
            assert (response.confidence or 0.0) <= 0.05
        answered = workspace.answer(query, components="bm25").answer
        assert (answered.grounded, answered.refusal_reason) == (False, said)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("title:viagra riociguat", "contraindicated with riociguat"),
        ("Viagra contraindications -heparin", "contraindicated with riociguat"),
        ('"common adverse events" heparin', "bleeds"),
    ],
)
def test_operators_are_no_words_of_a_question(tmp_path: Path, query: str, says: str) -> None:
    with filled(tmp_path / "home", MENTIONED) as workspace:
        answered = workspace.answer(query, components="bm25").answer
        assert says in answered.text, answered.refusal_reason


def test_a_phrase_beside_other_words_is_judged_like_words(tmp_path: Path) -> None:
    rows = [
        Chunk(f"h:chunk_{at}", "h", text, "Humira", section_label="adverse_events")
        for at, text in enumerate(["Granuloma annulare was seen.", "Headache.", "Rash."])
    ]
    with filled(tmp_path / "home", rows) as workspace:
        response = workspace.search('"granuloma annulare" treatment', components="bm25")
        assert "only mentioned" in response.only_mentioned
        assert not workspace.answer('"granuloma annulare" cure', components="bm25").answer.grounded


def test_a_run_refuses_what_an_answer_refuses(tmp_path: Path) -> None:
    asked = "adverse events of warfarin"
    query = GoldenQuery("q1", asked, relevant_docs=(Judgment("notes:chunk_0", 1),))
    with filled(tmp_path / "home", MENTIONED) as workspace:
        options = {"components": ("bm25",)}
        request = EvaluationRequest(
            test_set=TestSet("s", "v1", (query,)), options=options, answers=True
        )
        (made,) = workspace.carry_out(request).runs
        (outcome,) = made.result.outcomes
        assert outcome.answer is not None
        assert outcome.answer.refusal_reason == (
            "nothing here is about warfarin, which is only mentioned"
        )


def test_a_disease_that_is_only_mentioned_is_shown_with_a_note(tmp_path: Path) -> None:
    rows = [
        Chunk(
            f"NCT09:chunk_{at}",
            "NCT09",
            text,
            "NCT09: Nivolumab",
            section_label="eligibility",
        )
        for at, text in enumerate(["Excluded: uveitis, gout.", "Adults of any sex.", "No visits."])
    ]
    said = "nothing here is about uveitis, which is only mentioned"
    with filled(tmp_path / "home", rows) as workspace:
        response = workspace.search("treatment of uveitis", components="bm25")
        assert [hit.chunk.chunk_id for hit in response.results][:1] == ["NCT09:chunk_0"]
        assert (response.nothing_about, response.only_mentioned) == ("", said)
        assert said in response.notes
        off = workspace.search("treatment of uveitis", components="bm25", floor=False)
        assert said in off.notes


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("warfarin", "NCT01234567"),  # a word is looked up wherever it stands
        ("can patients on warfarin take part", "NCT01234567"),
        ("warfarin interactions", "viagra"),
        ("riociguat contraindications", "viagra"),
        ("adverse events of heparin", "notes"),  # a document about no drug at all
    ],
)
def test_a_mention_serves_where_it_is_what_was_asked_for(
    tmp_path: Path, query: str, found: str
) -> None:
    with filled(tmp_path / "home", MENTIONED) as workspace:
        response = workspace.search(query, components="bm25")
        assert response.nothing_about == ""
        assert found in {hit.chunk.doc_id for hit in response.results}


@pytest.mark.parametrize("name", ["Ipatasertib", "Keratitis"])
def test_a_name_that_other_documents_have_is_not_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Only the best passages are read; what stands in the next one is there all the same."""
    monkeypatch.setattr(pipeline, "LOOKED_AT", 1)
    rows = [
        Chunk("a:chunk_0", "a", "Higher doses were administered to the second cohort.", "Cohort"),
        Chunk("b:chunk_0", "b", "Nausea 3/20, Keratitis 1/20", "NCT01: Ipatasertib"),
    ]
    with filled(tmp_path / "home", rows) as workspace:
        query = "Higher doses of {} were administered to the second cohort"
        found = workspace.search(query.format(name), components="bm25", boosts=False)
        assert (found.results[0].chunk.doc_id, found.nothing_about) == ("a", "")
        missing = workspace.search(query.format("Zelotinib"), components="bm25")
        assert missing.nothing_about == "nothing here is about Zelotinib"


def test_one_result_is_judged_by_what_else_was_found(workspace: Workspace) -> None:
    with workspace:
        one = workspace.search("lipitor starting dose", components="bm25", k=1)
        assert [hit.chunk.doc_id for hit in one.results] == ["lipitor"]


def test_who_names_documents_or_turns_the_page_is_not_asked(workspace: Workspace) -> None:
    with workspace:
        within = workspace.search(ABSENT, components="bm25", doc_id=["humira"])
        assert [hit.chunk.doc_id for hit in within.results] == ["humira"]
        assert workspace.search(ABSENT, components="bm25", k=1, offset=1).results


@pytest.mark.req("E5", "W2")
def test_a_run_and_a_batch_measure_the_ranking_and_the_run_says_that_nobody_sees_it(
    workspace: Workspace,
) -> None:
    asked = GoldenQuery("q", ABSENT, relevant_docs=(Judgment("humira:chunk_0", 1),))
    with workspace:
        options = {"components": ("bm25",)}
        request = EvaluationRequest(test_set=TestSet("s", "v1", (asked,)), options=options)
        (made,) = workspace.carry_out(request).runs
        assert made.result["Recall@5"] == 1.0
        (said,) = [line for line in made.result.warnings() if "would show nothing" in line]
        assert said.startswith("1 of 1 query scored by the ranking")
        (outcome,) = made.result.outcomes
        assert "nothing here is about apixaban" in outcome.warnings
        batch = BatchRequest((BatchQuery("q", ABSENT),), BatchConfig(search_mode="bm25"))
        (found,) = asyncio.run(retrieve(workspace, batch))
        ids = [result.chunk_id for result in outcome.results]
        assert list(found.retrieved_segment_ids) == ids
        assert "nothing here is about apixaban" in found.warnings


def test_the_command_says_it_and_how_to_see_more(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with workspace:
        home = str(workspace.home)
    search = ["--home", home, "search", ABSENT, "--components", "bm25"]
    assert run(search) == 0
    shown = capsys.readouterr().out
    assert "nothing here is about apixaban (--no-floor shows the nearest results)" in shown
    assert run([*search, "--no-floor"]) == 0
    assert "Lipitor" in capsys.readouterr().out


@pytest.mark.parametrize(
    "identifier",
    ["PMC7654321", "ISRCTN87654321", "NCT07654321", "pmid 7654321", "10.5555/abc.7"],
)
def test_an_identifier_that_is_not_here_is_said_to_be_missing(
    workspace: Workspace, identifier: str
) -> None:
    with workspace:
        for query in (identifier, f"starting dose in {identifier}"):
            response = workspace.search(query, components="bm25")
            assert (response.results, response.nothing_about) == (
                (),
                f"nothing here is about {identifier}",
            )


SPOKEN_OF = [
    *ROWS,
    Chunk(
        "icu:chunk_0",
        "icu",
        "Heparin was flushed through the line, and the line was changed daily.",
        "Lines in intensive care",
    ),
]


@pytest.mark.parametrize(
    "query",
    [
        "efectos secundarios de la heparina en mujeres",
        "heparin burgers with fries and sauerkraut served on Sunday afternoons",
    ],
)
def test_little_confidence_and_no_passage_with_all_words_show_nothing(
    tmp_path: Path, query: str
) -> None:
    with filled(tmp_path / "home", SPOKEN_OF) as workspace:
        response = workspace.search(query, components="bm25")
        assert response.nothing_about
        assert response.results == ()
        shown = workspace.search("heparin line", components="bm25")
        assert shown.results[0].chunk.doc_id == "icu"
        assert (shown.confidence or 0.0) >= 0.1


SUBJECTS = [
    *ROWS,
    Chunk("velo:chunk_0", "velo", "Velotinib in pancreatic cancer was given for a year.", "Velo"),
    Chunk("ren:chunk_0", "ren", "Renal failure was seen in two of the women.", "Kidneys"),
    Chunk("ova:chunk_0", "ova", "Ovarian carcinoma recurs in most.", "Recurrence"),
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("cancer of the pancreas", "velo"),
        ("failure of the kidney", "ren"),
        ("carcinoma of the ovary", "ova"),
        ("Humira 30,000 IU", "humira"),
        ("Lipitor 2.5 g", "lipitor"),
        ("sugar content of Humira", "humira"),
        ("velotinib taste", "velo"),
    ],
)
def test_a_subject_in_other_grammar_or_beside_everyday_words_is_there(
    tmp_path: Path, query: str, found: str
) -> None:
    with filled(tmp_path / "home", SUBJECTS) as workspace:
        response = workspace.search(query, components="bm25")
        assert (response.nothing_about, response.only_mentioned) == ("", "")
        assert found in {hit.chunk.doc_id for hit in response.results}
        assert not any("30:" in note or "2:" in note for note in response.notes)


WITHOUT = [
    *ROWS,
    Chunk("iron:chunk_0", "iron", "Iron is safe for a woman with renal disease.", "Kidney disease"),
    Chunk("lipoic:chunk_0", "lipoic", "The dose of the acid was 100 mg.", "Alpha lipoic acid"),
]


@pytest.mark.parametrize(
    ("query", "drug"),
    [
        ("is Adalat safe for a woman with kidney disease", "Adalat"),  # kidney is renal elsewhere
        ("is nifedipine safe for a woman with kidney disease", "nifedipine"),
        ("pamidronate dose", "pamidronate"),  # pamidronic acid is no other acid
    ],
)
def test_another_name_of_a_word_does_not_stand_for_a_drug(
    tmp_path: Path, query: str, drug: str
) -> None:
    with filled(tmp_path / "home", WITHOUT) as workspace:
        found = workspace.search(query)
        assert (found.nothing_about, found.results) == (f"nothing here is about {drug}", ())
