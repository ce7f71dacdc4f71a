"""How do several cores search the segments of a large index for one query?

Compiled code runs without the interpreter's lock. The caller takes one piece of work after the
other, and so do helpers where they are free: on a busy machine the caller does all of it itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from assay.cores import cores

T = TypeVar("T")


def side_by_side(works: Sequence[Callable[[], T]]) -> list[T]:
    """What these give, in their order."""
    helpers = min(len(works), cores()) - 1
    if helpers < 1:
        return [work() for work in works]
    done: dict[int, T] = {}
    left = iter(range(len(works)))  # whose next one is given to one thread only

    def take() -> None:
        for at in left:
            done[at] = works[at]()

    begun = [_pool().submit(take) for _ in range(helpers)]
    try:
        take()
    finally:
        started = [one for one in begun if not one.cancel()]
        for one in started:
            one.result()
    return [done[at] for at in range(len(works))]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="assay-segment")


if hasattr(os, "register_at_fork"):  # threads stay behind in the process that forks
    os.register_at_fork(after_in_child=_pool.cache_clear)
