"""Is a package called clean only where somebody looked?"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.supply.audit import LOCKS, ROOT, judged, looked_up, main, pinned

CLEAN = {"name": "a", "version": "1", "vulns": []}
HOLE = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "aliases": ["CVE-2"]}]}
SKIPPED = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "security", "code"),
    [
        ([CLEAN], "", 0),
        ([CLEAN, HOLE], "", 1),
        ([CLEAN, HOLE], "CVE-2 does not reach us", 0),
        ([CLEAN, SKIPPED], "", 2),
        ([HOLE, SKIPPED], "", 1),
        ([], "", 2),
    ],
    ids=["clean", "open", "explained", "not looked up", "open and not looked up", "nothing"],
)
def test_verdicts(packages: list[dict[str, Any]], security: str, code: int) -> None:
    assert judged(packages, security).exit_code == code


def test_every_advisory_is_named() -> None:
    verdict = judged([CLEAN, HOLE, SKIPPED], "")
    assert verdict.open == ("b 2: PYSEC-1, CVE-2",)
    assert verdict.unknown == ("c",)
    assert verdict.known == 2


def _advisory(name: str, **affected: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": name}
    return {"id": "GHSA-1", "aliases": ["CVE-9"], "affected": [{"package": package, **affected}]}


def _range(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


@pytest.mark.parametrize(
    ("version", "affected", "hit"),
    [
        ("1.0", {"versions": ["1.0"]}, True),
        ("1.1", {"versions": ["1.0"]}, False),
        ("1.5", _range({"introduced": "1.0"}, {"fixed": "2.0"}), True),
        ("2.0", _range({"introduced": "1.0"}, {"fixed": "2.0"}), False),
        ("2.0rc1", _range({"introduced": "0"}, {"fixed": "2.0"}), True),
        ("0.9", _range({"introduced": "1.0"}, {"fixed": "2.0"}), False),
        ("3.0", _range({"introduced": "0"}, {"last_affected": "3.0"}), True),
        ("3.1", _range({"introduced": "0"}, {"last_affected": "3.0"}), False),
        ("3.1", _range({"introduced": "0"}, {"fixed": "1"}, {"introduced": "3"}), True),
    ],
)
def test_which_versions_an_advisory_of_a_file_means(
    version: str, affected: dict[str, Any], hit: bool
) -> None:
    (found,) = looked_up([("some-name", version)], [_advisory("Some_Name", **affected)])
    assert bool(found["vulns"]) is hit


def test_what_was_withdrawn_or_is_of_another_kind_means_nothing() -> None:
    other = {"id": "X", "affected": [{"package": {"ecosystem": "npm", "name": "a"}}]}
    gone = {**_advisory("a", versions=["1"]), "withdrawn": "2024-01-01"}
    (found,) = looked_up([("a", "1")], [other, gone])
    assert "skip_reason" in found


def test_a_file_of_advisories_is_enough(tmp_path: Path) -> None:
    lock = ROOT / "requirements" / f"{LOCKS[0]}.lock"
    name, version = pinned(lock)[0]
    database = tmp_path / "advisories.zip"
    with zipfile.ZipFile(database, "w") as archive:
        archive.writestr("one.json", json.dumps(_advisory(name, versions=["0.0.0.1"])))
    assert main(["--database", str(database)]) == 0
    with zipfile.ZipFile(database, "w") as archive:
        archive.writestr("one.json", json.dumps(_advisory(name, versions=[version])))
    assert main(["--database", str(database)]) == 1
