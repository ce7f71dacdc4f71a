"""Is a reranker that fails, lies or is late left out by name?"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.encode.catalog import reranker_share
from assay.errors import GpuNotAvailableError, MissingModelError
from assay.search.breaker import Breaker
from assay.search.deadline import Lane
from assay.search.request import SearchOptions
from assay.search.rerank import (
    GPU,
    PROCESSOR,
    Reranked,
    Rerankers,
    below_zero,
    blended,
    order,
    rerank,
    share,
)

OPTIONS = SearchOptions(rerank=True, reranker="owner/model", rerank_timeout_ms=100)


class Model:
    model_id = "model"

    def __init__(self, scores: Callable[[int], list[float]]) -> None:
        self._scores = scores

    def score(
        self, query: str, passages: list[str], *, stop: Callable[[], bool] | None = None
    ) -> NDArray[np.float32]:
        return np.array(self._scores(len(passages)), np.float32)


def asked(load: Callable[[str], object], lane: Lane | None = None) -> Reranked:
    rerankers = Rerankers(load, lambda name: False)  # type: ignore[arg-type]
    work = rerank("q", ["a", "b", "c"], OPTIONS, rerankers, lane or Lane("reranker", workers=1))
    return asyncio.run(work)


def test_scores_are_those_of_the_model() -> None:
    found = asked(lambda name: Model(lambda n: [-800.0, 0.0, 800.0]))
    assert found.scores == (-800.0, 0.0, 800.0)
    assert (found.model, found.error) == ("model", None)


def test_the_score_alone_comes_between_0_and_1_in_the_same_order() -> None:
    scores, before = {7: -800.0, 8: 0.0, 9: 800.0}, {7: 3.0, 8: 2.0, 9: 1.0}
    assert blended(scores, before, 1.0) == {7: 0.0, 8: 0.5, 9: 1.0}


def test_a_share_joins_the_score_with_the_one_before() -> None:
    scores, before = {7: -2.0, 8: 0.0, 9: 8.0}, {7: 0.5, 8: 0.3, 9: 0.1, 10: 0.05}
    assert blended(scores, before, 0.4) == pytest.approx({7: 0.6, 8: 0.38, 9: 0.4})
    assert blended(scores, before, 0.0) == pytest.approx({7: 1.0, 8: 0.5, 9: 0.0})


def test_equal_scores_leave_the_order_to_the_other() -> None:
    before = {7: 0.1, 8: 0.3}
    assert blended({7: 5.0, 8: 5.0}, before, 0.4) == pytest.approx({7: 0.4, 8: 1.0})


def test_the_usual_share_is_that_of_the_model() -> None:
    rerankers = Rerankers(lambda name: Model(lambda n: []), lambda name: False, reranker_share)
    assert share(SearchOptions(reranker="assay-bio-rerank"), rerankers) == 0.4
    assert share(SearchOptions(reranker="ms-marco-minilm-l12-v2"), rerankers) == 1.0
    assert share(SearchOptions(reranker="owner/model"), rerankers) == 1.0
    assert share(SearchOptions(rerank_share=0.0), rerankers) == 0.0


@pytest.mark.parametrize("scores", [[1.0], [1.0, math.nan, 2.0], [1.0, math.inf, 2.0]])
def test_scores_that_are_none_are_an_error(scores: list[float]) -> None:
    assert asked(lambda name: Model(lambda n: scores)).error == "error"


def test_a_model_that_is_not_there() -> None:
    def no_gpu(name: str) -> object:
        raise GpuNotAvailableError("Reranker requires GPU")

    def missing(name: str) -> object:
        raise MissingModelError("not on this machine", hint="assay models pull")

    assert asked(no_gpu).error == "gpu_unavailable"
    assert "the reranker assay-bio-rerank needs none" in asked(no_gpu).reason
    found = asked(missing)
    assert found.error == "unavailable"
    assert "assay models pull" in found.reason


@pytest.mark.slow
def test_late_reranking_never_piles_up() -> None:
    release = threading.Event()
    lane = Lane("stuck-reranker", workers=1, breaker=Breaker(failures=10**9))
    stuck = Model(lambda n: [float(release.wait(60))] * n)
    assert {asked(lambda name: stuck, lane).error for _ in range(30)} == {"timeout"}
    assert lane.threads == 1
    release.set()


def test_a_model_is_opened_once() -> None:
    opened: list[str] = []

    def load(name: str) -> Model:
        opened.append(name)
        return Model(lambda n: [0.0] * n)

    rerankers = Rerankers(load, lambda name: name == "gpu")
    assert rerankers.get("a") is rerankers.get("a")
    assert opened == ["a"]
    assert (rerankers.profile("gpu"), rerankers.profile("a")) == (GPU, PROCESSOR)


def test_what_was_not_looked_at_follows_below_zero_in_its_order() -> None:
    assert order([5, 6, 7, 8], {6: 0.2, 5: 0.2, 7: 0.9}) == [7, 5, 6, 8]
    values = [below_zero(score) for score in (9.0, 1.0, 0.5, 0.0)]
    assert values == sorted(values, reverse=True)
    assert max(values) < 0
