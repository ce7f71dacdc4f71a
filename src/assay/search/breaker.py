"""Is it worth asking something that failed again and again?

A breaker opens after a number of failures in a row. While it is open nobody is asked. When the rest
is over one call is let through as a trial: success closes the breaker, failure opens it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from assay import limits


class Breaker:
    """Counts failures in a row; threads may use it at the same time."""

    def __init__(
        self,
        failures: int = limits.BREAKER_FAILURES,
        rest_s: float = limits.BREAKER_REST_MS / 1000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures = failures
        self._rest_s = rest_s
        self._clock = clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._closed_again_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether calls are refused now."""
        with self._lock:
            return self._resting()

    def allows(self) -> bool:
        """Whether a call may be made; of many that ask after a rest, one may."""
        with self._lock:
            if self._closed_again_at is None:
                return True
            if self._resting():
                return False
            self._closed_again_at = self._clock() + self._rest_s  # the others wait for the trial
            return True

    def succeeded(self) -> None:
        """A call went well."""
        with self._lock:
            self._in_a_row = 0
            self._closed_again_at = None

    def failed(self) -> None:
        """A call went wrong, or came too late."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= self._failures:
                self._closed_again_at = self._clock() + self._rest_s

    def _resting(self) -> bool:
        return self._closed_again_at is not None and self._clock() < self._closed_again_at
