"""Has every verb a row, and does every row say the truth?"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from assay.app.interface import Assay
from assay.cli.lazy import load
from assay.cli.main import COMMANDS
from assay.http.pages.routers import PAGES
from assay.http.routes import ROUTERS
from tests.parity.table import EVERYWHERE, FRAME, INTERFACE, PLUMBING, TABLE, Row


def commands() -> set[str]:
    found = set()
    for entry in COMMANDS:
        inner = getattr(load(entry), "commands", {})
        found |= {f"{entry.name} {verb}" for verb in inner} or {entry.name}
    return found


def addresses(routers: object, *, methods: bool) -> set[str]:
    return {
        f"{method} {route.path}" if methods else route.path
        for router in routers  # type: ignore[attr-defined]
        for route in router.routes
        for method in route.methods
        if method != "HEAD"
    }


def test_every_command_has_a_row() -> None:
    assert {one.command for one in TABLE if one.command} == commands()


def test_every_route_has_a_row() -> None:
    known = {route for one in TABLE for route in one.routes}
    assert known | EVERYWHERE == addresses(ROUTERS, methods=True)


def test_every_page_has_a_row() -> None:
    known = {page for one in TABLE for page in one.pages}
    assert known | FRAME == addresses(PAGES, methods=False)


def test_what_a_service_can_do_has_a_row() -> None:
    verbs = {name for name in vars(Assay) if not name.startswith("_")}
    assert verbs == INTERFACE.keys() | PLUMBING
    assert set(INTERFACE.values()) <= {one.python for one in TABLE if one.server or one.why_not}


@pytest.mark.parametrize("one", TABLE, ids=lambda one: one.python or one.command)
def test_a_row_is_true(one: Row) -> None:
    assert one.test or one.why_not or one.server, "say which test compares it, or why none can"
    if one.python:
        module, _, name = one.python.partition(".")
        target = importlib.import_module(f"assay.app.{module}")
        for part in name.split("."):
            target = getattr(target, part)
        assert callable(target)
    if not (one.command and one.routes):
        assert one.why_not or one.server or one.pages, "a verb that a surface lacks says why"
    if one.test:
        file, _, function = one.test.partition("::")
        tree = ast.parse((Path(__file__).parent / file).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in names
