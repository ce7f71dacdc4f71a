"""What a backup promises: whole while others write, checked before it is put back."""

import errno
import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import tarfile
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from assay.app.layout import Layout
from assay.errors import DiskFullError, FormatError, MissingFileError, StorageError, UsageError
from assay.store import backup
from assay.store import file_copy as copying
from assay.store.backup import back_up, read_manifest, restore
from assay.store.corpus import CorpusStore
from assay.store.keys import KeyStore
from assay.store.schema import APPLICATION_ID
from tests.unit.store.test_corpus import document


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    store = CorpusStore(home / "assay.db")
    store.put([document(f"d{at}", f"the text of document {at}") for at in range(20)])
    store.close()
    (home / "testsets").mkdir()
    (home / "testsets" / "mine.yaml").write_text("name: mine\n")
    (home / "index").mkdir()
    (home / "index" / "derived").write_text("not kept")
    return home


def test_a_backup_restores_to_the_same_documents(home: Path, tmp_path: Path) -> None:
    made = back_up(home, tmp_path / "b.tar.gz")
    assert (made.documents, made.last_change) == (20, 20)
    assert restore(tmp_path / "b.tar.gz", tmp_path / "new") == made
    names = sorted(p.relative_to(tmp_path / "new").as_posix() for p in (tmp_path / "new").iterdir())
    assert names == ["assay.db", "testsets"]
    assert (tmp_path / "new/testsets/mine.yaml").read_text() == "name: mine\n"
    old, new = CorpusStore(home / "assay.db"), CorpusStore(tmp_path / "new/assay.db")
    assert list(old.added_since(0, 20)) == list(new.added_since(0, 20))
    old.close()
    new.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.tar.gz", "home", "new"]


def test_saved_configurations_are_kept(home: Path, tmp_path: Path) -> None:
    (home / "configs").mkdir()
    (home / "configs/strict.yaml").write_text("rrf_k: 10\n")
    made = back_up(home, tmp_path / "b")
    assert made.files["configs/strict.yaml"] == [10, hashlib.sha256(b"rrf_k: 10\n").hexdigest()]
    assert (made.holds["configs"], made.holds["testsets"], made.holds["keys"]) == (1, 1, 0)
    restore(tmp_path / "b", tmp_path / "new")
    assert (tmp_path / "new/configs/strict.yaml").read_text() == "rrf_k: 10\n"


def test_what_is_counted_is_what_is_there(home: Path, tmp_path: Path) -> None:
    keys = KeyStore(home / "assay.db")
    keys.create("me", ["read"])
    keys.close()
    made = back_up(home, tmp_path / "b")
    assert made.holds == {
        "keys": 1, "jobs": 0, "queries": 0, "rounds": 0, "testsets": 1, "configs": 0,
        "schedule": 0, "reports": 0,
    }  # fmt: skip
    assert read_manifest(tmp_path / "b") == made


@pytest.mark.parametrize("database", [True, False], ids=["with keys", "without a database"])
@pytest.mark.parametrize("there", [True, False], ids=["empty folder", "new folder"])
def test_what_a_server_keeps_is_said_to_be_there(
    home: Path, tmp_path: Path, database: bool, there: bool
) -> None:
    if not database:
        (home / "assay.db").unlink()
    with pytest.raises(MissingFileError, match="no workspace"):
        back_up(tmp_path / "nowhere", tmp_path / "b", database="postgresql")
    made = back_up(home, tmp_path / "b", database="postgresql")
    assert made.database == "postgresql"
    assert ("assay.db" in made.files) is database
    if there:
        (tmp_path / "new").mkdir()
    assert restore(tmp_path / "b", tmp_path / "new") == made
    assert (tmp_path / "new/testsets/mine.yaml").read_text() == "name: mine\n"
    assert (tmp_path / "new/assay.db").exists() is database


