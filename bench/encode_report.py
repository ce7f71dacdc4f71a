"""How do the measurements of the encoders read?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench import encode_both

PROSE = """
## Encoding

Written by `python -m bench.encode --write`; `make bench-encode` measures and prints the same,
`both`, `speed` or `quality` as an argument a part of it.

**Both signals**: the dense vector and the terms of the same 64 passages and 50 queries, by two
models or by one pass of one. The ways take turns; passages run on all cores, queries one at a time
on one. Medians of 5 rounds, the smallest and the largest in brackets.

**Speed**: the encoder (text in, vectors out) on all cores beside a bare onnxruntime session that is
handed finished tokens: the same rows on the same threads (*of rows*), and the usual padded batches
of 32 with the library's own threads (*of batches*). 100 % is as fast as the session alone, more is
faster. 64 passages of NFCorpus, 5 alternating rounds, medians; queries one at a time.
**Quality**: exact search over all passages, title and text, 256 tokens, linear gain.
"""
ENOUGH = 0.9  # of what the bare session does

TITLES = {
    "both": "Both signals of a passage and of a query",
    "speed": "Speed of the encoders",
    "rerank": "Speed of the CPU reranker",
    "quality": "Quality of the encoders alone",
}
COLUMNS = {
    "both": encode_both.COLUMNS,
    "speed": (
        *("model", "tokens/passage", "passages/s", "of rows, clock", "of rows, cpu"),
        *("of batches, clock", "of batches, cpu", "cpu ms/passage", "query p50 ms", "query p95 ms"),
    ),
    "rerank": ("model", "ms/pair", "cpu ms/pair"),
    "quality": ("collection", "model", "nDCG@10", "Recall@10", "passages", "queries"),
}

Rows = Sequence[Mapping[str, Any]]
Part = dict[str, Any]
"""What was measured at once: ``rows``, and the ``machine`` and ``threads`` they are of."""


def still_readable(kept: Mapping[str, Any]) -> dict[str, Part]:
    """The parts of the last time that say where they were measured and have today's columns."""
    return {
        name: part
        for name, part in kept.items()
        if name in COLUMNS
        and isinstance(part, dict)
        and {"machine", "threads", "rows"} <= part.keys()
        and all(tuple(row) == COLUMNS[name] for row in part["rows"])
    }


def render(report: Mapping[str, Part]) -> str:
    """The part of BENCHMARKS.md."""
    parts = [PROSE.strip()]
    for name, title in TITLES.items():
        if name not in report or not report[name]["rows"]:
            continue
        rows = report[name]["rows"]
        parts += [f"### {title}", where(report[name])]
        if name in _TARGETS:
            parts.append(_TARGETS[name](rows))
        parts.append(table(rows))
    return "\n\n".join(parts)


def where(part: Part) -> str:
    """On what a part was measured."""
    machine = ", ".join(f"{name} {value}" for name, value in part["machine"].items())
    return f"Measured on: {machine}, {part['threads']} threads."


def targets(speeds: Rows) -> str:
    """Which encoders keep up with the bare session? Processor time decides, machines are shared."""
    lines = ["| figure | target | measured | |", "| :-- | --: | --: | :-- |"]
    for row in speeds:
        share = float(row["of rows, cpu"].rstrip("%")) / 100
        verdict = "reached" if share >= ENOUGH else "**missed**"
        lines.append(
            f"| {row['model']} of the bare session, processor time | ≥ {ENOUGH:.0%} "
            f"| {share:.0%} | {verdict} |"
        )
    return "\n".join(lines)


_TARGETS = {"speed": targets, "both": encode_both.targets}


def table(rows: Rows) -> str:
    """Rows as a table."""
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join(['--:'] * len(names))} |"]
    lines += [f"| {' | '.join(str(value) for value in row.values())} |" for row in rows]
    return "\n".join(lines)
