"""Is nobody kept waiting, and does nothing pile up, whatever a component does?"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.errors import EngineError
from assay.render.search import troubles
from assay.search.breaker import Breaker
from assay.search.deadline import CallResult, Failure, Lane, Stop, begin_all
from assay.search.searcher import Searcher, Source
from tests.unit.search.corpus import filled
from tests.unit.search.faults import BROKEN, Rig, no_reranker
from tests.waiting import eventually

DEADLINE_MS = 120


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("deadline") / "home") as opened:
        yield opened


def rig(here: Workspace, **options: object) -> Rig:
    return Rig(here.snapshot(), no_reranker(), component_timeout_ms=DEADLINE_MS, **options)


def test_what_the_others_found_is_what_they_find_alone(here: Workspace) -> None:
    with rig(here) as rigged:
        rigged.parts["dense"].fault = "raise"
        answer = rigged.searcher.search("renal dose", k=30)
        rigged.parts["dense"].fault = ""
        alone = rigged.searcher.search("renal dose", k=30, components="bm25,splade")
    assert [hit.chunk for hit in answer.results] == [hit.chunk for hit in alone.results]
    assert "the disk is on fire" in answer.warnings[0]


def test_an_answer_that_lacks_a_component_is_not_remembered(here: Workspace) -> None:
    with rig(here) as rigged:
        rigged.parts["splade"].fault = "raise"
        assert rigged.searcher.search("asthma").degraded
        rigged.parts["splade"].fault = ""
        calls = {name: part.calls for name, part in rigged.parts.items()}
        answer = rigged.searcher.search("asthma")
        assert not answer.degraded
        assert not answer.cached
        again = {name: part.calls - calls[name] for name, part in rigged.parts.items()}
        assert again == {"bm25": 0, "splade": 1, "dense": 0}  # good lists were kept


@pytest.mark.req("R2")
def test_a_part_of_the_data_counts_and_is_named(here: Workspace) -> None:
    with rig(here) as rigged:
        whole = rigged.searcher.search("renal dose", components="bm25", k=100)
        for part in rigged.parts.values():
            part.fault = "partial"
        answer = rigged.searcher.search("renal dose?", components="bm25", k=100)
        assert answer.component_errors == ("bm25_partial",)
        assert answer.components_used == ("bm25",)
        assert answer.degraded
        assert "1 of 3 shards did not answer" in answer.warnings[0]
        assert "only a part of the data was reached" in troubles(answer)[0]
        found = {hit.chunk.chunk_id for hit in whole.results}
        assert {hit.chunk.chunk_id for hit in answer.results} < found
        assert rigged.searcher.search("renal dose!").degraded, "all in part is an answer"
        for part in rigged.parts.values():
            part.fault = ""
        again = rigged.searcher.search("renal dose?", components="bm25", k=100)
        assert not again.degraded
        assert {hit.chunk.chunk_id for hit in again.results} == found, "no part was remembered"


@pytest.mark.req("R2")
@pytest.mark.parametrize("query", ["renal dose", "adverse events in renal impairment"])
@pytest.mark.parametrize("fault", BROKEN)
def test_a_component_that_breaks_its_contract_is_left_out_and_named(
    here: Workspace, fault: str, query: str
) -> None:
    with rig(here) as rigged:
        others = rigged.searcher.search(query, components="bm25,splade", k=100)
        rigged.parts["dense"].fault = fault
        answer = rigged.searcher.search(query, k=100)
        why = rigged.searcher.why(query, "doc1")
    assert (answer.degraded, answer.component_errors) == (True, ("dense_error",))
    assert BROKEN[fault] in answer.warnings[0]
    found = [hit.chunk.chunk_id for hit in answer.results]
    assert found == [hit.chunk.chunk_id for hit in others.results]
    assert BROKEN[fault] in why.sentence


def test_an_index_that_cannot_be_looked_up_goes_on_serving(here: Workspace) -> None:
    snapshot = here.snapshot()
    newest = [snapshot.generation]

    def look() -> str:
        if newest[0] != snapshot.generation:
            raise EngineError("no node of OpenSearch can be reached")
        return newest[0]

    searcher = Searcher(Source(look, lambda: snapshot), no_reranker())
    newest[0] = "?"
    assert not searcher.refresh()
    answer = searcher.search("renal dose")
    assert answer.results
    assert "cannot look for a newer generation" in answer.warnings[0]
    newest[0] = snapshot.generation
    assert not searcher.refresh()
    assert not searcher.search("renal dose").warnings
    searcher.close()


def hung(threads: str) -> int:
    return sum(thread.name == threads for thread in threading.enumerate())


def test_a_thousand_hung_calls_hold_a_few_threads() -> None:
    release = threading.Event()
    lane = Lane("stuck", workers=3, breaker=Breaker(failures=10**9), waiting=50)
    started = []

    def hang(stop: Stop) -> None:
        started.append(1)
        release.wait(60)

    async def ask(count: int) -> list[Failure | None]:
        outcomes = await asyncio.gather(*(lane.call(hang, 0.02) for _ in range(count)))
        return [outcome.failure for outcome in outcomes]

    seen: list[Failure | None] = []
    for _ in range(20):
        seen += asyncio.run(ask(50))
        assert hung("assay-stuck") <= 3
        assert lane.threads <= 3
    assert len(seen) == 1_000
    assert set(seen) == {Failure.TIMEOUT}
    release.set()
    outcome = asyncio.run(lane.call(lambda stop: "well again", 5.0))
    assert outcome.value == "well again"
    assert len(started) == 3  # what waited behind them never began
    lane.close()


def test_closing_waits_for_late_calls_but_not_for_ever() -> None:
    """A process that ends while a thread is inside a model's code would be aborted."""
    release = threading.Event()
    lane = Lane("late", workers=1)
    outcome = asyncio.run(lane.call(lambda stop: release.wait(60), 0.01))
    assert outcome.failure is Failure.TIMEOUT
    lane.close()
    assert not lane.wait_closed(0.05)
    release.set()
    assert lane.wait_closed(30)
    assert lane.threads == 0


