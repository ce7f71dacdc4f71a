"""Does any pinned package have a known vulnerability?

    python -m tests.supply.audit

pip-audit looks every package of the locks up. What it finds must be gone (``make lock UPGRADE=1``)
or explained in SECURITY.md by its id. A package that could not be looked up is not called clean:
exit codes are 0 clean, 1 vulnerable, 2 not known.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("all", "bench", "docs")  # bench.lock holds what dev.lock does
SECONDS = 600


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an audit says: packages looked up, those that could not be, and open advisories."""

    known: int
    unknown: tuple[str, ...]
    open: tuple[str, ...]
    explained: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 clean, 1 vulnerable, 2 not known."""
        if self.open:
            return 1
        return 2 if self.unknown or not self.known else 0


def judged(packages: Iterable[Mapping[str, Any]], security: str) -> Verdict:
    """The verdict on pip-audit's list; ``security`` is the text that may explain advisories."""
    known = 0
    unknown: list[str] = []
    still_open: list[str] = []
    explained: list[str] = []
    for package in packages:
        if "skip_reason" in package:
            unknown.append(str(package["name"]))
            continue
        known += 1
        for hole in package.get("vulns", ()):
            names = [hole["id"], *hole.get("aliases", ())]
            line = f"{package['name']} {package['version']}: {', '.join(names)}"
            (explained if any(name in security for name in names) else still_open).append(line)
    return Verdict(known, tuple(unknown), tuple(still_open), tuple(explained))


def asked(lock: Path) -> list[Mapping[str, Any]]:
    """What pip-audit says of the packages of one lock."""
    command = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip"]
    command += ["--requirement", str(lock), "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    try:
        found: list[Mapping[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]
        return [{"name": lock.name, "skip_reason": last}]
    return found


def main() -> int:
    """Audit every lock."""
    packages = {
        (str(one["name"]), str(one.get("version", ""))): one
        for name in LOCKS
        for one in asked(ROOT / "requirements" / f"{name}.lock")
    }
    verdict = judged(packages.values(), (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    for line in verdict.open:
        print(f"open: {line}")
    for line in verdict.explained:
        print(f"explained in SECURITY.md: {line}")
    print(f"{verdict.known} packages looked up, {len(verdict.open)} open advisories")
    if verdict.unknown:
        print(
            f"not known: {len(verdict.unknown)} packages could not be looked up, "
            f"such as {verdict.unknown[0]}: can the advisory service be reached from here?",
            file=sys.stderr,
        )
    return verdict.exit_code


if __name__ == "__main__":
    sys.exit(main())
