"""Where do reports go?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.cli.console import note
from assay.durable import write_atomically


def write_reports(folder: Path, name: str, pages: Mapping[str, str]) -> None:
    """Write the same report in several forms; run ids are ours, so they may be file names."""
    for ending, text in pages.items():
        place = folder / f"{name}{ending}"
        write_file(place, text)
        note(f"wrote {place}")


def write_file(place: Path, text: str) -> None:
    """Write a file as a whole: a reader sees the old one or the new one."""
    write_atomically(place, text.encode())
