"""Does the command load nothing that it does not need?"""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "numpy",
    "polars",
    "scipy",
    "pandas",
    "yaml",
    "rich",
    "zstandard",
    "assay.strict_yaml",
)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["config", "show"]])
def test_nothing_heavy_is_loaded(arguments: list[str]) -> None:
    script = (
        "import sys; from assay.cli.main import run; code = run(sys.argv[1:]);"
        f"sys.exit(code or ' '.join(name for name in {HEAVY!r} if name in sys.modules) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
