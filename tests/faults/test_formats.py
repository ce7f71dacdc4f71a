"""Is a workspace of every format that was ever kept opened, with the answers that it had?"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from assay.app.layout import Layout
from assay.index.bm25 import WORDS
from assay.index.manifest import load
from assay.store.corpus import CorpusStore
from tests.faults.formats import FOLDER, NAME, said
from tests.faults.whole import Whole, command

ARCHIVES = sorted(FOLDER.glob("*.tar.gz"))


def test_the_formats_of_today_are_kept() -> None:
    names = [path.name.removesuffix(".tar.gz") for path in ARCHIVES]
    assert NAME in names, "a format is new: python -m tests.faults.formats, and keep the file"


@pytest.mark.req("18")
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_an_old_workspace_still_answers(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    whole = Whole(tmp_path / "home", tmp_path / "backup.tar.gz", tmp_path / "bundle")
    cut_anew = load(Layout(whole.home).index).words != WORDS
    then, now = json.loads((tmp_path / "said.json").read_text(encoding="utf-8")), said(whole)
    for question, scores in then.pop("found").items():
        found = now["found"][question]
        if cut_anew:  # without what was deleted, which may swap the last places
            assert [*found][:5] == [*scores][:5]
            assert len(found.keys() & scores.keys()) >= 8
        else:
            assert found == pytest.approx(scores, abs=1e-4)
    del now["found"]
    assert now == then
    assert '"fit": true' in command(whole, "doctor", "--json")
    assert "all equal" in command(whole, "eval", "verify-bundle", str(whole.bundle))
    there = Whole(tmp_path / "new", whole.backup, whole.bundle)
    command(there, "restore", str(whole.backup), "--no-index")
    restored = CorpusStore(there.home / "assay.db")
    assert restored.counts() == then["counts"]
    restored.close()
    configurations = [path.name for path in (whole.home / "configs").glob("*")]
    assert [path.name for path in (there.home / "configs").glob("*")] == configurations
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "new", "text": "aspirin for the heart"}\n', encoding="utf-8")
    assert '"added": 1' in command(whole, "ingest", str(more), "--json")
    assert "sound" in command(whole, "index", "check")