def test_a_backup_of_the_first_format_is_restored(home: Path, tmp_path: Path) -> None:
    """It has no configurations and does not say where the documents are."""
    made = back_up(home, tmp_path / "b")
    with tarfile.open(tmp_path / "b") as packed:
        contents = {name: packed.extractfile(name).read() for name in packed.getnames()}  # type: ignore[union-attr]
    manifest = json.loads(contents.pop("manifest.json"))
    old = {name: manifest[name] for name in manifest if name not in ("database", "holds")}
    text = json.dumps({**old, "format": 1}).encode()
    _archive(tmp_path / "old", ("manifest.json", text), *contents.items())
    restored = restore(tmp_path / "old", tmp_path / "new")
    assert (restored.documents, restored.database, restored.holds) == (20, "sqlite", {})
    assert restored.files == made.files


def test_names_in_a_backup_are_those_of_a_workspace() -> None:
    layout = Layout(Path("home"))
    folders = (layout.test_sets, layout.configurations, layout.schedule, layout.reports)
    assert tuple(folder.name for folder in folders) == backup.FOLDERS
    assert (layout.database.name, layout.vectors.name) == (backup.DATABASE, backup.VECTORS)


def test_vectors_are_kept_if_wanted(home: Path, tmp_path: Path) -> None:
    (home / "vectors").mkdir()
    with sqlite3.connect(home / "vectors" / "m.db") as held:
        held.execute("CREATE TABLE v (x)")
        held.execute("INSERT INTO v VALUES (7)")
    held.close()
    assert "vectors/m.db" not in back_up(home, tmp_path / "without").files
    assert "vectors/m.db" in back_up(home, tmp_path / "with", vectors=True).files
    restore(tmp_path / "with", tmp_path / "new")
    copy = sqlite3.connect(tmp_path / "new/vectors/m.db")
    assert copy.execute("SELECT x FROM v").fetchall() == [(7,)]
    copy.close()


def test_a_backup_under_load_holds_a_prefix_of_the_writes(home: Path, tmp_path: Path) -> None:
    """Promise 17: whatever is being written, a backup is the state after one of the commits."""
    stop = threading.Event()

    def write() -> None:
        store = CorpusStore(home / "assay.db")
        at = 20
        while not stop.is_set():
            store.put([document(f"d{at + more}", f"text {at + more}") for more in range(5)])
            at += 5
        store.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = [back_up(home, tmp_path / f"b{at}") for at in range(4)]
    finally:
        stop.set()
        writer.join()
    assert made[-1].documents > 20
    for at, one in enumerate(made):
        restore(tmp_path / f"b{at}", tmp_path / f"new{at}")
        store = CorpusStore(tmp_path / f"new{at}" / "assay.db")
        rows = [row.chunk.doc_id for page in store.added_since(0, 10**9) for row in page]
        store.close()
        assert (one.documents - 20) % 5 == 0
        assert list(dict.fromkeys(rows)) == [f"d{n}" for n in range(one.documents)]


