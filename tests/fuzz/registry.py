"""Which harnesses are there, for which target, and why?"""

from __future__ import annotations

from tests.fuzz import corpora, goldens, scores, settings
from tests.fuzz.harness import Harness

HARNESSES: tuple[Harness, ...] = (
    *scores.HARNESSES,
    *goldens.HARNESSES,
    *corpora.HARNESSES,
    *settings.HARNESSES,
)
BY_NAME = {harness.name: harness for harness in HARNESSES}


def as_table() -> str:
    """Harness, target and why, in Markdown."""
    rows = ["| harness | target | why |", "|---|---|---|"]
    rows += [f"| `{one.name}` | `{one.target}` | {one.why} |" for one in HARNESSES]
    return "\n".join(rows)
