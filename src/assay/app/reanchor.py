"""How are judgments carried to the chunks that a workspace has now?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.annotation.reanchor import Fate, NewChunk, Reanchored, reanchor
from assay.app.workspace import Workspace
from assay.errors import ConflictError, InputError
from assay.model.document import ChunkPlace
from assay.model.moments import now
from assay.model.ranking import document_id
from assay.model.testset import TestSet
from assay.plural import counted
from assay.testsets.save import save_test_set


@dataclass(frozen=True, slots=True)
class Carried:
    """The set on today's chunks, and what became of each judgment."""

    parent: TestSet
    found: Reanchored
    test_set: TestSet
    chunkers: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many judgments had which fate."""
        counted = Counter(one.fate for one in self.found.anchors)
        return {fate.value: counted[fate] for fate in Fate}


def carry(workspace: Workspace, test_set: TestSet) -> Carried:
    """Carry a set to the chunks that this workspace has now."""
    workspace.require()
    archive = _archive(workspace, test_set)
    documents = {
        place.doc_id if (place := archive.get(one.id)) else one.doc_id or document_id(one.id)
        for query in test_set.queries
        for one in query.relevant_docs
    } | {one.doc_id for query in test_set.queries for one in query.relevant_docs if one.doc_id}
    chunks: dict[str, Sequence[NewChunk]] = {}
    chunkers: set[str] = set()
    for doc_id in sorted(documents):
        stored = workspace.store.document(doc_id)
        if stored is not None:
            chunks[doc_id] = [NewChunk(one.chunk_id, one.spans) for one in stored.chunks]
            chunkers |= {one.chunker_version for one in stored.chunks}
    if not chunks:
        raise InputError(
            f"no judged document of {test_set.name} is in {workspace.home}",
            hint="ingest the corpus that it was judged on",
        )
    found = reanchor(test_set, chunks, archive)
    return Carried(
        test_set, found, _renamed(found.test_set, test_set, chunkers), tuple(sorted(chunkers))
    )


def write(workspace: Workspace, carried: Carried, path: Path | None = None) -> Path:
    """Write the carried set; the old file stays as it is."""
    target = path or workspace.home / "testsets" / f"{carried.test_set.name}.yaml"
    if target.exists():
        raise ConflictError(f"{target} is there already", hint="--output names another file")
    if carried.found.unanswered:
        lost = ", ".join(carried.found.unanswered[:5])
        raise InputError(
            f"{counted(len(carried.found.unanswered), 'query', 'has')} no relevant passage left: "
            f"{lost}",
            hint="judge them again, or retire them; --json lists every judgment",
        )
    save_test_set(carried.test_set, target)
    return target


def _archive(workspace: Workspace, test_set: TestSet) -> dict[str, ChunkPlace]:
    """Where judged chunks without spans of their own stood when they were last cut otherwise."""
    bare = [one.id for query in test_set.queries for one in query.relevant_docs if not one.spans]
    named = test_set.provenance.get("chunkers", ())
    versions = frozenset(map(str, named)) if isinstance(named, (list, tuple)) else frozenset()
    return workspace.archived(bare, versions) if bare and versions else {}


def _renamed(changed: TestSet, parent: TestSet, chunkers: set[str]) -> TestSet:
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
    made = replace(
        changed, name=f"{stem}_{version}", version=version, provenance=provenance, skipped=()
    )
    return replace(made, provenance={**made.provenance, "checksum": made.checksum})
