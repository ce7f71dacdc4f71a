"""Whatever file is damaged, in whatever way: it is named, and no answer is a wrong one.

The files are those that are found in a workspace with everything in it, so that a kind of file that
is new tomorrow is damaged tomorrow.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError
from assay.testsets import load
from tests.faults.whole import Whole, answers, command, make_whole

EVERY = os.environ.get("ASSAY_EVERY_FILE") == "1"  # make crash
SEED = 11


@pytest.fixture(autouse=True)
def no_shipped_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor looks at every test set; those that ship take longer than all the rest."""
    monkeypatch.setattr(load, "shipped_folder", lambda: tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return make_whole(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def sound(whole: Whole) -> dict[str, Any]:
    found = answers(whole)
    assert all(found.values())
    assert not any(isinstance(value, AssayError) for value in found.values())
    assert json.loads(command(whole, "doctor", "--json"))["fit"]
    return found


def flip(content: bytes, rng: random.Random) -> bytes:
    at = rng.choice([at for at, byte in enumerate(content) if byte])  # zeros are mostly not in use
    return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def remove(content: bytes, rng: random.Random) -> None:
    """Nothing is left."""


DAMAGES: tuple[Callable[[bytes, random.Random], bytes | None], ...] = (flip, cut, remove)


@contextmanager
def damaged(
    path: Path, damage: Callable[[bytes, random.Random], bytes | None], rng: random.Random
) -> Iterator[None]:
    content = path.read_bytes()
    left = damage(content, rng)
    path.unlink()  # also of a file that a cache holds open
    if left is not None:
        path.write_bytes(left)
    try:
        yield
    finally:
        path.write_bytes(content)


def of_every_kind(folder: Path, *, every: bool = EVERY) -> list[Path]:
    """One file of each kind, told by its name without numbers; or every file."""
    kinds: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size:
            name = str(path.relative_to(folder))
            kinds.setdefault(name if every else re.sub(r"[0-9a-f]{12,}|\d+", "*", name), path)
    return list(kinds.values())


def harmless(name: str, damage: str) -> bool:
    """What may be damaged without a word, since no answer comes from it."""
    if name.endswith((".lock", "WRITER", ".verified.json")):
        return True  # who writes, and what was checked before: made anew
    if name.startswith("vectors/") or name.endswith("assay-model.json"):
        return damage == "remove"  # made anew; a folder of a model also tells by its layout
    # a file of its user, who may change it: every run keeps the queries that it was made with
    return name.startswith(("testsets/", "configs/"))


@pytest.mark.req("3")
@pytest.mark.parametrize("damage", DAMAGES)
def test_any_file_of_a_workspace(
    whole: Whole,
    sound: dict[str, Any],
    damage: Callable[[bytes, random.Random], bytes | None],
) -> None:
    rng = random.Random(SEED)
    files = of_every_kind(whole.home)
    assert len(files) > 25
    for path in files:
        name = str(path.relative_to(whole.home))
        with damaged(path, damage, rng):
            report = json.loads(command(whole, "doctor", "--json", expect=None))
            assert "findings" in report, report
            found = answers(whole)
        faults = [one for one in report["findings"] if one["state"] == "fault"]
        for question, answer in found.items():
            same = answer == sound.get(question) or isinstance(answer, AssayError)
            assert same, f"{name}: another answer to {question}"
        named = any(path.name in one["says"] and one["hint"] for one in faults)
        if name == "assay.db" and damage is not remove:
            continue  # a byte that nobody uses may change: see the next test
        assert named or harmless(name, damage.__name__), f"{name}: {faults}"
    assert answers(whole) == sound


@pytest.mark.req("3")
def test_files_in_each_others_place(whole: Whole, sound: dict[str, Any]) -> None:
    """Each of them is sound, and none is what should be there."""
    by_name: dict[str, list[Path]] = {}
    for path in of_every_kind(whole.home, every=True):
        kind = re.sub(r"[0-9a-f]{12,}", "*", path.name)
        if not harmless(str(path.relative_to(whole.home)), "swap"):
            by_name.setdefault(kind, []).append(path)
    pairs = [(paths[0], paths[-1]) for paths in by_name.values() if len(paths) > 1]
    assert len(pairs) > 12
    for one, other in pairs:
        contents = one.read_bytes(), other.read_bytes()
        if contents[0] == contents[1]:
            continue
        try:
            one.write_bytes(contents[1])
            other.write_bytes(contents[0])
            report = json.loads(command(whole, "doctor", "--json", expect=None))
            found = answers(whole)
        finally:
            one.write_bytes(contents[0])
            other.write_bytes(contents[1])
        assert not report["fit"], one
        for question, answer in found.items():
            assert answer == sound.get(question) or isinstance(answer, AssayError), (one, question)
    assert answers(whole) == sound


@pytest.mark.req("3")
def test_bits_of_the_database(whole: Whole, sound: dict[str, Any]) -> None:
    """A bit anywhere in the file: somebody notices, or nobody ever reads it."""
    rng = random.Random(SEED)
    path = whole.home / "assay.db"
    noticed = 0
    for _ in range(300 if EVERY else 12):
        with damaged(path, flip, rng):
            report = json.loads(command(whole, "doctor", "--json", expect=None))
            found = answers(whole)
        if not report["fit"]:
            noticed += 1
            continue
        assert found == sound
    assert noticed > 1
    assert answers(whole) == sound


@pytest.mark.req("17")
@pytest.mark.parametrize("damage", DAMAGES[:2])
def test_bits_of_a_backup(
    whole: Whole,
    sound: dict[str, Any],
    tmp_path: Path,
    damage: Callable[[bytes, random.Random], bytes | None],
) -> None:
    """It is refused by name, or what is restored is what was backed up."""
    rng = random.Random(SEED)
    refused = 0
    for number in range(100 if EVERY else 12):
        home = tmp_path / f"home-{number}"
        with damaged(whole.backup, damage, rng):
            there = Whole(home, whole.backup, whole.bundle)
            said = command(there, "restore", str(whole.backup), "--no-index", expect=None)
        if not home.exists():
            refused += 1
            assert whole.backup.name in said
            continue
        assert "error" not in said
        restored = answers(there)
        assert {key: restored[key] for key in ("run", "set")} == {
            key: sound[key] for key in ("run", "set")
        }
    assert refused > 5


@pytest.mark.req("3")
@pytest.mark.parametrize("damage", DAMAGES)
def test_any_file_of_a_bundle(
    whole: Whole, damage: Callable[[bytes, random.Random], bytes | None]
) -> None:
    rng = random.Random(SEED)
    assert "all equal" in command(whole, "eval", "verify-bundle", str(whole.bundle))
    for path in sorted(whole.bundle.iterdir()):
        with damaged(path, damage, rng):
            said = command(whole, "eval", "verify-bundle", str(whole.bundle), expect=None)
        assert "all equal" not in said
        assert path.name in said or "manifest" in said, said
