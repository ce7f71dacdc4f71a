"""What is a measure, by a few grades of people and a judge's opinions of all?

One value for each item (an answer, a query) by people and by the judge is all that it takes
(``stats/prediction_powered.py``); this is how such a figure reads beside those by either alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.evaluation.scores import ends, rounded, shown
from assay.plural import counted, plural
from assay.stats.interval import Interval
from assay.stats.prediction_powered import PredictionPowered


@dataclass(frozen=True, slots=True)
class Joint:
    """A measure by people and judge; ``item`` is what has one value, as in "answer"."""

    measure: str
    item: str
    found: PredictionPowered
    people: str = "people"

    @property
    def lines(self) -> tuple[str, ...]:
        """The joint figure, and those by either alone."""
        found = self.found
        if found.mean is None:
            return (f"{self.measure} by {self.people} and judge: {found.reason}",)
        level = f"{found.interval.level:.0%}"
        saved = f"; {found.saved} graded {plural(self.item)} saved" if found.saved else ""
        return (
            f"{self.measure} by {self.people} and judge {shown(found.mean)}, {level} CI "
            f"{_between(found.interval)}{saved}",
            f"by {self.people} alone {shown(found.labelled)} {_between(found.labelled_interval)} "
            f"({counted(found.n, self.item)}); by the judge alone {shown(found.predicted)}, off by "
            f"{shown(found.bias)}",
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        found = self.found
        return {
            "measure": self.measure,
            "value": rounded(found.mean),
            "ci": ends(found.interval),
            "people_alone": rounded(found.labelled),
            "people_alone_ci": ends(found.labelled_interval),
            "judge_alone": rounded(found.predicted),
            "bias": rounded(found.bias),
            f"graded_{plural(self.item)}": found.n,
            f"other_{plural(self.item)}": found.unlabelled,
            "grades_saved": found.saved,
            "reason": found.reason or found.interval.reason,
        }


def _between(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "—"
    return f"[{interval.low:.4f}, {interval.high:.4f}]"
