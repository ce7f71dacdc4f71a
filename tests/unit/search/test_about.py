"""What has nothing of the drug, disease or people in question comes after what is named so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.app.workspace import Workspace
from assay.model.document import Chunk
from assay.search.about import RULE
from tests.unit.search.corpus import filled

SURGERY = "Pain after breast surgery: a plaster after surgery of the breast, and pain after surgery"
ROWS = [
    Chunk("b:chunk_0", "b", f"{SURGERY}. Bupivacaine was given.", "Bupivacaine and surgery"),
    Chunk("l:chunk_0", "l", "One was worn for 12 hours each day.", "Lidocaine Patch"),
    Chunk(
        "s:chunk_0",
        "s",
        "A boosted protease inhibitor for HIV raises its level; with a boosted protease inhibitor"
        " for HIV, treatment is first stopped.",
        "Simvastatin (simvastatin)",
        section_label="drug_interactions",
        metadata={"drugs": ("simvastatin",)},
    ),
    Chunk("h:chunk_0", "h", "Inhibitors were boosted with ritonavir.", "Treatment of HIV"),
    Chunk("i:chunk_0", "i", f"Iron drops or iron tablets for the anaemic: {SURGERY}.", "Iron"),
    Chunk("t:chunk_0", "t", "Iron was given as drops.", "Iron in children"),
    Chunk("syrup:chunk_0", "syrup", "A cough syrup for cough; ask about a cough that lasts.",
          "Tussiol (dextromethorphan)", section_label="warnings",
          metadata={"drugs": ("dextromethorphan",)}),
    Chunk("visit:chunk_0", "visit", "She was given ramipril and now has a dry cough.", "Visit"),
    Chunk("NCT01:chunk_0", "NCT01", "AZD9496 was given to volunteers.", "NCT01: Period 1"),
    Chunk("pk:chunk_0", "pk", "Age of healthy volunteers: healthy volunteers of any age took part.",
          "Ulinastatin in healthy volunteers"),
    Chunk("leukotriene:chunk_0", "leukotriene", "Mood changed with leukotriene blockers.", "Moods"),
    Chunk("beta:chunk_0", "beta", "Mood with blockers: blockers and mood, mood and blockers.",
          "Beta blockers and mood"),
    *(
        Chunk(f"o-{at}:chunk_0", f"o-{at}", f"Notes on bread and diet {at}.", "Notes")
        for at in range(9)
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("about") / "home", ROWS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "right", "other"),
    [
        ("lignocaine plaster after breast surgery, pain after surgery", "l", "b"),
        ("first treatment of HIV with a boosted protease inhibitor", "h", "s"),
        ("iron drops for anaemic toddlers", "t", "i"),
        ("AZD9496 healthy volunteers age", "NCT01", "pk"),
        ("lignocaine 700 mg plaster after breast surgery, pain after surgery", "l", "b"),
    ],
)
def test_what_is_called_by_the_name_comes_first(
    here: Workspace, query: str, right: str, other: str
) -> None:
    plain = here.search(query, boosts=False, floor=False)
    assert plain.results[0].chunk.doc_id == other
    found = here.search(query, floor=False)
    order = [hit.chunk.doc_id for hit in found.results]
    assert order.index(right) < order.index(other)
    lowered = found.results[order.index(other)]
    (boost,) = [one for one in lowered.boosts if one.rule == RULE]
    assert boost.applied
    assert boost.reason.endswith("has nothing of it")
    assert lowered.fused * boost.factor == pytest.approx(lowered.score)


@pytest.mark.parametrize(
    ("query", "right", "other"),
    [
        ("ramipril cough", "visit", "syrup"),
        ("leukotriene blockers mood", "leukotriene", "beta"),
    ],
)
def test_a_drug_or_class_that_is_only_spoken_of_comes_before_another(
    here: Workspace, query: str, right: str, other: str
) -> None:
    order = [hit.chunk.doc_id for hit in here.search(query, floor=False).results]
    assert order.index(right) < order.index(other)


@pytest.mark.parametrize(
    "query",
    [
        "simvastatin with a boosted protease inhibitor for HIV",  # it is called by the drug
        "naproxen plaster after breast surgery",  # nothing is called so
        "plaster after breast surgery",
    ],
)
def test_otherwise_nothing_is_lowered(here: Workspace, query: str) -> None:
    found = here.search(query, floor=False)
    assert not any(one.rule == RULE for hit in found.results[:3] for one in hit.boosts)
