"""How do measures of yes/no decisions read?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.scores import shown
from assay.render.scores import between
from assay.render.tables import Table

if TYPE_CHECKING:
    from assay.evaluation.decisions import Decisions


def decision_table(decisions: Decisions, name: str) -> Table:
    """Measure by measure: value and interval; DeLong's interval of the AUROC in the notes."""
    level = f"{decisions.sampling.level:.0%}"
    notes = [
        f"{measure} is undefined: {outcome.reason}"
        for measure, outcome in decisions.outcomes.items()
        if outcome.value is None
    ]
    if decisions.delong.interval.defined:
        notes.insert(0, f"AUROC by DeLong: {level} CI {between(decisions.delong.interval)}")
    return Table(
        ("measure", "value", f"{level} CI"),
        tuple(
            (str(measure), shown(outcome.value), between(decisions.intervals[measure]))
            for measure, outcome in decisions.outcomes.items()
        ),
        title=f"{name}: {decisions.positives} of {decisions.n} positive",
        notes=tuple(notes),
    )