def test_closing_tells_those_who_wait_behind_others() -> None:
    release = threading.Event()
    lane = Lane("closing", workers=1)
    begun = threading.Event()
    seen: dict[str, CallResult[bool]] = {}

    def hold(stop: Stop) -> bool:
        begun.set()
        return release.wait(60)

    def ask() -> None:
        work = {"one": (lane, hold, 60.0), "two": (lane, lambda stop: True, 60.0)}
        seen.update(begin_all(work)())

    asking = threading.Thread(target=ask)
    asking.start()
    assert begun.wait(30)
    eventually(lambda: lane._jobs)  # the second waits behind the first
    lane.close()
    release.set()
    asking.join(30)
    assert seen["one"].value is True
    assert seen["two"].failure is Failure.UNAVAILABLE
    assert seen["two"].reason == "closing was closed"
    assert not lane.breaker.is_open


@pytest.mark.slow
@pytest.mark.req("R2")
def test_a_thousand_searches_with_a_hung_component_open_its_breaker(here: Workspace) -> None:
    others = hung("assay-splade")  # searchers that other tests still hold
    with rig(here) as rigged:
        rigged.parts["splade"].fault = "hang"
        names = set()
        for at in range(1_000):
            answer = rigged.searcher.search(f"heart {at % 400}")
            # on a busy machine another may be late once
            names |= {one for one in answer.component_errors if one.startswith("splade")}
        assert hung("assay-splade") - others <= 4
        assert rigged.searcher.components["splade"] == "resting"
        assert names == {"splade_timeout", "splade_unavailable"}
        assert rigged.parts["splade"].calls <= 1 + 5 + 4  # warm-up, until it opened, trials


