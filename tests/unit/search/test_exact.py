"""Exact codes come first, and with them the section that was asked for in the same document."""

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
    *(
        Chunk(f"bread-{at}:chunk_0", f"bread-{at}", f"Notes on bread and diet {at}.", "Notes")
        for at in range(30)
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("exact") / "home", ROWS) as opened:
        yield opened


def test_the_section_asked_for_has_the_code_of_its_document(here: Workspace) -> None:
    first, second = here.search("zelicol 6-QP toxicity", floor=False).results[:2]
    assert (first.chunk.chunk_id, second.chunk.chunk_id) == ("study:harm", "study:talk")
    (boost,) = first.boosts
    assert (boost.rule, boost.applied) == ("intent", True)  # no more is needed
    assert first.score == pytest.approx(first.fused * boost.factor)


def test_an_amount_must_stand_in_the_passage_itself(here: Workspace) -> None:
    first = here.search("zelicol 250 mg dose", floor=False).results[0]
    assert first.chunk.chunk_id == "amount:talk"
    assert next(one for one in first.boosts if one.applied).matched == "250 mg"


def test_where_no_section_is_asked_for_the_passage_with_the_code_comes_first(
    here: Workspace,
) -> None:
    assert here.search("zelicol 6-QP", floor=False).results[0].chunk.chunk_id == "study:talk"
