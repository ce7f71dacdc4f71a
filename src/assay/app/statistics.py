"""Which measures, how sure, and intervals drawn how? What a request leaves open, the settings say.

Every request that computes intervals or tests holds a ``Statistics``; this is the one place where
it meets the settings, for commands, HTTP, pages and Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from assay.errors import UsageError
from assay.settings import SETTINGS, Settings

Measures: TypeAlias = str | Sequence[str]
"""Measures as text, or several such texts; empty stands for the usual ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How intervals are drawn and differences tested; None leaves it to the settings."""

    alpha: float | None = None
    margin: float | None = None
    confidence: float | None = None
    resamples: int | None = None
    seed: int | None = None
    ci_method: Literal["bca", "percentile"] | None = None

    def applied_to(self, settings: Settings) -> Settings:
        """The settings with what is given here instead; a value that cannot be is refused."""
        given: dict[str, Any] = {
            one.name: _checked(one.name, value)
            for one in fields(self)
            if (value := getattr(self, one.name)) is not None
        }
        return replace(settings, **given) if given else settings


USUAL = Statistics()


def as_text(measures: Measures) -> str:
    """Measures as one text."""
    return measures if isinstance(measures, str) else " ".join(measures)


def _checked(name: str, value: object) -> object:
    kind = SETTINGS[name].kind
    try:
        return kind.accept(value)
    except ValueError:
        raise UsageError(f"{name} is {value!r:.40}, and must be {kind.form}") from None
