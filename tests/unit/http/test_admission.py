"""Do gates let in what they should, in order, and does nobody lose a slot?"""

from __future__ import annotations

import asyncio

import pytest

from assay.http.edge.admission import PRESSED_S, FullError, Gate, RateLimiter


async def hold(gate: Gate, done: asyncio.Event, order: list[int], name: int) -> None:
    async with gate.slot():
        order.append(name)
        await done.wait()


def test_those_in_line_follow_in_order_and_the_rest_is_refused() -> None:
    async def scene() -> list[int]:
        gate, order = Gate("search", slots=2, queue=2), list[int]()
        done = asyncio.Event()
        tasks = [asyncio.create_task(hold(gate, done, order, name)) for name in range(4)]
        await asyncio.sleep(0)
        assert (gate.active, gate.waiting) == (2, 2)
        with pytest.raises(FullError):
            async with gate.slot():
                pytest.fail("there was no room")
        done.set()
        await asyncio.gather(*tasks)
        assert (gate.active, gate.waiting) == (0, 0)
        return order

    assert asyncio.run(scene()) == [0, 1, 2, 3]


def test_who_leaves_the_line_gives_the_place_up() -> None:
    async def scene() -> None:
        gate, done, order = Gate("search", slots=1, queue=5), asyncio.Event(), list[int]()
        first = asyncio.create_task(hold(gate, done, order, 0))
        await asyncio.sleep(0)
        others = [asyncio.create_task(hold(gate, done, order, name)) for name in (1, 2)]
        await asyncio.sleep(0)
        others[0].cancel()
        await asyncio.sleep(0)
        assert gate.waiting == 1
        done.set()
        await asyncio.gather(first, others[1])
        assert order == [0, 2]
        assert gate.active == 0

    asyncio.run(scene())


def test_a_slot_that_comes_as_the_caller_leaves_is_passed_on() -> None:
    async def scene() -> None:
        gate, done, order = Gate("search", slots=1, queue=5), asyncio.Event(), list[int]()
        done.set()
        async with gate.slot():
            second = asyncio.create_task(hold(gate, asyncio.Event(), order, 1))
            third = asyncio.create_task(hold(gate, done, order, 2))
            await asyncio.sleep(0)
        second.cancel()  # the slot was promised to it a moment ago, and it has not run since
        await asyncio.wait_for(third, 1)
        assert order == [2]
        assert gate.active == 0

    asyncio.run(scene())


def test_the_wait_has_an_end() -> None:
    async def scene() -> None:
        gate = Gate("search", slots=1, queue=5, max_wait=0.01)
        async with gate.slot():
            with pytest.raises(FullError):
                async with gate.slot():
                    pytest.fail("the slot was taken")
        assert (gate.active, gate.waiting) == (0, 0)

    asyncio.run(scene())


def test_a_rate_is_kept_per_caller() -> None:
    limiter = RateLimiter(per_minute=60)
    assert [limiter.wait_for("a") for _ in range(15)] == [0] * 15
    assert 0 < limiter.wait_for("a") <= 1
    assert limiter.wait_for("b") == 0


@pytest.mark.parametrize(("per_minute", "burst"), [(1, 1), (5, 5), (20, 10), (120, 30)])
def test_a_part_of_a_minute_can_be_asked_for_at_once(per_minute: int, burst: int) -> None:
    limiter = RateLimiter(per_minute)
    waits = [limiter.wait_for("a") for _ in range(burst + 1)]
    assert waits[:burst] == [0] * burst
    assert waits[burst] > 0


def test_no_rate_means_no_limit_and_callers_are_forgotten() -> None:
    assert not any(RateLimiter(0).wait_for("a") for _ in range(1000))
    limiter = RateLimiter(per_minute=1, capacity=2)
    assert [limiter.wait_for(name) for name in "abc"] == [0, 0, 0]
    assert limiter.wait_for("a") == 0  # forgotten, since c came
    assert limiter.wait_for("c") > 0


def test_a_burst_waits_and_is_served_in_order() -> None:
    async def scene() -> list[int]:
        gate, done, order = Gate("search", 1, 8, shed=True), asyncio.Event(), list[int]()
        tasks = [asyncio.create_task(hold(gate, done, order, name)) for name in range(9)]
        await asyncio.sleep(0)
        done.set()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(scene()) == list(range(9))


