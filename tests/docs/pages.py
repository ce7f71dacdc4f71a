"""Which pages are there, and which examples do they hold?"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "pages"
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
WORDS_ONLY = {
    "ASSAY_COMPONENTS": "bm25",
    "ASSAY_DENSE_MODEL": "none",
    "ASSAY_SPLADE_MODEL": "none",
    "ASSAY_RESAMPLES": "200",
    "ASSAY_COMPONENT_TIMEOUT_MS": "10000",
}


def listed(nav: Any) -> list[str]:
    """The pages of the navigation, in order."""
    if isinstance(nav, str):
        return [nav]
    values = nav.values() if isinstance(nav, dict) else nav
    return [page for value in values for page in listed(value)]


NAV = listed(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"])


def blocks(page: str, *languages: str) -> list[tuple[str, str]]:
    text = (PAGES / page).read_text(encoding="utf-8")
    return [(language, body) for _, language, body in BLOCK.findall(text) if language in languages]


def programs(page: str) -> list[tuple[str, str]]:
    """What runs at once: a block of the shell, or cells of Python with no shell between them."""
    found: list[tuple[str, str]] = []
    for language, body in blocks(page, "sh", "python"):
        if found and found[-1][0] == language == "python":
            found[-1] = (language, f"{found[-1][1]}\n{body}")
        else:
            found.append((language, body))
    return found
