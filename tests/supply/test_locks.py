"""Is everything that is installed pinned, and does nothing of ours run what it reads?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.encode.cards import WheelSource
from assay.encode.catalog import CARDS
from tests.conftest import REPOSITORY

LOCKS = sorted((REPOSITORY / "requirements").glob("*.lock"))
PIN = re.compile(r"[a-z0-9][a-z0-9._-]*(\[[a-z0-9,._-]+\])?==[^ ;]+( ; [^\\]+)?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
UNSAFE = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "eval", "exec"}
UNSAFE |= {"__import__", "shell", "allow_pickle"}
SOURCES = sorted((REPOSITORY / "src").rglob("*.py"))


def requirements(lock: Path) -> Iterator[tuple[str, list[str]]]:
    """Each pinned package with its hashes."""
    text = lock.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            pin, *hashes = re.split(r"\s+(?=--hash)", line.strip())
            yield pin, hashes


def test_there_are_locks() -> None:
    assert {"base", "all", "dev", "bench", "docs"} <= {lock.stem for lock in LOCKS}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_line_of_a_lock_is_pinned_by_hash(lock: Path) -> None:
    found = list(requirements(lock))
    assert len(found) > 10
    for pin, hashes in found:
        assert PIN.fullmatch(pin), pin
        assert hashes, pin
        assert all(HASH.fullmatch(part.strip()) for part in hashes), pin


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_no_lock_names_a_place(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert not re.search(r"://|index-url|find-links|trusted-host| @ |file:", text)


def test_users_and_developers_get_the_same_versions() -> None:
    base, whole, dev = (
        {pin.split(" ;")[0] for pin, _ in requirements(REPOSITORY / "requirements" / name)}
        for name in ("base.lock", "all.lock", "dev.lock")
    )
    assert base < whole < dev


def test_every_model_is_pinned_by_hash() -> None:
    pinned = [card for card in CARDS.values() if card.files]
    assert len(pinned) > 3
    for card in pinned:
        hashes = [file.sha256 for file in card.files]
        hashes += [one.sha256 for one in card.sources if isinstance(one, WheelSource)]
        assert all(re.fullmatch(r"[0-9a-f]{64}", each) for each in hashes), card.name


def test_nothing_unpickles_or_evaluates() -> None:
    faults = [
        f"{source.relative_to(REPOSITORY)}:{fault}"
        for source in SOURCES
        for fault in unsafe(ast.parse(source.read_text(encoding="utf-8")))
    ]
    assert not faults


def unsafe(tree: ast.AST) -> Iterator[str]:
    """The lines that could run what was read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").partition(".")[0]}
        elif isinstance(node, ast.Call):
            names = {node.func.id} if isinstance(node.func, ast.Name) else set()
            names |= {word.arg for word in node.keywords if word.arg and _is_set(word.value)}
        else:
            continue
        yield from (f"{node.lineno}: {name}" for name in sorted(names & UNSAFE))


def _is_set(value: ast.expr) -> bool:
    return not isinstance(value, ast.Constant) or bool(value.value)


@pytest.mark.parametrize(
    "line",
    ["import pickle", "from joblib import load", "eval(x)", "run(x, shell=True)",
     "load(x, allow_pickle=yes)"],
)  # fmt: skip
def test_the_search_for_unsafe_lines_finds_them(line: str) -> None:
    assert list(unsafe(ast.parse(line)))
    assert not list(unsafe(ast.parse("import json\nrun(x, shell=False)")))
