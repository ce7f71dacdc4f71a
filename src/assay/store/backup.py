"""How is a workspace backed up while it is in use, and restored?

A backup is one file: a gzip tar of the database (a consistent copy that SQLite makes while others
write), the test sets, the saved configurations, the schedule, the reports and, if wanted, the
vectors, with a manifest of checksums first. The index is not in it, because it is derived and is
written anew. Where documents, runs and judgments are kept on a PostgreSQL server, they are not in
it either, and the manifest says so. Restoring checks everything before anything is put in place,
and never writes into a workspace that holds something.

Format 2 added the saved configurations, ``database`` and ``holds``, format 3 the schedule.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from shutil import disk_usage
from typing import Any, Literal, TypeAlias, get_args

from assay import limits
from assay.durable import (
    PRIVATE_FOLDER,
    alone_in,
    is_full,
    is_unfinished,
    make_folder,
    move_folder,
    move_into,
    private_file,
    refusal,
    storing,
    sync_files,
    sync_folder,
    take_name,
    write_atomically,
)
from assay.errors import (
    DiskFullError,
    FormatError,
    LimitError,
    MissingFileError,
    StorageError,
    UsageError,
)
from assay.index.checksums import digest
from assay.model.moments import now
from assay.store.file_copy import check_database, copy_database
from assay.store.schema import APPLICATION_ID, VERSION, metadata
from assay.store.versions import refuse_newer
from assay.version import __version__

DatabaseKind: TypeAlias = Literal["sqlite", "postgresql"]

DATABASE = "assay.db"
MANIFEST = "manifest.json"
FORMAT = 3
READABLE = (1, 2, 3)
FOLDERS = ("testsets", "configs", "schedule", "reports")
FILES = ("had-keys",)
TABLES = {"keys": "api_keys", "jobs": "jobs", "queries": "query_log", "rounds": "annotation_rounds"}
"""What ``holds`` counts, and in which table; folders count under their own names."""
VECTORS = "vectors"
STALE_SECONDS = 24 * 3600
BACKING_UP, RESTORING = ".assay-backup-", ".assay-restore-"
MOVING = "moving"  # beside what a restore moves into a folder that is there
HEADER_BYTES = 1 << 20  # longer than any file name
NOBODYS = "lost+found"  # what a new volume contains


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds; ``files`` maps names to [size, SHA-256].

    ``database`` says where documents, runs and judgments are: in the file, or on a PostgreSQL
    server, which is dumped by itself. ``holds`` counts what else is in the file.
    """

    format: int
    assay: str
    created_at: str
    last_change: int
    documents: int
    runs: int
    files: dict[str, list[int | str]]
    database: DatabaseKind = "sqlite"
    holds: dict[str, int] = field(default_factory=dict)


def back_up(
    home: Path, target: Path, *, vectors: bool = False, database: DatabaseKind = "sqlite"
) -> Backup:
    """Write a backup of a workspace to one file, which is there whole or not at all.

    ``database`` says where the workspace keeps its documents, runs and judgments.
    """
    kept = home / DATABASE
    if not (kept.is_file() if database == "sqlite" else home.is_dir()):
        raise MissingFileError(
            f"there is no workspace at {home}", hint="--home or ASSAY_HOME names another"
        )
    if target.exists():
        raise UsageError(f"{target} already exists", hint="choose another name, or delete it")
    if not target.parent.is_dir():
        raise MissingFileError(f"there is no folder {target.parent}")
    with storing(target), scratch(target.parent, BACKING_UP) as folder:
        parts: dict[str, Path] = {}
        if kept.is_file():
            copy_database(kept, folder / DATABASE)
            _refuse_foreign(folder / DATABASE, kept)
            parts[DATABASE] = folder / DATABASE
        for name in (*FOLDERS, *((VECTORS,) if vectors else ())):
            parts |= _copied(home / name, folder / name, name)
        for name in FILES:
            with suppress(FileNotFoundError):
                shutil.copyfile(home / name, folder / name)
                parts[name] = folder / name
        backup = _describe(parts, database)
        packed = folder / "packed"
        _pack(packed, backup, parts)
        sync_files([packed])
        take_name(packed, target)
        sync_folder(target.parent)
    return backup


