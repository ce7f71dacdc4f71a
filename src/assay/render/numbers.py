"""How do people read a difference, an interval, a p-value, a time, and whether it is good news?"""

from __future__ import annotations

from assay.evaluation.scores import DECIMALS, rounded
from assay.stats.interval import Interval


def signed(value: float | None) -> str:
    """A difference as people read it."""
    return "—" if value is None else f"{rounded(value):+.{DECIMALS}f}"


def milliseconds(value: float | None, *, sign: bool = False) -> str:
    """A time, or with ``sign`` a difference of times."""
    return "—" if value is None else f"{value:{'+' if sign else ''}.1f} ms"


def seconds(milliseconds: float | None, *, sign: bool = False) -> str:
    """A time in seconds, to about three digits."""
    if milliseconds is None:
        return "—"
    value = milliseconds / 1000
    return f"{value:{'+' if sign else ''}.{3 if abs(value) < 1 else 2}f} s"


def milliseconds_between(interval: Interval) -> str:
    """An interval of a difference of times, or a dash."""
    if interval.low is None or interval.high is None:
        return "—"
    return f"[{interval.low:+.1f}, {interval.high:+.1f}] ms"


def tone(value: float | None) -> str:
    """Whether a difference is good or bad news."""
    rounded = 0.0 if value is None else round(value, 4)
    return "good" if rounded > 0 else "bad" if rounded < 0 else ""


def between(interval: Interval, *, signed: bool = False) -> str:
    """An interval in brackets, or a dash."""
    if interval.low is None or interval.high is None:
        return "—"
    form = f"{'+' if signed else ''}.{DECIMALS}f"
    return f"[{rounded(interval.low):{form}}, {rounded(interval.high):{form}}]"


def p_value(p: float | None) -> str:
    """Four decimals, but never zero."""
    return "—" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}"
