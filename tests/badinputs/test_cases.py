"""Is every bad input answered as the table says, and is every one that is asked for in it?"""

from __future__ import annotations

import ast
import time
from collections import Counter

import pytest

from tests.badinputs.asked import ASKED, ids
from tests.badinputs.case import Case, Covered
from tests.badinputs.table import TABLE
from tests.badinputs.ways import Bench
from tests.conftest import REPOSITORY

MOST_SECONDS = 15  # of processor time for one input; a busy machine needs far less
TRIED = [
    pytest.param(entry, id=f"{group}: {entry.name}")
    for group, entries in TABLE.items()
    for entry in entries
    if isinstance(entry, Case)
]
ELSEWHERE = sorted(
    {entry.test for entries in TABLE.values() for entry in entries if isinstance(entry, Covered)}
)


@pytest.mark.parametrize("case", TRIED)
def test_a_bad_input_is_answered(bench: Bench, case: Case) -> None:
    began = time.process_time()
    outcome = case.way(bench, case.given)
    met = outcome.code == case.code and case.says in outcome.said
    assert met, f"{outcome.code}: {outcome.said[:2000]}"
    assert "Traceback" not in outcome.said
    assert "failed unexpectedly" not in outcome.said
    assert time.process_time() - began < MOST_SECONDS


@pytest.mark.parametrize("group", ASKED)
def test_everything_that_is_asked_for_is_in_the_table(group: str) -> None:
    assert not ids(group) - {entry.asked for entry in TABLE[group]}
    doubles = Counter(entry.name for entry in TABLE[group])
    assert [name for name, count in doubles.items() if count > 1] == []


def test_every_group_is_asked_for() -> None:
    assert list(ASKED) == list(TABLE)


@pytest.mark.parametrize("test", ELSEWHERE)
def test_a_test_that_is_named_is_there(test: str) -> None:
    place, _, name = test.partition("::")
    tree = ast.parse((REPOSITORY / place).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
