"""How are many texts encoded on all cores without changing any result?

Every text runs through the model alone, on one thread. Quantised models scale their activations by
the largest value in a batch, so another text in the batch would change a vector. All cores are used
by running several texts in parallel, longest first so that the threads finish together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from assay import limits
from assay.cores import cores
from assay.errors import UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(asked: int) -> int:
    """The number of threads to use; 0 means one per core that this process may use."""
    if not 0 <= asked <= limits.MAX_ENCODE_THREADS:
        raise UsageError(f"threads must be from 0 to {limits.MAX_ENCODE_THREADS}, not {asked}")
    return asked or cores()


def run_each(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    threads: int,
    cost: Callable[[Item], int],
) -> list[Result]:
    """The result for every item, in order; costly items start first."""
    if threads == 1 or len(items) < 2:
        return [work(item) for item in items]
    order = sorted(range(len(items)), key=lambda at: (-cost(items[at]), at))
    pool = ThreadPoolExecutor(min(threads, len(items)), thread_name_prefix="assay-encode")
    try:
        waiting = [(at, pool.submit(work, items[at])) for at in order]
        results = {at: future.result() for at, future in waiting}
    finally:
        pool.shutdown(cancel_futures=True)
    return [results[at] for at in range(len(items))]
