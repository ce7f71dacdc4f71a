"""Do the examples of the pages run, as they stand there?

``sh`` blocks run in one folder in the order of the navigation, by words only so that it is quick;
``python`` blocks run in the same folder, and those that follow each other are cells of one
notebook. Blocks that need something else are marked ``text``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "pages"
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
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


def test_every_page_is_in_the_navigation_and_there() -> None:
    there = {page.relative_to(PAGES).as_posix() for page in PAGES.rglob("*.md")}
    assert sorted(NAV) == sorted(there)


@pytest.mark.parametrize("page", NAV)
def test_links_lead_somewhere(page: str) -> None:
    file = PAGES / page
    for target in re.findall(r"\]\(([^)#]*)[^)]*\)", file.read_text(encoding="utf-8")):
        assert "://" not in target, f"{page} needs a network: {target}"
        assert not target or (file.parent / target).exists(), f"{page}: {target}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``assay`` on the path, shared by all pages."""
    made = tmp_path_factory.mktemp("reader")
    tool = made / "bin" / "assay"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m assay "$@"\n')
    tool.chmod(0o755)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in NAV if blocks(page, "sh", "python")])
def test_examples_run(page: str, folder: Path) -> None:
    for language, body in programs(page):
        run(language, body, folder)


def run(language: str, body: str, folder: Path) -> None:
    """Run a program as a reader would."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
        **WORDS_ONLY,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
    }
    shell = ["bash", "-euo", "pipefail", "-c"]
    command = [*shell, body] if language == "sh" else [sys.executable, "-c", body]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{body}\n{done.stdout}\n{done.stderr}"


@pytest.mark.slow
def test_the_tutorial_of_python_draws(folder: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    page = "tutorial/python.md"
    cells = [body for _, body in blocks(page, "python")]
    (plots,) = [body for _, body in blocks(page, "text") if body.startswith("from assay import")]
    (gate,) = [cell for cell in cells if "workspace.gate(" in cell]
    before = cells[: cells.index(gate)]
    place = folder / "drawn"
    (place / "bin").mkdir(parents=True)
    run("python", "\n".join([*before, plots]), place)
    for name in ("forest", "differences", "trend", "waterfall"):
        assert (place / f"{name}.png").read_bytes().startswith(b"\x89PNG")
