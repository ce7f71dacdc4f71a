"""Does a restore bring back what nobody wants, or stop halfway for good?"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from assay import durable
from assay.app.backup import back_up
from assay.app.backup import restore as put_back
from assay.app.keys import create_key
from assay.app.workspace import Workspace
from assay.errors import StorageError
from assay.settings import Settings, configure
from assay.store.backup import restore


def _settings(home: Path) -> Settings:
    flags = {"home": home, "dense_model": "none", "splade_model": "none"}
    return configure(flags, environ={}, folder=home.parent)


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A backup of a workspace with two keys, a test set and a configuration."""
    home, target = tmp_path / "home", tmp_path / "backup.tar.gz"
    with Workspace(_settings(home)) as workspace:
        for name in ("testsets", "configs"):
            (home / name).mkdir(parents=True)
            (home / name / "mine.yaml").write_text("x: 1\n")
        assert workspace.store.last_change() == 0
        for name in ("a", "b"):
            create_key(workspace.layout, name)
        back_up(workspace, target)
    return target


def test_keys_that_are_valid_again_are_told(packed: Path, tmp_path: Path) -> None:
    restored = put_back(_settings(tmp_path / "new"), packed, index=False)
    assert restored.valid_keys == 2


def _altered(packed: Path, change: Callable[[sqlite3.Connection], object]) -> Path:
    """The same backup with another database, and checksums that fit."""
    folder, made = packed.parent / "open", packed.parent / "altered.tar.gz"
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    database = sqlite3.connect(folder / "assay.db")
    with database:
        change(database)
    database.close()
    manifest = json.loads((folder / "manifest.json").read_text())
    data = (folder / "assay.db").read_bytes()
    manifest["files"]["assay.db"] = [len(data), hashlib.sha256(data).hexdigest()]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with gzip.open(made, "wb") as out, tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("manifest.json", *manifest["files"]):
            data = (folder / name).read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return made


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "CREATE TRIGGER evil AFTER INSERT ON api_keys BEGIN DELETE FROM documents; END",
            "evil",
        ),
        ("CREATE VIEW evil AS SELECT * FROM api_keys", "evil"),
        ("DROP TABLE jobs", "jobs"),
        ("ALTER TABLE documents DROP COLUMN source", "the column source of documents"),
        ("ALTER TABLE jobs RENAME COLUMN owner TO another", "the column owner of jobs"),
        ("DELETE FROM api_keys", "0 keys, and the manifest says"),
    ],
)
def test_a_database_that_was_altered_is_refused(
    packed: Path, tmp_path: Path, statement: str, said: str
) -> None:
    made = _altered(packed, lambda database: database.execute(statement))
    with pytest.raises(StorageError, match=said):
        restore(made, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    restore(_altered_not(packed), tmp_path / "new")


def _altered_not(packed: Path) -> Path:
    shutil.rmtree(packed.parent / "open")
    (packed.parent / "altered.tar.gz").unlink()
    return _altered(packed, lambda database: None)


class KilledError(BaseException):
    """The process is gone: nothing that comes after is done."""


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
def test_a_restore_that_was_killed_can_be_done_again(
    packed: Path, tmp_path: Path, moves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "volume"
    home.mkdir()
    plain, left = Path.rename, [moves]

    def rename(self: Path, target: Path) -> Path:
        if target.parent == home:
            if not left[0]:
                raise KilledError
            left[0] -= 1
        return plain(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        patch.setattr(durable, "take_name", _killed)
        patch.setattr("tempfile.TemporaryDirectory.cleanup", lambda self: self._finalizer.detach())
        with pytest.raises(KilledError):
            restore(packed, home)
    assert not (home / "assay.db").exists()
    restore(packed, home)
    assert (home / "assay.db").is_file()
    assert (home / "had-keys").is_file()
    for name in ("testsets", "configs"):
        assert (home / name / "mine.yaml").read_text() == "x: 1\n"


def _killed(*paths: Path) -> None:
    raise KilledError
