"""How does a request name measures, intervals and tests?

The names are the same in every body and address. ``measures`` is a list of texts or one text, and
each text may name several measures. The settings say what is not given.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query
from pydantic import BeforeValidator, Field

from assay import limits
from assay.app.statistics import Statistics
from assay.errors import InputError
from assay.http.wire.base import Whole, Wire

MOST_RESAMPLES = 20_000
MOST_OF_JOB = 3_000_000_000
"""Queries times measures times resamples of an evaluation, which nobody waits for."""
MOST_SECONDS = 20.0
"""What one request may take of a core, as estimated before."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


MeasureText = Annotated[str, Field(min_length=1, max_length=500, examples=["nDCG@10"])]
Measures = Annotated[
    list[MeasureText],
    Field(min_length=1, max_length=limits.MAX_MEASURES),
    BeforeValidator(_listed, json_schema_input_type=list[MeasureText] | MeasureText),
]
CiMethod = Literal["bca", "percentile"]
Alpha = Annotated[float, Field(gt=0, lt=1, description="Level of the tests.", examples=[0.05])]
Margin = Annotated[float, Field(ge=0, le=1, description="Smaller differences do not matter.")]
Level = Annotated[float, Field(gt=0, lt=1, description="Level of the intervals.")]
Resamples = Annotated[
    int, Field(ge=1, le=MOST_RESAMPLES, description="Resamples of the bootstrap.")
]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1, description="Seed of every random choice.")]


class SamplingRequest(Wire):
    """How intervals are drawn."""

    confidence: Level | None = None
    resamples: Resamples | None = None
    seed: Seed | None = None
    ci_method: CiMethod | None = None


class StatisticsRequest(SamplingRequest):
    """How intervals are drawn and differences tested."""

    alpha: Alpha | None = None
    margin: Margin | None = None


def check_drawn(rows: int, resamples: int, most: int = MOST_OF_JOB) -> None:
    """Refuse to draw what would take minutes."""
    if rows * resamples > most:
        raise InputError(
            f"{rows:,} rows times {resamples:,} resamples take too long",
            hint="ask for fewer resamples",
        )


def check_cost(seconds: float) -> float:
    """The seconds of a core that a request is estimated to take, where it may."""
    if seconds > MOST_SECONDS:
        raise too_costly(seconds)
    return seconds


def too_costly(seconds: float) -> InputError:
    """What is said of a request that takes too long, as estimated or as it turned out."""
    return InputError(
        f"this would take about {seconds:,.0f} s, and a request may take {MOST_SECONDS:.0f} s",
        hint="ask for fewer resamples, measures or runs, or compare: false",
    )


MeasureList = Annotated[list[MeasureText], Field(max_length=50)]


async def _measures(
    measure: Annotated[MeasureList, Query(description="May be repeated.")] = [],  # noqa: B006 - the framework copies it
    measures: Annotated[MeasureList, Query(description="As measure.")] = [],  # noqa: B006
) -> tuple[str, ...]:
    return (*measure, *measures)


async def _sampling(
    confidence: Annotated[
        float | None, Query(gt=0, lt=1, description="Level of the intervals.")
    ] = None,
    resamples: Annotated[
        int | None, Whole, Query(ge=1, le=MOST_RESAMPLES, description="Resamples of the bootstrap.")
    ] = None,
    seed: Annotated[
        int | None, Whole, Query(ge=0, le=2**63 - 1, description="Seed of every random choice.")
    ] = None,
    ci_method: Annotated[CiMethod | None, Query(description="How intervals are computed.")] = None,
) -> Statistics:
    return Statistics(confidence=confidence, resamples=resamples, seed=seed, ci_method=ci_method)


MeasureParameters = Annotated[tuple[str, ...], Depends(_measures)]
"""The parameters ``measure`` and ``measures`` of an address, joined."""
SamplingParameters = Annotated[Statistics, Depends(_sampling)]
"""``SamplingRequest`` as parameters of an address."""
