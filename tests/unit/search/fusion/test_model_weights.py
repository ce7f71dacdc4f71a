"""Do weights that nobody chose follow the models, and can everybody see and undo it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.engine import model_weights
from assay.app.workspace import Workspace
from assay.encode.catalog import CARDS
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.render.search import headline
from assay.search.fusion import by_model, effective_weights, fuse
from assay.search.request import COMPONENTS, FusionMethod, SearchOptions
from assay.search.run_config import options_from, search_config
from tests.unit.search.corpus import filled

RRF = {"bm25": 1.0, "splade": 1.0, "dense": 2.0}
SCORES = {"bm25": 0.2, "splade": 0.3, "dense": 0.5}
FITTING = {"rrf": RRF, "weighted": SCORES}
EQUAL = dict.fromkeys(COMPONENTS, 1.0)
LISTS = {
    "bm25": [Hit(1, "a", 9.0), Hit(2, "b", 8.0)],
    "splade": [Hit(3, "c", 3.0), Hit(2, "b", 2.0)],
    "dense": [Hit(3, "c", 0.9), Hit(1, "a", 0.8)],
}


def test_the_models_decide_where_nobody_chose() -> None:
    options = SearchOptions(model_weights=FITTING)
    assert effective_weights(options, COMPONENTS) == {"bm25": 0.75, "splade": 0.75, "dense": 1.5}
    scores = replace(options, fusion_method=FusionMethod.WEIGHTED)
    assert effective_weights(scores, COMPONENTS) == pytest.approx(SCORES)
    assert by_model(options, QueryType.PARAPHRASE)
    assert by_model(scores, QueryType.PARAPHRASE)


def test_what_was_chosen_wins() -> None:
    options = SearchOptions(model_weights=FITTING, weights=EQUAL)
    assert effective_weights(options, COMPONENTS) == EQUAL
    assert not by_model(options, QueryType.PARAPHRASE)
    by_type = SearchOptions(model_weights=FITTING, per_type_weights=True)
    found = effective_weights(by_type, COMPONENTS, QueryType.EXACT_TERM)
    assert found["bm25"] == pytest.approx(1.5)
    assert not by_model(by_type, QueryType.PARAPHRASE)


def test_models_without_weights_of_their_own_change_nothing() -> None:
    plain = SearchOptions()
    assert effective_weights(plain, COMPONENTS) == EQUAL
    assert not by_model(plain, QueryType.PARAPHRASE)
    only_rrf = SearchOptions(fusion_method=FusionMethod.WEIGHTED, model_weights={"rrf": RRF})
    assert effective_weights(only_rrf, COMPONENTS)["splade"] == pytest.approx(0.2)
    assert not by_model(only_rrf, QueryType.PARAPHRASE)


def test_equal_weights_give_the_plain_formula_to_the_last_digit() -> None:
    chosen = fuse(LISTS, SearchOptions(model_weights=FITTING, weights=EQUAL))
    plain = fuse(LISTS, SearchOptions())
    assert (chosen.keys, chosen.scores) == (plain.keys, plain.scores)
    assert chosen.scores[0] == 1 / 61 + 1 / 61
    assert fuse(LISTS, SearchOptions(model_weights=FITTING)).scores != plain.scores


def test_a_card_knows_its_weights_only_where_both_signals_are_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    card = replace(CARDS["assay-bio"], rrf_weights=tuple(RRF.items()), score_weights=())
    monkeypatch.setitem(CARDS, "assay-bio", card)
    one = "assay-bio:256:0123456789abcdef"
    assert model_weights({"dense": one, "splade": one}) == {"rrf": RRF}
    assert model_weights({"dense": one, "splade": "splade-tiny:256:0123456789abcdef"}) == {}
    assert model_weights({"dense": one}) == {}
    assert model_weights({}) == {}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """A workspace whose models have weights that suit them."""
    monkeypatch.setattr("assay.app.engine.model_weights", lambda made: FITTING)
    with filled(tmp_path / "home") as opened:
        yield opened


def test_an_answer_says_whose_weights_they_are(here: Workspace) -> None:
    found = here.search("aspirin", floor=False)
    metadata = found.fusion_metadata
    assert metadata["weights"] == {"bm25": 0.75, "splade": 0.75, "dense": 1.5}
    assert metadata["weights_of_model"] == here.settings.dense_model
    assert "bm25=0.75 splade=0.75 dense=1.50 (tuned for" in headline(found)
    hit = found.results[0]
    for name, rank in hit.ranks.items():
        if rank is not None:
            assert hit.contributions[name] == pytest.approx(metadata["weights"][name] / (60 + rank))
    plain = here.search("aspirin", weights=EQUAL, floor=False)
    assert plain.fusion_metadata["weights"] == EQUAL
    assert "weights_of_model" not in plain.fusion_metadata
    assert "tuned for" not in headline(plain)


def test_a_run_keeps_the_weights_that_it_had(here: Workspace) -> None:
    config = search_config(here.searcher.defaults)
    assert config["model_weights"] == FITTING
    again = options_from(config, SearchOptions())
    assert effective_weights(again, COMPONENTS)["dense"] == 1.5
    assert "model_weights" not in search_config(SearchOptions())
