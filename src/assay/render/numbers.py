"""How do people read a difference, a time, and whether it is good news?"""

from __future__ import annotations


def signed(value: float | None) -> str:
    """A difference as people read it."""
    return "—" if value is None else f"{round(value, 4) + 0.0:+.4f}"


def milliseconds(value: float | None, *, sign: bool = False) -> str:
    """A time, or with ``sign`` a difference of times."""
    return "—" if value is None else f"{value:{'+' if sign else ''}.1f} ms"


def tone(value: float | None) -> str:
    """Whether a difference is good or bad news."""
    rounded = 0.0 if value is None else round(value, 4)
    return "good" if rounded > 0 else "bad" if rounded < 0 else ""
