"""How does each benchmark write its own part of BENCHMARKS.md?

A part stands between two marks. Writing one leaves the others as they are.
"""

from __future__ import annotations

from pathlib import Path

DOCUMENT = Path(__file__).parent.parent / "BENCHMARKS.md"


def write_part(name: str, text: str, document: Path = DOCUMENT) -> None:
    """Replace the part of this name, or append it where there is none."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    part = f"{begin}\n{text.strip()}\n{end}\n"
    present = document.read_text("utf-8") if document.exists() else "# Benchmarks\n"
    before, found, rest = present.partition(begin)
    if found:
        after = rest.partition(end)[2].lstrip("\n")
        content = before + part + (f"\n{after}" if after else "")
    else:
        content = f"{present.rstrip()}\n\n{part}"
    document.write_text(content, encoding="utf-8")
