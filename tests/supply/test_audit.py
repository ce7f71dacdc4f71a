"""Is a package called clean only where somebody looked?"""

from __future__ import annotations

from typing import Any

import pytest

from tests.supply.audit import judged

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
