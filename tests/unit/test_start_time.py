"""Does the command answer at once, without loading what it does not need?"""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

LIMIT_SECONDS = 0.3
ROUNDS, TRIES = 4, 5
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


def seconds(option: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "assay", option], check=True, capture_output=True)
    return time.perf_counter() - start


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_answer_comes_at_once(option: str) -> None:
    """The best of several tries; further rounds only where the machine is busy."""
    best = seconds(option)
    for _ in range(ROUNDS):
        best = min(best, *(seconds(option) for _ in range(TRIES)))
        if best < LIMIT_SECONDS:
            return
    pytest.fail(f"assay {option} took {best:.2f} s at best")


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