def restore(source: Path, home: Path) -> Backup:
    """Restore a backup into a new workspace; every checksum is verified first.

    An existing empty folder is filled: it may be a volume, which cannot be replaced.
    """
    if not source.exists():
        raise MissingFileError(f"there is no file {source}", hint="name a file of assay backup")
    if not source.is_file():  # a pipe would block
        raise MissingFileError(f"{source} is not a plain file", hint="name a file of assay backup")
    there = home.exists()
    if there:
        _undo_unfinished(home)
        _refuse_filled(home)
    make_folder(home.parent)
    with storing(home), scratch(home if there else home.parent, RESTORING) as folder:
        inside = folder / "home"
        inside.mkdir(PRIVATE_FOLDER)
        backup = _unpack(source, inside)
        if DATABASE in backup.files:
            check_database(inside / DATABASE, source)
            _refuse_foreign(inside / DATABASE, source)
            _refuse_altered(inside / DATABASE, source)
            _refuse_miscounted(backup, inside / DATABASE, source)
        if there:
            with alone_in(home):
                _refuse_filled(home)  # by another process, while this was unpacked
                write_atomically(folder / MOVING, b"")
                _filled(inside, home)
        else:
            move_folder(inside, home)
    return backup


def _undo_unfinished(home: Path) -> None:
    """Take back what a restore had moved into a folder when it was killed."""
    begun = [path.parent for path in home.glob(f"{RESTORING}*/{MOVING}")]
    if not begun or (home / DATABASE).exists():
        return
    with storing(home), alone_in(home):
        for folder in begun:
            made = folder / "home"
            moved = [home / name for name in (*FOLDERS, VECTORS, *FILES)]
            for path in moved:
                if path.exists() and made.is_dir() and not (made / path.name).exists():
                    move_folder(path, made / path.name)
            (folder / MOVING).unlink(missing_ok=True)


def read_manifest(source: Path) -> Backup:
    """What a backup says of itself; its files are not looked at."""
    try:
        with _Metered(source) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            return _manifest(archive, iter(archive), source)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as problem:
        raise _bad(source, f"not a whole backup: {problem}") from None


def _filled(made: Path, home: Path) -> None:
    """Put everything in place, unless a database appeared at the last moment."""
    try:
        move_into(made, home, last=DATABASE if (made / DATABASE).exists() else None)
    except FileExistsError:
        raise UsageError(
            f"{home} was filled by another process meanwhile",
            hint="restore into a new folder: assay --home FOLDER restore",
        ) from None


def _refuse_filled(home: Path) -> None:
    """Raise an error for a folder that is not empty; leftovers of a killed restore do not count."""
    if not home.is_dir() or any(
        path.name != NOBODYS and not path.name.startswith(RESTORING) for path in home.iterdir()
    ):
        raise UsageError(
            f"{home} is not an empty folder",
            hint="empty it, or restore into a new folder: assay --home FOLDER restore",
        )


@contextmanager
def scratch(place: Path, prefix: str) -> Iterator[Path]:
    """A temporary folder; what a killed process left behind is removed a day later."""
    for left in (*place.glob(f"{BACKING_UP}*"), *place.glob(f"{RESTORING}*")):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
    with storing(place):
        folder = tempfile.TemporaryDirectory(dir=place, prefix=prefix)
    with folder as name:
        yield Path(name)


def _refuse_foreign(path: Path, source: Path) -> None:
    """Raise an error if this is not an Assay database that this version can open."""
    with closing(sqlite3.connect(path)) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise StorageError(f"{source} holds no database of assay", hint="name another one")
    refuse_newer(version, str(source))


def _refuse_altered(path: Path, source: Path) -> None:
    """Raise an error for a database in which something is that assay did not make, or is gone."""
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        schema = connection.execute("SELECT type, name FROM sqlite_schema").fetchall()
    foreign = [name for kind, name in schema if kind in ("trigger", "view")]
    if foreign:
        raise StorageError(
            f"the database of {source} holds {foreign[0]!r:.60}, which assay did not make",
            hint="triggers and views can change what is stored: drop them, or use another backup",
        )
    if version != VERSION:
        return  # it is upgraded when it is opened
    columns = _columns(path)
    for name, table in sorted(metadata.tables.items()):
        lacking = f"the table {name}" if name not in columns else ""
        for column in table.columns if not lacking else ():
            if column.name not in columns[name]:
                lacking = f"the column {column.name} of {name}"
        if lacking:
            raise StorageError(
                f"the database of {source} lacks {lacking}", hint="use another backup"
            )


