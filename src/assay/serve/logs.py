"""What does the service write down about what it does?

One JSON object a line on stderr. Values are escaped, so that nothing a client sends can forge a
line; the words of queries never stand here.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


def service_log(stream: TextIO | None = None) -> FilteringBoundLogger:
    """A logger of its own, which leaves the settings of other loggers in this process alone."""
    import structlog

    return structlog.wrap_logger(  # type: ignore[no-any-return]
        structlog.WriteLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
