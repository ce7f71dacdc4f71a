"""How many passages must be judged until systems stand in the right order?

Each run of the experiment is a way to judge what ``systems`` (runs of others) have among their
first ten results. Its ``order`` is ``depth`` (first results first), ``random``, or ``active``,
drawn by how much systems differ (``annotation/active.py``). ``unjudged`` results count as
``irrelevant``, or as their ranks suggest (``expected``). Judgments are those of the collection;
``tau at N%`` is Kendall's tau, over pairs of systems, between their order by nDCG@10 of all
judgments and their order once N % is judged, as a mean of ``SEEDS`` draws.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import assay
from assay.annotation.active import DEPTH, drawn, estimates
from assay.model.annotation import Item, ItemKey
from assay.model.judgments import Qrels
from assay.zstd import ZstdFrames
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome

SEEDS = range(10)
FUSED = (0.2, 0.35, 0.5, 0.65, 0.8)
RRF = (10, 60)
Ranked = Mapping[str, Sequence[str]]
Order = Callable[[Sequence[Item], int], Sequence[Item]]


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every way to judge."""
    for one in experiment.runs:
        began = time.perf_counter()
        qrels = assay.load_qrels(folder.parent / one.more["judgments"])
        systems = _systems(folder.parent / one.more["systems"])
        items = _pooled(systems, qrels)
        grades = _grades(items, qrels)
        truth = {name: _ndcg(ranked, qrels) for name, ranked in systems.items()}
        shares = [int(key.removeprefix("tau at ").removesuffix("%")) for key in one.expected]
        taus = dict.fromkeys(shares, 0.0)
        for seed in SEEDS:
            ordered = ORDERS[one.more["order"]](items, seed)
            for share in shares:
                judged = ordered[: len(items) * share // 100]
                known = {item.key: grades[item.key] for item in judged}
                taus[share] += kendall(truth, _values(one.more["unjudged"], items, known))
        found = {f"tau at {share}%": round(tau / len(SEEDS), 4) for share, tau in taus.items()}
        took = (time.perf_counter() - began) / len(SEEDS) / len(shares) * 1000
        yield Outcome(one, found, took)


def _values(unjudged: str, items: Sequence[Item], known: Mapping[ItemKey, int]) -> dict[str, float]:
    """What the systems come to by what is known."""
    if unjudged == "expected":
        return estimates(items, known)
    return estimates(items, {item.key: known.get(item.key, 0) for item in items})


def _shuffled(items: Sequence[Item], seed: int) -> list[Item]:
    def place(item: Item) -> bytes:
        return hashlib.sha256("\0".join((str(seed), *item.key)).encode()).digest()

    return sorted(items, key=place)


def _by_depth(items: Sequence[Item], seed: int) -> list[Item]:
    return sorted(_shuffled(items, seed), key=lambda item: min(item.found_by.values()))


ORDERS: Mapping[str, Order] = {"depth": _by_depth, "random": _shuffled, "active": drawn}


def kendall(truth: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Kendall's tau over the pairs of systems that the truth tells apart."""
    names = sorted(truth)
    pairs = [
        (truth[a] - truth[b], other.get(a, 0.0) - other.get(b, 0.0))
        for at, a in enumerate(names)
        for b in names[:at]
    ]
    told = [(one, two) for one, two in pairs if one]
    return sum((one * two > 0) - (one * two < 0) for one, two in told) / len(told)


def _ndcg(ranked: Ranked, qrels: Qrels) -> float:
    run = {query: list(ranked.get(query, ()))[:DEPTH] for query in qrels.queries}
    found = assay.score(qrels, run, ["nDCG@10"])["nDCG@10"]
    return 0.0 if found is None else found


def _pooled(systems: Mapping[str, Ranked], qrels: Qrels) -> list[Item]:
    """What the first ten results of all systems hold, for queries with something relevant."""
    found: dict[ItemKey, dict[str, int]] = {}
    for name, ranked in sorted(systems.items()):
        for query in qrels.queries:
            for rank, document in enumerate(list(ranked.get(query, ()))[:DEPTH], 1):
                found.setdefault((query, document), {})[name] = rank
    return [Item(*key, key[1], "", found_by=ranks) for key, ranks in sorted(found.items())]


def _grades(items: Sequence[Item], qrels: Qrels) -> dict[ItemKey, int]:
    known = qrels.by_query
    return {item.key: max(known[item.query_id].get(item.chunk_id, 0), 0) for item in items}


def _systems(place: Path) -> dict[str, Ranked]:
    """The runs of an archive, or of a folder together with fusions of each two of them."""
    if place.suffix == ".zst":
        unpacked = b"".join(ZstdFrames().feed(place.read_bytes()))
        with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
            every = (one for one in archive.getmembers() if one.isfile())
            members = [one for one in every if not one.name.endswith(".json")]
            return {
                Path(one.name).name: _ranked(file.read().decode())
                for one in members
                if (file := archive.extractfile(one)) is not None
            }
    runs = {
        path.name.partition(".")[0]: _ranked(gzip.decompress(path.read_bytes()).decode())
        for path in sorted(place.glob("*.trec.gz"))
    }
    (first, one), (_, two) = sorted(runs.items())
    fused = {
        f"rrf {k} with {share} {first}": _fused(one, two, share, k) for share in FUSED for k in RRF
    }
    return {**runs, **fused}


def _ranked(text: str) -> Ranked:
    """The documents of each query by score, as trec_eval reads a run."""
    found: dict[str, list[tuple[float, str]]] = {}
    for line in text.splitlines():
        query, _, document, _, score, *_ = line.split()
        found.setdefault(query, []).append((-float(score), document))
    return {query: [document for _, document in sorted(rows)] for query, rows in found.items()}


def _fused(one: Ranked, two: Ranked, share: float, k: int) -> Ranked:
    found: dict[str, list[str]] = {}
    for query in {**one, **two}:
        scores: dict[str, float] = {}
        for ranked, weight in ((one, share), (two, 1 - share)):
            for rank, document in enumerate(ranked.get(query, ()), 1):
                scores[document] = scores.get(document, 0.0) + weight / (k + rank)
        found[query] = sorted(scores, key=lambda name: (-scores[name], name))
    return found
