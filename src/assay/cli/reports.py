"""Where do reports go, and with which sampling are they made?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.console import note
from assay.evaluation.sampling import Sampling

if TYPE_CHECKING:
    from assay.config import Configuration


def sampling_of(config: Configuration) -> Sampling:
    """The bootstrap that the settings ask for."""
    return Sampling(
        "percentile" if config.ci_method == "percentile" else "bca",
        config.confidence,
        config.resamples,
        config.seed,
    )


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
