"""How does a test set get its next version: with new queries, or on new chunks?

A refresh is proposed first and can be looked at: which queries go and why, which come, how far the
annotators agree. Carrying it out writes one new file and closes the round. While kappa does not
exceed 0.6, nothing is written. Re-anchoring carries judgments to the chunks that a workspace has
now. Either way, the old file is never touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.annotation.adjudicate import Settled
from assay.annotation.agreement import Agreement, kappa_dict
from assay.annotation.draw import DEFAULT_SEED
from assay.annotation.effect import Effect, effect, query_values
from assay.annotation.reanchor import Fate, NewChunk, Reanchored
from assay.annotation.reanchor import reanchor as anchored
from assay.annotation.retire import Evidence, Retirement, entered, retire
from assay.annotation.swap import filled, most_replaced, plan, ready_queries, swapped
from assay.app.annotation import Desk, open_desk
from assay.app.testsets import save_new
from assay.app.workspace import Workspace
from assay.errors import AgreementError, ConflictError, InputError, UsageError
from assay.evaluation.scores import rounded
from assay.evaluation.stored_run import StoredRun
from assay.model.annotation import Item, Purpose, Round
from assay.model.document import ChunkPlace
from assay.model.moments import now
from assay.model.ranking import document_id
from assay.model.run_store import RunFilter
from assay.model.runs import RunStatus
from assay.model.testset import TestSet
from assay.plural import counted

DEFAULT_REPLACE = 20
SEEN_RUNS = 20


@dataclass(frozen=True, slots=True)
class Proposal:
    """The next version before it is written; ``left_out`` says why a query does not come in."""

    parent: TestSet
    test_set: TestSet
    round: Round
    agreement: Agreement
    retired: tuple[Retirement, ...]
    added: tuple[str, ...]
    left_out: Mapping[str, str]
    effect: Effect

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: what changes from one version to the next."""
        return {
            "parent": {"name": self.parent.name, "version": self.parent.version},
            "name": self.test_set.name,
            "version": self.test_set.version,
            "checksum": self.test_set.checksum,
            "round_id": self.round.round_id,
            "kappa": rounded(self.agreement.plain.value),
            "retired": [
                {
                    "query_id": gone.query_id,
                    "query_type": gone.stratum[0],
                    "held_out": gone.stratum[1],
                    "reasons": list(gone.reasons),
                }
                for gone in self.retired
            ],
            "added": list(self.added),
            "left_out": dict(self.left_out),
            "effect": self.effect.to_dict(),
            "provenance": dict(self.test_set.provenance),
        }


def propose(
    workspace: Workspace,
    parent: TestSet,
    *,
    round_id: str = "latest",
    count: int | None = DEFAULT_REPLACE,
    seed: int = DEFAULT_SEED,
) -> Proposal:
    """What the next version would be if ``count`` queries were replaced.

    None replaces as many as the round can fill, up to twenty. Refused while the annotators do not
    agree.
    """
    desk = open_desk(workspace, round_id)
    about = desk.round
    _check_parent(about, parent)
    agreed = desk.agreement()
    _check_agreement(agreed, parent)
    settled = desk.settled()
    provenance = _provenance(desk, agreed, settled, seed)
    runs = stored_runs(workspace, parent)
    if about.purpose is Purpose.HOLES:
        made = _filled(parent, desk.items, settled, provenance)
        return Proposal(parent, made, about, agreed, (), (), {}, effect(parent, made, runs))
    ready = ready_queries(desk.queries, desk.items, settled)
    if count is None:
        count = most_replaced(parent, ready.queries, DEFAULT_REPLACE) or 1
    if settled.open and count > most_replaced(parent, ready.queries, count):
        desk.check_decided(f"{parent.name} is not refreshed")
    planned = plan(parent, ready.queries, count)
    evidence = Evidence(query_values(runs, parent.evaluation_queries), entered(parent))
    retired = retire(parent, planned.counts, evidence, seed=seed)
    made = swapped(parent, retired, planned.added, provenance, seed=seed)
    return Proposal(
        parent,
        made,
        about,
        agreed,
        retired,
        tuple(query.query_id for query in planned.added),
        _unused(ready.left_out, [query.query_id for query in ready.queries], made),
        effect(parent, made, runs),
    )


def carry_out(workspace: Workspace, proposal: Proposal, output: Path | None = None) -> Path:
    """Write the next version and close the round; a file that is there stays as it is."""
    target = save_new(workspace.layout, proposal.test_set, output)
    if proposal.round.closed_at is None:
        workspace.annotations.close_round(proposal.round.round_id)
    return target


def stored_runs(workspace: Workspace, test_set: TestSet) -> list[StoredRun]:
    """The newest complete runs of a set."""
    chosen = RunFilter(suite=test_set.name, status=RunStatus.COMPLETE)
    page = workspace.runs.runs(chosen, limit=SEEN_RUNS)
    kept = (info.run_id for info in page.runs if not info.figures_only)
    return [workspace.stored_run(run_id) for run_id in kept]


def _check_parent(about: Round, parent: TestSet) -> None:
    if (about.test_set, about.version) != (parent.name, parent.version):
        raise UsageError(
            f"the round {about.round_id} is for {about.test_set} {about.version}, "
            f"not for {parent.name} {parent.version}",
            hint="assay testset rounds lists the rounds; --round names one",
        )
    if about.checksum != parent.checksum:
        raise ConflictError(
            f"{parent.name} was changed since the round {about.round_id} began",
            hint="restore the file, or open a new round",
        )


