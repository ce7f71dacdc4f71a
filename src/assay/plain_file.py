"""What stands in a file that somebody named, as far as it may be read?"""

from __future__ import annotations

import stat
from pathlib import Path

from assay.errors import LimitError, MissingFileError


def read_plain(path: Path, most_bytes: int, *, hint: str | None = None) -> bytes:
    """All of a regular file: a pipe might never begin, and a device might never end."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise MissingFileError(f"{path} is not a regular file", hint=hint)
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise MissingFileError(f"cannot read {str(path)!r:.200}: {reason}", hint=hint) from None
    if len(data) > most_bytes:
        raise LimitError(
            f"{path} is larger than {most_bytes:,} bytes",
            hint="the caps are listed by: assay config limits",
        )
    return data