def test_too_many_that_wait_are_turned_away_at_once() -> None:
    release = threading.Event()
    lane = Lane("full", workers=1, breaker=Breaker(failures=10**9), waiting=2)

    async def ask() -> list[Failure | None]:
        calls = [lane.call(lambda stop: release.wait(60), 0.2) for _ in range(10)]
        return [outcome.failure for outcome in await asyncio.gather(*calls)]

    seen = asyncio.run(ask())
    release.set()
    assert seen.count(Failure.UNAVAILABLE) >= 7
    assert seen.count(Failure.TIMEOUT) <= 3


def test_work_is_told_that_nobody_waits_any_more() -> None:
    lane = Lane("told")
    stopped = threading.Event()

    def work(stop: Stop) -> None:
        while not stop():
            stopped.wait(0.005)
        stopped.set()

    assert asyncio.run(lane.call(work, 0.03)).failure is Failure.TIMEOUT
    assert stopped.wait(10)


@pytest.mark.parametrize("problem", [KeyError("x"), StopIteration(), SystemExit(3), MemoryError()])
def test_whatever_is_raised_is_an_error_of_the_component(problem: BaseException) -> None:
    lane = Lane("raising", workers=1)

    def work(stop: Stop) -> None:
        raise problem

    outcome = asyncio.run(lane.call(work, 5.0))
    assert outcome.failure is Failure.ERROR
    assert type(problem).__name__ in outcome.reason
    assert asyncio.run(lane.call(lambda stop: 1, 5.0)).value == 1


def test_a_breaker_opens_rests_tries_once_and_closes() -> None:
    now = [0.0]
    breaker = Breaker(failures=3, rest_s=5.0, clock=lambda: now[0])
    for _ in range(2):
        breaker.failed()
    breaker.succeeded()
    for _ in range(3):
        assert breaker.allows()
        breaker.failed()
    assert breaker.is_open
    assert not breaker.allows()
    now[0] = 5.0
    assert [breaker.allows(), breaker.allows()] == [True, False]  # one trial
    breaker.failed()
    assert not breaker.allows()
    now[0] = 10.0
    assert breaker.allows()
    breaker.succeeded()
    assert breaker.allows()
    assert not breaker.is_open


def test_a_component_whose_first_search_hangs_does_not_keep_the_searcher_from_opening(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.search.searcher.WARM_UP_MS", 50.0)
    monkeypatch.setattr("tests.unit.search.faults.Faulty.__init__.__defaults__", ("hang",))
    with rig(here) as rigged:
        for name in ("bm25", "dense"):
            rigged.parts[name].fault = ""
            rigged.parts[name].release.set()
        assert rigged.searcher.search("heart failure").component_errors == ("splade_timeout",)


def test_the_loop_of_late_work_may_be_gone(tmp_path: Path) -> None:
    lane = Lane("late")
    release, done = threading.Event(), threading.Event()

    def work(stop: Stop) -> None:
        release.wait(60)
        done.set()

    assert asyncio.run(lane.call(work, 0.01)).failure is Failure.TIMEOUT
    release.set()
    assert done.wait(10)
    assert asyncio.run(lane.call(lambda stop: 2, 5.0)).value == 2


def test_calls_in_several_lanes_have_seconds_of_their_own() -> None:
    release = threading.Event()
    patient, hasty = Lane("patient"), Lane("hasty")

    def hold(stop: Stop) -> bool:
        eventually(stop)  # nobody waits any more
        release.set()
        return True

    ended = begin_all({
        "late": (hasty, hold, 0.01),
        "whole": (patient, lambda stop: True, 60.0),
    })  # fmt: skip
    found = ended()
    assert found["whole"].value is True
    assert found["late"].failure is Failure.TIMEOUT
    assert "within 10 ms" in found["late"].reason
    assert release.wait(30)
    for lane in (patient, hasty):
        lane.close()
