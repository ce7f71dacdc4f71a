"""Who writes to the service while it is harmed, and how do they know what was acknowledged?

Each writer repeats a request under the same id until it is answered, as a careful client does, and
keeps a journal for ``assay.testing.invariants``.
"""

from __future__ import annotations

import itertools
import random
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import httpx2 as httpx

from assay.testing.invariants import ANYTHING, Journal, Kind

WORDS = ("heart", "failure", "renal", "dose", "asthma", "children", "trial", "placebo")
LATER = {0, 408, 429, 500, 502, 503, 504, 507}
"""Statuses after which a client asks again; 0 is none at all. 500 is counted by itself."""
BASE = tuple(
    {"doc_id": f"base-{at}", "text": f"base{at} report on {word}"} for at, word in enumerate(WORDS)
)
QUERIES = [
    {"query_id": f"q{at}", "query_text": word, "relevant_docs": [{"doc_id": f"base-{at}"}]}
    for at, word in enumerate(WORDS[:4])
]


class Caller:
    """A client that knows where the service is now, and counts what it was told."""

    def __init__(self, address: Callable[[], str], key: str, over: threading.Event) -> None:
        self._address, self._key, self.over = address, key, over
        self.statuses: Counter[int] = Counter()
        self.defects: list[str] = []

    def once(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and JSON of one request; status 0 where no answer came."""
        headers = {"authorization": f"Bearer {self._key}", **headers}
        try:
            answer = httpx.request(
                method, self._address() + path, json=body, headers=headers, timeout=60
            )
            content = answer.json() if answer.content else None
        except (httpx.HTTPError, OSError, ValueError):
            self.statuses[0] += 1
            return 0, None
        self.statuses[answer.status_code] += 1
        if answer.status_code == 500:
            self.defects.append(f"{method} {path}: {content}")
        return answer.status_code, content

    def until_answered(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The same request under one id until there is an answer, or the time is over."""
        key = f"{random.getrandbits(64):x}"
        while True:
            status, content = self.once(method, path, body, **{"idempotency-key": key})
            while status == 202 and not self.over.is_set():
                self.over.wait(0.2)
                asked, job = self.once("GET", f"/v1/jobs/{content['job_id']}")
                if asked == 200 and job["state"] == "complete":
                    return 200, job["result"]
                if asked == 200 and job["state"] == "failed":
                    return int(job["problem"]["status"]), job["problem"]
            if status not in LATER and status != 202:
                return status, content
            if self.over.wait(0.3):
                return 0, None


class Writer(ABC, threading.Thread):
    """One that writes and keeps a journal until it is told to stop."""

    scopes: ClassVar[tuple[str, ...]] = ("read", "evaluate", "admin")

    def __init__(self, caller: Caller, journal: Path, seed: int) -> None:
        super().__init__(daemon=True)
        self.caller, self._journal = caller, Journal(journal)
        self.rng = random.Random(seed)
        self.unexpected: list[str] = []

    @abstractmethod
    def step(self, number: int) -> None:
        """Write one thing."""

    def run(self) -> None:
        for number in itertools.count():
            if self.caller.over.is_set():
                break
            self.step(number)
        self._journal.close()

    def write(
        self, kind: Kind, name: str, value: Any, method: str, path: str, body: Any = None
    ) -> Any:
        """Send a write, and note what came of it; what the service said, or None."""
        self._journal.begin(kind, name, value)
        status, content = self.caller.until_answered(method, path, body)
        if status in (200, 201):
            self._journal.done(kind, name, value)
            return content
        if status:
            self._journal.refused(kind, name)
            self.unexpected.append(f"{method} {path}: {status} {content}")
        return None


class Documents(Writer):
    """Puts, replaces and deletes documents."""

    def step(self, number: int) -> None:
        name = f"doc-{self.rng.randrange(number // 2 + 4)}"
        if number > 5 and self.rng.random() < 0.2:
            self._journal.begin("document", name, None)
            status, content = self.caller.until_answered("DELETE", f"/v1/documents/{name}")
            if status in (200, 404):
                self._journal.done("document", name, None)
            elif status:
                self.unexpected.append(f"DELETE {name}: {status} {content}")
            return
        text = f"number{number} of the report on {self.rng.choice(WORDS)}"
        self.write("document", name, text, "POST", "/v1/documents", {"documents": [
            {"doc_id": name, "text": text}
        ]})  # fmt: skip


class Runs(Writer):
    """Evaluates a test set again and again, and moves a tag."""

    def step(self, number: int) -> None:
        name = f"run-{number}"
        body = {"name": "sent", "version": str(number), "queries": QUERIES}
        self._journal.begin("run", name, ANYTHING)
        path = f"/v1/evaluate?evaluation_id={name}&resamples=100"
        status, content = self.caller.until_answered("POST", path, body)
        if status != 200:
            cut_short = status == 409 and "index has changed" in str(content)  # and says so
            if status and not cut_short:
                self.unexpected.append(f"evaluate {name}: {status} {content}")
            return
        status, content = self.caller.until_answered("GET", f"/v1/runs/{name}")
        if status == 200:
            self._journal.done("run", name, content["aggregate"]["metrics"])
            self.write("tag", "newest", name, "PUT", f"/v1/runs/{name}/tags/newest")


class Grades(Writer):
    """Grades results in a draft, which is one file that is read and written each time."""

    def step(self, number: int) -> None:
        question, result = self.rng.choice(WORDS), f"base-{self.rng.randrange(len(BASE))}"
        grade = self.rng.randrange(1, 4)
        self.write(
            "grade", f"draft/{question}/{result}", grade, "PUT", "/v1/testsets/draft/grades",
            {"query_text": question, "grades": {result: grade}},
        )  # fmt: skip


class Keys(Writer):
    """Makes keys, revokes some, and sees that they hold."""

    def step(self, number: int) -> None:
        # there is no id by which the same key could be asked for twice
        status, made = self.caller.once(
            "POST", "/v1/keys", {"name": f"k{number}", "scopes": ["read"]}
        )
        if status not in (200, 201):
            self.caller.over.wait(0.2)
            return
        key_id = made["key_id"]
        self._journal.done("key", key_id, "active")
        if self.rng.random() < 0.5:
            self.write("key", key_id, "revoked", "DELETE", f"/v1/keys/{quote(key_id)}")
        self.caller.over.wait(0.2)


WRITERS: tuple[type[Writer], ...] = (Documents, Runs, Grades, Keys)


class Reader(threading.Thread):
    """Searches and lists, and counts what it sees."""

    def __init__(self, caller: Caller, seed: int) -> None:
        super().__init__(daemon=True)
        self.caller, self._rng = caller, random.Random(seed)

    def run(self) -> None:
        while not self.caller.over.wait(0.05):
            word = self._rng.choice(WORDS)
            path = self._rng.choice(
                (f"/v1/search?q={word}", "/v1/runs", "/v1/documents", "/v1/testsets", "/healthz",
                 "/readyz", "/metrics", "/v1/runs/latest/report?resamples=500")
            )  # fmt: skip
            self.caller.once("GET", path)
