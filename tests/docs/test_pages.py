"""Do the examples of the pages run, as they stand there?

``sh`` blocks run in one folder in the order of the navigation, by words only so that it is quick;
``python`` blocks run in the same folder. Blocks that need something else are marked ``text``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import NAV, PAGES, ROOT, WORDS_ONLY, blocks


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
    (made / "home").mkdir()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in NAV if blocks(page, "sh", "python")])
def test_examples_run(page: str, folder: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
        **WORDS_ONLY,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder / "home"),  # with no model, no setting and no cache
    }
    shell = ["bash", "-euo", "pipefail", "-c"]
    for language, body in blocks(page, "sh", "python"):
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
