"""Are the cards complete, and do names and identities tell models apart?"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from assay import limits
from assay.encode.canonical import CANONICAL
from assay.encode.cards import HubSource, ModelCard, ModelFile, WheelSource
from assay.encode.catalog import CARDS, DEFAULTS, card_named, named_in
from assay.errors import UnknownModelError

ALL = list(CARDS.values())


@pytest.mark.parametrize("card", ALL, ids=lambda card: str(card.name))
def test_a_card_is_complete(card: ModelCard) -> None:
    assert card.licence
    assert card.about
    assert card.sources or card.ships
    assert 4 <= card.max_tokens <= card.longest <= limits.MAX_MODEL_TOKENS
    assert (card.pooling == "none") == (card.role in ("reranker", "entailment", "hybrid"))
    assert bool(card.layers and card.vocabulary) == (card.role == "hybrid")
    assert card.requires_gpu == (card.runtime == "torch")


@pytest.mark.parametrize("card", ALL, ids=lambda card: str(card.name))
def test_what_comes_from_a_wheel_is_pinned(card: ModelCard) -> None:
    for source in card.sources:
        if isinstance(source, WheelSource):
            assert len(source.sha256) == 64
            assert 0 < source.size < limits.MAX_WHEEL_BYTES
            assert {card.weights, "tokenizer.json"} <= {file.name for file in card.files}
            assert all(len(file.sha256) == 64 and file.size > 0 for file in card.files)
            assert not source.inside.startswith("/")
            assert card.name in CANONICAL
        else:
            assert isinstance(source, HubSource)
            assert "/" in card.name


def test_folders_are_unique_and_plain() -> None:
    folders = [card.folder for card in ALL if not card.inside]
    assert all(card.inside in folders for card in ALL if card.inside)
    assert len(set(folders)) == len(folders)
    assert not any("/" in folder or folder.startswith(".") for folder in folders)


def test_every_role_has_a_default_that_runs_anywhere() -> None:
    for role, name in DEFAULTS.items():
        assert CARDS[name].serves(role)
        assert not CARDS[name].requires_gpu


def test_the_seeds_reranker_needs_a_gpu() -> None:
    assert CARDS["BAAI/bge-reranker-base"].requires_gpu


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownModelError, match=r"did you mean bge-small-en-v1\.5") as caught:
        card_named("bge-smal-en-v1.5")
    assert all(name in str(caught.value) for name in CARDS)
    with pytest.raises(UnknownModelError):
        card_named("x" * 10_000)


def test_the_requirement_names_one_file() -> None:
    source = WheelSource("some-package", "1.0", 1, "ab" * 32, "x")
    assert source.requirement == f"some-package==1.0 --hash=sha256:{'ab' * 32}"


def test_cards_cannot_change() -> None:
    with pytest.raises(FrozenInstanceError):
        ALL[0].dimension = 3  # type: ignore[misc]


def test_an_identity_covers_all_that_changes_a_vector() -> None:
    card = CARDS["bge-small-en-v1.5"]
    other = (ModelFile("model.onnx", 1, "0" * 64),)
    identities = {
        card.identity(card.files, 256),
        card.identity(card.files, 128),
        card.identity(other, 256),
        replace(card, pooling="mean").identity(card.files, 256),
        replace(card, query_prefix="").identity(card.files, 256),
        replace(card, runtime="torch").identity(card.files, 256),
        replace(card, layers=6).identity(card.files, 256),
    }
    assert len(identities) == 7
    assert card.identity(card.files, 256) == "bge-small-en-v1.5:256:1ababb0e3d2ec448"
    assert named_in(card.identity(card.files, 256)) == card.name
    assert card.identity(card.files, 256) == card.identity(card.files[::-1], 256)