def _check_agreement(agreed: Agreement, parent: TestSet) -> None:
    if not agreed.both:
        raise AgreementError(
            f"{agreed.round_id}: 0 of {counted(agreed.items, 'passage')} judged by both "
            f"annotators; {parent.name} is not refreshed",
            hint="; ".join(
                f"assay annotate --as {person.name}"
                for person in agreed.annotators
                if person.done < person.total
            ),
        )
    if not agreed.enough:
        raise AgreementError(
            f"{agreed.round_id}: {agreed.verdict}; {parent.name} is not refreshed",
            hint="discuss the differences and grade again: assay testset agreement",
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


def _provenance(desk: Desk, agreed: Agreement, settled: Settled, seed: int) -> dict[str, Any]:
    about = desk.round
    ways = Counter(
        f"rule {decision.rule}" if decision.rule else f"person {decision.by}"
        for decision in desk.decisions()
    )
    return {
        "refreshed_at": now()[:10],
        "round": about.round_id,
        "purpose": about.purpose.value,
        "source": dict(about.source),
        "judges": list(about.annotators),
        "kappa": kappa_dict(agreed.plain, agreed.plain_interval),
        "kappa_quadratic": kappa_dict(agreed.quadratic, agreed.quadratic_interval),
        "agreement": round(agreed.plain.agreement or 0.0, 4),
        "passages": agreed.items,
        "adjudicated": dict(sorted(ways.items())),
        "without_grade": len(settled.without),
        "seed": seed,
    }


def _unused(left_out: Mapping[str, str], ready: Sequence[str], made: TestSet) -> dict[str, str]:
    spare = {name: "spare: its type has no more places" for name in ready if name not in made.by_id}
    return {**left_out, **spare}


# Judgments on new chunks


@dataclass(frozen=True, slots=True)
class Carried:
    """A set on the chunks of today, and what became of each judgment."""

    parent: TestSet
    test_set: TestSet
    anchors: Reanchored
    chunkers: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many judgments had which fate."""
        fates = Counter(anchor.fate for anchor in self.anchors.anchors)
        return {fate.value: fates[fate] for fate in Fate}

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: every judgment that did not stay where it was."""
        return {
            "name": self.test_set.name,
            "version": self.test_set.version,
            "checksum": self.test_set.checksum,
            "chunkers": list(self.chunkers),
            "counts": self.counts,
            "unanswered": list(self.anchors.unanswered),
            "review": [
                {
                    "query_id": anchor.query_id,
                    "before": anchor.before,
                    "after": list(anchor.after),
                    "grade": anchor.grade,
                    "fate": anchor.fate.value,
                    "why": anchor.why,
                }
                for anchor in self.anchors.review
            ],
        }


def reanchor(workspace: Workspace, test_set: TestSet) -> Carried:
    """Carry the judgments of a set to the chunks that this workspace has; nothing is written."""
    workspace.require()
    archive = _archive(workspace, test_set)
    chunks: dict[str, Sequence[NewChunk]] = {}
    chunkers: set[str] = set()
    for doc_id in sorted(_documents(test_set, archive)):
        stored = workspace.store.document(doc_id)
        if stored is not None:
            chunks[doc_id] = [NewChunk(chunk.chunk_id, chunk.spans) for chunk in stored.chunks]
            chunkers |= {chunk.chunker_version for chunk in stored.chunks}
    if not chunks:
        raise InputError(
            f"no judged document of {test_set.name} is in {workspace.home}",
            hint="ingest the corpus that it was judged on",
        )
    anchors = anchored(test_set, chunks, archive)
    made = _next_anchoring(anchors.test_set, test_set, chunkers)
    return Carried(test_set, made, anchors, tuple(sorted(chunkers)))


def save_reanchored(workspace: Workspace, carried: Carried, output: Path | None = None) -> Path:
    """Write the carried set, unless a query has lost all its answers."""
    if unanswered := carried.anchors.unanswered:
        raise InputError(
            f"{counted(len(unanswered), 'query', 'has')} no relevant passage left: "
            f"{', '.join(unanswered[:5])}",
            hint="judge them again, or retire them; --json lists every judgment",
        )
    return save_new(workspace.layout, carried.test_set, output)


def _documents(test_set: TestSet, archive: Mapping[str, ChunkPlace]) -> set[str]:
    """The documents that judged chunks belong to, or belonged to when they were cut."""
    judgments = [judgment for query in test_set.queries for judgment in query.relevant_docs]
    named = {judgment.owner for judgment in judgments if judgment.owner}
    return named | {
        place.doc_id
        if (place := archive.get(judgment.id))
        else judgment.owner or document_id(judgment.id)
        for judgment in judgments
    }


def _archive(workspace: Workspace, test_set: TestSet) -> dict[str, ChunkPlace]:
    """Where judged chunks without spans of their own stood when they were last cut otherwise."""
    bare = [
        judgment.id
        for query in test_set.queries
        for judgment in query.relevant_docs
        if not judgment.spans
    ]
    named = test_set.provenance.get("chunkers", ())
    versions = frozenset(map(str, named)) if isinstance(named, (list, tuple)) else frozenset()
    return workspace.archived(bare, versions) if bare and versions else {}


def _next_anchoring(changed: TestSet, parent: TestSet, chunkers: set[str]) -> TestSet:
    """The changed set under a name and version of its own, with its origin."""
    base, _, number = parent.version.partition("-r")
    version = f"{base}-r{int(number or 0) + 1}" if not number or number.isdigit() else f"{base}-r1"
    stem = parent.name.removesuffix(parent.version).rstrip("_-") or parent.name
    provenance = {
        **parent.provenance,
        "parent": {
            "name": parent.name,
            "version": parent.version,
            "checksum": parent.checksum,
        },
        "reanchored_at": now()[:10],
        "chunkers": sorted(chunkers),
    }
    made = replace(changed, name=f"{stem}_{version}", version=version, provenance=provenance)
    return replace(made, provenance={**made.provenance, "checksum": made.checksum})
