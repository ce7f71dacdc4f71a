"""Does the wheel work where there is no compiler, no git and no repository?

    python -m tests.package.clean [--extra all] [--keep FOLDER]

Builds the wheel, installs it into a new environment, counts packages and megabytes, and runs what
the pages say: the base does what needs no extra, ``all`` runs the tutorials one after the other.
Needs a network or a folder of wheels that pip knows; ``make package`` calls it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import NAV, WORDS_ONLY, programs

ROOT = Path(__file__).resolve().parents[2]
MOST_PACKAGES, MOST_MEGABYTES = 25, 280
OF_PIP = ("pip", "setuptools", "_distutils_hack", "pkg_resources", "distutils-precedence.pth")
TOOLS = """
awk bash cat cp cut env grep head ls mkdir mv printf rm sed sh sleep sort tail touch tr uniq
wc xargs
"""
BASE = (
    'set -- $(assay demo --paths); assay score "$1" "$2" "$3" -m nDCG@10',
    'set -- $(assay demo --paths); assay score --qrels "$1" --run "$2" --run "$3"',
    "printf 'def search(query):\\n    return [\"label-nephrava:chunk_0\"]\\n' > mine.py",
    "PYTHONPATH=. assay eval run -t test_set_v1 --retriever mine:search --tag baseline",
    "assay eval gate --baseline baseline --current latest --report report.md",
    "assay eval report latest --format html --out report.html",
    "assay testset validate test_set_v1",
    "! assay search aspirin",
)


@dataclass(frozen=True, slots=True)
class Environment:
    """A new virtual environment, and a folder with little more on the path than its commands."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Environment:
        """An empty one."""
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        (folder / "tools").mkdir()
        (folder / "home").mkdir()
        for name in TOOLS.split():
            (folder / "tools" / name).symlink_to(shutil.which(name) or f"/bin/{name}")
        return cls(folder)

    @property
    def packages(self) -> Path:
        """Where packages are installed."""
        return next((self.folder / "venv" / "lib").glob("python*/site-packages"))

    def install(self, *wanted: str) -> None:
        """Install wheels; nothing is compiled here."""
        pip = [str(self.folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--only-binary", ":all:", *wanted], check=True)

    def count(self) -> int:
        """The packages that were installed, ours included."""
        found = {place.name.partition("-")[0] for place in self.packages.glob("*.dist-info")}
        return len(found - set(OF_PIP))

    def megabytes(self) -> float:
        """What they take on the disk."""
        return (
            sum(
                file.stat().st_size
                for place in self.packages.iterdir()
                if place.name.partition("-")[0] not in OF_PIP
                for file in (place.rglob("*") if place.is_dir() else [place])
                if file.is_file()
            )
            / 1e6
        )

    def run(self, command: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a user would who has nothing else."""
        environment = {
            "PATH": f"{self.folder / 'venv' / 'bin'}:{self.folder / 'tools'}",
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            **variables,
        }
        return subprocess.run(
            command,
            cwd=self.folder / "home",
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )


def build(target: Path) -> Path:
    """The wheel of this checkout."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(target), str(ROOT)], check=True)
    return next(target.glob("*.whl"))


def examples() -> list[tuple[str, list[str]]]:
    """The examples of the tutorials, page by page, as commands."""
    shell = ["bash", "-euo", "pipefail", "-c"]
    return [
        (page, [*shell, body] if language == "sh" else ["python", "-c", body])
        for page in NAV
        if page.startswith("tutorial/")
        for language, body in programs(page)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Say what was found; 1 where it is not as promised."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--extra", choices=["none", "all"], default="all")
    options.add_argument("--keep", type=Path, help="where to leave the environment")
    asked = options.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="assay-package-") as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        return _tried(folder, asked.extra)


def _tried(folder: Path, extra: str) -> int:
    wheel = build(folder / "dist")
    here = Environment.made(folder)
    here.install(str(wheel))
    count, size = here.count(), here.megabytes()
    print(f"{wheel.name}: the base has {count} packages and {size:.0f} MB")
    faults = [] if count <= MOST_PACKAGES and size <= MOST_MEGABYTES else ["the base is too large"]
    runs = [("base", ["bash", "-euo", "pipefail", "-c", line]) for line in BASE]
    faults += _failures(here, runs)
    if extra == "all":
        here.install(f"{wheel}[all]")
        print(f"with all extras {here.count()} packages and {here.megabytes():.0f} MB")
        faults += _failures(here, examples(), **WORDS_ONLY)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def _failures(
    here: Environment, runs: Sequence[tuple[str, list[str]]], **variables: str
) -> list[str]:
    found = []
    for name, command in runs:
        done = here.run(command, **{"ASSAY_RESAMPLES": "200", **variables})
        print(f"{'ok' if done.returncode == 0 else 'FAILED'} {name}: {command[-1]:.70}".rstrip())
        if done.returncode:
            found.append(f"{name}: {command[-1]}\n{done.stdout}\n{done.stderr}")
    return found


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main())
