"""How is a run called that nobody gave an id, and which ids were made up so?

An id that a caller gave is exact. Only one that was made up may be shortened to its beginning.
"""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime

_MADE_UP = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}|evaluation_[0-9a-f]{16}(_[a-z_]+)?")


def new_run_id() -> str:
    """An id that sorts by time and is not used elsewhere."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def new_job_id(kind: str) -> str:
    """An id for a job that was not given one; a run that it makes is called so, too."""
    return f"{kind}_{secrets.token_hex(8)}"


def is_made_up(run_id: str) -> bool:
    """Whether nobody chose this id."""
    return _MADE_UP.fullmatch(run_id) is not None
