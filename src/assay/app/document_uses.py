"""Where was a document judged, and which queries of the newest runs found it?

Held-out queries are counted and never named: their judgments are not for those who look around.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.app.corpus import require_documents
from assay.app.held_out import hidden_in
from assay.plural import counted, share_of

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.model.runs import RunInfo

RUNS = 20
"""Runs that are looked through, newest first."""
QUERIES = 20_000
"""Queries of runs that are looked through."""
SHOWN = 100
"""Entries of each list."""


@dataclass(frozen=True, slots=True)
class JudgedUse:
    """A query for which the document or chunks of it were judged; ``grade`` is the best."""

    test_set: str
    query_id: str
    query_text: str
    grade: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundUse:
    """A query of a run that found the document; ``rank`` is that of its best chunk."""

    run_id: str
    run_name: str
    query_id: str
    query_text: str
    chunk_id: str
    rank: int


@dataclass(frozen=True, slots=True)
class DocumentUses:
    """The first uses of a document; counts are of all, and ``runs`` of ``all_runs`` were read.

    ``held_out`` counts uses by held-out queries, which are in no list.
    """

    doc_id: str
    judged: tuple[JudgedUse, ...]
    judged_count: int
    found: tuple[FoundUse, ...]
    found_count: int
    runs: int
    all_runs: int
    held_out: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What the lists do not show."""
        said = []
        if not self.judged_count:
            said.append("it is judged in no test set")
        if not self.found_count:
            said.append("no query found it")
        if self.judged_count > len(self.judged):
            said.append(f"{share_of(len(self.judged), self.judged_count, 'judged query')} listed")
        if self.found_count > len(self.found):
            said.append(f"{share_of(len(self.found), self.found_count, 'find')} listed")
        if self.runs < self.all_runs:
            said.append(f"only the newest {counted(self.runs, 'run')} of {self.all_runs} read")
        if self.held_out:
            said.append(f"{counted(self.held_out, 'use')} by held-out queries not listed")
        return tuple(said)


def document_uses(workspace: Workspace, doc_id: str) -> DocumentUses:
    """Where a document was judged, and which queries of the newest runs found it."""
    require_documents(workspace, [doc_id])
    judged, kept_back = _judged(workspace, doc_id)
    page = workspace.runs.runs(limit=RUNS)
    runs = list(_affordable(page.runs))
    found: list[FoundUse] = []
    for info in runs:
        ours = workspace.runs.naming(info.run_id, doc_id)
        if not ours:
            continue
        test_set = workspace.runs.test_set(info.run_id)
        held = hidden_in(test_set)
        kept_back += sum(query_id in held for query_id in ours)
        found += [
            FoundUse(info.run_id, info.name, query_id, test_set.by_id[query_id].query_text, *place)
            for query_id, place in ours.items()
            if query_id not in held and query_id in test_set.by_id
        ]
    return DocumentUses(
        doc_id,
        tuple(judged[:SHOWN]),
        len(judged),
        tuple(found[:SHOWN]),
        len(found),
        len(runs),
        page.total,
        kept_back,
    )


def _judged(workspace: Workspace, doc_id: str) -> tuple[list[JudgedUse], int]:
    """Queries for which it was judged, best grades first, and how many held-out ones there are."""
    judged: list[JudgedUse] = []
    held_out = 0
    for entry in workspace.test_sets():
        test_set = entry.reading and entry.reading.test_set
        if not test_set:
            continue
        for query in test_set.queries:
            ours = [one for one in query.relevant_docs if doc_id in (one.id, one.document)]
            if ours and query.query_id in test_set.held_out_ids:
                held_out += 1
            elif ours:
                best, ids = max(one.grade for one in ours), tuple(one.id for one in ours)
                judged.append(JudgedUse(entry.name, query.query_id, query.query_text, best, ids))
    return sorted(judged, key=lambda one: (-one.grade, one.test_set, one.query_id)), held_out


def _affordable(runs: tuple[RunInfo, ...]) -> Iterator[RunInfo]:
    """The first runs that together have no more queries than are read."""
    left = QUERIES
    for info in runs:
        left -= info.queries
        if left < 0:
            return
        yield info
