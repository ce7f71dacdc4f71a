"""Does any pinned package have a known vulnerability?

    python -m tests.supply.audit
    python -m tests.supply.audit --database PyPI.zip

pip-audit looks every package of the locks up; without a network, a file of advisories does: an
archive in the form of OSV, or a folder of its JSON files. What is found must be gone (``make lock
UPGRADE=1``) or explained in SECURITY.md by its id. A package that could not be looked up is not
called clean: exit codes are 0 clean, 1 vulnerable, 2 not known.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("all", "bench", "docs")  # bench.lock holds what dev.lock does
SECONDS = 600
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)


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


def advisories(database: Path) -> Iterator[Mapping[str, Any]]:
    """The advisories of a folder or an archive of JSON files, in the form of OSV."""
    if database.is_dir():
        for path in sorted(database.rglob("*.json")):
            yield json.loads(path.read_bytes())
        return
    with zipfile.ZipFile(database) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".json"):
                yield json.loads(archive.read(name))


def pinned(lock: Path) -> list[tuple[str, str]]:
    """The packages of a lock and their versions."""
    found = _PIN.findall(lock.read_text(encoding="utf-8"))
    return [(canonicalize_name(name), version) for name, version in found]


def looked_up(
    packages: Iterable[tuple[str, str]], known: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The packages as pip-audit lists them, with the advisories that affect their versions."""
    by_name: dict[str, list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    for hole in known:
        if hole.get("withdrawn"):
            continue
        for affected in hole.get("affected", ()):
            package = affected.get("package", {})
            if package.get("ecosystem") == "PyPI":
                name = canonicalize_name(str(package.get("name", "")))
                by_name.setdefault(name, []).append((hole, affected))
    if not by_name:
        return [{"name": "the database", "skip_reason": "it has no advisory on PyPI"}]
    return [
        {
            "name": name,
            "version": version,
            "vulns": [
                {"id": hole["id"], "aliases": hole.get("aliases", [])}
                for hole, affected in by_name.get(name, ())
                if _affects(affected, version)
            ],
        }
        for name, version in packages
    ]


def _affects(affected: Mapping[str, Any], version: str) -> bool:
    """By the versions that are listed, or by ranges: introduced, then fixed or last affected."""
    if version in affected.get("versions", ()):
        return True
    own = Version(version)
    for one in affected.get("ranges", ()):
        inside = False
        if one.get("type") != "ECOSYSTEM":
            continue
        for event in one.get("events", ()):
            if "introduced" in event:
                inside = inside or own >= Version(event["introduced"])
            elif ("fixed" in event and own >= Version(event["fixed"])) or (
                "last_affected" in event and own > Version(event["last_affected"])
            ):
                inside = False
        if inside:
            return True
    return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit every lock."""
    parser = argparse.ArgumentParser(description="Look for known vulnerabilities.")
    parser.add_argument("--database", type=Path, default=None, help="advisories of OSV, as a file")
    given = parser.parse_args(arguments)
    locks = [ROOT / "requirements" / f"{name}.lock" for name in LOCKS]
    if given.database is None:
        every = [one for lock in locks for one in asked(lock)]
    else:
        names = sorted({one for lock in locks for one in pinned(lock)})
        every = looked_up(names, advisories(given.database))
    packages = {(str(one["name"]), str(one.get("version", ""))): one for one in every}
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
    sys.exit(main(sys.argv[1:]))