def test_links_are_kept_and_what_is_being_written_is_not(home: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs.yaml").write_text("name: theirs\n")
    (home / "testsets/linked.yaml").symlink_to(tmp_path / "theirs.yaml")
    (home / "testsets/nowhere.yaml").symlink_to(tmp_path / "nothing")
    (home / "testsets/.mine.yaml.77.99.tmp").write_text("na")
    made = back_up(home, tmp_path / "b")
    assert sorted(made.files) == ["assay.db", "testsets/linked.yaml", "testsets/mine.yaml"]
    restore(tmp_path / "b", tmp_path / "new")
    assert (tmp_path / "new/testsets/linked.yaml").read_text() == "name: theirs\n"


def test_a_file_that_is_deleted_meanwhile_is_passed_over(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = backup._files_in
    monkeypatch.setattr(
        backup, "_files_in", lambda folder: [*listed(folder), folder / "deleted.yaml"]
    )
    assert sorted(back_up(home, tmp_path / "b").files) == ["assay.db", "testsets/mine.yaml"]


@pytest.mark.parametrize("name", ["testsets/mine.yaml", "testsets"])
def test_what_cannot_be_read_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse(path: int | str | Path, *more: object) -> Any:
        if not isinstance(path, int) and Path(path) == home / name:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *more)

    opener = "scandir" if name == "testsets" else "open"
    owner: Any = os if name == "testsets" else Path
    real = getattr(owner, opener)
    monkeypatch.setattr(owner, opener, refuse)
    with pytest.raises(StorageError, match=f"{home / name} cannot be read: Permission denied"):
        back_up(home, tmp_path / "b")


def test_a_disk_that_can_only_be_read_is_backed_up_with_the_log(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = CorpusStore(home / "assay.db")
    store.put([document("late", "what is in the log and not yet in the file")])
    assert (home / "assay.db-wal").stat().st_size
    connect = sqlite3.connect

    def refuse(place: str | Path, **more: Any) -> Any:
        if str(home) in str(place):
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return connect(place, **more)

    monkeypatch.setattr(copying, "is_frozen", lambda _: True)
    monkeypatch.setattr(sqlite3, "connect", refuse)
    assert back_up(home, tmp_path / "b").documents == 21
    store.close()


def test_a_disk_that_others_can_write_is_not_copied_while_they_do(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from a container that has a volume read-only, beside one that has not."""
    monkeypatch.setattr(copying, "is_frozen", lambda _: True)
    assert back_up(home, tmp_path / "online").documents == 20
    copyfile = shutil.copyfile

    def slowly(source: Path, target: Path) -> None:
        copyfile(source, target)
        os.utime(home / "assay.db")

    def refuse(source: Path, mode: str, target: Path) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(shutil, "copyfile", slowly)
    monkeypatch.setattr(copying, "_copy_online", refuse)
    with pytest.raises(StorageError, match="is being written from somewhere else"):
        back_up(home, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_disk_that_fills_while_a_frozen_database_is_copied_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, mode: str, target: Path) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(copying, "is_frozen", lambda _: True)
    monkeypatch.setattr(copying, "_copy_online", refuse)
    with pytest.raises(StorageError, match="disk is full"):
        back_up(home, tmp_path / "b")


@pytest.mark.parametrize(
    ("step", "message"),
    [("check_database", "not an empty folder"), ("_refuse_filled", "by another process meanwhile")],
)
def test_a_database_that_came_during_a_restore_is_not_replaced(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, message: str
) -> None:
    """While it was unpacked, or in the very last moment: then what was moved goes back."""
    back_up(home, tmp_path / "b")
    volume = tmp_path / "volume"
    volume.mkdir()

    def meanwhile(*_: object) -> None:
        (volume / "assay.db").write_text("somebody's")

    monkeypatch.setattr(backup, step, meanwhile)
    with pytest.raises(UsageError, match=message):
        restore(tmp_path / "b", volume)
    assert [path.name for path in volume.iterdir()] == ["assay.db"]
    assert (volume / "assay.db").read_text() == "somebody's"


def test_a_backup_into_the_folder_of_test_sets_does_not_hold_itself(home: Path) -> None:
    made = back_up(home, home / "testsets" / "b.tar.gz")
    assert sorted(made.files) == ["assay.db", "testsets/mine.yaml"]


def test_what_a_killed_backup_left_is_swept_a_day_later(home: Path, tmp_path: Path) -> None:
    old, new = tmp_path / ".assay-backup-old", tmp_path / ".assay-backup-new"
    for left in (old, new):
        left.mkdir()
        (left / "assay.db").write_text("half")
    os.utime(old, (0, 0))
    back_up(home, tmp_path / "b")
    assert not old.exists()
    assert new.exists()  # it may be at work


def test_a_folder_that_is_there_and_empty_is_filled(home: Path, tmp_path: Path) -> None:
    """A volume of a container cannot be replaced, nor can anything be written beside it."""
    made = back_up(home, tmp_path / "b")
    volume = tmp_path / "sealed" / "data"
    (volume / "lost+found").mkdir(parents=True)
    (volume / ".assay-restore-killed").mkdir()
    before = volume.stat().st_ino
    (tmp_path / "link").symlink_to(volume)
    assert restore(tmp_path / "b", tmp_path / "link") == made
    assert volume.stat().st_ino == before
    assert [path.name for path in volume.parent.iterdir()] == ["data"]
    names = [".assay-restore-killed", "assay.db", "lost+found", "testsets"]
    assert sorted(path.name for path in volume.iterdir()) == names
    assert (volume / "testsets/mine.yaml").read_text() == "name: mine\n"
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="not an empty folder"):
        restore(tmp_path / "b", tmp_path / "file")


def test_nothing_is_overwritten(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    with pytest.raises(UsageError, match="already exists"):
        back_up(home, tmp_path / "b")
    with pytest.raises(UsageError, match="not an empty folder"):
        restore(tmp_path / "b", home)
    with pytest.raises(MissingFileError, match="no workspace"):
        back_up(tmp_path / "nowhere", tmp_path / "c")
    with pytest.raises(MissingFileError, match="no folder"):
        back_up(home, tmp_path / "nowhere" / "c")
    with pytest.raises(MissingFileError, match="no file"):
        restore(tmp_path / "nothing", tmp_path / "new")


def _flip(data: bytes) -> bytes:
    return (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 0xFF]) + data[len(data) // 2 + 1 :]
    )


@pytest.mark.parametrize(
    "damage",
    [
        _flip,
        lambda data: data[: len(data) // 2],
        lambda _: b"",
        lambda _: b"x",
    ],
    ids=["flipped", "half", "empty", "no archive"],
)
def test_a_damaged_backup_is_refused_and_leaves_nothing(
    home: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    file = tmp_path / "b"
    back_up(home, file)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(FormatError, match=str(file)):
        restore(file, tmp_path / "new")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "home"]


def _archive(path: Path, *entries: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in entries:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.type = kind if name != "manifest.json" else tarfile.REGTYPE
            archive.addfile(entry, BytesIO(content))


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd", "/etc/passwd", "testsets/../../x", "index/x", "assay.db-wal", "a",
        "configs", "configs/../../x", "configs/../assay.db", "/configs/x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("version", [1, 2])
def test_names_that_no_workspace_has(tmp_path: Path, name: str, version: int) -> None:
    files = {"assay.db": [0, ""], name: [1, ""]}
    manifest = {"format": version, "assay": "1", "created_at": "", "last_change": 0, "documents": 0}
    text = json.dumps({**manifest, "runs": 0, "files": files}).encode()
    _archive(tmp_path / "b", ("manifest.json", text), (name, b"x"))
    with pytest.raises(FormatError, match="names files that no workspace has"):
        restore(tmp_path / "b", tmp_path / "new")
    text = json.dumps({**manifest, "runs": 0, "files": {"assay.db": [0, ""]}}).encode()
    _archive(tmp_path / "b", ("manifest.json", text), (name, b"x"))
    with pytest.raises(FormatError, match="does not belong"):
        restore(tmp_path / "b", tmp_path / "new")
    _archive(tmp_path / "b", ("manifest.json", text), ("assay.db", b""), kind=tarfile.SYMTYPE)
    with pytest.raises(FormatError, match="does not belong"):
        restore(tmp_path / "b", tmp_path / "new")


SOUND = {"format": 3, "assay": "1", "created_at": "", "last_change": 0, "documents": 0, "runs": 0}


@pytest.mark.parametrize(
    "change",
    [
        {"format": 4}, {"format": None}, {"format": [1]}, {"documents": 1.5}, {"files": []},
        {"database": "mysql"}, {"database": ["postgresql"]}, {"holds": 3}, {"holds": {"keys": "x"}},
        {"unknown": 1}, {"files": {"assay.db": [0]}},
    ],
    ids=str,
)  # fmt: skip
def test_a_manifest_with_something_else_in_it(tmp_path: Path, change: dict[str, Any]) -> None:
    text = json.dumps({**SOUND, "files": {"assay.db": [0, ""]}, **change}).encode()
    _archive(tmp_path / "b", ("manifest.json", text), ("assay.db", b""))
    with pytest.raises(FormatError, match="its manifest"):
        restore(tmp_path / "b", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_workspace_of_its_own_needs_its_database(tmp_path: Path) -> None:
    text = json.dumps({**SOUND, "files": {}}).encode()
    _archive(tmp_path / "b", ("manifest.json", text))
    with pytest.raises(FormatError, match="names files that no workspace has"):
        restore(tmp_path / "b", tmp_path / "new")


@pytest.mark.parametrize("name", ["testsets/a\0b.yaml", "testsets/" + "x" * 5_000])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    files = {"assay.db": [0, ""], name: [0, ""]}
    text = json.dumps({**SOUND, "files": files}).encode()
    with tarfile.open(tmp_path / "b", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, content in (("manifest.json", text), ("x", b"")):
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            entry.pax_headers = {} if path == "manifest.json" else {"path": name}
            archive.addfile(entry, BytesIO(content))
    with pytest.raises(FormatError, match=str(tmp_path / "b")):
        restore(tmp_path / "b", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"format": 9}', b"\xff"])
def test_a_manifest_that_is_none(tmp_path: Path, text: bytes) -> None:
    _archive(tmp_path / "b", ("manifest.json", text))
    with pytest.raises(FormatError, match="manifest"):
        restore(tmp_path / "b", tmp_path / "new")


def _bomb(path: Path, kind: bytes) -> None:
    """A header that goes on for 64 MiB; packed it is small."""
    size = 64 << 20
    header = tarfile.TarInfo("long")
    header.size, header.type = size, kind
    with gzip.open(path, "wb", compresslevel=1) as out:
        out.write(header.tobuf(tarfile.USTAR_FORMAT))
        for _ in range(size >> 20):
            out.write(bytes(1 << 20))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_that_goes_on_is_not_read_into_memory(tmp_path: Path, kind: bytes) -> None:
    _bomb(tmp_path / "b", kind)
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="a header is too long"):
            restore(tmp_path / "b", tmp_path / "new")
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


def _claiming(path: Path, database: bytes, size: int) -> None:
    files = {"assay.db": [size, hashlib.sha256(database).hexdigest()]}
    manifest = {"format": 1, "assay": "1", "created_at": "", "last_change": 0, "documents": 0}
    text = json.dumps({**manifest, "runs": 0, "files": files}).encode()
    _archive(path, ("manifest.json", text), ("assay.db", database))


def test_what_cannot_fit_on_the_disk_is_not_unpacked(tmp_path: Path) -> None:
    _claiming(tmp_path / "b", b"", 1 << 60)
    with pytest.raises(DiskFullError, match="bytes, and"):
        restore(tmp_path / "b", tmp_path / "new")


def test_a_database_that_is_not_ours_is_not_put_in_place(home: Path, tmp_path: Path) -> None:
    for number, (pragma, says) in enumerate(
        [("application_id = 7", "no database of assay"), ("user_version = 99", "newer assay")]
    ):
        with closing(sqlite3.connect(home / "assay.db", isolation_level=None)) as connection:
            connection.execute(f"PRAGMA {pragma}")
            connection.execute("PRAGMA journal_mode=DELETE")
        data = (home / "assay.db").read_bytes()
        _claiming(tmp_path / f"b{number}", data, len(data))
        with pytest.raises(StorageError, match=says):
            restore(tmp_path / f"b{number}", tmp_path / "new")
        with pytest.raises(StorageError, match=says):
            back_up(home, tmp_path / "c")
        with closing(sqlite3.connect(home / "assay.db", isolation_level=None)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    assert not (tmp_path / "new").exists()


def test_a_workspace_of_the_oldest_format_is_backed_up(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    with closing(sqlite3.connect(old / "assay.db")) as connection:
        connection.executescript((Path(__file__).parent / "format_1.sql").read_text())
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    made = back_up(old, tmp_path / "b")
    assert made.runs == 0
    assert restore(tmp_path / "b", tmp_path / "new") == made
    CorpusStore(tmp_path / "new/assay.db").close()
