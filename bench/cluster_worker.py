"""What do loading and asking a cluster take, beside the embedded index and beside raw calls?

All phases use the workspace of the benchmark of hybrid search: the same passages, questions and
given vectors. Every phase opens its engine anew, so that no answer comes from memory.
"""

from __future__ import annotations

import http.client
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from assay.index.writer import update
from assay.opensearch.components import Bm25, Dense, Splade
from assay.opensearch.transport import Transport
from bench.index_data import DIMENSION, QUERIES, K, Workload
from bench.machine import Busy
from bench.search_data import WARM_UP, Questions
from bench.search_engines import DEPTH, Assay, GivenDense, GivenSparse

WAYS: Mapping[str, Mapping[str, Any]] = {
    "bm25": {"components": "bm25"},
    "splade": {"components": "splade"},
    "dense": {"components": "dense"},
    "hybrid": {},
}
MSEARCH_WANTED = "filter_path=responses.timed_out,responses._shards,responses.hits.hits.sort"
BLOCKS = 5
LIMIT_S = 7.0  # a phase ends after this long, or when every question was asked
LAYER_S = 40.0  # the same for all three ways of the layer together
WARM_S = 25.0  # Java compiles what is asked often; a cluster in use has done so


class OnCluster(Assay):
    """The same workspace with its index on a cluster."""

    name = "cluster"

    def __init__(self, data: Workload, urls: str, *, shards: int, replicas: int) -> None:
        super().__init__(data, Questions(data))
        self.settings = {
            "engine": "opensearch",
            "opensearch_url": urls,
            "opensearch_prefix": f"bench-{data.spec.name}",
            "opensearch_shards": shards,
            "opensearch_replicas": replicas,
        }

    def load(self, folder: Path, *, fresh: bool) -> dict[str, float]:
        """Bring all passages there; seconds until they were sent, and until they were served."""
        workspace = self.workspace_in(folder)
        began = time.perf_counter()
        sent = [began]
        workspace.cluster.update(
            workspace.store,
            self.encoders(),
            DIMENSION,
            fresh=fresh,
            progress=lambda *_: sent.append(time.perf_counter()),
        )
        row = {"sent_s": sent[-1] - began, "total_s": time.perf_counter() - began}
        card = workspace.cluster.card(workspace.cluster.current())
        workspace.close()
        return {**row, "mb": card["bytes"]["primaries"] / 1e6}


def embedded_load(engine: Assay, folder: Path) -> dict[str, float]:
    """The same for the embedded index, beside the one that is there."""
    place = folder.with_name(f"{folder.name}-again")
    shutil.rmtree(place, ignore_errors=True)
    workspace = engine.workspace_in(folder)
    began = time.perf_counter()
    update(place, workspace.store, engine.encoders())
    took = time.perf_counter() - began
    workspace.close()
    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    shutil.rmtree(place)
    return {"total_s": took, "mb": size / 1e6}


def searches(engine: Assay, folder: Path) -> dict[str, Any]:
    """Every way to search: one caller's latency, and hybrid search of two callers."""
    found = {}
    for way, options in WAYS.items():
        engine.options = options
        found[way] = _phase(engine, folder, callers=1)
    found["hybrid, 2 callers"] = _phase(engine, folder, callers=2)
    return found


def warm(engine: Assay, folder: Path) -> None:
    """Ask until the cluster has compiled what it runs."""
    engine.options = {}
    engine.open(folder, None)
    until = time.perf_counter() + WARM_S
    for number in range(engine.questions.asked):
        if time.perf_counter() > until:
            break
        engine.search(number)
    engine.close()


def _phase(engine: Assay, folder: Path, *, callers: int) -> dict[str, Any]:
    engine.open(folder, None)
    asked = engine.questions.asked
    for number in range(asked, asked + WARM_UP):
        engine.search(number)
    busy, start = Busy(), time.perf_counter()

    def timed(number: int) -> float | None:
        began = time.perf_counter()
        if began - start > LIMIT_S:
            return None
        engine.search(number)
        return 1e3 * (time.perf_counter() - began)

    with ThreadPoolExecutor(callers) as pool:
        taken = [one for one in pool.map(timed, range(asked)) if one is not None]
    wall = time.perf_counter() - start
    engine.close()
    return {**spread(taken), "qps": len(taken) / wall, "others": busy.cores_of_others()}


def spread(taken: list[float]) -> dict[str, Any]:
    """Percentiles, and how far the medians of consecutive blocks lie apart."""
    p50, p95 = np.percentile(taken, [50, 95]).tolist()
    medians = [float(np.median(block)) for block in np.array_split(taken, BLOCKS) if len(block)]
    return {"p50": p50, "p95": p95, "n": len(taken), "least": min(medians), "most": max(medians)}


