"""Where do reports go?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from assay.cli.console import note


def write_reports(folder: Path, name: str, pages: Mapping[str, str]) -> None:
    """Write the same report in several forms; run ids are ours, so they may be file names."""
    for ending, text in pages.items():
        place = folder / f"{name}{ending}"
        write_file(place, text)
        note(f"wrote {place}")


def write_file(place: Path, text: str) -> None:
    """Write a file as a whole: a reader sees the old one or the new one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
