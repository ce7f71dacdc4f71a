"""How does a program on another machine use a shared service?

>>> with Client("http://search.example:8321", key="assay_...") as service:  # doctest: +SKIP
...     service.search("heart attack", k=5).results[0].chunk.doc_id
...     service.runs.run("latest").aggregate["metrics"]["recall_at_10"]

A ``Client`` has the verbs of a ``Workspace`` and answers with the same values. A refusal is a
``ServiceError`` with its code and request id. A service that is overloaded is asked again after the
time it names, a few times at most.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from urllib.parse import quote

import httpx2 as httpx

from assay import limits
from assay.app.annotation import (
    SECOND_SHARE,
    Decided,
    Dispute,
    Graded,
    NextTask,
    RoundStatus,
    Undone,
)
from assay.app.answers import Answered
from assay.app.backup import BackupWritten, describe
from assay.app.corpus import DocumentPage, DocumentsWritten
from assay.app.document_uses import DocumentUses
from assay.app.engine import CONFIGURED, GRADED_ANSWERS, Progress, silent
from assay.app.evaluation import (
    Evaluated,
    EvaluationProgress,
    EvaluationStep,
    evaluated,
    scored_run,
    test_set_body,
    unwatched,
)
from assay.app.evaluation_request import EvaluationRequest, refuse_what_stays_here, written_options
from assay.app.first_set import NewSetOptions, new_set, questions_of_rows, round_body
from assay.app.held_out import hidden_in
from assay.app.index import Action, IndexWritten
from assay.app.judges import ClaimGraded, ClaimUndone, NextClaim
from assay.app.models import ModelRow
from assay.app.rows import document_ids, document_rows
from assay.app.run_exchange import outcome_of
from assay.app.schedule import ScheduleEntry
from assay.app.search import Freshness
from assay.app.suggestions import DEFAULT_COUNT, DEFAULT_SEED, Suggested
from assay.app.testsets import TestSetEntry
from assay.app.timetable import Timetable, named_test_set
from assay.app.verbs import Verbs
from assay.cache import Cache
from assay.durable import new_file
from assay.errors import AssayError, InputError, UnknownRunError, UnreachableError, UsageError
from assay.evaluation.stored_run import StoredRun, read_run
from assay.model.annotation import ItemKey, Task
from assay.model.codec import decode
from assay.model.document import ChunkPlace, Label, StoredDocument
from assay.model.judges import Support
from assay.model.run_store import NEWEST_FIRST, DeletedRun, RunFilter, RunOrder, RunPage
from assay.model.runs import QueryOutcome, RunInfo, Timings
from assay.model.testset import TestSet
from assay.model.testset_json import from_plain
from assay.search.changes import SearchChanges
from assay.search.request import ANSWER_NAMES, SearchOptions, as_parameters
from assay.search.response import SearchResponse
from assay.settings import Settings, configure

if TYPE_CHECKING:
    from assay.search.why import Why

T = TypeVar("T")
ATTEMPTS = 4
MAX_WAIT_S = 10.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0
"""Between two looks at a job."""
OK, NOT_FOUND, BAD_ANSWER = 200, 404, 502
BUSY = frozenset({429, 503})
WRONG_REQUEST = frozenset({400, 404, 409, 413, 415, 422})
ENDED = frozenset({"complete", "failed", "cancelled"})
WAIT_S = 3_600.0
EVALUATION_WAIT_S = 24 * 3_600.0
PAGE = 1_000
IDS_AT_ONCE = 5_000
QUERIES_AT_ONCE = 50  # they stand in the address


KEY_HINT = (
    "give a valid key in ASSAY_API_KEY, or as key=... in Python; "
    "assay keys create NAME makes one beside the service"
)


class ServiceError(AssayError):
    """The service refused or failed; the message is its own."""

    code = "service"
    http_status = 502

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.request_id = problem.get("request_id")
        self.code = str(problem.get("code") or self.code)
        self.exit_code = _exit_code(self.code, status)
        said = problem.get("detail") or f"the service answered {status}"
        hint = KEY_HINT if status == HTTPStatus.UNAUTHORIZED else problem.get("hint")
        super().__init__(f"{said} (request {self.request_id})", hint=hint)


def _exit_code(code: str, status: int) -> int:
    """How a command ends that was refused: as it would beside the workspace."""
    kinds: list[type[AssayError]] = [AssayError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    known = {kind.code: kind.exit_code for kind in kinds}
    return known.get(code, UsageError.exit_code if status in WRONG_REQUEST else 1)


def connect(settings: Settings) -> Client:
    """The service that the settings name."""
    return Client(settings.server or "", key=settings.api_key, settings=settings)


class Client(Verbs):
    """A service at an address; see ``assay.app.interface.Assay`` for its verbs."""

    def __init__(
        self,
        address: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        settings: Settings | None = None,
    ) -> None:
        if not address.startswith(("http://", "https://")):
            address = f"http://{address}"
        if key and not (key.isascii() and key.isprintable()):
            raise UsageError("the API key contains an invalid character", hint="one line")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            self._http = httpx.Client(
                base_url=address, headers=headers, timeout=timeout, transport=transport
            )
        except (httpx.InvalidURL, ValueError) as problem:
            raise UsageError(
                f"{address!r:.100} is not an address: {problem}", hint="http://name:8765"
            ) from None
        self._settings = settings
        self._test_sets: Cache[str, TestSet] = Cache(limits.MAX_CACHED_TEST_SETS)
        self.address = address

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def settings(self) -> Settings:
        """The settings of whoever asks."""
        if self._settings is None:
            self._settings = configure()
        return self._settings

    def require(self) -> None:
        """A service always has a workspace."""

    # Search and answers

    def search(
        self, query: str, options: SearchOptions | None = None, **changes: Unpack[SearchChanges]
    ) -> SearchResponse:
        """The best chunks for a query; ``changes`` are options of a search by name."""
        params = [("q", query), *as_parameters(changes, options)]
        return decode(SearchResponse, self.call("GET", "/v1/search", params=params))

    def why(
        self,
        query: str,
        document: str,
        options: SearchOptions | None = None,
        **changes: Unpack[SearchChanges],
    ) -> Why:
        """Why a document or chunk is not among the results, or where it is."""
        from assay.search.why import Why

        params = [("q", query), ("document", document), *as_parameters(changes, options)]
        return decode(Why, self.call("GET", "/v1/search/why", params=params))

    def answer(
        self,
        question: str,
        options: SearchOptions | None = None,
        *,
        judged: bool = False,
        **changes: Unpack[SearchChanges],
    ) -> Answered:
        """What the corpus says to a question, with sources, or a refusal."""
        params = [("q", question), *as_parameters(changes, options, names=ANSWER_NAMES)]
        if judged:
            params.append(("judged", "true"))
        return decode(Answered, self.call("GET", "/v1/answer", params=params))

    # Documents and the index

    def sections(self) -> list[str]:
        """The labels of sections that there are."""
        return _field(list[str], self.call("GET", "/v1/sections"), "sections")

    def freshness(self) -> Freshness:
        """Whether there are documents, and whether the index has them."""
        return decode(Freshness, self.call("GET", "/v1/index/freshness"))

    def index_card(self) -> dict[str, Any]:
        """What the index holds, how fresh it is and which models made it."""
        return self.call("GET", "/v1/index")

    def check_index(self) -> list[str]:
        """What is wrong with the index; nothing where the list is empty."""
        return _field(list[str], self.call("GET", "/v1/index/check"), "problems")

    def write_index(self, action: Action = "update", progress: Progress = silent) -> IndexWritten:
        """Update, compact or rebuild the index, and wait for it."""
        answer = self.call("POST", "/v1/index", json={"action": action})
        return decode(IndexWritten, self._done(answer, WAIT_S, progress))

    def documents(self, *, limit: int = 50, offset: int = 0, text: str = "") -> DocumentPage:
        """A page of the documents by id; with ``text``, those that have it in id or title."""
        params = {"limit": limit, "offset": offset, **({"text": text} if text else {})}
        return decode(DocumentPage, self.call("GET", "/v1/documents", params=params))

    def document(self, doc_id: str) -> StoredDocument:
        """A document with its sections and chunks."""
        return decode(StoredDocument, self.call("GET", f"/v1/documents/{_quoted(doc_id)}"))

    def document_uses(self, doc_id: str) -> DocumentUses:
        """Where a document was judged, and which queries of the newest runs found it."""
        return decode(DocumentUses, self.call("GET", f"/v1/documents/{_quoted(doc_id)}/uses"))

    def delete(self, doc_ids: str | Iterable[str], progress: Progress = silent) -> DocumentsWritten:
        """Delete one document or several, and wait until the index knows.

        An unknown id is refused before anything is deleted.
        """
        body = {"doc_ids": document_ids(doc_ids)}
        answer = self.call("POST", "/v1/documents/delete", json=body)
        return decode(DocumentsWritten, self._done(answer, WAIT_S, progress))

    def add(
        self,
        documents: Iterable[Mapping[str, Any]] | Mapping[str, Any] | Any,
        *,
        profile: str = "auto",
        keep_going: bool = False,
        progress: Progress = silent,
    ) -> DocumentsWritten:
        """Store documents, in any form that a workspace takes, and wait for the index."""
        body = {
            "documents": [*document_rows(documents)],
            "profile": profile,
            "keep_going": keep_going,
        }
        answer = self.call("POST", "/v1/documents", json=body)
        return decode(DocumentsWritten, self._done(answer, WAIT_S, progress))

    def models(self) -> tuple[ModelRow, ...]:
        """Every model, what it is for and whether the service has it."""
        return _field(tuple[ModelRow, ...], self.call("GET", "/v1/models"), "models")

    def test_sets(self) -> tuple[TestSetEntry, ...]:
        """Every test set that loads by name."""
        return _field(tuple[TestSetEntry, ...], self.call("GET", "/v1/testsets"), "test_sets")

    def backup(self, target: Path, *, vectors: bool = False) -> BackupWritten:
        """Write a backup of the service's workspace to a new file of this machine."""
        if target.exists():
            raise UsageError(f"{target} already exists", hint="choose another name, or delete it")
        params = {"vectors": str(vectors).lower()}
        try:
            with self._http.stream("GET", "/v1/backup", params=params, timeout=WAIT_S) as response:
                if response.status_code != OK:
                    response.read()
                    _answer(response)
                with new_file(target) as file:
                    for part in response.iter_bytes():
                        file.write(part)
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise self._unreachable(problem) from None
        return describe(target)

    # First test sets

    def suggest_questions(
        self,
        count: int = DEFAULT_COUNT,
        *,
        kinds: Sequence[str] | None = None,
        seed: int = DEFAULT_SEED,
        by_model: bool = False,
    ) -> Suggested:
        """Questions made from the corpus where nobody has asked any; they stay marked synthetic."""
        body = {"count": count, "seed": seed, "model": by_model}
        chosen = {} if kinds is None else {"kinds": list(kinds)}
        answer = self.call("POST", "/v1/testsets/suggest", json={**body, **chosen}, timeout=WAIT_S)
        return Suggested(
            questions_of_rows(_field(list[dict[str, Any]], answer, "questions")),
            _field(int, answer, "tried"),
            _field(dict[str, int], answer, "left_out"),
            _field(int, answer, "seed"),
        )

    def new_test_set(
        self,
        name: str,
        questions: str | Path | Sequence[str | Mapping[str, Any]],
        annotators: str | Sequence[str] = "me",
        **options: Unpack[NewSetOptions],
    ) -> dict[str, Any]:
        """Begin a first test set: pool passages for questions, for one person or two to judge.

        ``questions`` is a file here in any form, or a list of texts or rows. What was pooled comes
        back without its texts, which ``desk`` shows one by one.
        """
        body = round_body(new_set(name, questions, annotators, **options))
        return self.call("POST", "/v1/rounds", json=body, timeout=WAIT_S)

    def desk(self, round_id: str = "latest") -> RemoteDesk:
        """Where the passages of a round are judged."""
        return RemoteDesk(self, round_id)

    def finish_test_set(self, round_id: str = "latest", *, close: bool = False) -> dict[str, Any]:
        """Write the judgments so far as a test set; judging can continue unless ``close``."""
        return self.desk(round_id).call("POST", "finish", json={"close": close})

    def claims(
        self, run: str = "latest", *, answers: int = GRADED_ANSWERS, seed: int = 0
    ) -> RemoteClaims:
        """Where people grade claims of a judged run, without what the judge said."""
        return RemoteClaims(self, run, answers, seed)

    def check_judge(self, run: str = "latest") -> dict[str, Any]:
        """Compare the judge of a run with the people who graded its claims."""
        return self.call("POST", f"/v1/runs/{_quoted(run)}/claims/check")

    # Evaluation

    def carry_out(
        self, request: EvaluationRequest, progress: EvaluationProgress | None = None
    ) -> Evaluated:
        """Let the service run a test set, and read the run that it keeps.

        Intervals are drawn by the settings of whoever asks. A test set that is a file here is
        sent along; any other name is that of a test set of the service.
        """
        refuse_what_stays_here(request)
        drawn = request.drawn_as(self.settings)
        params = [*as_parameters(drawn.options), *written_options(drawn)]
        if drawn.run_id is not None:
            params.append(("evaluation_id", drawn.run_id))
        if drawn.commit_hash:
            params.append(("commit", drawn.commit_hash))
        headers = {
            "Idempotency-Key": secrets.token_hex(16),  # asking again starts nothing twice
            "Prefer": "respond-async",
        }
        answer = self.call(
            "POST", "/v1/evaluate", json=test_set_body(drawn), params=params, headers=headers
        )
        report = progress or unwatched
        result = self._done(
            answer,
            EVALUATION_WAIT_S,
            lambda stage, done, total: report(EvaluationStep(done, total)),
        )
        results = [result]
        if "modes" in result:
            results = [*_field(dict[str, dict[str, Any]], result, "modes").values()]
        runs = [
            scored_run(self, _field(str, one, "run_id"), drawn, cached=_field(bool, one, "cached"))
            for one in results
        ]
        return evaluated(self, drawn, runs)

    def schedules(self) -> Timetable:
        """The evaluations that the clock starts while the service runs."""
        return decode(Timetable, self.call("GET", "/v1/schedules"))

    def schedule(
        self, when: str, request: EvaluationRequest, *, entry_id: str = ""
    ) -> ScheduleEntry:
        """Have the clock of the service start an evaluation; ``when`` is a cron expression, in UTC.

        The request names one test set of the service. With an id, that entry is changed.
        """
        body = {"when": when, "test_set": named_test_set(request)}
        params = [*as_parameters(request.options), *written_options(request)]
        method, path = ("PUT", f"/{_quoted(entry_id)}") if entry_id else ("POST", "")
        return decode(
            ScheduleEntry, self.call(method, f"/v1/schedules{path}", json=body, params=params)
        )

    def unschedule(self, entry_id: str) -> ScheduleEntry:
        """Remove a scheduled evaluation; its runs stay."""
        return decode(ScheduleEntry, self.call("DELETE", f"/v1/schedules/{_quoted(entry_id)}"))

    # Runs

    @cached_property
    def runs(self) -> RemoteRuns:
        """Evaluations of the service."""
        return RemoteRuns(self)

    def stored_run(self, ref: str, *, stages: bool = False, depth: int | None = None) -> StoredRun:
        """A run with its test set and the first ``depth`` results of each query."""
        return read_run(self.runs, ref, self._test_sets, stages=stages, depth=depth)

    def delete_run(self, ref: str, *, for_good: bool = False) -> RunInfo:
        """Delete a run; unless it goes ``for_good``, it can be restored."""
        return self.runs.delete(ref, for_good=for_good)

    def deleted_runs(self) -> tuple[DeletedRun, ...]:
        """The deleted runs that can be restored, the one deleted last first."""
        return self.runs.deleted()

    def restore_run(self, run_id: str) -> RunInfo:
        """Bring back a deleted run, with the tags that no other run has got since."""
        return self.runs.restore(run_id)

    def archived(self, chunk_ids: Iterable[str], versions: frozenset[str]) -> dict[str, ChunkPlace]:
        """Where chunks of these chunkers stood, also those that have been replaced since."""
        found: dict[str, ChunkPlace] = {}
        for part in _parts(chunk_ids):
            body = {"chunk_ids": part, "versions": sorted(versions)}
            answer = self.call("POST", "/v1/chunks/places", json=body)
            found |= _field(dict[str, ChunkPlace], answer, "places")
        return found

    def present(self, ids: Collection[str]) -> frozenset[str]:
        """Which of these chunks and documents are in the corpus."""
        found: set[str] = set()
        for part in _parts(ids):
            answer = self.call("POST", "/v1/chunks/present", json={"ids": part})
            found |= set(_field(list[str], answer, "ids"))
        return frozenset(found)

    def labels(self, ids: Iterable[str]) -> dict[str, Label]:
        """Title and beginning of each of these chunks and documents that is known."""
        found: dict[str, Label] = {}
        for part in _parts(ids):
            answer = self.call("POST", "/v1/chunks/labels", json={"ids": part})
            found |= _field(dict[str, Label], answer, "labels")
        return found

    def export_run(self, ref: str) -> dict[str, Any]:
        """A whole run, which another service takes."""
        return self.call("GET", f"/v1/runs/{_quoted(ref)}/export")

    def push_run(self, packed: Mapping[str, Any]) -> dict[str, Any]:
        """Store a run that was made here; the same one again changes nothing."""
        return self.call("POST", "/v1/runs", json=dict(packed))

    def timings(
        self, a: str, b: str, *, repeats: int, seed: int, progress: Progress = silent
    ) -> Timings:
        """How long the configurations of two runs take at the service, asked in turn."""
        body = {"a": a, "b": b, "latency_repeats": repeats, "seed": seed}
        headers = {"Idempotency-Key": secrets.token_hex(16), "Prefer": "respond-async"}
        answer = self.call("POST", "/v1/ab", json=body, headers=headers)
        latency = _field(dict[str, Any], self._done(answer, WAIT_S, progress), "latency")
        names = [name for name in ("pairs", "repeats") if name in latency]
        return decode(Timings, {name: latency[name] for name in names})

    def figures(self) -> bytes:
        """The gauges that the service shows Prometheus, by its own settings."""
        from assay.app.prometheus import only_gauges

        try:
            response = self._http.request("GET", "/metrics")
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise self._unreachable(problem) from None
        if response.status_code != OK:
            _answer(response)
        return only_gauges(response.content)

    # How a service is asked

    def _done(
        self, answer: dict[str, Any], seconds: float, progress: Progress = silent
    ) -> dict[str, Any]:
        """The result itself, whether it came at once or as a job."""
        if "job_id" not in answer:
            return answer
        return self.wait(_field(str, answer, "job_id"), seconds, progress)

    def wait(self, job_id: str, seconds: float, progress: Progress = silent) -> dict[str, Any]:
        """The result of a job, once it has one."""
        until = time.monotonic() + seconds
        pause = FIRST_PAUSE_S
        while True:
            job = self.call("GET", f"/v1/jobs/{_quoted(job_id)}")
            done, total = (_field(int, job, name) for name in ("done", "total"))
            progress(_field(str, job, "kind"), done, total)
            state = _field(str, job, "state")
            if state == "complete":
                return _field(dict[str, Any], job, "result")
            if state in ENDED:
                problem = {"detail": f"the job was {state}"}
                if job.get("problem") is not None:
                    problem = _field(dict[str, Any], job, "problem")
                raise ServiceError(409, problem)
            if time.monotonic() > until:
                raise UnreachableError(f"the job {job_id} is still {state}")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        """Any request of the service, as JSON; a busy service is asked again."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = self._http.request(method, path, **request)
            except (httpx.HTTPError, httpx.InvalidURL) as problem:
                raise self._unreachable(problem) from None
            if response.status_code not in BUSY or attempt == ATTEMPTS:
                break
            time.sleep(_wait(response.headers.get("retry-after", "1")))
        return _answer(response)

    def _unreachable(self, problem: Exception) -> UnreachableError:
        return UnreachableError(
            f"{self.address} does not answer: {type(problem).__name__}: {problem}",
            hint="check that the service is running and the address is right",
        )


class RemoteRuns:
    """The runs of a service; a ``RunLibrary``."""

    def __init__(self, service: Client) -> None:
        self._service = service

    def run(self, ref: str, *, suite: str | None = None) -> RunInfo:
        """The run that a reference names; ``suite`` narrows what ``latest`` looks at."""
        params = {} if suite is None else {"suite": suite}
        return decode(RunInfo, self._known("GET", f"/v1/runs/{_quoted(ref)}", params=params))

    def outcomes(
        self,
        ref: str,
        *,
        depth: int | None = None,
        stages: bool = True,
        queries: Collection[str] | None = None,
    ) -> tuple[QueryOutcome, ...]:
        """What happened to each query, page by page."""
        if queries is None:
            return tuple(self._outcomes(ref, depth, stages, ()))
        listed = sorted(queries)
        return tuple(
            one
            for at in range(0, len(listed), QUERIES_AT_ONCE)
            for one in self._outcomes(ref, depth, stages, listed[at : at + QUERIES_AT_ONCE])
        )

    def _outcomes(
        self, ref: str, depth: int | None, stages: bool, queries: Sequence[str]
    ) -> Iterator[QueryOutcome]:
        params: dict[str, Any] = {"limit": PAGE, "stages": str(stages).lower()}
        if depth is not None:
            params["depth"] = depth
        if queries:
            params["query"] = list(queries)
        offset, total = 0, 1
        while offset < total:
            page = self._known(
                "GET", f"/v1/runs/{_quoted(ref)}/queries", params={**params, "offset": offset}
            )
            total = _field(int, page, "total")
            offset += PAGE
            for one in _field(list[dict[str, Any]], page, "outcomes"):
                with _understood("an outcome"):
                    outcome = outcome_of(one, depth=depth)
                yield outcome

    def test_set(self, ref: str) -> TestSet:
        """The queries and judgments that the run was made with."""
        answer = self._known("GET", f"/v1/runs/{_quoted(ref)}/testset")
        with _understood("the test set of a run"):
            found = from_plain(answer)
        if hidden_in(found) and not found.has_checksum(self.run(ref).test_set_checksum):
            raise UsageError(
                f"the held-out queries of the run {ref} are masked for this key",
                hint="use a key with the scope evaluate",
            )
        return found

    def runs(
        self,
        chosen: RunFilter | None = None,
        *,
        limit: int = 20,
        offset: int = 0,
        order: RunOrder = NEWEST_FIRST,
    ) -> RunPage:
        """Some runs in this order."""
        wanted = chosen or RunFilter()
        given = {
            "text": wanted.text,
            "newest_only": "true" if wanted.newest_only else None,
            "sort": None if order == NEWEST_FIRST else str(order),
            "suite": wanted.suite,
            "status": wanted.status and str(wanted.status),
            "tag": wanted.tag,
            "config_hash": wanted.config_hash,
        }
        params = {name: value for name, value in given.items() if value is not None}
        rows: list[RunInfo] = []
        damaged: list[str] = []
        total = seen = 0
        while seen < limit:
            size = min(PAGE, limit - seen)
            page = decode(
                RunPage,
                self._known(
                    "GET", "/v1/runs", params={**params, "limit": size, "offset": offset + seen}
                ),
            )
            total = page.total
            rows += page.runs
            damaged += page.damaged
            seen += len(page.runs) + len(page.damaged)
            if len(page.runs) + len(page.damaged) < size:
                break
        return RunPage(tuple(rows), total, tuple(damaged))

    def tag(self, ref: str, tag: str) -> RunInfo:
        """Let a tag name this run, and no other any longer."""
        self._known("PUT", f"/v1/runs/{_quoted(ref)}/tags/{_quoted(tag)}")
        return self.run(tag)

    def untag(self, tag: str) -> None:
        """Forget a tag; the run stays."""
        self._known("DELETE", f"/v1/tags/{_quoted(tag)}")

    def delete(self, ref: str, *, for_good: bool = True) -> RunInfo:
        """Remove a run with its outcomes and tags."""
        info = self.run(ref)
        params = {"for_good": "true"} if for_good else {}
        self._known("DELETE", f"/v1/runs/{_quoted(info.run_id)}", params=params)
        return info

    def deleted(self) -> tuple[DeletedRun, ...]:
        """The deleted runs that the service can restore."""
        answer = self._service.call("GET", "/v1/deleted-runs")
        return _field(tuple[DeletedRun, ...], answer, "deleted")

    def restore(self, run_id: str) -> RunInfo:
        """Bring back a deleted run."""
        self._known("POST", f"/v1/deleted-runs/{_quoted(run_id)}/restore")
        return self.run(run_id)

    def _known(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        """What the service answers; an unknown run is the same error as it is here."""
        try:
            return self._service.call(method, path, **request)
        except ServiceError as error:
            if error.status != NOT_FOUND:
                raise
            raise UnknownRunError(error.message, hint="assay --server ... eval list") from None


@dataclass(frozen=True, slots=True)
class RemoteDesk:
    """A round of judging at a service: the verbs of ``app.annotation.Desk`` that people need."""

    service: Client
    round_id: str = "latest"

    def status(self) -> RoundStatus:
        """How far the round is, how well people agree, and how sure its figures are."""
        return decode(RoundStatus, self.call("GET", ""))

    def turn(self, annotator: str) -> NextTask:
        """The next passage for this annotator, and how far they are."""
        return decode(NextTask, self.call("GET", "next", params={"annotator": annotator}))

    def grade(self, annotator: str, key: ItemKey, grade: int | None, comment: str = "") -> Graded:
        """Enter a grade; it is on the service's disk when this returns."""
        return decode(Graded, self.call("POST", "grades", json={
            "annotator": annotator, **_keyed(key), "grade": grade, "comment": comment,
        }))  # fmt: skip

    def undo(self, annotator: str) -> Undone:
        """Take back this annotator's last grade."""
        return decode(Undone, self.call("POST", "undo", json={"annotator": annotator}))

    def add_annotator(self, name: str, share: float = SECOND_SHARE) -> RoundStatus:
        """Let a second person check a share of what the first has judged."""
        body = {"annotator": name, "share": share}
        return decode(RoundStatus, self.call("POST", "second", json=body))

    def propose(self, judge: str = CONFIGURED, *, shown: bool = False) -> dict[str, Any]:
        """Let an automatic judge propose grades, and say how far it agrees with people."""
        return self.call("POST", "judge", json={"judge": judge, "shown": shown}, timeout=WAIT_S)

    def to_review(self, annotator: str) -> tuple[Task, ...]:
        """What this annotator and an automatic judge graded differently, the most so first."""
        answer = self.call("GET", "review", params={"annotator": annotator})
        return _field(tuple[Task, ...], answer, "tasks")

    def disputes(self, person: str) -> tuple[Dispute, ...]:
        """What waits for the third person, who is none of the two."""
        answer = self.call("GET", "disputes", params={"person": person})
        return _field(tuple[Dispute, ...], answer, "disputes")

    def decide(self, person: str, key: ItemKey, grade: int | None, comment: str = "") -> Decided:
        """Enter the third person's decision about a difference."""
        return decode(Decided, self.call("POST", "decisions", json={
            "person": person, **_keyed(key), "grade": grade, "comment": comment,
        }))  # fmt: skip

    def report(self) -> dict[str, Any]:
        """Kappa, confusion and differences."""
        return self.call("GET", "agreement")

    def call(self, method: str, verb: str, **request: Any) -> dict[str, Any]:
        """A request about this round."""
        path = f"/v1/rounds/{_quoted(self.round_id)}"
        return self.service.call(method, f"{path}/{verb}" if verb else path, **request)