def layer(engine: OnCluster, folder: Path) -> dict[str, Any]:
    """Hybrid search beside nothing but its three requests, in parallel and as one ``_msearch``.

    Question by question in turn, so that whatever else happens on the machine happens to all.
    """
    engine.options = {}
    engine.open(folder, None)
    index = engine.workspace.cluster.current().index
    asked = engine.questions.asked
    noted = requests_of(engine.questions, index, asked + WARM_UP)
    spans = Spans(engine.workspace.cluster.transport)
    outside: list[float] = []
    with Raw(str(engine.settings["opensearch_url"])) as raw:
        ways: dict[str, Callable[[int], object]] = {
            "assay": lambda number: outside.append(spans.outside(engine.search, number)),
            "three": lambda number: raw.three(noted[number]),
            "msearch": lambda number: raw.msearch(index, noted[number]),
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        worked: dict[str, list[float]] = {name: [] for name in ways}  # processor time, our process
        for number in range(asked, asked + WARM_UP):
            for ask in ways.values():
                ask(number)
        outside.clear()
        start = time.perf_counter()
        for number in range(asked):
            if time.perf_counter() - start > LAYER_S:
                break
            names = [*ways]
            for step in range(len(names)):
                name = names[(number + step) % len(names)]
                began, busy = time.perf_counter(), time.process_time()
                ways[name](number)
                taken[name].append(1e3 * (time.perf_counter() - began))
                worked[name].append(1e3 * (time.process_time() - busy))
    stages = {
        stage: float(np.median([one[stage] for one in engine.timings[WARM_UP:]]))
        for stage in ("bm25", "splade", "dense", "fusion", "boosts", "total")
    }
    engine.close()
    whole, three, one = (np.array(taken[name]) for name in ways)
    work = np.array(worked["assay"]) - np.array(worked["three"])
    return {
        **{name: spread(each) for name, each in taken.items()},
        "outside": spread(outside),
        "work": spread(work.tolist()),
        "cost": spread((whole - three).tolist()),
        "msearch_less_three": spread((one - three).tolist()),
        "stages": stages,
    }


class Spans:
    """When were the requests of a search under way?"""

    def __init__(self, transport: Any) -> None:
        self._ask = transport.ask
        self._seen: list[tuple[float, float]] = []
        transport.ask = self._timed

    def _timed(self, method: str, path: str, *what: Any, **how: Any) -> Any:
        began = time.perf_counter()
        found = self._ask(method, path, *what, **how)
        if "/_search" in path:  # and not a look for a newer index on the side
            self._seen.append((began, time.perf_counter()))
        return found

    def outside(self, search: Callable[[int], object], number: int) -> float:
        """Milliseconds of a search before its first request and after its last answer."""
        self._seen.clear()
        began = time.perf_counter()
        search(number)
        took = time.perf_counter() - began
        first, last = min(one for one, _ in self._seen), max(end for _, end in self._seen)
        return 1e3 * (took - (last - first))


def nearest(engine: OnCluster, folder: Path) -> float:
    """How many of the true 100 nearest vectors the cluster's graph finds."""
    engine.open(folder, None)
    dense = engine.searcher.snapshot.components["dense"]
    truth = engine.data.truth("dense", filtered=False)
    questions = range(min(QUERIES, engine.questions.asked))
    shares = []
    for number in questions:
        hits = dense.search(engine.questions.texts[number], K)
        rows = {int(hit.chunk_id.partition(":")[0][1:]) for hit in hits}
        shares.append(len(rows & {*truth[number].tolist()}) / K)
    engine.close()
    return float(np.mean(shares))


class _Noted(Transport):
    """Notes what would be asked."""

    def __init__(self) -> None:
        super().__init__("http://nobody")
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        self.seen.append((path, body))
        return {"_shards": {"total": 1, "successful": 1}, "hits": {"hits": []}}


def requests_of(questions: Questions, index: str, wanted: int) -> list[list[tuple[str, Any]]]:
    """Path and body of the three requests of every question."""
    transport = _Noted()
    components = (
        Bm25(transport, index),
        Splade(transport, index, GivenSparse(questions, None)),
        Dense(transport, index, GivenDense(questions, None)),
    )
    for text in questions.texts[:wanted]:
        for component in components:
            component.search(text, DEPTH)
    transport.close()
    return [transport.seen[at : at + 3] for at in range(0, len(transport.seen), 3)]


class Raw:
    """The leanest client there is: standard library, connections kept, answers read as JSON."""

    def __init__(self, urls: str) -> None:
        self._hosts = [str(urlsplit(url).netloc) for url in urls.split()]
        self._pool = ThreadPoolExecutor(3)
        self._turn = count()
        self._open: dict[tuple[int, str], http.client.HTTPConnection] = {}

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *problem: object) -> None:
        self._pool.shutdown()
        for connection in self._open.values():
            connection.close()

    def three(self, requests: list[tuple[str, Any]]) -> list[dict[str, Any]]:
        """One request a component, side by side."""
        asked = [
            self._pool.submit(self._post, lane, self._host(), path, json.dumps(body).encode())
            for lane, (path, body) in enumerate(requests)
        ]
        return [one.result() for one in asked]

    def msearch(self, index: str, requests: list[tuple[str, Any]]) -> list[dict[str, Any]]:
        """All three in one request."""
        lines = b"\n".join(msearch_lines(index, requests)) + b"\n"
        found: list[dict[str, Any]] = self._post(
            0, self._host(), f"/_msearch?{MSEARCH_WANTED}", lines
        )["responses"]
        return found

    def _host(self) -> str:
        return self._hosts[next(self._turn) % len(self._hosts)]

    def _post(self, lane: int, host: str, path: str, body: bytes) -> dict[str, Any]:
        connection = self._open.setdefault((lane, host), http.client.HTTPConnection(host))
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        found: dict[str, Any] = json.loads(connection.getresponse().read())
        if "error" in found:
            raise RuntimeError(str(found["error"])[:300])
        return found


def msearch_lines(index: str, requests: list[tuple[str, Any]]) -> Iterator[bytes]:
    """The same requests as ``_msearch`` wants them: a line where, a line what."""
    for path, body in requests:
        kind = path.partition("&search_type=")[2]
        yield json.dumps({"index": index, **({"search_type": kind} if kind else {})}).encode()
        yield json.dumps(body).encode()