def _columns(path: Path) -> dict[str, set[str]]:
    """The names of the columns of each table."""
    found: dict[str, set[str]] = {}
    listed = (
        "SELECT made.name, part.name FROM sqlite_schema AS made "
        "JOIN pragma_table_xinfo(made.name) AS part WHERE made.type = 'table'"
    )
    with closing(sqlite3.connect(path)) as connection:
        for table, column in connection.execute(listed):
            found.setdefault(table, set()).add(column)
    return found


def _refuse_miscounted(backup: Backup, path: Path, source: Path) -> None:
    """Raise an error where the manifest counts other rows: a service without its keys is open."""
    told = {"documents": backup.documents, "runs": backup.runs, **backup.holds}
    for name, count in _counts(path).items():
        if told.get(name, count) != count:
            raise StorageError(
                f"the database of {source} holds {count} {name}, and the manifest says "
                f"{told[name]}",
                hint="use another backup",
            )


def _copied(source: Path, target: Path, name: str) -> dict[str, Path]:
    """Copy the files in a folder, also those behind links."""
    parts: dict[str, Path] = {}
    for path in _files_in(source) if source.is_dir() else ():
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # deleted meanwhile
            if _is_sqlite(path):
                copy_database(path, copy)
            else:
                shutil.copyfile(path, copy)
            parts[f"{name}/{path.relative_to(source).as_posix()}"] = copy
    return parts


def _files_in(folder: Path) -> list[Path]:
    """Every complete file below a folder, without temporary ones."""

    def refuse(problem: OSError) -> None:
        raise _unreadable(Path(problem.filename), problem)

    found = [
        Path(place) / name
        for place, _, names in os.walk(folder, onerror=refuse)
        if BACKING_UP not in place.removeprefix(str(folder))
        for name in names
        if not name.endswith(("-wal", "-shm", ".lock")) and not is_unfinished(name)
    ]
    return sorted(path for path in found if path.is_file())


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise _unreadable(path, problem) from None


def _unreadable(path: Path, problem: OSError) -> StorageError:
    return StorageError(
        f"{path} cannot be read: {problem.strerror}", hint="check permissions and disk"
    )


def _describe(parts: dict[str, Path], kind: DatabaseKind) -> Backup:
    """What is in a backup; a database of an older format may lack a table."""
    counts = _counts(parts.get(DATABASE))
    folders = {name: sum(file.startswith(f"{name}/") for file in parts) for name in FOLDERS}
    return Backup(
        format=FORMAT,
        assay=__version__,
        created_at=now(),
        last_change=counts.pop("last_change"),
        documents=counts.pop("documents"),
        runs=counts.pop("runs"),
        files={name: [path.stat().st_size, digest(path)] for name, path in parts.items()},
        database=kind,
        holds={**counts, **folders},
    )


