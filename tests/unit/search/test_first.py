"""R13: the first result of a plain search is about what the query names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.app.workspace import Workspace
from assay.model.document import Chunk
from tests.unit.search.corpus import filled

LINE = "is the first-line choice, and the first line of care in every guideline: first line"
ROWS = [
    Chunk("epilepsy:chunk_0", "epilepsy", f"Lamotrigine in epilepsy {LINE}.", "First-line drugs"),
    Chunk("asthma:chunk_0", "asthma", "In asthma a low dose of budesonide is tried.", "Asthma"),
    Chunk("gout:chunk_0", "gout", "Colchicine is used when gout flares.", "Flares"),
    Chunk("wrist:chunk_0", "wrist", "Splints rest the joint of those who type all day.", "Hands"),
    *(
        Chunk(f"other-{at}:chunk_0", f"other-{at}", f"Notes on bread, diet and care {at}.", "Notes")
        for at in range(12)
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("first") / "home", ROWS) as opened:
        yield opened


@pytest.mark.parametrize("subject", ["asthma", "gout"])
def test_the_first_place_is_for_what_is_about_the_subject(here: Workspace, subject: str) -> None:
    query = f"{subject} first line"
    assert here.search(query, boosts=False).results[0].chunk.doc_id == "epilepsy"
    found = here.search(query)
    first, second = found.results[:2]
    assert (first.chunk.doc_id, second.chunk.doc_id) == (subject, "epilepsy")
    (boost,) = first.boosts
    assert (boost.rule, boost.matched, boost.applied) == ("subject", subject, True)
    assert boost.reason == f"the first place is for what has {subject}"
    assert first.fused * boost.factor == pytest.approx(first.boosted) == pytest.approx(first.score)


def test_where_nothing_near_is_about_it_the_order_stays(here: Workspace) -> None:
    plain = here.search("scabies first line", boosts=False, floor=False)
    found = here.search("scabies first line", floor=False)
    assert [hit.chunk.chunk_id for hit in found.results] == [
        hit.chunk.chunk_id for hit in plain.results
    ]
