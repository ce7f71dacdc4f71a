"""Does a terminal say what the clock starts, and how to change it?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import run

SET = """name: tiny
version: v1
queries:
  - {query_id: q1, query_text: headache, relevant_docs: [{doc_id: d1, grade: 3}]}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a document and a test set."""
    for signal in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{signal}_MODEL", "none")
    note = tmp_path / "d1.txt"
    note.write_text("Aspirin eases headache.", encoding="utf-8")
    home = tmp_path / "home"
    assert run(["--home", str(home), "ingest", str(note)]) == 0
    (home / "testsets").mkdir()
    (home / "testsets" / "tiny.yaml").write_text(SET, encoding="utf-8")
    return home


def test_an_entry_is_listed_changed_and_removed(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert run(["--home", str(home), "schedule", *words]) == code
        shown = capsys.readouterr()
        return shown.out if code == 0 and shown.out else shown.err

    assert "nothing is scheduled: assay schedule add" in said("list")
    added = said("add", "0 3 * * *", "-t", "tiny", "--name", "every night")
    assert "every night on tiny, next at" in added
    name = added.split()[0]
    monkeypatch.setenv("ASSAY_SCHEDULE", "5 4 * * 1 tiny")
    rows = said("list").splitlines()
    assert [name in row for row in rows] == [False, True, False]
    assert "03:00" in rows[1]
    assert rows[2].split()[-2:] == ["the", "settings"]
    assert "04:05" in rows[2]
    assert said("add", "0 5 * * *", "-t", "tiny", "--instead-of", name).startswith(name)
    assert f"{name} is removed" in said("remove", name)
    assert "no scheduled evaluation" in said("remove", name, code=2)
    assert "minute hour day month weekday" in said("add", "0 3 * *", "-t", "tiny", code=2)
    for refused in (["--judge", "os:system"], ["--reranker", "/etc"], ["--components", "os:path"]):
        assert "error:" in said("add", "0 3 * * *", "-t", "tiny", *refused, code=2), refused
