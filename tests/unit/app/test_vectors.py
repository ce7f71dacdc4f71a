"""Are texts that another machine encoded found in a workspace, and nothing else?"""

import json
import sqlite3
from pathlib import Path

import pytest

from assay.app.vectors import take_vectors
from assay.app.workspace import Workspace
from assay.errors import CorruptCacheError, InputError, MissingFileError, UsageError
from assay.settings import configure
from assay.testing.encoders import GivenModels, HashingDense, HashingSparse

ROWS = [
    {"doc_id": f"d{at}", "title": f"Trial {at}", "text": f"Aspirin in group {at} of patients."}
    for at in range(12)
]


class Counting(HashingDense):
    """Counts the passages that it encodes."""

    def __init__(self) -> None:
        self.passages: list[str] = []

    def encode(self, texts, kind):  # type: ignore[no-untyped-def]
        if kind == "passage":
            self.passages += texts
        return super().encode(texts, kind)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def workspace_in(folder: Path, dense: HashingDense) -> Workspace:
    folder.mkdir(exist_ok=True)
    workspace = Workspace(configure({"home": folder}, environ={}, folder=folder))
    workspace.__dict__["opened_models"] = GivenModels(dense, HashingSparse())
    return workspace


def test_what_was_encoded_elsewhere_is_not_encoded_again(tmp_path: Path, corpus: Path) -> None:
    there, here = Counting(), Counting()
    with workspace_in(tmp_path / "there", there) as workspace:
        made = workspace.encode_corpus(corpus, tmp_path / "out")
        assert (made.chunks, made.new) == (12, 24)
        assert len(there.passages) == 12
        again = workspace.encode_corpus(corpus, tmp_path / "out")
        assert (again.chunks, again.new) == (12, 0)
        assert len(there.passages) == 12
    notes: list[str] = []
    with workspace_in(tmp_path / "here", here) as workspace:
        written = workspace.ingest(corpus, vectors=[tmp_path / "out"], note=notes.append)
        assert written.added == 12
        assert here.passages == []
        assert any("24 vectors taken" in text for text in notes)
        assert workspace.search("aspirin in group 7", components=("dense",)).results


def test_parts_are_disjoint_and_whole_together(tmp_path: Path, corpus: Path) -> None:
    counts = []
    for part in ("1/3", "2/3", "3/3"):
        with workspace_in(tmp_path / "there", Counting()) as workspace:
            counts.append(workspace.encode_corpus(corpus, tmp_path / "out", part=part).chunks)
    assert sum(counts) == 12
    assert max(counts) < 12
    here = Counting()
    with workspace_in(tmp_path / "here", here) as workspace:
        workspace.ingest(corpus, vectors=[tmp_path / "out"])
    assert here.passages == []


@pytest.mark.parametrize("part", ["0/3", "4/3", "1", "a/b", "1/0", "1/100000"])
def test_what_is_not_a_part_is_refused(part: str, tmp_path: Path, corpus: Path) -> None:
    with (
        workspace_in(tmp_path / "there", Counting()) as workspace,
        pytest.raises(UsageError, match="is not a part"),
    ):
        workspace.encode_corpus(corpus, tmp_path / "out", part=part)


def test_damaged_vectors_are_made_anew(tmp_path: Path, corpus: Path) -> None:
    with workspace_in(tmp_path / "there", Counting()) as workspace:
        workspace.encode_corpus(corpus, tmp_path / "out")
    (file,) = (tmp_path / "out").glob("hashing-dense*.db")
    with sqlite3.connect(file) as db:
        db.execute("UPDATE vectors SET data = zeroblob(256) WHERE number = 1")
    db.close()
    here = Counting()
    notes: list[str] = []
    with workspace_in(tmp_path / "here", here) as workspace:
        workspace.ingest(corpus, vectors=[tmp_path / "out"], note=notes.append)
    assert len(here.passages) == 1
    assert any("1 vector in" in text and "damaged" in text for text in notes)


def test_vectors_of_another_model_are_refused(tmp_path: Path, corpus: Path) -> None:
    class Other(HashingDense):
        model_id = "another"

    with workspace_in(tmp_path / "there", Other()) as workspace:
        workspace.encode_corpus(corpus, tmp_path / "out")
    with (
        workspace_in(tmp_path / "here", Counting()) as workspace,
        pytest.raises(InputError, match="vectors of another, and this workspace uses"),
    ):
        workspace.ingest(corpus, vectors=[tmp_path / "out"])


def test_what_holds_no_vectors_is_refused(tmp_path: Path, corpus: Path) -> None:
    with workspace_in(tmp_path / "here", Counting()) as workspace:
        workspace.ingest(corpus, index=False)
        with pytest.raises(MissingFileError):
            take_vectors(workspace, tmp_path / "nowhere")
        (tmp_path / "empty").mkdir()
        with pytest.raises(InputError, match="holds no vectors"):
            take_vectors(workspace, tmp_path / "empty")
        with pytest.raises(CorruptCacheError, match="cannot be read as vectors"):
            take_vectors(workspace, corpus)
