"""How does a test set get its next version?

A proposal is made first and can be looked at: which queries go and why, which come, what the
annotators' agreement is. Carrying it out writes one new file; the old one is never touched, and the
round is closed. While kappa does not exceed 0.6, nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.annotation.adjudicate import Settled
from assay.annotation.agreement import Agreement, kappa_dict
from assay.annotation.draw import DEFAULT_SEED
from assay.annotation.effect import Effect, effect, query_values
from assay.annotation.retire import Evidence, Retirement, entered, retire
from assay.annotation.swap import filled, plan, ready_queries, swapped
from assay.app.desk import desk
from assay.app.workspace import Workspace
from assay.errors import AgreementError, ConflictError, UsageError
from assay.evaluation.stored_run import StoredRun
from assay.model.annotation import Decision, Item, Purpose, Round
from assay.model.moments import now
from assay.model.run_store import RunFilter
from assay.model.runs import RunStatus
from assay.model.testset import TestSet
from assay.plural import counted
from assay.testsets.save import save_test_set

DEFAULT_REPLACE = 20
SEEN_RUNS = 20


@dataclass(frozen=True, slots=True)
class Proposal:
    """The next version before it is written."""

    parent: TestSet
    test_set: TestSet
    held: Round
    agreement: Agreement
    retired: tuple[Retirement, ...]
    added: tuple[str, ...]
    left_out: Mapping[str, str]
    effect: Effect


def propose(
    workspace: Workspace,
    parent: TestSet,
    *,
    round_id: str = "latest",
    replace: int = DEFAULT_REPLACE,
    seed: int = DEFAULT_SEED,
) -> Proposal:
    """What the next version would be; refused while the annotators do not agree."""
    at = desk(workspace.annotations, round_id)
    held = at.held
    _check_parent(held, parent)
    found = at.agreement()
    if not found.both:
        raise AgreementError(
            f"{held.round_id}: 0 of {counted(found.items, 'passage')} judged by both annotators; "
            f"{parent.name} is not refreshed",
            hint="; ".join(
                f"assay annotate --as {one.name}"
                for one in found.annotators
                if one.done < one.total
            ),
        )
    if not found.enough:
        raise AgreementError(
            f"{held.round_id}: {found.verdict}; {parent.name} is not refreshed",
            hint="talk the differences over and grade again: assay testset agreement",
        )
    settled = at.settled()
    provenance = _provenance(held, found, settled, at.decisions(), seed)
    runs = stored_runs(workspace, parent)
    if held.purpose is Purpose.HOLES:
        made = _filled(parent, at.items, settled, provenance)
        return Proposal(parent, made, held, found, (), (), {}, effect(parent, made, runs))
    ready = ready_queries(at.queries, at.items, settled)
    planned = plan(parent, ready.queries, replace)
    evidence = Evidence(query_values(runs, parent.evaluation_queries), entered(parent))
    gone = retire(parent, planned.counts, evidence, seed=seed)
    made = swapped(parent, gone, planned.added, provenance, seed=seed)
    return Proposal(
        parent,
        made,
        held,
        found,
        gone,
        tuple(query.query_id for query in planned.added),
        _unused(ready.left_out, [q.query_id for q in ready.queries], made),
        effect(parent, made, runs),
    )


def carry_out(workspace: Workspace, proposal: Proposal, path: Path | None = None) -> Path:
    """Write the next version and close the round; a file that is there stays as it is."""
    made = proposal.test_set
    target = path or workspace.home / "testsets" / f"{made.name}.yaml"
    if target.exists():
        raise ConflictError(f"{target} is there already", hint="--output names another file")
    save_test_set(made, target)
    if proposal.held.closed_at is None:
        workspace.annotations.close_round(proposal.held.round_id)
    return target


def stored_runs(workspace: Workspace, test_set: TestSet) -> list[StoredRun]:
    """The newest complete runs of a set."""
    chosen = RunFilter(suite=test_set.name, status=RunStatus.COMPLETE)
    page = workspace.runs.runs(chosen, limit=SEEN_RUNS)
    return [workspace.stored_run(info.run_id) for info in page.runs]


def _check_parent(held: Round, parent: TestSet) -> None:
    if (held.test_set, held.version) != (parent.name, parent.version):
        raise UsageError(
            f"the round {held.round_id} is for {held.test_set} {held.version}, "
            f"not for {parent.name} {parent.version}",
            hint="assay testset rounds lists the rounds; --round names one",
        )
    if held.checksum != parent.checksum:
        raise ConflictError(
            f"{parent.name} was changed since the round {held.round_id} began",
            hint="put the file back as it was, or open a new round",
        )


def _filled(
    parent: TestSet, items: Sequence[Item], settled: Settled, provenance: Mapping[str, Any]
) -> TestSet:
    if settled.open:
        raise UsageError(
            f"{counted(len(settled.open), 'passage', 'waits')} for a grade or a decision",
            hint="assay testset adjudicate --rule mean-down --as NAME, "
            "or a third person: assay annotate --as THIRD --adjudicate",
        )
    return filled(parent, items, settled, provenance)


def _provenance(
    held: Round,
    found: Agreement,
    settled: Settled,
    decisions: Sequence[Decision],
    seed: int,
) -> dict[str, Any]:
    ways = Counter(f"rule {one.rule}" if one.rule else f"person {one.by}" for one in decisions)
    return {
        "refreshed_at": now()[:10],
        "round": held.round_id,
        "purpose": held.purpose.value,
        "source": dict(held.source),
        "judges": list(held.annotators),
        "kappa": kappa_dict(found.plain, found.plain_interval),
        "kappa_quadratic": kappa_dict(found.quadratic, found.quadratic_interval),
        "agreement": round(found.plain.agreement or 0.0, 4),
        "passages": found.items,
        "adjudicated": dict(sorted(ways.items())),
        "without_grade": len(settled.without),
        "seed": seed,
    }


def _unused(left_out: Mapping[str, str], ready: Sequence[str], made: TestSet) -> dict[str, str]:
    spare = {name: "spare: its type has no more places" for name in ready if name not in made.by_id}
    return {**left_out, **spare}
