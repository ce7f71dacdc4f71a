"""Small helpers for tests of one measure on one query."""

from __future__ import annotations

import assay


def value(measure: str, grades: dict[str, int], ranking: list[str]) -> float | None:
    """The measure of one ranking, best first."""
    return assay.score({"q": grades}, {"q": ranking}, measure).value("q", measure)


def reason(measure: str, grades: dict[str, int], ranking: list[str]) -> str | None:
    """Why the measure is undefined."""
    return assay.score({"q": grades}, {"q": ranking}, measure).aggregate(measure).reason
