"""Does one model serve both signals: one pass a passage, no model for a query's terms?"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.encode import canonical, machine, one_pass
from assay.encode.cache import VectorCache
from assay.encode.cards import ModelFile
from assay.encode.catalog import CARDS
from assay.encode.corpus import encode_both, encode_dense, encode_sparse
from assay.encode.encoders import open_dense, open_hybrid, open_reranker, open_sparse
from assay.encode.hybrid import Hybrid
from assay.encode.pull import pull
from assay.encode.shelf import PACKAGED, Shelf, checksum
from assay.errors import (
    AssayError,
    CorruptModelError,
    MissingModelError,
    PullError,
    UsageError,
)
from assay.index.vector_checks import checked_matrix, checked_sparse
from assay.model.vectors import BothVectors, whole_of
from tests.unit.encode.tiny import safetensors
from tests.unit.encode.tiny_hybrid import (
    CLS,
    FIRST,
    SEP,
    VOCABULARY,
    WEIGHTS,
    WIDTH,
    computed,
    floats,
    packed,
    unpacked,
    write_hybrid,
)

TEXTS = ["Aspirin lowers the risk", "fever and pain", "insulin glucose " * 30, "asthma child cough"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_hybrid(tmp_path_factory.mktemp("hybrid") / "model")


@pytest.fixture(scope="module")
def model(folder: Path) -> Iterator[Hybrid]:
    """A model whose queries run in 8 bits, whatever is fastest here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "has_exact_products", lambda: True)
        found = open_hybrid(str(folder), Shelf(), threads=1)
        assert found is not None
        yield found


class Counting:
    """A hybrid encoder that counts the passages it was given."""

    def __init__(self, model: Hybrid) -> None:
        self._model = model
        self.model_id, self.dimension, self.vocabulary = (
            model.model_id, model.dimension, model.vocabulary,
        )  # fmt: skip
        self.passages = 0

    def encode_both(self, texts: list[str]) -> list[BothVectors]:
        self.passages += len(texts)
        return self._model.encode_both(texts)


def test_one_pass_gives_what_the_two_faces_give(model: Hybrid) -> None:
    both = model.encode_both(TEXTS)
    dense, sparse = model.dense.encode(TEXTS, "passage"), model.sparse.encode(TEXTS, "passage")
    checked_matrix(dense, len(TEXTS), "made")
    checked_sparse(sparse, len(TEXTS), VOCABULARY, "made")
    for at, one in enumerate(both):
        np.testing.assert_array_equal(one.dense, dense[at])
        np.testing.assert_array_equal(one.sparse.terms, sparse[at].terms)
        np.testing.assert_array_equal(one.sparse.weights, sparse[at].weights)
        assert 0 < len(one.sparse.terms) <= one_pass.TERMS


@pytest.mark.parametrize(
    ("layers", "dense", "terms", "weights"),
    [
        (12, (0.0019, -0.18857, 0.00341, -0.15066), (1081, 1011, 1044), (2.5159, 2.4798, 2.4509)),
        (6, (0.10278, -0.01358, 0.03475, 0.088), (1158, 1053, 1040), (2.6133, 2.5596, 2.5136)),
    ],
)
def test_pinned_vectors(
    tmp_path: Path,
    layers: int,
    dense: tuple[float, ...],
    terms: tuple[int, ...],
    weights: tuple[float, ...],
) -> None:
    """The digits of a model that is made from a seed: another graph would change them."""
    made = open_hybrid(str(write_hybrid(tmp_path / "made", layers=layers)), Shelf())
    assert made is not None
    (found,) = made.encode_both(["aspirin lowers the risk of a second heart attack"])
    heaviest = np.argsort(-found.sparse.weights)[:3]
    assert found.dense[:4].tolist() == pytest.approx(dense, abs=canonical.EXACT)
    assert tuple(found.sparse.terms[heaviest].tolist()) == terms
    assert found.sparse.weights[heaviest].tolist() == pytest.approx(weights, abs=canonical.EXACT)


def test_a_vector_depends_on_its_text_alone(folder: Path, model: Hybrid) -> None:
    several = open_hybrid(str(folder), Shelf(), threads=3)
    assert several is not None
    for one, other in zip(model.encode_both(TEXTS), several.encode_both(TEXTS), strict=True):
        np.testing.assert_array_equal(one.dense, other.dense)
        np.testing.assert_array_equal(one.sparse.weights, other.sparse.weights)


