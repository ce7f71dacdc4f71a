"""Texts are cut, kept back and quantised as the training says; none of this needs data or torch."""

from __future__ import annotations

import random

import numpy as np
import pytest

from training import export, prepare, recipe, sources, statements, weights


def test_short_sentences_join_their_neighbour() -> None:
    found = sources.split(
        "It works. Patients who took the drug lived longer than the others did. No."
    )
    assert found == ["It works. Patients who took the drug lived longer than the others did. No."]


def test_sentences_end_before_a_capital_or_a_figure() -> None:
    first, second = (
        "The first trial of the drug ended early.",
        "25 patients left before it ended so.",
    )
    assert sources.split(f"{first} {second}") == [first, second]


def test_what_is_kept_back_depends_on_the_name_alone() -> None:
    names = [f"PMC{number}" for number in range(2000)]
    kept = [name for name in names if sources.held_out(name)]
    assert kept == [name for name in names if sources.held_out(name)]
    assert 400 < len(kept) < 600  # one in four


def test_headings_bring_every_place_above_them() -> None:
    lexicon = sources.Lexicon({}, {"D1": ["C10.228.140"]})
    assert prepare.nodes(["D1", "D2"], lexicon) == {"D1", "D2", "C10", "C10.228", "C10.228.140"}


def test_ragged_rows_keep_their_borders() -> None:
    values, borders = prepare.ragged([[1, 2], [], [3]], np.uint16)
    assert values.tolist() == [1, 2, 3]
    assert borders.tolist() == [0, 2, 2, 3]


def test_packed_weights_become_the_floats_they_stand_for() -> None:
    packed = {
        "whole.weight": np.array([[130, 128]], np.uint8),
        "whole.weight#scale": np.float32(0.5),
        "whole.weight#zero": np.uint8(128),
        "rows.weight": np.array([[2, -2], [4, 0]], np.int8),
        "rows.weight#scale": np.array([0.5, 0.25], np.float32),
        "rows.weight#zero": np.array([0, 0], np.int8),
        "norm.bias": np.array([1.5], np.float32),
    }
    floats = weights.unpack(packed)
    assert floats["whole.weight"].tolist() == [[1.0, 0.0]]
    assert floats["rows.weight"].tolist() == [[1.0, -1.0], [1.0, 0.0]]
    assert floats["norm.bias"].tolist() == [1.5]


def test_quantised_rows_are_off_by_half_a_step_at_most() -> None:
    matrix = np.random.default_rng(0).normal(size=(7, 50)).astype(np.float32)
    whole, scale = export.rows_as_int8(matrix)
    assert np.abs(whole * scale[:, None] - matrix).max() <= scale.max() / 2 + 1e-6
    assert np.abs(whole).max() == 127


def test_a_packed_model_is_read_back() -> None:
    state = {
        "body.layers.0.out.weight": np.float32([[1, -1], [0.5, 0.25]]),
        "body.layers.0.out.bias": np.float32([0.5, 1]),
        "expansions": np.int32([1000, 30_000]),
    }
    back = export.unpacked(export.packed(state))
    assert np.allclose(
        back["body.layers.0.out.weight"], state["body.layers.0.out.weight"], atol=0.01
    )
    assert back["body.layers.0.out.bias"].tolist() == [0.5, 1]
    assert back["expansions"].tolist() == [1000, 30_000]


def test_the_mean_of_two_trainings_keeps_ids() -> None:
    one = {"body.norm.bias": np.float32([1, 3]), "expansions": np.int32([7])}
    two = {**one, "body.norm.bias": np.float32([3, 5])}
    mean = export.averaged([one, two])
    assert mean["body.norm.bias"].tolist() == [2, 4]
    assert mean["expansions"].tolist() == [7]


def test_a_recipe_is_read_from_words() -> None:
    found = recipe.parse(["name=trial", "seed=3", "rate=5e-5", "headings=False"])
    assert (found.name, found.seed, found.rate, found.headings) == ("trial", 3, 5e-5, False)


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(SystemExit, match="speed is not a setting"):
        recipe.parse(["speed=9"])


def test_a_statement_is_turned_round_in_one_place() -> None:
    chance = random.Random(0)
    said = "Aspirin reduced deaths by 23 % and was not associated with more bleeding than placebo."
    assert statements.other_direction("Risk was higher.", chance) == "Risk was lower."
    assert statements.negated(said, chance) == said.replace("was not", "was")
    assert statements.negated("Aspirin was safe.", chance) == "Aspirin was not safe."
    assert statements.exchanged(said, chance) == said.replace(
        "bleeding than placebo", "placebo than bleeding"
    )
    wrong = statements.other_number(said, chance)
    assert wrong is not None
    assert "23 %" not in wrong
    assert wrong.split()[:3] == said.split()[:3]


def test_what_cannot_be_turned_stays_away() -> None:
    chance = random.Random(0)
    for change in statements.WRONG.values():
        assert change("Aspirin, heart and stroke.", chance) is None


def test_made_pairs_say_what_a_passage_says() -> None:
    """A statement and its passage are changed alike, so neither alone tells the verdict."""
    sentences = [
        f"The risk of stroke was {word} with drug {n} in {n}0 patients who were followed."
        for n, word in enumerate(("higher", "lower", "higher", "lower"), 1)
    ]
    texts = [sources.Text("evidence_inference", f"P{n}#1", "", sentences) for n in range(200)]
    nothing = statements.Drugs.__new__(statements.Drugs)
    nothing._names, nothing._known = [], frozenset()
    pairs = list(statements.made(texts, nothing, random.Random(1), {}))
    for one in pairs:
        inside = one.statement in one.premise
        if one.source == "sentence":
            assert one.verdict == statements.SUPPORTED
        elif one.source in statements.WRONG:
            assert one.verdict == statements.CONTRADICTED
            assert not inside
    original = set(sentences)
    for verdict in (statements.SUPPORTED, statements.CONTRADICTED):
        said = [one.statement in original for one in pairs if one.verdict == verdict]
        assert 0.1 < sum(said) / len(said) < 0.9
