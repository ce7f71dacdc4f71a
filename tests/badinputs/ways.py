"""How is a bad input handed over: as a file, on a command line, over HTTP, as settings?"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from assay.cli.main import run
from tests.badinputs.case import Outcome

QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 c 1\n"
RUN = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n"


@dataclass
class Bench:
    """Where a case is tried: an empty folder, which is the current one, and a service."""

    folder: Path
    client: TestClient
    runs: Path  # a workspace with stored runs

    def write(self, name: str, given: Any) -> Path:
        """Put the input into a file of the folder."""
        content = given() if callable(given) else given
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def assay(self, *arguments: str, stdin: bytes = b"") -> Outcome:
        """A command line in this process; everything that it said."""
        said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        before = sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = run(arguments)
        finally:
            sys.stdin = before
        return Outcome(code, said.buffer.getvalue().decode())


# --- test sets


def as_yaml_set(bench: Bench, given: Any) -> Outcome:
    """A test set, to be checked."""
    bench.write("input.yaml", given)
    return bench.assay("testset", "validate", "input.yaml")


def as_json_set(bench: Bench, given: Any) -> Outcome:
    """The same in JSON."""
    bench.write("input.json", given)
    return bench.assay("testset", "validate", "input.json")


def as_csv_set(bench: Bench, given: Any) -> Outcome:
    """The same as a table."""
    bench.write("input.csv", given)
    return bench.assay("testset", "validate", "input.csv")


def as_lines_set(bench: Bench, given: Any) -> Outcome:
    """The same as JSON lines."""
    bench.write("input.jsonl", given)
    return bench.assay("testset", "validate", "input.jsonl")


def as_named_query(bench: Bench, given: tuple[str, str]) -> Outcome:
    """A test set whose query is asked for by the id that a person wrote."""
    text, name = given
    bench.write("input.yaml", text)
    return bench.assay("testset", "show", "input.yaml", name)


def as_indexed_set(bench: Bench, given: str) -> Outcome:
    """A test set, held against the documents of a workspace."""
    bench.write("corpus.jsonl", '{"_id": "d1", "text": "warfarin dose"}\n')
    bench.assay("ingest", "corpus.jsonl", "--no-index")
    bench.write("input.yaml", given)
    return bench.assay("testset", "validate", "input.yaml", "--index")


# --- runs and judgments


def as_run(bench: Bench, given: Any) -> Outcome:
    """A run that is scored against sound judgments."""
    bench.write("qrels", QRELS)
    bench.write("input", given)
    return bench.assay("score", "-q", "qrels", "-r", "input", "-m", "MRR Recall@10")


def as_qrels(bench: Bench, given: Any) -> Outcome:
    """Judgments for a sound run."""
    bench.write("input", given)
    bench.write("sound.run", RUN)
    return bench.assay("score", "-q", "input", "-r", "sound.run", "-m", "MRR Recall@10")


def as_two_runs(bench: Bench, given: tuple[str, str, str]) -> Outcome:
    """Judgments and two runs that are compared, with their statistics."""
    for name, content in zip(("qrels", "one.run", "two.run"), given, strict=True):
        bench.write(name, content)
    return bench.assay("score", "-q", "qrels", "-r", "one.run", "-r", "two.run", "-m", "RR@10")


# --- corpora


def as_corpus(bench: Bench, given: Any) -> Outcome:
    """A file of documents, one on each line."""
    bench.write("input.jsonl", given)
    return bench.assay("ingest", "input.jsonl", "--no-index")


def as_prose(bench: Bench, given: Any) -> Outcome:
    """A file that somebody asks to be read as plain text."""
    bench.write("input.xml", given)
    return bench.assay("ingest", "input.xml", "--format", "text", "--no-index")


def as_document(bench: Bench, given: Any) -> Outcome:
    """The same; then the first document is shown as it is stored."""
    outcome = as_corpus(bench, given)
    if outcome.code:
        return outcome
    return bench.assay("corpus", "show", "d1", "--json")


def as_found(bench: Bench, given: tuple[str, str]) -> Outcome:
    """A corpus that is indexed and searched."""
    content, query = given
    bench.write("input.jsonl", content)
    outcome = bench.assay("ingest", "input.jsonl")
    return outcome if outcome.code else bench.assay("search", query, "--json")


def as_article(bench: Bench, given: Any) -> Outcome:
    """A file of XML."""
    bench.write("input.xml", given)
    return bench.assay("ingest", "input.xml", "--no-index")


def as_folder(bench: Bench, given: Mapping[str, bytes]) -> Outcome:
    """A folder of files."""
    place = bench.folder / "corpus"
    place.mkdir()
    for name, content in given.items():
        (place / name).write_bytes(content)
    return bench.assay("ingest", "corpus", "--no-index")


# --- HTTP


@dataclass(frozen=True)
class Request:
    """One HTTP request."""

    path: str
    method: str = "GET"
    options: Mapping[str, Any] = field(default_factory=dict)


def get(path: str, **parameters: Any) -> Request:
    """A request for a page or an answer."""
    return Request(path, "GET", {"params": parameters} if parameters else {})


def search(**parameters: Any) -> Request:
    """A search over HTTP."""
    return get("/v1/search", **{"q": "headache", **parameters})


def post(path: str, **options: Any) -> Request:
    """A request with a body."""
    return Request(path, "POST", options)


def over_http(bench: Bench, given: Any) -> Outcome:
    """The request; the last answer where there are several."""
    requests = given() if callable(given) else given
    answer = None
    for request in requests if isinstance(requests, list) else [requests]:
        answer = bench.client.request(request.method, request.path, **request.options)
    assert answer is not None
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
    return Outcome(answer.status_code, answer.text)


# --- command lines and settings


def as_command(bench: Bench, given: str) -> Outcome:
    """A command line, in a folder with sound files."""
    bench.write("qrels", QRELS)
    bench.write("sound.run", RUN)
    (bench.folder / "folder").mkdir()
    return bench.assay(*shlex.split(given))


def as_comparison(bench: Bench, given: str) -> Outcome:
    """A command line over stored runs."""
    return bench.assay("--home", str(bench.runs), *shlex.split(given))


def as_gate(bench: Bench, given: tuple[str, str]) -> Outcome:
    """A baseline file and a current run file, held against each other by the default limits."""
    bench.write("baseline.json", given[0])
    return bench.assay(
        "--home", str(bench.runs), "eval", "gate", "--baseline", "baseline.json",
        "--current", given[1],
    )  # fmt: skip


def as_settings(bench: Bench, given: Any) -> Outcome:
    """A configuration file."""
    bench.write("assay.yaml", given)
    return bench.assay("config", "show")


def as_measures(bench: Bench, given: str) -> Outcome:
    """Names of measures."""
    bench.write("qrels", QRELS)
    bench.write("sound.run", RUN)
    return bench.assay("score", "-q", "qrels", "-r", "sound.run", "-m", given)


def as_backup(bench: Bench, given: Any) -> Outcome:
    """A backup that is to be put back."""
    bench.write("input.tar.gz", given)
    return bench.assay("--home", "restored", "restore", "input.tar.gz")


@contextlib.contextmanager
def bench_in(folder: Path, client: TestClient, runs: Path) -> Iterator[Bench]:
    """A bench in a folder, without models; the environment is as before afterwards."""
    settings = {"ASSAY_HOME": str(folder / "home"), "ASSAY_RESAMPLES": "200"}
    settings |= {f"ASSAY_{name}_MODEL": "none" for name in ("DENSE", "SPLADE")}
    before, environ = Path.cwd(), dict(os.environ)
    os.environ.update(settings)
    os.chdir(folder)
    try:
        yield Bench(folder, client, runs)
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environ)