@dataclass(frozen=True, slots=True)
class RemoteClaims:
    """Claims of a judged run at a service: the verbs of ``app.judges.ClaimDesk``."""

    service: Client
    run: str
    answers: int
    seed: int

    def turn(self, annotator: str) -> NextClaim:
        """The next claim for this person, and how far they are."""
        return decode(NextClaim, self._call("GET", "/next", annotator=annotator))

    def grade(self, annotator: str, claim_id: str, label: Support | str) -> ClaimGraded:
        """Enter what a person says of a claim; it is on the service's disk when this returns."""
        body = {"annotator": annotator, "claim_id": claim_id, "label": str(label)}
        return decode(ClaimGraded, self._call("POST", "/grades", body))

    def undo(self, annotator: str) -> ClaimUndone:
        """Take back what this person said last of the claims that were drawn."""
        return decode(ClaimUndone, self._call("POST", "/undo", {"annotator": annotator}))

    def sheet(self) -> dict[str, Any]:
        """All claims that were drawn, as one table to be filled in."""
        return self._call("GET", "")

    def _call(
        self, method: str, verb: str, body: Mapping[str, Any] | None = None, **more: str
    ) -> dict[str, Any]:
        draw = {"answers": self.answers, "seed": self.seed, **more}
        path = f"/v1/runs/{_quoted(self.run)}/claims{verb}"
        return self.service.call(method, path, params=draw, json=body)


def _keyed(key: ItemKey) -> dict[str, str]:
    return dict(zip(("query_id", "chunk_id"), key, strict=True))


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _parts(ids: Iterable[str]) -> list[list[str]]:
    every = sorted(set(ids))
    return [every[at : at + IDS_AT_ONCE] for at in range(0, len(every), IDS_AT_ONCE)]


def _wait(text: str) -> float:
    return min(MAX_WAIT_S, float(text)) if text.isascii() and text.isdigit() else 1.0


def _field(kind: type[T], answer: Mapping[str, Any], name: str) -> T:
    """One field of an answer, of the type that it must have."""
    with _understood(name):
        return decode(kind, answer[name], name)


@contextmanager
def _understood(what: str) -> Iterator[None]:
    """Name what a service says in another way than we do; it may be any program."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InputError) as problem:
        said = problem.message if isinstance(problem, InputError) else type(problem).__name__
        detail = f"the service's answer cannot be read: {what}: {said}"
        hint = "is it assay, of the same version?"
        raise ServiceError(BAD_ANSWER, {"detail": detail, "hint": hint}) from None


def _answer(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ServiceError(response.status_code, {"detail": "this is not an assay service"})
    if response.status_code >= 400:
        raise ServiceError(response.status_code, body)
    return body
