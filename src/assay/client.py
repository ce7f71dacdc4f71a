"""How does a program on another machine use a shared service?

>>> with Client("http://search.example:8321", key="assay_...") as service:  # doctest: +SKIP
...     service.search("heart attack", k=5)["results"][0]["doc_id"]
...     service.evaluate({"dataset_id": "test_set_v1"})["metrics"]["recall_at_10"]

Answers are the JSON of the service. A refusal is a ``ServiceError`` with its code and request id. A
service that is overloaded is asked again after the time it names, a few times at most.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx2 as httpx

from assay.durable import new_file
from assay.errors import AssayError, UnreachableError, UsageError

ATTEMPTS = 4
MAX_WAIT_S = 10.0
OK = 200
BUSY = frozenset({429, 503})
ENDED = frozenset({"complete", "failed", "cancelled"})


class ServiceError(AssayError):
    """The service refused or failed; the message is its own."""

    code = "service"
    http_status = 502

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.request_id = problem.get("request_id")
        told = problem.get("detail") or f"the service answered {status}"
        super().__init__(f"{told} (request {self.request_id})", hint=problem.get("hint"))


class Client:
    """A service at an address."""

    def __init__(
        self,
        address: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not address.startswith(("http://", "https://")):
            address = f"http://{address}"
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(
            base_url=address, headers=headers, timeout=timeout, transport=transport
        )
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
        """Let go of connections."""
        self._http.close()

    def search(self, query: str, **parameters: Any) -> dict[str, Any]:
        """Search; parameters are those of ``GET /v1/search``, None where not given."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._call("GET", "/v1/search", params={"q": query, **given})

    def why(self, query: str, document: str, **parameters: Any) -> dict[str, Any]:
        """Why a document or chunk is not among the results."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._call(
            "GET", "/v1/search/why", params={"q": query, "document": document, **given}
        )

    def index(self) -> dict[str, Any]:
        """What the index holds, how fresh it is and which models made it."""
        return self._call("GET", "/v1/index")

    def check_index(self) -> dict[str, Any]:
        """Check every file of the index."""
        return self._call("GET", "/v1/index/check")

    def write_index(self, action: str, *, wait_s: float = 3_600.0) -> dict[str, Any]:
        """Update, compact or rebuild the index, and wait for it."""
        return self._done(self._call("POST", "/v1/index", json={"action": action}), wait_s)

    def documents(self, *, limit: int = 50, offset: int = 0) -> dict[str, Any]:
        """A page of the documents in the order of their ids."""
        return self._call("GET", "/v1/documents", params={"limit": limit, "offset": offset})

    def document(self, doc_id: str) -> dict[str, Any]:
        """A document with its sections and chunks."""
        return self._call("GET", f"/v1/documents/{quote(doc_id, safe='')}")

    def delete_document(self, doc_id: str, *, wait_s: float = 3_600.0) -> dict[str, Any]:
        """Delete a document, and wait until the index knows."""
        answer = self._call("DELETE", f"/v1/documents/{quote(doc_id, safe='')}")
        return self._done(answer, wait_s)

    def test_sets(self) -> dict[str, Any]:
        """Every test set that loads by name."""
        return self._call("GET", "/v1/testsets")

    def backup(self, target: Path, *, vectors: bool = False) -> int:
        """Write a backup of the service's workspace to a new file; how many bytes it has."""
        if target.exists():
            raise UsageError(f"{target} is there already", hint="choose another name, or delete it")
        params = {"vectors": str(vectors).lower()}
        try:
            with self._http.stream("GET", "/v1/backup", params=params, timeout=3_600) as response:
                if response.status_code != OK:
                    response.read()
                    _answer(response)
                with new_file(target) as file:
                    return sum(file.write(part) for part in response.iter_bytes())
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise self._unreachable(problem) from None

    def evaluate(
        self, test_set: Mapping[str, Any], *, wait_s: float = 3_600.0, **parameters: Any
    ) -> dict[str, Any]:
        """Evaluate a test set, or a dataset of the service, and wait for the result."""
        headers = {"Idempotency-Key": secrets.token_hex(16)}  # asking again starts nothing twice
        answer = self._call(
            "POST", "/v1/evaluate", json=dict(test_set), params=parameters, headers=headers
        )
        return self._done(answer, wait_s)

    def _done(self, answer: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The result itself, whether it came at once or as a job."""
        return self.wait(answer["job_id"], seconds) if "job_id" in answer else answer

    def wait(self, job_id: str, seconds: float) -> dict[str, Any]:
        """The result of a job, once it has one."""
        until = time.monotonic() + seconds
        while True:
            job = self._call("GET", f"/v1/jobs/{quote(job_id, safe='')}")
            if job["state"] == "complete":
                result: dict[str, Any] = job["result"]
                return result
            if job["state"] in ENDED:
                raise ServiceError(409, job["problem"] or {"detail": f"the job was {job['state']}"})
            if time.monotonic() > until:
                raise UnreachableError(f"the job {job_id} is still {job['state']}")
            time.sleep(0.5)

    def runs(self, **parameters: Any) -> dict[str, Any]:
        """Runs, newest first."""
        return self._call("GET", "/v1/runs", params=parameters)

    def run(self, ref: str) -> dict[str, Any]:
        """One run and its aggregate."""
        return self._call("GET", f"/v1/runs/{quote(ref, safe='')}")

    def run_queries(self, ref: str, **parameters: Any) -> dict[str, Any]:
        """What happened to some queries of a run."""
        return self._call("GET", f"/v1/runs/{quote(ref, safe='')}/queries", params=parameters)

    def run_test_set(self, ref: str) -> dict[str, Any]:
        """The queries and judgments that a run was made with."""
        return self._call("GET", f"/v1/runs/{quote(ref, safe='')}/testset")

    def delete_run(self, ref: str) -> dict[str, Any]:
        """Delete a run and everything that is stored of it."""
        return self._call("DELETE", f"/v1/runs/{quote(ref, safe='')}")

    def export_run(self, ref: str) -> dict[str, Any]:
        """A whole run, which another service takes."""
        return self._call("GET", f"/v1/runs/{quote(ref, safe='')}/export")

    def push_run(self, packed: Mapping[str, Any]) -> dict[str, Any]:
        """Store a run that was made here; the same one again changes nothing."""
        return self._call("POST", "/v1/runs", json=dict(packed))

    def tag(self, ref: str, tag: str) -> dict[str, Any]:
        """Let a tag name this run, and no other any longer."""
        return self._call("PUT", f"/v1/runs/{quote(ref, safe='')}/tags/{quote(tag, safe='')}")

    def untag(self, tag: str) -> dict[str, Any]:
        """Forget a tag; the run stays."""
        return self._call("DELETE", f"/v1/tags/{quote(tag, safe='')}")

    def places(self, chunk_ids: Sequence[str], versions: Sequence[str]) -> dict[str, Any]:
        """Where chunks stood as these chunkers cut them."""
        body = {"chunk_ids": list(chunk_ids), "versions": list(versions)}
        return self._call("POST", "/v1/chunks/places", json=body)

    def present(self, ids: Sequence[str]) -> list[str]:
        """Which of these chunks and documents are in the corpus."""
        found: list[str] = self._call("POST", "/v1/chunks/present", json={"ids": list(ids)})["ids"]
        return found

    def answer(self, question: str, **parameters: Any) -> dict[str, Any]:
        """Answer a question with sources, or refuse to."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._call("GET", "/v1/answer", params={"q": question, **given})

    def compare(self, a: str, b: str, **options: Any) -> dict[str, Any]:
        """Set two runs of the service side by side."""
        return self._call("POST", "/v1/compare", json={"a": a, "b": b, **options})

    def gate(self, baseline: str, current: str, **options: Any) -> dict[str, Any]:
        """Hold a run against a baseline; ``exit_code`` is what a build ends with."""
        given = {name: value for name, value in options.items() if value is not None}
        return self._call(
            "POST", "/v1/gate", json={"baseline": baseline, "current": current, **given}
        )

    def _call(self, method: str, path: str, **request: Any) -> dict[str, Any]:
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
            hint="is the service running, and the address right?",
        )


def _wait(text: str) -> float:
    return min(MAX_WAIT_S, float(text)) if text.isdigit() else 1.0


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
