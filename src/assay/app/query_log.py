"""How do searches get into the query log without anybody waiting for it?

A thread of its own writes what has gathered every second; what does not fit into its short list is
left out rather than making a search wait.
"""

from __future__ import annotations

import threading
from collections import deque

from assay.app.workspace import Workspace
from assay.errors import AssayError
from assay.model.moments import now
from assay.search.response import SearchResponse
from assay.settings import Settings
from assay.store.query_log import LoggedQuery, QueryLog

MAX_GATHERED = 10_000
WRITE_EVERY_S = 1.0
TRIM_EVERY = 600  # writes


def open_query_log(workspace: Workspace) -> QueryRecorder:
    """The query log of a workspace, as the settings want it."""
    off = workspace.settings.query_log == "off"
    return QueryRecorder(None if off else QueryLog(workspace.layout.database), workspace.settings)


class QueryRecorder:
    """Gathers searches and writes them; nothing at all where the log is off."""

    def __init__(self, log: QueryLog | None, settings: Settings) -> None:
        self._log = log
        self._settings = settings
        self._gathered: deque[LoggedQuery] = deque(maxlen=MAX_GATHERED)
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._writes = 0
        if log is not None:
            self._thread = threading.Thread(target=self._work, name="query-log", daemon=True)
            self._thread.start()

    def add(self, response: SearchResponse) -> None:
        """Remember one search that a person made."""
        if self._log is None:
            return
        best = response.results[0].score if response.results else None
        self._gathered.append(
            LoggedQuery(
                at=now(),
                query=response.query if self._settings.query_log == "text" else None,
                query_type=response.query_type,
                results=len(response.results),
                top_score=best,
                degraded=response.degraded,
                latency_ms=response.timings_ms.get("total", 0.0),
            )
        )

    def write(self) -> None:
        """Write what has gathered."""
        assert self._log is not None
        entries = [self._gathered.popleft() for _ in range(len(self._gathered))]
        self._log.add(entries)
        if self._writes % TRIM_EVERY == 0:
            self._log.trim(days=self._settings.query_log_days, rows=self._settings.query_log_rows)
        self._writes += 1

    def close(self) -> None:
        """Write the rest and end."""
        self._end.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        if self._log is not None:
            self._log.close()

    def _work(self) -> None:
        while not self._end.wait(WRITE_EVERY_S):
            self._write_quietly()
        self._write_quietly()

    def _write_quietly(self) -> None:
        try:
            self.write()
        except AssayError:
            self._writes += 1  # a busy or full disk costs log entries, never searches
