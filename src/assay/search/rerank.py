"""How would a model that reads query and passage together order the best candidates?

The reranker comes last and scores the top of the boosted list only. On a GPU that is the best 100
within 200 ms. A model on the CPU takes about 50 ms per pair and two cores, so it scores the best 20
and gets two seconds. If it cannot run or is late, the list stays as it was and the response says
so.

A reranker's score is shown as ``1 / (1 + e^-x)``, between 0 and 1 in the same order. By it alone
candidates are ordered, unless the model is better with a ``share``: then both its scores and those
before are spread over 0 to 1 within the candidates, and their weighted sum is the order. The
remaining candidates follow in their own order, with scores below 0.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.encode.catalog import DEFAULTS
from assay.errors import AssayError, GpuNotAvailableError
from assay.model.vectors import Reranker
from assay.search.deadline import Failure, Lane, Stop
from assay.search.request import SearchOptions

log = logging.getLogger("assay.search")


@dataclass(frozen=True, slots=True)
class RerankBudget:
    """How many candidates a kind of model scores, and how long it may take."""

    depth: int
    timeout_ms: float


GPU = RerankBudget(depth=100, timeout_ms=200)
PROCESSOR = RerankBudget(depth=20, timeout_ms=2_000)


@dataclass(frozen=True, slots=True)
class Reranked:
    """The result of reranking: the model's scores of the passages, or the name of an error."""

    model: str
    scores: tuple[float, ...] | None = None
    error: str | None = None
    reason: str = ""
    seconds: float = 0.0


class Rerankers:
    """Opens rerankers by name, each once; loading a model does not count towards a deadline.

    ``usual_share`` is how much a model's score counts where nobody chose it.
    """

    def __init__(
        self,
        load: Callable[[str], Reranker],
        requires_gpu: Callable[[str], bool],
        usual_share: Callable[[str], float] = lambda name: 1.0,
    ) -> None:
        self._load = load
        self._requires_gpu = requires_gpu
        self.usual_share = usual_share
        self._open: dict[str, Reranker] = {}
        self._lock = threading.Lock()

    def profile(self, name: str) -> RerankBudget:
        """The budget of a model."""
        return GPU if self._requires_gpu(name) else PROCESSOR

    def get(self, name: str) -> Reranker:
        """The model; raises ``GpuNotAvailableError`` if it needs a GPU and there is none."""
        with self._lock:
            if name not in self._open:
                self._open[name] = self._load(name)
            return self._open[name]


def short_name(model: str) -> str:
    """A model's name without its owner, or the address that it is behind."""
    return model.rsplit("#", 1)[-1].split("?", 1)[0].rsplit("/", 1)[-1]


def depth(options: SearchOptions, profile: RerankBudget) -> int:
    """The number of candidates to score."""
    return options.rerank_depth or profile.depth


async def rerank(
    query: str,
    passages: Sequence[str],
    options: SearchOptions,
    rerankers: Rerankers,
    lane: Lane,
) -> Reranked:
    """Scores for the passages, or the reason why there are none."""
    model = short_name(options.reranker)
    try:
        reranker = await asyncio.to_thread(rerankers.get, options.reranker)
    except GpuNotAvailableError as error:
        log.warning("%s, falling back to fusion", error.message)
        reason = f"{error.message}; the reranker {DEFAULTS['reranker']} needs none"
        return Reranked(model, error="gpu_unavailable", reason=reason)
    except AssayError as error:
        log.warning("Reranker unavailable, falling back to fusion: %s", error)
        return Reranked(model, error=str(Failure.UNAVAILABLE), reason=str(error))

    def work(stop: Stop) -> list[float]:
        scores = [float(score) for score in reranker.score(query, list(passages), stop=stop)]
        if len(scores) != len(passages) or not all(map(math.isfinite, scores)):
            raise ValueError("the model returned NaN scores")
        return scores

    timeout_ms = options.rerank_timeout_ms or rerankers.profile(options.reranker).timeout_ms
    outcome = await lane.call(work, timeout_ms / 1000)
    if outcome.failure is Failure.TIMEOUT:
        log.warning("Reranking timeout, falling back to fusion")
    elif outcome.failure is not None:
        log.warning("Reranking failed, falling back to fusion: %s", outcome.reason)
    if outcome.value is None:
        failed = str(outcome.failure or Failure.ERROR)
        return Reranked(model, None, failed, outcome.reason, outcome.seconds)
    return Reranked(model, tuple(outcome.value), seconds=outcome.seconds)


def share(options: SearchOptions, rerankers: Rerankers) -> float:
    """How much the reranker's score counts, from 0 to 1."""
    if options.rerank_share is not None:
        return options.rerank_share
    return rerankers.usual_share(options.reranker)


def blended(
    scores: Mapping[int, float], before: Mapping[int, float], share: float
) -> dict[int, float]:
    """What candidates are ordered by, from the model's scores and those they had before."""
    if share == 1:
        return {key: sigmoid(score) for key, score in scores.items()}
    read, old = _spread(scores), _spread({key: before[key] for key in scores})
    return {key: share * read[key] + (1 - share) * old[key] for key in scores}


def _spread(scores: Mapping[int, float]) -> dict[int, float]:
    """Scores from 0 to 1 by the ends of the list; all 1 where they are equal."""
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def sigmoid(value: float) -> float:
    """``1 / (1 + e^-x)``, for numbers of any size."""
    if value >= 0:
        return 1.0 / (1.0 + math.exp(-value))
    small = math.exp(value)
    return small / (1.0 + small)


def below_zero(score: float) -> float:
    """Map scores of zero or more to scores below zero, preserving their order."""
    return score / (1.0 + score) - 1.0


def order(keys: Sequence[int], scores: Mapping[int, float]) -> list[int]:
    """Keys with a score first, by score; then the others in their old order."""
    place = {key: at for at, key in enumerate(keys)}
    return sorted(keys, key=lambda key: (key not in scores, -scores.get(key, 0.0), place[key]))
