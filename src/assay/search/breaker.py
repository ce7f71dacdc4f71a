"""Is it worth calling something that has failed again and again?

A breaker opens after a number of failures in a row. While it is open, no calls are made. After a
pause, one call is let through as a trial: success closes the breaker, failure opens it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from assay import limits


class Breaker:
    """Counts failures in a row; safe for use by several threads."""

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
        """Whether calls are currently rejected."""
        with self._lock:
            return self._resting()

    def allows(self) -> bool:
        """Whether a call may be made; after a pause, only one caller gets a yes."""
        with self._lock:
            if self._closed_again_at is None:
                return True
            if self._resting():
                return False
            self._closed_again_at = self._clock() + self._rest_s  # the others wait for the trial
            return True

    def succeeded(self) -> None:
        """Record a successful call."""
        with self._lock:
            self._in_a_row = 0
            self._closed_again_at = None

    def failed(self) -> None:
        """Record a call that failed or was late."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= self._failures:
                self._closed_again_at = self._clock() + self._rest_s

    def _resting(self) -> bool:
        return self._closed_again_at is not None and self._clock() < self._closed_again_at
