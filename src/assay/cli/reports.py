"""Where do reports go?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.console import note
from assay.durable import write_atomically

if TYPE_CHECKING:
    from assay.evaluation.gate import GateReport


def write_reports(folder: Path, name: str, pages: Mapping[str, str]) -> None:
    """Write the same report in several forms; run ids are ours, so they may be file names."""
    for ending, text in pages.items():
        place = folder / f"{name}{ending}"
        write_file(place, text)
        note(f"wrote {place}")


def write_file(place: Path, text: str) -> None:
    """Write a file as a whole: a reader sees the old one or the new one."""
    write_atomically(place, text.encode())


def write_gate(
    ruling: GateReport, *, report: Path | None, junit: Path | None, step_summary: bool
) -> None:
    """The files of a gate that were asked for."""
    from assay.render.gate import gate_junit, gate_markdown

    if report is not None:
        write_file(report, gate_markdown(ruling))
    if junit is not None:
        write_file(junit, gate_junit(ruling))
    summary = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if step_summary and summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(gate_markdown(ruling))
