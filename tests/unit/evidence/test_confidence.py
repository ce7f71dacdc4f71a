"""More evidence gives more confidence, by the weights of the dense model or by words alone."""

from __future__ import annotations

import pytest

from assay.evidence.confidence import Signals, confidence, key_words, signals
from assay.testing.answerer import PASSAGES

DENSE = "bge-small-en-v1.5"


def test_key_words() -> None:
    assert key_words("What is the dose of the drug?") == ("dose", "drug")
    assert key_words("infection infections") == ("infect",)
    assert key_words("how is it") == ("how",)
    assert key_words("tumour") == key_words("tumor")


def test_signals() -> None:
    read = signals("dose of examplol in children", PASSAGES)
    assert read.closeness == 0.86
    assert read.covered == pytest.approx(2 / 3)
    assert read.known == pytest.approx(2 / 3)
    assert signals("x", ()) == Signals(None, 0.0, 0.0)


def test_a_model_without_weights_is_judged_by_words_alone() -> None:
    near, far = Signals(0.9, 0.5, 0.5), Signals(0.1, 0.5, 0.5)
    assert confidence(near, "another-model") == confidence(far, "another-model")
    assert confidence(near, DENSE) > confidence(far, DENSE)
    assert confidence(Signals(None, 0.5, 0.5), DENSE) == confidence(near)


@pytest.mark.parametrize("model", ["", DENSE])
def test_more_evidence_never_lowers_confidence(model: str) -> None:
    steps = [confidence(Signals(at, at, at), model) for at in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert steps == sorted(steps)
    assert steps[0] < 0.5 < steps[-1]


def test_articles_of_other_languages_are_no_key_words() -> None:
    assert key_words("¿Cuál es la dosis de metformina?") == key_words("dosis metformina")
