"""Where are runs kept, and by which names are they found again?

A reference to a run is ``latest``, ``latest~N`` for the one that came N runs earlier, its id, a tag
such as ``baseline``, the name that a run was given (of several the newest), or the beginning of an
id that nobody chose (six characters or more); where one word could be several of these, the first
in this order is meant. No id may be the tag or name of another run, nor a tag or name its id. Runs
stand in the order in which they were made (``created_at``), whenever they were entered; one that
answers again, or is taken up again, counts as new. Figures that were saved without rankings are
never ``latest``.
``assay.testing`` has the contract suite that every implementation passes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from assay.model.codec import encode
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.tabular import Records, Tabular
from assay.model.testset import TestSet
from assay.plural import counted

BASELINE = "baseline"  # the tag that the documentation uses
BATCH = 10  # outcomes that are committed together: what an interruption can cost


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are meant; None allows everything.

    ``text`` is part of a run's id, name, test set, tag or commit. ``newest_only`` keeps the newest
    run of each test set, part and configuration.
    """

    suite: str | None = None
    status: RunStatus | None = None
    tag: str | None = None
    config_hash: str | None = None
    text: str | None = None
    newest_only: bool = False


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a list of runs is sorted by: a column, or the key of a measure such as ``ndcg_at_10``.

    As text, a minus in front means the largest first: ``-ndcg_at_10``.
    """

    by: str = "created"
    descending: bool = True

    def __str__(self) -> str:
        return f"-{self.by}" if self.descending else self.by


COLUMNS = ("created", "name", "suite", "status", "queries", "latency")
"""What a list of runs can be sorted by beside its measures; latency is the 95th percentile."""
NEWEST_FIRST = RunOrder()


@dataclass(frozen=True, slots=True)
class RunPage(Tabular):
    """Some runs in the order that was asked for, and how many there are in all.

    ``damaged`` names those among them that cannot be read.
    """

    runs: tuple[RunInfo, ...]
    total: int
    damaged: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say beside the list."""
        return tuple(f"the run {one} cannot be read (see assay doctor)" for one in self.damaged)

    def records(self) -> Records:
        """A row for each run."""
        rows = (
            {
                "run": info.run_id,
                "name": info.name,
                "test_set": f"{info.suite} {info.test_set_version}",
                "part": info.part,
                "engine": info.engine,
                "status": info.status,
                "created_at": info.created_at,
                "queries": info.total,
                "tags": info.tags,
                **info.aggregate.get("metrics", {}),
            }
            for info in self.runs
        )
        return Records.of(rows, f"{len(self.runs)} of {counted(self.total, 'run')}", self.notes)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        plain: dict[str, Any] = encode(self)
        return plain


@dataclass(frozen=True, slots=True)
class HeldOutUse:
    """One look at the held-out part of a test set: who looks often overfits."""

    suite: str
    version: str
    run_id: str
    purpose: str
    at: str


@dataclass(frozen=True, slots=True)
class DeletedRun:
    """What is known of a run that was deleted."""

    run_id: str
    name: str
    suite: str
    created_at: str
    deleted_at: str
    tags: tuple[str, ...] = ()


class RunLibrary(Protocol):
    """Runs to be read, tagged and deleted, wherever they are kept."""

    def run(self, ref: str, *, suite: str | None = None) -> RunInfo:
        """The run that a reference names; ``suite`` narrows what ``latest`` looks at."""

    def runs(
        self,
        chosen: RunFilter | None = None,
        *,
        limit: int = 20,
        offset: int = 0,
        order: RunOrder = NEWEST_FIRST,
    ) -> RunPage:
        """Some runs in this order; those without the value come last, the newer of equals first."""

    def outcomes(
        self,
        ref: str,
        *,
        depth: int | None = None,
        stages: bool = True,
        queries: Collection[str] | None = None,
    ) -> tuple[QueryOutcome, ...]:
        """What happened to each query, in the order run.

        ``depth`` reads the first results only, ``stages=False`` leaves out what components found
        and scored: both make large runs quick to read. ``queries`` chooses some.
        """

    def test_set(self, ref: str) -> TestSet:
        """The queries and judgments that the run was made with."""

    def tag(self, ref: str, tag: str) -> RunInfo:
        """Let a tag name this run, and no other any longer."""

    def untag(self, tag: str) -> None:
        """Forget a tag."""

    def delete(self, ref: str) -> RunInfo:
        """Remove a run with its outcomes and tags."""


class RunStore(RunLibrary, Protocol):
    """Where runs are made. What a method has returned from is on the disk."""

    def outcomes(
        self,
        ref: str,
        *,
        depth: int | None = None,
        stages: bool = True,
        queries: Collection[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> tuple[QueryOutcome, ...]:
        """The same, or a page of them: no others are read."""

    def begin(self, info: RunInfo, test_set: TestSet) -> RunInfo:
        """Enter a new run with the queries it will be made with.

        Refused are the same id again, and an id, tag or name that means another run already.
        """

    def check_new_id(self, run_id: str) -> None:
        """Refuse an id that means another run already, by its tag or name."""

    def append(self, run_id: str, outcomes: Sequence[QueryOutcome]) -> int:
        """Add outcomes in one commit and say how many were new; a query's first outcome stays."""

    def claim(self, run_id: str, owner: str) -> RunInfo:
        """Take over an unfinished run; refused where the process that makes it is alive."""

    def finish(
        self,
        run_id: str,
        aggregate: Mapping[str, Any],
        *,
        status: RunStatus = RunStatus.COMPLETE,
        finished_at: str | None = None,
    ) -> RunInfo:
        """Enter the result; also used to enter a new aggregate into an old run."""

    def equal_runs(self, cache_key: str) -> tuple[RunInfo, ...]:
        """The sound runs with this key, newest first: complete ones, then those to be resumed.

        A run in which a query failed or was degraded is never the answer: what was missing then
        may be back.
        """

    def renew(self, run_id: str) -> RunInfo:
        """Count a run as the newest: it has just answered for one that was asked for."""

    def answered(self, run_id: str) -> frozenset[str]:
        """The queries whose outcomes are stored."""

    def naming(self, run_id: str, doc_id: str) -> dict[str, tuple[str, int]]:
        """The queries with a document among their first results: its best chunk, and the rank."""

    def suites(self) -> tuple[str, ...]:
        """The names of all test sets that runs were made with."""

    def log_held_out(self, use: HeldOutUse) -> None:
        """Note that a held-out part was looked at."""

    def held_out_uses(self, suite: str | None = None) -> tuple[HeldOutUse, ...]:
        """Every look at the held-out part of a suite, or of any, oldest first."""

    def close(self) -> None:
        """Let go of files and connections."""
