"""A few seconds of chaos, and whether the checker sees what is wrong; an hour is a command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.keys import create_key, revoke_key
from assay.app.workspace import Workspace
from assay.settings import configure
from assay.testing.invariants import ANYTHING, Journal, check
from tests.chaos.__main__ import chaos
from tests.unit.http.conftest import SETTINGS


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    home = tmp_path / "home"
    home.mkdir()
    with Workspace(configure({"home": home, **SETTINGS}, environ={}, folder=home)) as opened:
        opened.add([{"doc_id": "d1", "text": "number1 of the report on heart"}])
        yield opened


def _journal(tmp_path: Path, *lines: tuple[str, str, str, object]) -> list[Path]:
    journal = Journal(tmp_path / "a.jsonl")
    for state, kind, name, value in lines:
        if state == "refused":
            journal.refused(kind, name)  # type: ignore[arg-type]
        else:
            getattr(journal, state)(kind, name, value)
    journal.close()
    return [tmp_path / "a.jsonl"]


def test_what_was_acknowledged_and_is_there_is_sound(workspace: Workspace, tmp_path: Path) -> None:
    text = "number1 of the report on heart"
    key = create_key(workspace.layout, "k", ["read"]).about.key_id
    gone = create_key(workspace.layout, "g", ["read"]).about.key_id
    revoke_key(workspace.layout, gone)
    journals = _journal(
        tmp_path,
        ("begin", "document", "d1", text),
        ("done", "document", "d1", text),
        ("begin", "document", "d1", "never answered"),
        ("begin", "document", "d2", "refused"),
        ("refused", "document", "d2", None),
        ("begin", "run", "r1", ANYTHING),
        ("done", "key", key, "active"),
        ("done", "key", gone, "revoked"),
    )
    found = check(workspace, journals)
    assert found.sound, found
    assert found.acknowledged == 3


def test_what_is_lost_or_wrong_is_named(workspace: Workspace, tmp_path: Path) -> None:
    journals = _journal(
        tmp_path,
        ("done", "document", "d1", "another text"),
        ("done", "document", "d7", "a text"),
        ("done", "run", "r1", {"mrr": 1.0}),
        ("done", "tag", "newest", "r1"),
        ("done", "grade", "draft/heart/d1", 3),
        ("done", "key", "k1", "active"),
    )
    found = check(workspace, journals)
    assert {one.split(":")[0] for one in found.lost} == {
        "document d7", "run r1", "tag newest", "grade draft/heart/d1", "key k1",
    }  # fmt: skip
    assert any(one.startswith("document d1:") for one in found.wrong)
    assert not found.sound


@pytest.mark.slow
def test_some_seconds_of_chaos_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    figures = chaos(6, 3, folder, full=False, clock=None)
    assert figures.sound, figures
    assert sum(figures.events.values()) >= 1
