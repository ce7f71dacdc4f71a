"""At which commit of the caller's own repository was a run made?"""

from __future__ import annotations

import os
import subprocess

VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")
SECONDS = 2.0


def commit_hash() -> str:
    """The commit that CI names, else that of the working folder; empty where there is none."""
    for name in VARIABLES:
        if os.environ.get(name):
            return os.environ[name][:64]
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607 - whichever git the caller uses
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
