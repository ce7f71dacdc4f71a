"""What did a run give, and is it what was expected?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.evaluation.scores import Scores
from reproduce.experiment import Run


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures of one run to 4 decimals, and milliseconds a query."""

    run: Run
    found: Mapping[str, float]
    milliseconds: float

    @classmethod
    def of(cls, run: Run, scores: Scores, milliseconds: float) -> Outcome:
        """What ``assay.score`` says of a run."""
        found = {measure: round(scores[measure] or 0.0, 4) for measure in run.expected}
        return cls(run, found, milliseconds)

    def report(self) -> int:
        """Print every figure beside the expected one; returns how many differ."""
        differences = 0
        print(f"  {self.run.name} ({self.milliseconds:.1f} ms a query)")
        for measure, value in self.run.expected.items():
            found = self.found[measure]
            same = found == round(value, 4)
            differences += not same
            print(f"    {measure}: {found:.4f}" + ("" if same else f"  # expected {value:.4f}"))
        return differences