def test_a_query_is_its_own_terms_with_learned_weights(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_hybrid(str(folder), Shelf())
    assert model is not None

    def no_graph(*given: object, **options: object) -> bytes:
        raise AssertionError("terms of a query need no model")

    monkeypatch.setattr(one_pass, "build", no_graph)
    (found,) = model.sparse.encode(["Aspirin aspirin heart unheard"], "query")
    asked = packed(floats())["asked"].astype(np.float32)
    assert found.terms.tolist() == [FIRST, FIRST + 1]
    np.testing.assert_array_equal(found.weights, asked[[FIRST, FIRST + 1]])
    assert [model.sparse.terms()[term] for term in found.terms] == ["aspirin", "heart"]
    (nothing,) = model.sparse.encode(["unheard"], "query")
    assert len(nothing.terms) == 0


def test_the_vector_of_a_query(model: Hybrid) -> None:
    wanted = computed(unpacked(packed(floats())), [CLS, FIRST, FIRST + 1, SEP], 12)
    (found,) = model.dense.encode(["aspirin heart"], "query")
    assert float(found @ wanted.dense) > 0.99
    np.testing.assert_array_equal(found, model.dense.encode(["aspirin heart"], "passage")[0])
    assert model.dense.encode([], "query").shape == (0, WIDTH)


def test_the_inner_exit_is_another_model_of_the_same_file(folder: Path, tmp_path: Path) -> None:
    fast = write_hybrid(tmp_path / "fast", layers=6)
    one, other = open_dense(str(folder), Shelf()), open_dense(str(fast), Shelf())
    assert one.model_id.split(":")[2] != other.model_id.split(":")[2]
    assert not np.array_equal(one.encode(TEXTS[:1], "passage"), other.encode(TEXTS[:1], "passage"))
    cards = CARDS["assay-bio"], CARDS["assay-bio-fast"]
    assert cards[0].folder == cards[1].folder
    assert {card.layers for card in cards} == set(one_pass.WAYS)


def test_both_faces_know_the_whole(model: Hybrid) -> None:
    assert whole_of(model.dense) is whole_of(model.sparse) is model
    assert whole_of(None) is None


def test_the_cache_keeps_both_signals(model: Hybrid, tmp_path: Path) -> None:
    counting = Counting(model)
    with VectorCache(tmp_path, model.model_id) as cache:
        dense, sparse = encode_both(counting, TEXTS, cache)
        assert counting.passages == len(TEXTS)
        again, terms = encode_both(counting, [*reversed(TEXTS)], cache)
        assert counting.passages == len(TEXTS)
        np.testing.assert_array_equal(again[::-1], dense)
        np.testing.assert_array_equal(terms[0].weights, sparse[-1].weights)
        # either face alone reads the same rows
        np.testing.assert_array_equal(encode_dense(model.dense, TEXTS, cache), dense)
        kept = encode_sparse(model.sparse, TEXTS, cache)
        np.testing.assert_array_equal(kept[2].terms, sparse[2].terms)
        assert cache.count() == len(TEXTS)
        # queries are not kept: they would share a key and mean different things
        encode_dense(model.dense, ["fever"], cache, kind="query")
        encode_sparse(model.sparse, ["fever"], cache, kind="query")
        assert cache.count() == len(TEXTS)
    assert encode_both(counting, [])[0].shape == (0, WIDTH)


def test_a_damaged_row_is_encoded_again(model: Hybrid, tmp_path: Path) -> None:
    counting = Counting(model)
    with VectorCache(tmp_path, model.model_id) as cache:
        dense, _ = encode_both(counting, TEXTS, cache)
        path = cache.path
    with sqlite3.connect(path) as db:
        db.execute("UPDATE vectors SET data = zeroblob(40) WHERE number = 2")
    db.close()
    with VectorCache(tmp_path, model.model_id) as cache:
        again, _ = encode_both(counting, TEXTS, cache)
    np.testing.assert_array_equal(again, dense)
    assert counting.passages == len(TEXTS) + 1


def test_an_interrupted_encoding_goes_on_where_it_stopped(model: Hybrid, tmp_path: Path) -> None:
    texts = [f"aspirin {'heart ' * at}" for at in range(70)]

    class Interrupted(Counting):
        def encode_both(self, texts: list[str]) -> list[BothVectors]:
            if self.passages:
                raise KeyboardInterrupt
            return super().encode_both(texts)

    with VectorCache(tmp_path, model.model_id) as cache:
        with pytest.raises(KeyboardInterrupt):
            encode_both(Interrupted(model), texts, cache)
        kept = cache.count()
        rest = Counting(model)
        encode_both(rest, texts, cache)
    assert 0 < kept < len(texts)
    assert rest.passages == len(texts) - kept


def test_a_model_for_one_signal_is_no_hybrid(tiny: dict[str, Path]) -> None:
    assert open_hybrid(str(tiny["dense"]), Shelf()) is None
    with pytest.raises(UsageError, match="hybrid"):
        Hybrid(Shelf().require(str(tiny["dense"])))


def test_a_hybrid_model_is_no_reranker(folder: Path) -> None:
    with pytest.raises(UsageError, match="is a hybrid model, and a reranker model is needed"):
        open_reranker(str(folder), Shelf())


@pytest.mark.parametrize("damage", ["cut", "swap", "empty", "no tokenizer", "other sizes"])
def test_damaged_files_are_refused_in_words(folder: Path, tmp_path: Path, damage: str) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    weights = broken / WEIGHTS
    if damage == "cut":
        weights.write_bytes(weights.read_bytes()[:-1000])
    elif damage == "swap":
        weights.write_bytes(safetensors({"something": np.zeros(3, np.float32)}))
    elif damage == "empty":
        weights.write_bytes(b"")
    elif damage == "no tokenizer":
        (broken / "tokenizer.json").unlink()
    else:
        about = json.loads((broken / "assay-model.json").read_text())
        (broken / "assay-model.json").write_text(json.dumps({**about, "vocabulary": 7}))
    with pytest.raises(AssayError) as caught:
        open_sparse(str(broken), Shelf())
    assert str(broken) in str(caught.value)


def test_weights_that_the_card_does_not_name_are_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tuple(checksum(folder / name) for name in (WEIGHTS, "tokenizer.json"))
    card = replace(CARDS["assay-bio"], dimension=WIDTH, vocabulary=VOCABULARY, files=files)
    monkeypatch.setitem(CARDS, card.name, card)
    monkeypatch.delitem(canonical.CANONICAL, card.name)
    package = tmp_path / "package"
    shutil.copytree(folder, package / card.folder)
    here = Shelf(package=package)
    found = here.require("assay-bio")
    assert (found.place, canonical.check(found, here)) == ("package", [])
    with (package / card.folder / WEIGHTS).open("r+b") as stream:
        stream.seek(-100, 2)
        stream.write(b"damaged")
    assert canonical.check(here.require("assay-bio"), here) == [f"{WEIGHTS} has changed"]
    with pytest.raises(CorruptModelError) as caught:
        open_dense("assay-bio", here)
    assert caught.value.hint == "it ships with assay: install assay again"


def test_a_package_without_weights_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "package/assay-bio").mkdir(parents=True)
    (tmp_path / "package/assay-bio/tokenizer.json").write_text("{}")
    for name in ("assay-bio", "assay-bio-fast"):
        with pytest.raises(MissingModelError) as caught:
            Shelf(package=tmp_path / "package").require(name)
        assert caught.value.hint == "it ships with assay: install assay again"


