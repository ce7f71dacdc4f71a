"""What does the service log?

One JSON object per line on stderr, or ``key=value`` (the setting log_format). Values are escaped,
so that nothing a client sends can forge a line; the text of queries is never logged. A thread does
the writing: a slow or absent reader of the log holds up nobody, and lines for which there is no
room are counted.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from typing import TYPE_CHECKING, TextIO

from assay import limits

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


class LogWriter:
    """A stream that never makes its writer wait."""

    def __init__(self, stream: TextIO, size: int = limits.MAX_LOG_LINES) -> None:
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(size)
        self._dropped = 0
        self._thread = threading.Thread(target=self._work, name="log", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Have a line written soon; if too many are waiting, it is only counted."""
        try:
            self._lines.put_nowait(text)
        except queue.Full:
            self._dropped += 1

    def flush(self) -> None:
        """Lines are flushed as they are written."""

    def close(self, seconds: float = 2.0) -> None:
        """Wait a while for pending lines, and end the thread."""
        until = time.monotonic() + seconds
        try:
            self._lines.put(None, timeout=seconds)
        except queue.Full:
            return  # nobody reads; the thread ends with the process
        self._thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while (text := self._lines.get()) is not None:
            try:
                if self._dropped and not self._lines.full():
                    lost = self._dropped
                    self._stream.write(json.dumps({"event": "lines lost", "lines": lost}) + "\n")
                    self._dropped -= lost
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):  # nobody reads, or the stream is closed
                self._dropped += 1


def service_log(
    stream: TextIO | LogWriter | None = None, *, level: str = "info", form: str = "json"
) -> FilteringBoundLogger:
    """A logger that leaves the settings of other loggers in this process alone."""
    import structlog

    text = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    return structlog.wrap_logger(  # type: ignore[no-any-return]
        structlog.WriteLogger(stream or sys.stderr),  # type: ignore[arg-type]
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer() if form == "json" else text,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
