"""What is evaluated, and what is known of it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.model.ranking import RankBy
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery


@dataclass(frozen=True)
class System:
    """A way to ask a system, and everything that is known of it.

    ``retrieve`` takes a query and returns its outcome, or results in any usual form; it may be a
    coroutine function. ``config`` and ``generation`` together hold everything that can change an
    answer: the options, the files and code that take part, and the state of the index. Where nobody
    knows the state (``generation`` None), a run can be resumed by its id but is never taken for the
    answer to a new call. A system that ``keeps_time`` answers or fails by itself; another is cut
    off when it blocks, as is any that has a ``timeout_s`` for each query. ``rank_by`` says what
    ranks its results, where that is not for the system to say. Answers that lie in a file are not
    ``timed``: reading them is no search. ``concurrency`` queries are asked at the same time: by
    ``retrieve_many``, which returns the outcomes of several without a time of their own, or in
    threads where there is none. One that failed is asked ``retries`` times more. ``finish`` adds to
    an outcome what takes none of the system's time, such as what a judge says of it; its errors end
    the run.
    """

    retrieve: Callable[[GoldenQuery], Any]
    config: Mapping[str, Any]
    engine: str = "embedded"
    generation: str | None = None
    chunker_versions: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    keeps_time: bool = False
    timeout_s: float | None = None
    rank_by: RankBy | None = None
    timed: bool = True
    concurrency: int = 1
    retries: int = 0
    finish: Callable[[GoldenQuery, QueryOutcome], QueryOutcome] | None = None
    retrieve_many: Callable[[Sequence[GoldenQuery]], Sequence[QueryOutcome]] | None = None
