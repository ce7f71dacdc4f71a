"""How do commands read the runs of a shared service as if they were here?

What a command does with runs (show, compare, gate, report ...) is done on this machine by the same
code, with all of its options; only the reading goes over HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from assay.app.held_out import hidden_in
from assay.app.run_exchange import info_of
from assay.app.workspace import Workspace
from assay.cli.remote import client
from assay.client import Client, ServiceError
from assay.errors import UnknownRunError, UsageError
from assay.model.document import ChunkPlace
from assay.model.run_store import HeldOutUse, RunFilter, RunPage
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.testset import TestSet
from assay.model.testset_json import from_plain
from assay.store.run_rows import outcome as read_outcome

PAGE = 1_000
IDS_AT_ONCE = 5_000
NOT_FOUND = 404


class RemoteRuns:
    """The runs of a service; a ``RunStore`` that reads, tags and deletes."""

    def __init__(self, service: Client) -> None:
        self._service = service

    def run(self, ref: str, *, suite: str | None = None) -> RunInfo:
        """The run that a reference names."""
        if suite is not None:
            _refuse("the newest run of one test set")
        return info_of(self._known(lambda: self._service.run(ref)))

    def outcomes(
        self,
        ref: str,
        *,
        depth: int | None = None,
        stages: bool = True,
        queries: Collection[str] | None = None,
    ) -> tuple[QueryOutcome, ...]:
        """What happened to each query, page by page."""
        found: list[QueryOutcome] = []
        offset, total = 0, 1
        while offset < total:
            page = self._service.run_queries(ref, limit=PAGE, offset=offset, stages=stages)
            total = page["total"]
            offset += PAGE
            found += [
                _outcome(one, depth)
                for one in page["outcomes"]
                if queries is None or one["query_id"] in queries
            ]
        return tuple(found)

    def test_set(self, ref: str) -> TestSet:
        """The queries and judgments that the run was made with."""
        found = from_plain(self._known(lambda: self._service.run_test_set(ref)))
        if hidden_in(found) and found.checksum != self.run(ref).test_set_checksum:
            raise UsageError(
                f"the held-out queries of the run {ref} are masked for this key",
                hint="use a key with the scope evaluate",
            )
        return found

    def runs(self, chosen: RunFilter | None = None, *, limit: int = 20, offset: int = 0) -> RunPage:
        """Runs, newest first."""
        wanted = chosen or RunFilter()
        if wanted.config_hash is not None:
            _refuse("runs by their configuration")
        given = {"suite": wanted.suite, "status": wanted.status and str(wanted.status)}
        given |= {"tag": wanted.tag}
        parameters = {name: value for name, value in given.items() if value is not None}
        rows: list[RunInfo] = []
        total = 0
        while len(rows) < limit:
            size = min(PAGE, limit - len(rows))
            page = self._service.runs(limit=size, offset=offset + len(rows), **parameters)
            total = page["total"]
            rows += [info_of(one) for one in page["runs"]]
            if len(page["runs"]) < size:
                break
        return RunPage(tuple(rows), total)

    def tag(self, ref: str, tag: str) -> RunInfo:
        """Let a tag name this run."""
        self._known(lambda: self._service.tag(ref, tag))
        return self.run(tag)

    def untag(self, tag: str) -> None:
        """Forget a tag."""
        self._service.untag(tag)

    def delete(self, ref: str) -> RunInfo:
        """Remove a run with its outcomes and tags."""
        info = self.run(ref)
        self._service.delete_run(info.run_id)
        return info

    def close(self) -> None:
        """The workspace closes the connection."""

    def begin(self, info: RunInfo, test_set: TestSet) -> NoReturn:
        """Runs are made by the service, or pushed to it."""
        _refuse("making runs")

    def append(self, run_id: str, outcomes: Sequence[QueryOutcome]) -> NoReturn:
        """Runs are made by the service, or pushed to it."""
        _refuse("making runs")

    def claim(self, run_id: str, owner: str) -> NoReturn:
        """Jobs of the service go on by themselves."""
        _refuse("resuming runs")

    def finish(
        self,
        run_id: str,
        aggregate: Mapping[str, Any],
        *,
        status: RunStatus = RunStatus.COMPLETE,
        finished_at: str | None = None,
    ) -> NoReturn:
        """Aggregates of the service are computed by the service."""
        _refuse("writing scores")

    def cached(self, cache_key: str) -> NoReturn:
        """Only whoever makes runs looks for equal ones."""
        _refuse("making runs")

    def renew(self, run_id: str) -> NoReturn:
        """Only whoever makes runs finds that one has answered again."""
        _refuse("making runs")

    def answered(self, run_id: str) -> NoReturn:
        """Only whoever makes runs asks for this."""
        _refuse("making runs")

    def suites(self) -> NoReturn:
        """The service has no such list."""
        _refuse("a list of suites")

    def log_held_out(self, use: HeldOutUse) -> NoReturn:
        """The service logs the looks at its own test sets."""
        _refuse("held-out queries")

    def held_out_uses(self, suite: str) -> NoReturn:
        """The log stays with the service."""
        _refuse("the log of held-out queries")

    @staticmethod
    def _known(ask: Any) -> dict[str, Any]:
        """What the service answers; an unknown run is the same error as it is here."""
        try:
            answer: dict[str, Any] = ask()
        except ServiceError as error:
            if error.status != NOT_FOUND:
                raise
            raise UnknownRunError(error.message, hint="assay --server ... eval list") from None
        return answer


@dataclass(frozen=True)
class RemoteWorkspace(Workspace):
    """The runs of a service; its corpus, index and models stay with it."""

    @cached_property
    def service(self) -> Client:
        """The connection."""
        found = client(self.config)
        self._stack.callback(found.close)
        return found

    @cached_property
    def runs(self) -> RemoteRuns:
        """Evaluations of the service."""
        return RemoteRuns(self.service)

    @property
    def store(self) -> NoReturn:
        """The corpus is not read from afar."""
        _refuse("the documents of the corpus")

    @property
    def searcher(self) -> NoReturn:
        """The service searches itself."""
        _refuse("running configurations", "assay --server ... eval run makes a run there")

    def exists(self) -> bool:
        """A service always has a workspace."""
        return True

    def require(self) -> None:
        """Nothing to ask for before the first request."""

    def archived(self, chunk_ids: Iterable[str], versions: frozenset[str]) -> dict[str, ChunkPlace]:
        """Where chunks of these chunkers stood."""
        found: dict[str, ChunkPlace] = {}
        for part in _parts(chunk_ids):
            answer = self.service.places(part, sorted(versions))
            found |= {
                name: ChunkPlace(place["doc_id"], tuple((a, b) for a, b in place["spans"]))
                for name, place in answer["places"].items()
            }
        return found

    def present(self, ids: Collection[str]) -> frozenset[str]:
        """Which of these chunks and documents are in the service's corpus."""
        return frozenset(one for part in _parts(ids) for one in self.service.present(part))


def _outcome(one: Mapping[str, Any], depth: int | None) -> QueryOutcome:
    stages = None if one["stages"] is None else json.dumps(one["stages"])
    return read_outcome(one["query_id"], json.dumps(one["result"]), stages, depth=depth)


def _parts(ids: Iterable[str]) -> list[list[str]]:
    every = sorted(set(ids))
    return [every[at : at + IDS_AT_ONCE] for at in range(0, len(every), IDS_AT_ONCE)]


def _refuse(what: str, hint: str = "leave --server out to work on this machine") -> NoReturn:
    raise UsageError(f"{what}: not possible from afar", hint=hint)
