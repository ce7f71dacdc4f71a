"""Can every file and function be read in one go?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

import assay

SOURCES = sorted(Path(assay.__file__).parent.rglob("*.py"))
FILE_LINES, MEDIAN_LINES = 400, 120
FUNCTION_LINES = 60


def lengths(path: Path) -> Iterator[tuple[str, int]]:
    """Every function of a file with its lines; what a command's options take does not count."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.body[0].lineno + 1


def test_files_are_short() -> None:
    counted = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    long = {str(path): lines for path, lines in counted.items() if lines > FILE_LINES}
    assert not long
    assert median(counted.values()) <= MEDIAN_LINES


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: "/".join(path.parts[-2:]))
def test_functions_are_short(path: Path) -> None:
    long = [(name, lines) for name, lines in lengths(path) if lines > FUNCTION_LINES]
    assert not long
