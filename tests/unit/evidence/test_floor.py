"""Nothing is about a query that names what nobody has, or that nothing comes near to."""

from __future__ import annotations

import pytest

from assay.evidence.floor import FLOOR, judge
from assay.model.answers import Passage
from assay.model.document import Chunk

DENSE = "bge-small-en-v1.5"


def passage(text: str, dense: float | None = 0.8, title: str = "", name: str = "d") -> Passage:
    return Passage(Chunk(f"{name}:chunk_0", name, text, title=title), 1.0, {"dense": dense})


STATIN = passage("Atorvastatin is given at 10 mg to 80 mg once daily.", title="Lipitor")


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("dose of apixaban", "apixaban"),
        ("rosuvastatin starting dose", "rosuvastatin"),
        ("ozempic side effects", "ozempic"),
        ("adverse events in NCT01234567", "NCT01234567"),
    ],
)
def test_a_drug_or_record_that_nothing_has_is_named(query: str, missing: str) -> None:
    judged = judge(query, [STATIN], DENSE)
    assert judged.nothing == f"nothing here is about {missing}"
    assert judged.missing == (missing,)


@pytest.mark.parametrize("query", ["atorvastatin dose", "Lipitor dose", "lipitor or apixaban dose"])
def test_one_name_that_is_there_is_enough(query: str) -> None:
    assert judge(query, [STATIN], DENSE).nothing == ""


def test_what_is_far_in_meaning_and_words_is_below_the_floor() -> None:
    far = judge("how to bake bread at home", [passage("Statins lower lipids.", 0.45)], DENSE)
    assert far.nothing == "nothing here seems to be about this"
    assert far.confidence is not None
    assert far.confidence < FLOOR


def test_near_meaning_or_half_of_the_words_is_above_it() -> None:
    near = passage("Anticoagulants are reduced in renal impairment.", 0.78)
    assert judge("blood thinner for weak kidneys", [near], DENSE).nothing == ""
    worded = passage("Bread is baked at home.", 0.4)
    assert judge("how to bake bread at home", [worded], DENSE).nothing == ""


def test_a_dense_model_without_weights_is_judged_by_words() -> None:
    far = passage("Statins lower lipids.", 0.1)
    assert judge("how to bake bread at home", [far], "another-model").nothing
    assert judge("statins in women", [far], "another-model").nothing == ""
    assert judge("dose of apixaban", [far], "another-model").missing == ("apixaban",)


def test_without_a_dense_component_words_decide() -> None:
    far = passage("Statins lower lipids.", None)
    assert judge("how to bake bread at home", [far]).nothing
    assert not judge("statins in women", [far]).nothing


def test_synonyms_that_were_added_count() -> None:
    found = passage("Gelbsucht is what some call it.", None)
    assert judge("jaundice", [found]).nothing
    assert not judge("jaundice", [found], synonyms=("gelbsucht",)).nothing


def test_a_drug_is_not_there_because_another_document_mentions_it_by_another_name() -> None:
    other = Passage(
        Chunk("a:chunk_0", "a", "Acetaminophen absorption was measured.", "The effect of camicinal")
    )
    found = judge("paracetamol overdose", [other], "", ("acetaminophen",), {"overdosage"})
    assert found.only_mentioned == "nothing here is about paracetamol, which is only mentioned"


def test_codes_are_known_in_every_spelling() -> None:
    assert not judge("IL6", [passage("Serum IL-6 was raised.", 0.4)], DENSE).nothing


def test_no_passage_is_no_judgement() -> None:
    assert judge("anything", []).confidence is None
