"""How is the index opened once, whoever and however many ask for it meanwhile?

It takes seconds where models are read. One thread of its own does it; those who search wait for
the same end without a thread each, and a failure is remembered for a moment.
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

RETRY_OPENING_S = 2.0


class Opening:
    """The one attempt that goes on, or that has ended."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._attempt: Future[Searcher] | None = None
        self._again_at = 0.0

    def begin(self) -> Future[Searcher]:
        """What comes of the opening: of the one that goes on, or of a new one after a failure."""
        with self._lock:
            attempt = self._attempt
            if attempt is None or self._failed_long_ago(attempt):
                attempt = self._attempt = Future()
                attempt.set_running_or_notify_cancel()  # who leaves cancels it for nobody else
                threading.Thread(
                    target=self._open, args=(attempt,), name="opening", daemon=True
                ).start()
            return attempt

    def _failed_long_ago(self, attempt: Future[Searcher]) -> bool:
        failed = attempt.done() and attempt.exception() is not None
        return failed and time.monotonic() >= self._again_at

    def _open(self, attempt: Future[Searcher]) -> None:
        try:
            searcher = self._workspace.searcher
        except Exception as error:
            self._again_at = time.monotonic() + RETRY_OPENING_S
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
