"""How do the measurements of the encoders read?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PROSE = """
## Encoding

Written by `python -m bench.encode --write`; `make bench-encode` measures and prints the same,
`speed` or `quality` as an argument a part of it.

**Speed**: the encoder (text in, vectors out) on all cores beside a bare onnxruntime session that is
handed finished tokens: the same rows on the same threads (*of rows*), and the usual padded batches
of 32 with the library's own threads (*of batches*). 100 % is as fast as the session alone, more is
faster. 64 passages of NFCorpus, 5 alternating rounds, medians; queries one at a time.
**Quality**: exact search over all passages, title and text, 256 tokens, linear gain.
"""
ENOUGH = 0.9  # of what the bare session does

Rows = Sequence[Mapping[str, Any]]


def render(report: Mapping[str, Any]) -> str:
    """The part of BENCHMARKS.md."""
    machine = ", ".join(f"{name} {value}" for name, value in report["machine"].items())
    parts = [PROSE.strip(), f"Measured on: {machine}, {report['threads']} threads."]
    if speeds := report.get("speed"):
        parts += ["### Speed of the encoders", targets(speeds), table(speeds)]
    if pairs := report.get("rerank"):
        parts += ["### Speed of the CPU reranker", table(pairs)]
    if found := report.get("quality"):
        parts += ["### Quality of the encoders alone", table(found)]
    return "\n\n".join(parts)


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


def table(rows: Rows) -> str:
    """Rows as a table."""
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join(['--:'] * len(names))} |"]
    lines += [f"| {' | '.join(str(value) for value in row.values())} |" for row in rows]
    return "\n".join(lines)
