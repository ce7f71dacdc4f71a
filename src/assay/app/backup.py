"""How is a workspace copied while it is in use, and put back?

With a database of its own (SQLite) a workspace is in the backup as a whole. Where documents, runs
and judgments are on a PostgreSQL server, the backup has what lies in the workspace folder (keys,
jobs, the query log, test sets and saved configurations) and says what the server has to dump.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from assay.app import index as indexes
from assay.app.engine import Progress, silent
from assay.app.keys import list_keys
from assay.app.layout import SQLITE, Layout
from assay.app.workspace import Workspace
from assay.model.codec import flat
from assay.store import backup as archives
from assay.store.backup import Backup, DatabaseKind
from assay.store.file_copy import is_frozen

if TYPE_CHECKING:
    from assay.settings import Settings

ON_SERVER = ("documents", "runs", "judgments")
"""What a workspace with a PostgreSQL server keeps there, and no backup of ours has."""


@dataclass(frozen=True, slots=True)
class BackupWritten:
    """A backup that was written: its manifest, and what is on a server instead of in it."""

    file: str
    bytes: int
    manifest: Backup = field(metadata=flat)
    on_server: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """A workspace that was put back; ``generation`` is None where no index was written.

    ``valid_keys`` is how many keys open it now, also such as were revoked after the backup.
    ``on_server`` is what was on a PostgreSQL server and has to come from a dump of it.
    """

    home: str
    created_at: str
    documents: int
    runs: int
    last_change: int
    generation: int | None
    database: DatabaseKind
    holds: Mapping[str, int]
    on_server: tuple[str, ...]
    valid_keys: int = 0


def back_up(workspace: Workspace, target: Path, *, vectors: bool = False) -> BackupWritten:
    """Copy the workspace into one checked file; ``vectors`` keeps them, so nothing is encoded."""
    kind = _database(workspace.settings)
    manifest = archives.back_up(workspace.home, target, vectors=vectors, database=kind)
    return _written(target, manifest)


def describe(file: Path) -> BackupWritten:
    """What a backup that was made elsewhere says of itself."""
    return _written(file, archives.read_manifest(file))


def open_backup(workspace: Workspace, *, vectors: bool = False) -> BinaryIO:
    """A backup as an open file without a name: nothing stays behind whatever happens."""
    home = workspace.home
    folder = Path(tempfile.gettempdir()) if home.is_dir() and is_frozen(home) else home
    with archives.scratch(folder, archives.BACKING_UP) as place:
        target = place / "assay.tar.gz"
        back_up(workspace, target, vectors=vectors)
        return target.open("rb")


def restore(
    settings: Settings, source: Path, *, index: bool = True, progress: Progress = silent
) -> Restored:
    """Put a backup into a new workspace, once every checksum holds, and write its index."""
    manifest = archives.restore(source, settings.home)
    generation = None
    if index and manifest.documents and manifest.database == _database(settings):
        with Workspace(settings) as workspace:
            generation = indexes.update_index(workspace, progress).generation
    return Restored(
        str(settings.home),
        manifest.created_at,
        manifest.documents,
        manifest.runs,
        manifest.last_change,
        generation,
        manifest.database,
        manifest.holds,
        _on_server(manifest),
        sum(key.state == "active" for key in list_keys(Layout(settings.home))),
    )


def _database(settings: Settings) -> DatabaseKind:
    return "sqlite" if settings.database == SQLITE else "postgresql"


def _on_server(manifest: Backup) -> tuple[str, ...]:
    return () if manifest.database == "sqlite" else ON_SERVER


def _written(file: Path, manifest: Backup) -> BackupWritten:
    return BackupWritten(str(file), file.stat().st_size, manifest, _on_server(manifest))
