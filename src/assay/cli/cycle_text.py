"""How do samples, pools, agreement and proposals read in a terminal?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from assay.annotation.agreement import Agreement
from assay.annotation.draw import Sample
from assay.annotation.effect import PARTS, Effect
from assay.annotation.sample_file import sample_row
from assay.app.desk import Desk
from assay.app.pools import Pool
from assay.app.refresh import Proposal
from assay.cli.console import emit_columns, emit_text, note
from assay.evaluation.scores import rounded
from assay.model.annotation import Round
from assay.plural import counted
from assay.stats.interval import Interval
from assay.stats.kappa import Kappa

SHOWN = 10
PREVIEW = 80


def sample_json(found: Sample) -> dict[str, Any]:
    """A sample with everything that was left out."""
    return {
        "strategy": found.strategy.value,
        "seed": found.seed,
        "candidates": found.candidates,
        "wanted": {kind.value: count for kind, count in found.wanted.items()},
        "missing": {kind.value: count for kind, count in found.missing.items()},
        "queries": [sample_row(query, found) for query in found.queries],
        "left_out": [
            {"query_text": one.query_text, "reason": one.reason} for one in found.left_out
        ],
    }


def print_sample(found: Sample) -> None:
    """The queries, then what a reader should know."""
    header = ("id", "type", "asked", "query")
    rows = [
        (one.query_id, str(one.query_type), str(one.candidate.times), _short(one.query_text))
        for one in found.queries
    ]
    emit_columns([header, *rows])
    note(
        f"note: {len(found.queries)} of {found.candidates} wordings, by {found.strategy}, "
        f"seed {found.seed}; {len(found.left_out)} left out"
    )
    for one in found.left_out[:SHOWN]:
        note(f"note:   {_short(one.query_text)}: {one.reason}")
    masked = [one.query_id for one in found.queries if one.scrubbed]
    if masked:
        note(f"note: identifiers were taken out of {', '.join(masked)}: read them before use")
    for kind, count in found.missing.items():
        note(f"warning: {counted(count, f'more {kind} query', 'was')} wanted and not found")


def pool_json(found: Pool, held: Round | None) -> dict[str, Any]:
    """The pool without its texts."""
    return {
        "round_id": None if held is None else held.round_id,
        "annotators": None if held is None else list(held.annotators),
        "depth": found.depth,
        "lists": list(found.lists),
        "passages": len(found.items),
        "judged_at_10": {name: rounded(value) for name, value in found.judged.items()},
        "items": [
            {"query_id": one.query_id, "chunk_id": one.chunk_id, "found_by": dict(one.found_by)}
            for one in found.items
        ],
    }


def print_pool(found: Pool, held: Round | None, *, new: bool) -> None:
    """What there is to judge."""
    queries = len({item.query_id for item in found.items})
    what = "to judge" if new else "that nobody has judged"
    passages = counted(len(found.items), "passage")
    emit_text(f"{passages} {what}, for {counted(queries, 'query')}, {found.depth} deep")
    if not new:
        emit_columns([("list", "Judged@10"), *((n, _value(v)) for n, v in found.judged.items())])
    if held is None:
        note("note: --annotators ANN,BOB opens a round for two people to judge them")
        return
    emit_text(f"opened the round {held.round_id}")
    for person in held.annotators:
        emit_text(f"  assay annotate --as {person} --round {held.round_id}")


def round_json(at: Desk) -> dict[str, Any]:
    """A round and how far it is."""
    held = at.held
    found = at.agreement()
    return {
        "round_id": held.round_id,
        "purpose": held.purpose.value,
        "test_set": held.test_set,
        "version": held.version,
        "created_at": held.created_at,
        "closed_at": held.closed_at,
        "passages": found.items,
        "annotators": {one.name: one.done for one in found.annotators},
        "kappa": rounded(found.plain.value),
        "open": at.open_items(),
    }


def print_rounds(rows: list[dict[str, Any]]) -> None:
    """One line a round."""
    header = ("round", "for", "purpose", "passages", "judged", "kappa", "open", "state")
    cells = [
        (
            row["round_id"],
            row["test_set"],
            row["purpose"],
            str(row["passages"]),
            ", ".join(f"{name} {done}" for name, done in row["annotators"].items()),
            _value(row["kappa"]),
            str(row["open"]),
            "closed" if row["closed_at"] else "open",
        )
        for row in rows
    ]
    emit_columns([header, *cells])


def print_agreement(found: Agreement, waiting: int) -> None:
    """Kappa first, then the table behind it, then who and where."""
    emit_text(f"{found.round_id}: {found.verdict}")
    rows = [("measure", "value", "95% CI", "passages")]
    for label, kappa, interval in (
        ("kappa", found.plain, found.plain_interval),
        ("kappa, quadratic weights", found.quadratic, found.quadratic_interval),
    ):
        rows.append((label, _value(kappa.value), _between(kappa, interval), str(kappa.n)))
    rows.append(("raw agreement", _value(found.plain.agreement), "", str(found.plain.n)))
    emit_columns(rows)
    first, second = found.annotators
    emit_text(f"\n{first.name} (rows) against {second.name} (columns)")
    grades = [str(grade) for grade in found.plain.categories]
    table = [("grade", *grades)]
    table += [
        (grade, *map(str, row)) for grade, row in zip(grades, found.plain.confusion, strict=True)
    ]
    emit_columns(table)
    emit_text("")
    for one in found.annotators:
        spread = ", ".join(f"{count} of grade {grade}" for grade, count in one.by_grade.items())
        emit_text(
            f"{one.name}: {one.done} of {one.total} judged, {one.cannot_judge} cannot be judged; "
            f"{spread}; mean {_value(one.mean)}"
        )
    _print_worst(found)
    if waiting:
        note(
            f"note: {counted(waiting, 'passage', 'waits')} for a grade or a decision: "
            "assay annotate --as THIRD --adjudicate, "
            "or assay testset adjudicate --rule mean-down --as NAME"
        )


def _print_worst(found: Agreement) -> None:
    if not found.differences:
        return
    counts = Counter(one.query_id for one in found.differences)
    emit_text(f"\n{len(found.differences)} differences; the queries with most of them")
    shares = {one.query_id: one.agreement for one in found.queries}
    worst = sorted(counts, key=lambda name: (-counts[name], name))[:SHOWN]
    emit_columns([(f"  {name}", str(counts[name]), _value(shares[name])) for name in worst])


def proposal_json(found: Proposal, target: Path | None) -> dict[str, Any]:
    """What changes from one version to the next."""
    return {
        "written": None if target is None else str(target),
        "parent": {"name": found.parent.name, "version": found.parent.version},
        "name": found.test_set.name,
        "version": found.test_set.version,
        "checksum": found.test_set.checksum,
        "round_id": found.held.round_id,
        "kappa": rounded(found.agreement.plain.value),
        "retired": [
            {
                "query_id": one.query_id,
                "query_type": one.stratum[0],
                "held_out": one.stratum[1],
                "reasons": list(one.reasons),
            }
            for one in found.retired
        ],
        "added": list(found.added),
        "left_out": dict(found.left_out),
        "effect": found.effect.to_dict(),
        "provenance": dict(found.test_set.provenance),
    }


def print_proposal(found: Proposal, target: Path | None) -> None:
    """Who goes, who comes, and what that does to stored runs."""
    made = found.test_set
    emit_text(f"{found.parent.name} -> {made.name}; {found.agreement.verdict}")
    held = made.held_out_ids
    rows = [
        (f"- {one.query_id}", one.stratum[0], "held out" if one.stratum[1] else "", _why(one))
        for one in found.retired
    ]
    rows += [
        (
            f"+ {name}",
            str(made.by_id[name].query_type or ""),
            "held out" if name in held else "",
            _short(made.by_id[name].query_text),
        )
        for name in found.added
    ]
    if rows:
        emit_columns(rows)
    for name, reason in found.left_out.items():
        note(f"note: {name} does not come in: {reason}")
    _print_effect(found.effect)
    if target is None:
        note("note: nothing was written")
    else:
        emit_text(f"wrote {target}")


def _print_effect(found: Effect) -> None:
    if not found.runs:
        note("note: no stored run of the old version to compare with")
        return
    emit_text(f"\n{found.measure} of stored runs, without held-out queries")
    header = ("run", *(f"{part} ({found.sizes[part]})" for part in PARTS))
    rows = [
        (one.name or one.run_id, *(_value(one.values[part]) for part in PARTS))
        for one in found.runs
    ]
    emit_columns([header, *rows])
    if any(one.values["after"] is None for one in found.runs):
        note("note: no run has the new queries yet: assay eval run makes one")
    elif found.pairs:
        emit_text(f"{found.swapped} of {found.pairs} pairs of runs change places")


def _why(one: Any) -> str:
    return "; ".join(one.reasons) or "drawn"


def _between(kappa: Kappa, interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return kappa.reason or interval.reason or "—"
    return f"[{interval.low:.4f}, {interval.high:.4f}]"


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def _short(text: str) -> str:
    return text if len(text) <= PREVIEW else f"{text[: PREVIEW - 3]}..."