def test_pulling_what_ships_fetches_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    shutil.copytree(folder, package / "assay-bio")
    card = CARDS["assay-bio-fast"]
    monkeypatch.setitem(CARDS, card.name, replace(card, files=()))
    monkeypatch.setattr("assay.encode.pull.PACKAGED", package)
    (pulled,) = pull(["assay-bio-fast"], tmp_path / "models")
    assert (pulled.outcome, pulled.folder) == ("present", package / "assay-bio")
    monkeypatch.setattr("assay.encode.pull.PACKAGED", tmp_path / "nothing")
    with pytest.raises(PullError, match="no source") as caught:
        pull(["assay-bio"], tmp_path / "models")
    assert caught.value.hint == "it ships with assay: install assay again"


# The weights that ship, where they are


@pytest.fixture(scope="module")
def shipped() -> Shelf:
    here = Shelf(package=PACKAGED)
    if here.find(CARDS["assay-bio"]) is None:
        pytest.skip("this checkout has no weights of assay-bio")
    return here


SHIPPED = [name for name, card in CARDS.items() if card.ships]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_files_are_those_of_the_card(shipped: Shelf, name: str) -> None:
    card = CARDS[name]
    folder = PACKAGED / card.folder
    wanted = {card.weights, card.base, "tokenizer.json"} - {""}
    assert {file.name for file in card.files} == wanted
    for file in card.files:
        found = checksum(folder / file.name)
        assert file == ModelFile(file.name, found.size, found.sha256)


def test_the_shipped_files_stay_small(shipped: Shelf) -> None:
    assert sum(path.stat().st_size for path in PACKAGED.rglob("*") if path.is_file()) <= 45e6


def test_the_shipped_files_say_where_they_are_from(shipped: Shelf) -> None:
    text = (PACKAGED / "assay-bio" / "SOURCES.md").read_text(encoding="utf-8")
    files = {file.name for name in SHIPPED for file in CARDS[name].files}
    assert [name for name in files if f"`{name}`" not in text] == []
    assert "Copyright (c)" in text  # the notice that the licence of the initial weights requires


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_model_gives_its_recorded_answer(shipped: Shelf, name: str) -> None:
    assert name in canonical.CANONICAL
    assert canonical.differences(name, canonical.answer(name, shipped)) == []
