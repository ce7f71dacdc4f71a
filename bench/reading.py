"""What does it cost to read a query, to keep boosts to its subject, and to judge the best results?

    python -m bench.reading [--home FOLDER] [--write]

Processor time, so that other programs on the machine matter less, of the questions in
`reproduce/trust.yaml` over their documents (`python -m reproduce.run trust` indexes them; FOLDER
has them elsewhere), each asked once; where they are not there, of the shipped test set over the
demo corpus. *Analysis* makes a question of a query, looks its words, codes and identifiers
up and says what no document has; *guard* tells which candidates are about the subject and lifts
them; *kinds* reads up to thirty passages where the query names a kind (type 2, chronic, non-small
cell); *floor* reads up to eight passages and says whether they are about the query at all. *First*
is a process that has met none of the words; *later* one that has met them all, with nothing else
remembered: no query, no passage.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import yaml

import assay
from assay.analysis import query, words
from assay.app.workspace import Workspace
from assay.search import pipeline, ranking, searcher
from assay.settings import configure
from bench.document import write_part
from bench.machine import Busy, describe
from bench.serve import prepare
from reproduce.data import WORK

TRUST = Path(__file__).resolve().parents[1] / "reproduce" / "trust.yaml"
SHIPPED = "test_set_v1"
STAGES = ("analysis", "guard", "kinds", "floor")
TOGETHER = "analysis and guard"
LIMIT_MS = 1.0
PATIENCE_MS = 20_000


def questions(*, shipped: bool) -> list[str]:
    """What is asked: each once."""
    if shipped:
        asked: Iterable[str] = (one.query_text for one in assay.load_test_set(SHIPPED).queries)
    else:
        asked = _asked(yaml.safe_load(TRUST.read_text("utf-8")))
    return list(dict.fromkeys(asked))


def _asked(part: Any) -> Iterable[str]:
    if isinstance(part, dict):
        if isinstance(part.get("ask"), str):
            yield part["ask"]
        for value in part.values():
            yield from _asked(value)
    elif isinstance(part, list):
        for value in part:
            yield from _asked(value)


def measure(workspace: Workspace, texts: Sequence[str]) -> dict[str, list[float]]:
    """Milliseconds of each stage, question for question; nothing comes from memory."""
    found: dict[str, list[float]] = {stage: [] for stage in (*STAGES, TOGETHER)}
    for text in texts:
        query.read.cache_clear()
        words.vocabulary.cache_clear()
        prepared = workspace.searcher.prepare(text, component_timeout_ms=PATIENCE_MS)
        timings = prepared.fuse_again().timings_ms
        for stage in STAGES:
            found[stage].append(timings.get(stage, 0.0))
        found[TOGETHER].append(timings["analysis"] + timings.get("guard", 0.0))
    return found


def table(passes: dict[str, dict[str, list[float]]]) -> str:
    lines = ["| stage | process | P50 ms | P95 ms | P99 ms |", "| :-- | :-- | --: | --: | --: |"]
    for stage in (*STAGES, TOGETHER):
        for name, taken in passes.items():
            cells = " | ".join(f"{one:.2f}" for one in np.percentile(taken[stage], [50, 95, 99]))
            lines.append(f"| {stage} | {name} | {cells} |")
    return "\n".join(lines)


def report(passes: dict[str, dict[str, list[float]]], chunks: int, others: float | None) -> str:
    """The part of BENCHMARKS.md."""
    together = np.percentile(passes["later"][TOGETHER], [50, 95]).tolist()
    said = " and ".join(
        f"{'within' if one <= LIMIT_MS else 'above'} {LIMIT_MS:g} ms at {where}"
        for where, one in zip(("P50", "P95"), together, strict=True)
    )
    machine = describe(("assay", "PyStemmer"))
    busy = "" if others is None else f" Other processes used {others:.1f} cores meanwhile."
    told = ", ".join(f"{name} {value}" for name, value in machine.items())
    return (
        "## Reading a query\n\nWritten by `python -m bench.reading --write`. "
        + " ".join((__doc__ or "").split("\n\n", 2)[2].split())
        + f" {len(passes['later'][TOGETHER])} questions, {chunks:,} chunks.\n\n{table(passes)}"
        + f"\n\nAnalysis and guard together are {said}.{busy} {told}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.reading", description=__doc__)
    parser.add_argument("--home", type=Path, help="a workspace with the documents of trust")
    parser.add_argument("--write", action="store_true", help="write into BENCHMARKS.md")
    chosen = parser.parse_args()
    for module in (searcher, ranking, pipeline):  # their clock counts processor time from here on
        module.time = SimpleNamespace(  # type: ignore[attr-defined]
            perf_counter=time.thread_time, monotonic=time.monotonic
        )
    given = chosen.home or WORK / "trust"
    shipped = not (given / "assay.db").exists()
    texts = questions(shipped=shipped)
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        home = Path(folder) if shipped else given
        prepare(home)
        with Workspace(configure({"home": home}, environ={}, folder=home)) as workspace:
            workspace.search("warm up")
            busy = Busy()
            passes = {"first": measure(workspace, texts), "later": measure(workspace, texts)}
            chunks = workspace.store.counts()["chunks"]
            text = report(passes, chunks, busy.cores_of_others())
    print(text)
    if chosen.write:
        write_part("bench.reading", text)


if __name__ == "__main__":
    main()
