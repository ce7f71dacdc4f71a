"""Which measures, how sure, and intervals drawn how? What a request leaves open, the settings say.

Every request that computes intervals or tests has some of these options; this is the one place
where they meet the settings, for commands, HTTP, pages and Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from assay.model.sampling import Sampling
from assay.options import options_of, read_options
from assay.settings import SETTINGS, Settings, overriding

Measures: TypeAlias = str | Sequence[str]
"""Measures as text, or several such texts; empty stands for the usual ones."""
SAMPLING = ("confidence", "resamples", "seed", "ci_method")
"""The settings that say how intervals are drawn."""


def as_set(name: str) -> Any:
    """A field that is None where the setting of the same name decides."""
    return field(default=None, metadata={"option": overriding(SETTINGS[name])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How intervals are drawn and differences tested; None leaves it to the settings."""

    alpha: float | None = as_set("alpha")
    margin: float | None = as_set("margin")
    confidence: float | None = as_set("confidence")
    resamples: int | None = as_set("resamples")
    seed: int | None = as_set("seed")
    ci_method: Literal["bca", "percentile"] | None = as_set("ci_method")

    def __post_init__(self) -> None:
        for rule in STATISTICS_OPTIONS.values():
            object.__setattr__(self, rule.name, rule.accept(getattr(self, rule.name)))

    def applied_to(self, settings: Settings) -> Settings:
        """The settings with what is given here instead."""
        chosen = {name: getattr(self, name) for name in STATISTICS_OPTIONS}
        given = {name: value for name, value in chosen.items() if value is not None}
        return replace(settings, **given) if given else settings

    def drawn_as(self, sampling: Sampling) -> Sampling:
        """How intervals are drawn, with what is given here instead."""
        return Sampling(
            self.ci_method or sampling.method,
            sampling.level if self.confidence is None else self.confidence,
            sampling.resamples if self.resamples is None else self.resamples,
            sampling.seed if self.seed is None else self.seed,
        )


STATISTICS_OPTIONS = options_of(Statistics)
USUAL = Statistics()


def read_statistics(given: Mapping[str, str]) -> Statistics:
    """The statistics that people wrote on a command line."""
    return Statistics(**read_options(STATISTICS_OPTIONS, given))


def as_text(measures: Measures) -> str:
    """Measures as one text."""
    return measures if isinstance(measures, str) else " ".join(measures)
