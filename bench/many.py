"""How fast are many small runs scored, beside trec_eval and pytrec_eval?

``python -m bench.score --only many``. The runs are a leaderboard: of 16 runs that were sent to
TREC-COVID, round 5, each new run takes every topic from one that is drawn. A second table scores
one run that is in memory. Figures are processor seconds; the tools take turns.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import IO, Any, cast

from bench import runner
from bench.summary import Spread, Summary, disagreement, summarise
from bench.targets import Target
from bench.workloads import WORKLOADS, Workload

DATA = Path(os.environ.get("ASSAY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
RUNS, QRELS = "runs_round5_dev.tar.zst", "qrels/qrels.covid-round5.txt.gz"
TOOLS = (
    "assay",
    "assay, judgments read for each run",
    "assay, nothing compiled",
    "assay score, the command",
    "pytrec_eval",
    "trec_eval",
)
BOUNDS = {"trec_eval": 5, "pytrec_eval": 6}

HEAD = """## Many small runs

Written by `python -m bench.score --only many --write`, nothing by hand. {count} runs, made of 16
that were sent to TREC-COVID, round 5: each takes every one of the 50 topics from a run that is
drawn. {rows:,} rows and {bytes:.1f} MB a run on average, {judgments:,} judgments. The nine measures
are those of "Scoring and statistics". Every measurement is a fresh process, the tools take turns,
and seconds are processor seconds of the work on all runs, reading included. A row is the median of
n processes, with the smallest and the largest in brackets. *Values* compares the means over all
runs with ours; the command and trec_eval print four decimals."""

NOTES = """*assay* is `assay.score_many`, which reads the judgments once; the next row reads them
for every run, as `assay.score` with two paths does. The command counts from start to end, Python's
own start included. pytrec_eval reads the judgments once and keeps its evaluator. trec_eval is a
process for each run, as it is used, and reads the judgments each time: version 9.0.4, as the Java
package jtreceval brings it for Linux. Where no `trec_eval` is on the PATH its row is missing. Both
round scores to 32 bits, and so do we here (`score_dtype="float32"`)."""


def generate(workload: Workload) -> None:
    """Write the judgments and the runs."""
    folder = Path(workload.path(""))
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "runs").mkdir(parents=True)
    Path(workload.qrels).write_bytes(gzip.decompress((DATA / "trec_covid" / QRELS).read_bytes()))
    sent = _sent_runs()
    topics = sorted({topic for run in sent for topic in run}, key=int)
    rng = random.Random(workload.seed)
    for at in range(workload.runs_made):
        lines = [rng.choice(sent).get(topic, b"") for topic in topics]
        (folder / "runs" / f"run-{at:03}").write_bytes(b"".join(lines))


def _sent_runs() -> list[dict[str, bytes]]:
    """The lines of each topic, run by run."""
    import zstandard

    found = []
    with (
        (DATA / "trec_covid" / RUNS).open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as stream,
        tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|") as tar,
    ):
        for member in tar:
            content = tar.extractfile(member)
            if content is not None and "runs_round5_dev/" in member.name:
                topics: dict[str, list[bytes]] = defaultdict(list)
                for line in content.read().splitlines(keepends=True):
                    topics[line.split(None, 1)[0].decode()].append(line)
                found.append({topic: b"".join(lines) for topic, lines in topics.items()})
    return found


def measure(rounds: int, *, quick: bool, say: Any) -> dict[str, Any]:
    """Every tool on all runs, and on one run from dicts, in turns."""
    workload = WORKLOADS["many-quick" if quick else "many"]
    runner.ensure(workload.name, "B")
    there = [tool for tool in TOOLS if tool != "trec_eval" or shutil.which(tool)]
    many: dict[str, list[dict[str, Any]]] = {tool: [] for tool in there}
    dicts: dict[str, list[dict[str, Any]]] = {"assay": [], "pytrec_eval": []}
    for turn in range(rounds):
        for tool in there:
            say(f"many runs, round {turn + 1}: {tool}")
            many[tool].append(runner.measure(tool, workload.name, "many"))
        for _ in range(3):
            for tool, taken in dicts.items():
                taken.append(runner.measure(tool, "B", "dicts"))
    sizes = [os.path.getsize(path) for path in workload.runs]
    rows = sum(_lines(path) for path in workload.runs)
    return {
        "runs": len(sizes),
        "rows": rows // len(sizes),
        "bytes": sum(sizes) // len(sizes),
        "judgments": _lines(workload.qrels),
        "many": many,
        "dicts": dicts,
    }


def _lines(path: str) -> int:
    with open(path, "rb") as content:
        return content.read().count(b"\n")


def render(section: dict[str, Any]) -> str:
    """The part of BENCHMARKS.md."""
    count = section["runs"]
    head = HEAD.format(
        count=count,
        rows=section["rows"],
        bytes=section["bytes"] / 1e6,
        judgments=section["judgments"],
    )
    goals = [target.row() for target in targets(section)]
    return "\n\n".join(
        (
            head,
            "\n".join(["| figure | target | measured | |", "| :-- | --: | --: | :-- |", *goals]),
            f"### {count} runs from files\n\n{_table(section['many'], count)}",
            NOTES,
            "### One run from dicts\n\n50 queries × 1,000 results and 66,000 judgments "
            f"(workload B), in memory before the clock starts.\n\n{_table(section['dicts'], 1)}",
            f"Measured {section['when']}.",
        )
    )


def targets(section: dict[str, Any]) -> list[Target]:
    """What was to be reached."""
    found = []
    for peer, bound in BOUNDS.items():
        ratio = _ratio(section["many"], peer)
        if ratio is not None:
            found.append(Target(f"{section['runs']} runs from files, beside {peer}", ratio, bound))
    ratio = _ratio(section["dicts"], "pytrec_eval")
    if ratio is not None:
        found.append(Target("one small run from dicts, beside pytrec_eval", ratio, 1))
    return found


def _ratio(tools: dict[str, Any], peer: str) -> float | None:
    if peer not in tools:
        return None
    ours, theirs = summarise("assay", tools["assay"]), summarise(peer, tools[peer])
    if not isinstance(ours, Summary) or not isinstance(theirs, Summary):
        return None
    return theirs.work.median / ours.work.median


def _table(tools: dict[str, Any], runs: int) -> str:
    ours = summarise("assay", tools["assay"])
    lines = ["|  | n | work s (min–max) | ms a run | peak MB | work / ours | values |"]
    lines.append("| :-- | --: | --: | --: | --: | --: | --: |")
    for tool, taken in tools.items():
        found = summarise(tool, taken)
        if isinstance(found, str) or isinstance(ours, str):
            lines.append(f"| {tool} | failed: {found} | | | | | |")
            continue
        work: Spread = found.work
        same = "" if tool == "assay" else disagreement(ours, found)
        lines.append(
            f"| {tool} | {found.n} | {work.text(3 if runs == 1 else 2)} "
            f"| {1000 * work.median / runs:.1f} | {found.peak_mb:,.0f} "
            f"| {work.median / ours.work.median:.2f} | {same} |"
        )
    return "\n".join(lines)
