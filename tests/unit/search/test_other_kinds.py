"""R13: what is about another kind than asked for stands below what is about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.app.workspace import Workspace
from assay.model.document import Chunk
from assay.search.other_kinds import RULE
from tests.unit.search.corpus import filled

# what is asked for, a passage about it, and one about another kind that has more of the words
PAIRS = [
    ("chronic pancreatitis pain", "chronic pancreatitis", "acute pancreatitis"),
    ("acute otitis media drops", "acute otitis media", "chronic otitis media"),
    ("ischaemic colitis signs", "ischemic colitis", "hemorrhagic colitis"),
    ("malignant pleural effusion drain", "malignant pleural effusion", "benign pleural effusion"),
    ("diastolic murmur cause", "diastolic murmur", "systolic murmur"),
    ("upper limb spasticity toxin", "upper limb spasticity", "lower limb spasticity"),
    ("right bundle branch block", "right bundle branch block", "left bundle branch block"),
    ("unstable angina care", "unstable angina", "stable angina"),
    ("unresectable thymoma options", "unresectable thymoma", "resectable thymoma"),
    ("viral conjunctivitis drops", "viral conjunctivitis", "bacterial conjunctivitis"),
    ("congenital ptosis surgery", "congenital ptosis", "acquired ptosis"),
    ("peripheral vertigo manoeuvre", "peripheral vertigo", "central vertigo"),
    ("secondary hyperhidrosis causes", "secondary hyperhidrosis", "primary hyperhidrosis"),
    ("sensory neuropathy gait", "sensory neuropathy", "motor neuropathy"),
    ("topical tacrolimus eczema", "topical tacrolimus", "oral tacrolimus"),
    ("intravenous iron anaemia", "intravenous iron", "oral iron"),
    ("acyclovir po dosing", "acyclovir tablets", "intravenous acyclovir"),
    ("nifedipine XR dosing", "extended-release nifedipine", "immediate-release nifedipine"),
    ("paroxysmal nocturnal cough", "paroxysmal cough", "persistent cough"),
    ("low-grade chondrosarcoma margins", "low-grade chondrosarcoma", "high-grade chondrosarcoma"),
    ("short-acting nitrates relief", "short-acting nitrates", "long-acting nitrates"),
    ("third trimester ultrasound", "third trimester", "first trimester"),
    ("hyponatraemia correction", "hyponatremia", "hypernatraemia"),
    ("hyperparathyroidism scan", "hyperparathyroidism", "hypoparathyroidism"),
    ("tachyarrhythmia pacing", "tachyarrhythmia", "bradyarrhythmia"),
    ("postoperative ileus gum", "postoperative ileus", "preoperative ileus"),
    ("unilateral tinnitus imaging", "unilateral tinnitus", "bilateral tinnitus"),
    ("extrahepatic cholestasis stent", "extrahepatic cholestasis", "intrahepatic cholestasis"),
    ("macrovascular disease risk", "macrovascular disease", "microvascular disease"),
    ("Hodgkin lymphoma staging", "Hodgkin lymphoma", "non-Hodgkin lymphoma"),
    ("non-purulent cellulitis cover", "nonpurulent cellulitis", "purulent cellulitis"),
    ("NSTEMI angiography", "NSTEMI", "STEMI"),
    ("type 1 gastric neuroendocrine tumour", "type I gastric", "type 3 gastric"),
    ("stage II pressure ulcer foam", "stage 2 pressure ulcer", "stage IV pressure ulcer"),
    ("factor IX deficiency product", "factor IX deficiency", "factor VIII deficiency"),
    ("hepatitis e in travellers", "hepatitis E", "hepatitis A"),
    ("vitamin k reversal", "vitamin K", "vitamin C"),
    ("IL-17 blockade plaques", "interleukin-17 blockade", "IL-23 blockade"),
    ("HTLV-1 myelopathy", "HTLV-1", "HTLV-2"),
    ("CCR5-positive virus entry", "CCR5 positive", "CCR5-negative"),
    ("gram-negative bacteraemia cover", "gram-negative", "gram-positive"),
    ("migraine in children school", "pediatric migraine", "adults with migraine"),
    ("women with palpitations", "women", "men"),
    ("inpatient detoxification nurse", "inpatient detoxification", "outpatient detoxification"),
]  # fmt: skip
FILLER = "It was seen by the team over a longer time, and written down in the notes of that year."


def rows() -> list[Chunk]:
    """For each pair a long passage about what is asked for, and a short one about the other."""
    found = []
    for at, (query, right, wrong) in enumerate(PAIRS):
        last = query.split()[-1]
        about = f"Notes on {right}. {FILLER} {FILLER} The {last} is described."
        other = f"{last}: {wrong}, {last}, {wrong}."
        found.append(Chunk(f"right-{at}:chunk_0", f"right-{at}", about, f"Report {at}"))
        found.append(Chunk(f"wrong-{at}:chunk_0", f"wrong-{at}", other, f"Record {at}"))
    return found


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("kinds") / "home", rows()) as opened:
        yield opened


def places(here: Workspace, at: int, **options: Any) -> tuple[int, int]:
    found = here.search(PAIRS[at][0], k=100, floor=False, **options)
    order = [hit.chunk.doc_id for hit in found.results]
    return order.index(f"right-{at}"), order.index(f"wrong-{at}")


@pytest.mark.parametrize("at", range(len(PAIRS)), ids=[pair[0] for pair in PAIRS])
def test_another_kind_stands_below_the_kind_that_was_asked_for(here: Workspace, at: int) -> None:
    right, wrong = places(here, at)
    assert right < wrong
    by_words = places(here, at, components="bm25")
    assert by_words[0] < by_words[1]


def test_without_the_rule_most_of_these_passages_stand_above(here: Workspace) -> None:
    above = [
        wrong < right
        for right, wrong in (places(here, at, boosts=False) for at in range(len(PAIRS)))
    ]
    assert sum(above) > len(PAIRS) / 2


def test_the_account_names_the_other_kind_and_the_list_stays_in_order(here: Workspace) -> None:
    found = here.search("hyponatraemia correction", k=20, floor=False)
    scores = [hit.score for hit in found.results]
    assert scores == sorted(scores, reverse=True)
    (lowered,) = [
        boost
        for hit in found.results
        for boost in hit.boosts
        if hit.chunk.doc_id.startswith("wrong-") and boost.rule == RULE
    ]
    assert lowered.applied
    assert lowered.matched == "hypernatraemia"
    assert lowered.factor < 1
    assert lowered.reason == "below what has hyponatraemia: has only another kind"
    (hit,) = [one for one in found.results if any(b.rule == RULE for b in one.boosts)]
    assert hit.fused * lowered.factor == pytest.approx(hit.boosted)


def test_where_both_kinds_are_asked_for_or_a_statement_is_checked_nothing_is_lowered(
    here: Workspace,
) -> None:
    for query in (
        "acute and chronic pancreatitis pain",
        "stable versus unstable angina care",
        "viral conjunctivitis drops are not helpful",
    ):
        found = here.search(query, k=100, floor=False)
        assert not any(boost.rule == RULE for hit in found.results for boost in hit.boosts), query


def test_where_only_another_kind_is_there_that_is_said(tmp_path: Path) -> None:
    rows = [
        Chunk("one:chunk_0", "one", "Stage III thymic carcinoma is irradiated.", "Carcinoma"),
        Chunk("two:chunk_0", "two", "Bread is baked.", "Bread"),
    ]  # fmt: skip
    with filled(tmp_path / "home", rows) as here:
        found = here.search("stage IV thymic carcinoma", floor=False)
        first = found.results[0]
        assert first.chunk.doc_id == "one"
        assert (
            "nothing found speaks of stage IV: the first result speaks of stage iii" in found.notes
        )
        (boost,) = [one for one in first.boosts if one.rule == RULE]
        assert (boost.applied, boost.factor) == (False, 1.0)
        assert first.score == first.boosted == first.fused
        assert not here.search("stage III thymic carcinoma", floor=False).notes
