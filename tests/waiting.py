"""How does a test wait for what another thread or process does?"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 60.0  # the machine may be busy with something else


def eventually(happened: Callable[[], object]) -> None:
    """Return as soon as it is true, and fail where it does not become true."""
    until = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < until, f"this did not happen within {PATIENCE_S:g} s"
        time.sleep(0.005)
