"""Exact codes come first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.app.workspace import Workspace
from assay.model.document import Chunk
from tests.unit.search.corpus import filled

TITLE = "Zelicol with quipirin in hay fever"
DIARY = "A zelicol diary"
HARM = "adverse_events"
ROWS = [
    Chunk(
        "study:talk",
        "study",
        "Others gave zelicol and 6-QP; the toxicity of zelicol with 6-QP is known.",
        TITLE,
        "discussion",
    ),
    Chunk("study:harm", "study", "Toxicity of zelicol: nausea in 4.", TITLE, HARM),
    Chunk("amount:talk", "amount", "Zelicol 250 mg was given twice.", DIARY, "results"),
    Chunk("amount:dose", "amount", "Zelicol is taken in the morning.", DIARY, "dosage"),
    *(
        Chunk(f"other-{at}:harm", f"other-{at}", "Zelicol, toxicity.", DIARY, HARM)
        for at in range(4)
    ),
    Chunk("labetalol", "labetalol", "Labetalol 450mg was given every 12 h.", "Labetalol"),
    *(
        Chunk(f"plain-{at}:harm", f"plain-{at}", "Adverse events of denosumab; denosumab.",
              f"Denosumab {at}", HARM)
        for at in range(3)
    ),
    Chunk("brand:harm", "brand", "Adverse events in 8 of 90 adults, 2 of them serious.",
          "Rest; Xgeva", HARM),
    Chunk("brand:who", "brand", "Adults with pain.", "Rest; Xgeva", "eligibility"),
    Chunk("short:end", "short", "Median survival was 9 months.", "Cabergoline Arm; T-4 Arm"),
    *(
        Chunk(f"wine-{at}:end", f"wine-{at}", "Survival of stomach cancer, 1 of 4; t 4 of 9.",
              "Survival of stomach cancer")
        for at in range(4)
    ),
    Chunk("ketorolac", "ketorolac", "Ketorolac is given for pain.", "Ketorolac"),
    Chunk("acronym:who", "acronym", "Adults with gout.", "Cherries in gout: the CHERRY trial"),
    *(
        Chunk(f"cherry-{at}:who", f"cherry-{at}", "A trial of cherry juice; cherry, trial.",
              "Cherry juice in a trial")
        for at in range(4)
    ),
    Chunk("bottle", "bottle", "NDC 0093-1893-05 is a bottle of 500.", "Bottles"),
    Chunk("half", "half", "NDC 0093-1893-01: a bottle, NDC, 0093 bottle; NDC bottles.", "Bottles"),
    Chunk("thrice", "thrice", "Pirofen t.i.d. and again t.i.d.; t.i.d. for all.", "Pirofen t.i.d."),
    Chunk("schedule", "schedule", "Pirofen q9h and again q9h; q9h for pain.", "Schedules"),
    *(
        Chunk(f"bread-{at}:chunk_0", f"bread-{at}", f"Notes on bread and diet {at}.", "Notes")
        for at in range(30)
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("exact") / "home", ROWS) as opened:
        yield opened


def test_an_amount_must_stand_in_the_passage_itself(here: Workspace) -> None:
    first = here.search("zelicol 250 mg dose", floor=False).results[0]
    assert first.chunk.chunk_id == "amount:talk"
    assert next(one for one in first.boosts if one.applied).matched == "250 mg"


def test_where_no_section_is_asked_for_the_passage_with_the_code_comes_first(
    here: Workspace,
) -> None:
    assert here.search("zelicol 6-QP", floor=False).results[0].chunk.chunk_id == "study:talk"


@pytest.mark.parametrize(
    "query", ["ketorolac 450 mg", "ketorolac 450mg for pain", "ketorolac q9h", "ketorolac t.i.d."]
)
def test_amounts_and_frequencies_lift_no_other_drug(here: Workspace, query: str) -> None:
    first = here.search(query, floor=False).results[0]
    assert first.chunk.doc_id == "ketorolac"
    own = here.search("labetalol 450 mg", floor=False).results[0]
    assert own.chunk.doc_id == "labetalol"


def test_half_of_a_code_is_not_the_code(here: Workspace) -> None:
    found = here.search("NDC 0093-1893-05 bottle", floor=False).results
    assert found[0].chunk.doc_id == "bottle"
    lifted = {hit.chunk.doc_id for hit in found for one in hit.boosts if one.rule == "exact"}
    assert lifted <= {"bottle"}
    absent = here.search("NDC 0093-1893-77", floor=False).results
    assert not any(boost.rule == "exact" for hit in absent for boost in hit.boosts)


def test_the_very_name_comes_before_another_name_of_the_drug(here: Workspace) -> None:
    found = here.search("Xgeva adverse events", floor=False).results
    first = found[0]
    assert first.chunk.chunk_id == "brand:harm"
    assert first.score == pytest.approx(first.fused * first.boosts[0].factor)
    assert found[1].chunk.title.startswith("Denosumab")  # and not another section of the first
    assert here.search("denosumab adverse events").results[0].chunk.doc_id.startswith("plain")


@pytest.mark.parametrize("query", ["T-4 survival in stomach cancer", "stomach cancer survival T4"])
def test_a_name_of_a_letter_and_a_digit_is_the_subject(here: Workspace, query: str) -> None:
    assert here.search(query, floor=False).results[0].chunk.chunk_id == "short:end"


def test_the_study_whose_title_has_the_acronym_comes_first(here: Workspace) -> None:
    assert here.search("CHERRY trial").results[0].chunk.doc_id == "acronym"
    assert here.search("CHERRY study").results[0].chunk.doc_id == "acronym"
    assert here.search("cherry trial").results[0].chunk.doc_id != "acronym"
