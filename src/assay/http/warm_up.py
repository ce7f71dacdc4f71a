"""How is the index opened just once, however many requests need it meanwhile?

Opening takes seconds if models are read. A thread does it; searches wait for the same attempt
without a thread each, and a failure is remembered for a moment.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING

from assay.errors import AssayError
from assay.http.edge.problems import ProblemError

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.search.searcher import Searcher

RETRY_AFTER_S = 2.0


class WarmUp:
    """The present attempt to open the index, or the last one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._attempt: Future[Searcher] | None = None
        self._again_at = 0.0

    def begin(self) -> Future[Searcher]:
        """The present attempt; a new one if the last failed some time ago."""
        with self._lock:
            attempt = self._attempt
            if attempt is None or self._failed_long_ago(attempt):
                attempt = self._attempt = Future()
                # a client that leaves must not cancel it for the others
                attempt.set_running_or_notify_cancel()
                threading.Thread(
                    target=self._open, args=(attempt,), name="warm-up", daemon=True
                ).start()
            return attempt

    def _failed_long_ago(self, attempt: Future[Searcher]) -> bool:
        failed = attempt.done() and attempt.exception() is not None
        return failed and time.monotonic() >= self._again_at

    def _open(self, attempt: Future[Searcher]) -> None:
        try:
            searcher = self._workspace.searcher
        except Exception as error:
            self._again_at = time.monotonic() + RETRY_AFTER_S
            problem = _not_ready(error.message) if isinstance(error, AssayError) else error
            attempt.set_exception(problem)
        else:
            attempt.set_result(searcher)


def _not_ready(reason: str) -> ProblemError:
    return ProblemError(
        503,
        "not_ready",
        f"searches cannot be answered: {reason}",
        hint="GET /readyz says what is missing",
        headers={"retry-after": "5"},
    )