class Clock:
    """Time that passes when told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("assay.http.edge.admission.time.monotonic", lambda: self.now)


async def surge(
    gate: Gate, done: asyncio.Event, order: list[int], clock: Clock
) -> list[asyncio.Task[None]]:
    """Ten callers for one slot and a line of eight, and another one a while later."""
    async with gate.slot():
        clock.now += 0.02  # what a search takes
    tasks = [asyncio.create_task(hold(gate, done, order, name)) for name in range(10)]
    await asyncio.sleep(0)
    clock.now += PRESSED_S
    tasks.append(asyncio.create_task(hold(gate, done, order, 10)))
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


def test_one_caller_too_many_is_refused_alone() -> None:
    async def scene() -> None:
        gate, done, order = Gate("search", 1, 8, shed=True), asyncio.Event(), list[int]()
        tasks = [asyncio.create_task(hold(gate, done, order, name)) for name in range(10)]
        await asyncio.sleep(0)
        done.set()
        *served, refused = await asyncio.gather(*tasks, return_exceptions=True)
        assert served == [None] * 9
        assert isinstance(refused, FullError)
        assert order == list(range(9))

    asyncio.run(scene())


def test_a_second_burst_after_the_line_has_shrunk_is_no_surge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)

    async def scene() -> None:
        gate, order = Gate("search", 1, 8, shed=True), list[int]()
        holds = [asyncio.Event() for _ in range(16)]
        tasks = [asyncio.create_task(hold(gate, holds[n], order, n)) for n in range(10)]
        await asyncio.sleep(0)
        for number in range(4):  # one was refused; the line shrinks to half and never empties
            holds[number].set()
            for _ in range(3):
                await asyncio.sleep(0)
        assert gate.waiting == 4
        clock.now += PRESSED_S
        tasks += [asyncio.create_task(hold(gate, holds[n], order, n)) for n in range(10, 15)]
        await asyncio.sleep(0)
        for one in holds:
            one.set()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [n for n, end in enumerate(ended) if end is not None] == [9, 14]
        assert order == [*range(9), *range(10, 14)]

    asyncio.run(scene())


def test_a_surge_cuts_the_line_and_serves_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    async def scene() -> None:
        gate, done, order = Gate("search", 1, 8, shed=True), asyncio.Event(), list[int]()
        tasks = await surge(gate, done, order, clock)
        assert (gate.active, gate.waiting) == (1, 1)
        newest = asyncio.create_task(hold(gate, done, order, 11))
        await asyncio.sleep(0)
        assert gate.waiting == 1
        done.set()
        ended = await asyncio.gather(*tasks, newest, return_exceptions=True)
        assert order == [0, 11]
        assert [name for name, end in enumerate(ended) if end is None] == [0, 11]
        assert all(isinstance(end, FullError) for end in ended[1:11])
        assert (gate.active, gate.waiting) == (0, 0)

    asyncio.run(scene())


def test_a_surge_ends_when_what_is_asked_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    async def scene() -> int:
        gate, done, order = Gate("search", 1, 8, shed=True), asyncio.Event(), list[int]()
        tasks = await surge(gate, done, order, clock)
        clock.now += 0.02  # what a search takes
        done.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _ in range(10):  # ten in the next second would take a fifth of it
            clock.now += 0.1
            async with gate.slot():
                pass
        calm, order = asyncio.Event(), []
        tasks = [asyncio.create_task(hold(gate, calm, order, name)) for name in range(5)]
        await asyncio.sleep(0)
        waiting = gate.waiting
        calm.set()
        await asyncio.gather(*tasks)
        return waiting

    assert asyncio.run(scene()) == 4


def test_a_surge_lasts_while_too_much_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    async def scene() -> None:
        gate, done, order = Gate("search", 1, 8, shed=True), asyncio.Event(), list[int]()
        tasks = await surge(gate, done, order, clock)
        clock.now += 0.02
        done.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        kept = asyncio.Event()
        first = asyncio.create_task(hold(gate, kept, order, 0))
        others = []
        for _ in range(200):  # a hundred times 20 ms in each second is twice what there is
            clock.now += 0.01
            others.append(asyncio.create_task(hold(gate, kept, order, 1)))
            await asyncio.sleep(0)
            assert gate.waiting <= 1
        kept.set()
        ends = await asyncio.gather(first, *others, return_exceptions=True)
        assert sum(end is None for end in ends) == 2

    asyncio.run(scene())


def test_who_is_refused_while_leaving_frees_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    async def scene() -> None:
        gate, done, order = Gate("search", 1, 8, shed=True), asyncio.Event(), list[int]()
        tasks = await surge(gate, done, order, clock)
        waiting = tasks[-1]
        newest = asyncio.create_task(hold(gate, done, order, 11))
        await asyncio.sleep(0)
        waiting.cancel()  # it was refused a moment ago, and has not run since
        done.set()
        await asyncio.gather(*tasks, newest, return_exceptions=True)
        assert order == [0, 11]
        assert (gate.active, gate.waiting) == (0, 0)

    asyncio.run(scene())
