"""What do minutes of random input find?

::

    python -m tests.fuzz --list                     # harness, target, why
    python -m tests.fuzz --seconds 20               # for each harness; a new seed each time
    python -m tests.fuzz --hours 2                  # for all of them together
    python -m tests.fuzz --only run --seed 7        # the same inputs again
    python -m tests.fuzz --guided --seconds 20      # by coverage; needs the extra ``fuzz``

Memory is capped, so that an input that asks for too much of it is a failure and not a swap.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.guided import guided
from tests.fuzz.loop import Report, fuzz
from tests.fuzz.registry import BY_NAME, HARNESSES, as_table

MEMORY_BYTES = 8 << 30  # address space, of which libraries map most without using it


def cap_memory() -> None:
    """Let an input that wants too much memory fail."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.RLIM_INFINITY))


def main() -> int:
    """Say what was done; 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Feed broken inputs to every parser.")
    parser.add_argument("--list", action="store_true", help="show the harnesses and stop")
    parser.add_argument("--seconds", type=float, default=20, help="for each harness")
    parser.add_argument("--hours", type=float, default=None, help="for all harnesses together")
    parser.add_argument("--seed", type=int, default=None, help="default: one from the clock")
    parser.add_argument("--only", choices=BY_NAME, default=None)
    parser.add_argument("--guided", action="store_true", help="guided by coverage, with atheris")
    given = parser.parse_args()
    if given.list:
        print(as_table())
        return 0
    chosen = [BY_NAME[given.only]] if given.only else list(HARNESSES)
    if given.hours is not None:
        given.seconds = 3_600 * given.hours / len(chosen)
    if given.guided:
        return max(guided(harness.name, given.seconds) for harness in chosen)
    cap_memory()
    seed = time.time_ns() % 10**9 if given.seed is None else given.seed
    failures, total = 0, 0
    for harness in chosen:
        report = fuzz([harness], given.seconds, seed)
        failures += len(report.failures)
        total += report.executions.total()
        _tell(harness.name, report)
    print(f"seed {seed}: {total:,} executions, {failures} failures")
    return 1 if failures else 0


def _tell(name: str, report: Report) -> None:
    ends = ", ".join(
        f"{outcome.partition(': ')[2]} {count:,}"
        for outcome, count in report.outcomes.most_common()
    )
    print(
        f"{name:12} {report.executions.total():8,} executions, {len(report.failures)} failures: {ends}"
    )
    for failure in report.failures:
        print(failure)


if __name__ == "__main__":
    sys.exit(main())
