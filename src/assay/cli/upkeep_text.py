"""How do held-out looks, overfitting checks and re-anchored judgments read in a terminal?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.annotation.overfit import Fit, Overfitting
from assay.annotation.reanchor import Anchor
from assay.app.reanchor import Carried
from assay.cli.console import emit_columns, emit_text, note
from assay.model.run_store import HeldOutUse
from assay.model.testset import TestSet
from assay.plural import counted
from assay.stats.paired import PairedT

SENTENCES = {
    Fit.NO_GAIN: "the evaluation queries did not improve: there is nothing to hold against them",
    Fit.GENERAL: "the held-out queries improved, too",
    Fit.POSSIBLE: "ALARM: the evaluation queries improved and the held-out ones did not; it may be"
    " chance",
    Fit.LIKELY: "ALARM: the evaluation queries improved, the held-out ones did not or by less, and"
    " chance does not explain it: the system is probably fitted to the questions",
}


def uses_json(test_set: TestSet, looks: Sequence[HeldOutUse]) -> dict[str, Any]:
    """Every look, without the queries."""
    return {
        "name": test_set.name,
        "held_out": len(test_set.held_out_ids),
        "looks": len(looks),
        "uses": [
            {"at": one.at, "version": one.version, "run_id": one.run_id, "purpose": one.purpose}
            for one in looks
        ],
    }


def print_uses(test_set: TestSet, looks: Sequence[HeldOutUse]) -> None:
    """How often, when and what for."""
    emit_text(f"{test_set.name}: {counted(len(test_set.held_out_ids), 'query', 'is')} held out")
    if not looks:
        emit_text("nobody has looked at them here")
        return
    emit_text(f"looked at {counted(len(looks), 'time')}; each look makes them less of a surprise")
    emit_columns([(one.at, one.version, one.purpose, one.run_id) for one in looks])


def print_overfitting(found: Overfitting) -> None:
    """The verdict first, then the figures behind it."""
    emit_text(SENTENCES[found.fit])
    header = (found.measure, "queries", "gain", "95% CI", "p")
    rows = [("evaluation", *_gain(found.evaluation)), ("held out", *_gain(found.held_out))]
    emit_columns([header, *rows])
    low, high = found.gap_interval.low, found.gap_interval.high
    between = "" if low is None or high is None else f", 95% CI [{low:+.4f}, {high:+.4f}]"
    if found.gap is not None:
        emit_text(f"gap between the gains {found.gap:+.4f}{between}")
    for text in found.notes:
        note(f"note: {text}")


def _gain(side: PairedT) -> tuple[str, str, str, str]:
    low, high = side.interval.low, side.interval.high
    return (
        str(side.n),
        "—" if side.difference is None else f"{side.difference:+.4f}",
        "—" if low is None or high is None else f"[{low:+.4f}, {high:+.4f}]",
        "—" if side.p is None else f"{side.p:.4f}",
    )


def carried_json(found: Carried, target: Path | None) -> dict[str, Any]:
    """Every judgment that did not stay where it was."""
    return {
        "written": None if target is None else str(target),
        "name": found.test_set.name,
        "version": found.test_set.version,
        "checksum": found.test_set.checksum,
        "chunkers": list(found.chunkers),
        "counts": found.counts,
        "unanswered": list(found.found.unanswered),
        "review": [
            {
                "query_id": one.query_id,
                "before": one.before,
                "after": list(one.after),
                "grade": one.grade,
                "fate": one.fate.value,
                "why": one.why,
            }
            for one in found.found.review
        ],
    }


def anchor_text(one: Anchor) -> str:
    """One judgment: from where to where, and why."""
    goal = ", ".join(one.after) or "nowhere"
    return f"{one.before} -> {goal} (grade {one.grade})" + (f": {one.why}" if one.why else "")
