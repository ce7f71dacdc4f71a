"""What does a fresh Python process say? It imports nothing that this one did."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

from bench.runner import ROOT


def run_process(arguments: list[str], deadline_s: float) -> str:
    """The standard output of ``python ARGUMENTS``; its last word as an error where it fails."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((os.path.join(ROOT, "src"), ROOT))}
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", *arguments],
            check=False, cwd=ROOT, env=environment, capture_output=True, text=True,
            timeout=deadline_s,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"not done after {deadline_s:.0f} s") from None
    if done.returncode:
        silent = f"ended by {_signal(-done.returncode)}, without a word"
        raise RuntimeError((done.stderr.strip().splitlines() or [silent])[-1][:200])
    return done.stdout


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"itself ({-number})"


def run_worker(module: str, arguments: tuple[str, ...], deadline_s: float) -> dict[str, Any]:
    """The report of a worker, which prints it as JSON."""
    found: dict[str, Any] = json.loads(run_process(["-m", module, *arguments], deadline_s))
    return found