def _counts(database: Path | None) -> dict[str, int]:
    wanted = {
        "last_change": ("max(seq)", "changes"),
        "documents": ("count(*)", "documents"),
        "runs": ("count(*)", "eval_runs"),
        **{name: ("count(*)", table) for name, table in TABLES.items()},
    }
    if database is None:
        return dict.fromkeys(wanted, 0)
    with closing(sqlite3.connect(database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}

        def count(what: str, table: str) -> int:
            if table not in tables:
                return 0
            query = f"SELECT {what} FROM {table}"  # noqa: S608 - words of ours
            return int(connection.execute(query).fetchone()[0] or 0)

        return {name: count(*where) for name, where in wanted.items()}


def _pack(target: Path, backup: Backup, parts: dict[str, Path]) -> None:
    text = json.dumps(asdict(backup), indent=1).encode()
    # no time in its head: it has room for the years 1970 to 2106 only
    with (
        private_file(target) as file,
        gzip.GzipFile("", "wb", compresslevel=3, fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        entry = tarfile.TarInfo(MANIFEST)
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
        for name, path in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(entry, content)


def _unpack(source: Path, folder: Path) -> Backup:
    try:
        with _Metered(source) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            entries = iter(archive)
            backup = _manifest(archive, entries, source)
            _refuse_too_large(backup, folder)
            for entry in entries:
                stream.allow(entry.size)
                _place(archive, entry, backup, folder, source)
    except FileNotFoundError:
        raise MissingFileError(f"there is no file {source}") from None
    except (tarfile.TarError, EOFError, OSError, zlib.error) as problem:
        if is_full(folder, problem):
            raise refusal(folder, problem) from None
        raise _bad(source, f"not a whole backup: {problem}") from None
    if missing := [name for name in backup.files if not (folder / name).is_file()]:
        raise _bad(source, f"{missing[0]} is missing")
    return backup


class _Metered(gzip.GzipFile):
    """Limits how much is unpacked at a time: headers are held in memory and must be short."""

    _left = limits.MAX_MANIFEST_BYTES + HEADER_BYTES

    def allow(self, size: int) -> None:
        """Allow a file of this size to be read, and the header of the next one."""
        self._left = size + HEADER_BYTES

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes, if that many are allowed."""
        data = super().read(size)
        self._left -= len(data)
        if self._left < 0:
            raise tarfile.ReadError("a header is too long")
        return data


def _refuse_too_large(backup: Backup, folder: Path) -> None:
    """Raise an error before filling a disk that is too small."""
    needed, free = sum(int(size) for size, _ in backup.files.values()), disk_usage(folder).free
    if needed > free:
        raise DiskFullError(
            f"the backup takes {needed:,} bytes, and {free:,} are free at {folder.parent.parent}",
            hint="free some space, or restore to another disk with assay --home FOLDER restore",
        )


def _manifest(archive: tarfile.TarFile, entries: Iterator[tarfile.TarInfo], source: Path) -> Backup:
    first = next(entries, None)
    content = archive.extractfile(first) if first is not None and first.isfile() else None
    if first is None or content is None or first.name != MANIFEST:
        raise _bad(source, "it does not begin with a manifest")
    if first.size > limits.MAX_MANIFEST_BYTES:
        raise LimitError(f"{source}: the manifest is {first.size:,} bytes long")
    try:
        value: dict[str, Any] = json.loads(content.read())
        if (version := value.get("format")) not in READABLE:
            known = " and ".join(map(str, READABLE))
            what = f"its manifest has format {version!r:.20}, and this assay reads {known}"
            raise _bad(source, what)
        backup = Backup(**value)
        sound = _is_sound(backup)
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise _bad(source, "its manifest cannot be read") from None
    if not sound or (DATABASE not in backup.files and backup.database == "sqlite"):
        raise _bad(source, "its manifest names files that no workspace has")
    return backup


def _is_sound(backup: Backup) -> bool:
    """Whether every file is one of a workspace; a count that is none raises ``TypeError``."""
    counts = (backup.documents, backup.runs, *backup.holds.values())
    if any(type(count) is not int for count in counts):
        raise TypeError("counts are whole numbers")
    if backup.database not in get_args(DatabaseKind):
        raise ValueError("no database is called so")
    return all(
        _is_ours(name) and isinstance(size, int) and size >= 0 and isinstance(checksum, str)
        for name, (size, checksum) in backup.files.items()
    )


def _is_ours(name: str) -> bool:
    parts = PurePosixPath(name).parts
    if name in (DATABASE, *FILES):
        return True
    if "\0" in name:
        return False
    return len(parts) > 1 and parts[0] in (*FOLDERS, VECTORS) and ".." not in parts


def _place(
    archive: tarfile.TarFile, entry: tarfile.TarInfo, backup: Backup, folder: Path, source: Path
) -> None:
    content = archive.extractfile(entry) if entry.isfile() else None
    if content is None or entry.name not in backup.files:
        raise _bad(source, f"{entry.name!r} does not belong in it")
    size, checksum = backup.files[entry.name]
    path = folder / entry.name
    if entry.size != size or path.exists():
        raise _bad(source, f"{entry.name} is not what the manifest says")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as out:
        while piece := content.read(1 << 20):
            with storing(path):  # a full disk is not the backup's fault
                out.write(piece)
    if digest(path) != checksum:
        raise _bad(source, f"{entry.name} was damaged")


def _bad(source: Path, what: str) -> FormatError:
    return FormatError(what, source=str(source), hint="use another backup")
