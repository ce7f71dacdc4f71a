"""Which texts were encoded before, and what came out?

One SQLite file per model stores vectors by the SHA-256 of their text and the kind (query or
passage). A batch is one commit that is on disk before the next begins, so an interrupted encoding
resumes where it stopped. Every row has a checksum over its key and bytes: a damaged row counts as
missing and is written again. The file is derived; deleting it costs nothing but time.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from assay import limits
from assay.durable import keep_log
from assay.encode.tokens import clipped
from assay.errors import CacheUnavailableError, CorruptCacheError, InputError
from assay.model.vectors import Kind

FORMAT = 1
_APPLICATION = 0x41535659  # "ASVY", so that no other program's file is mistaken for ours
_KINDS: dict[Kind, int] = {"query": 0, "passage": 1}
_AT_ONCE = 500
_WAIT_SECONDS = 60.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS model (id TEXT PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS vectors (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    data BLOB NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
"""


def text_key(text: str, kind: Kind) -> bytes:
    """The key of a text: one byte for the kind, then the SHA-256 of the text."""
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        clipped(text)  # reports where the text is broken, unless a model would never read that far
        encoded = text.encode(errors="surrogatepass")
    return bytes([_KINDS[kind]]) + hashlib.sha256(encoded).digest()


class VectorCache:
    """Vectors of one model as bytes; a context manager that threads may share."""

    def __init__(self, folder: Path, model_id: str) -> None:
        self.path = folder / f"{_file_name(model_id)}.db"
        self.model_id = model_id
        self.damaged = 0
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        with self._guarded():
            self._db = sqlite3.connect(
                self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            with self._guarded():
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def count(self) -> int:
        """The number of stored vectors; rows are never removed, so the last row number says it."""
        with self._lock, self._guarded():
            found = self._db.execute("SELECT coalesce(max(number), 0) FROM vectors").fetchone()
        return int(found[0])

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors stored under these keys; damaged rows are left out and counted."""
        found: dict[bytes, bytes] = {}
        for at in range(0, len(keys), _AT_ONCE):
            part = keys[at : at + _AT_ONCE]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, data, checksum FROM vectors WHERE key IN ({marks})"  # noqa: S608
            with self._lock, self._guarded():
                rows = self._db.execute(query, part).fetchall()
            for key, data, checksum in rows:
                if _checksum(key, data) == checksum:
                    found[key] = data
                else:
                    self.damaged += 1
        return found

    def put(self, rows: Mapping[bytes, bytes]) -> None:
        """Store vectors in one commit; above the size limit they are not stored."""
        if self.count() + len(rows) > limits.MAX_CACHED_VECTORS:
            return
        values = [(key, data, _checksum(key, data)) for key, data in rows.items()]
        with self._lock, self._guarded(), _transaction(self._db):
            self._db.executemany(
                "INSERT INTO vectors (key, data, checksum) VALUES (?, ?, ?) ON CONFLICT (key) "
                "DO UPDATE SET data = excluded.data, checksum = excluded.checksum",
                values,
            )

    def _prepare(self) -> None:
        db = self._db
        db.execute("PRAGMA page_size = 16384")  # a vector takes 1.5 kB: less is wasted at page ends
        keep_log(db, _WAIT_SECONDS)
        db.execute("PRAGMA synchronous = FULL")
        with _transaction(db):  # other processes may be creating the same file
            found = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in _STAMPS]
            if found not in ([0, 0], _EXPECTED):
                raise self._unusable("it was written by another program or version")
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
            db.execute("INSERT OR IGNORE INTO model VALUES (?)", (self.model_id,))
        models = [row[0] for row in db.execute("SELECT id FROM model")]
        if models != [self.model_id]:
            raise self._unusable(f"it holds vectors of {models[0]!r:.80}")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn SQLite's errors into ours."""
        try:
            yield
        except sqlite3.OperationalError as error:  # disk full, read-only, locked for too long
            raise CacheUnavailableError(f"{self.path} cannot be used now: {error}") from error
        except (
            sqlite3.Error,
            UnicodeDecodeError,
        ) as error:  # messages quote damaged names as they are
            raise self._unusable(str(error)) from error

    def _unusable(self, reason: str) -> CorruptCacheError:
        return CorruptCacheError(
            f"{self.path} cannot be used: {reason}",
            hint="delete or move it: the vectors can be computed again",
        )


def model_of(path: Path) -> str:
    """The model whose vectors a file holds; refused where it is not such a file."""
    with _read_only(path) as db:
        if [db.execute(f"PRAGMA {name}").fetchone()[0] for name in _STAMPS] != _EXPECTED:
            raise _not_vectors(path, "it was written by another program or version")
        models = [str(row[0]) for row in db.execute("SELECT id FROM model")]
    if len(models) != 1:
        raise _not_vectors(path, f"it names {len(models)} models")
    return models[0]


def count_of(path: Path) -> int:
    """The number of vectors in a file."""
    with _read_only(path) as db:
        return int(db.execute("SELECT coalesce(max(number), 0) FROM vectors").fetchone()[0])


def stored_vectors(path: Path) -> Iterator[tuple[dict[bytes, bytes], int]]:
    """The vectors of a file by key, some at a time, and how many of them were damaged."""
    with _read_only(path) as db:
        rows = db.execute("SELECT key, data, checksum FROM vectors ORDER BY number")
        while part := rows.fetchmany(_AT_ONCE):
            sound = {key: data for key, data, checksum in part if _checksum(key, data) == checksum}
            yield sound, len(part) - len(sound)


@contextmanager
def _read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """A file of vectors of another workspace, opened for reading; a pipe might never begin."""
    if not path.is_file():
        raise _not_vectors(path, "it is not a regular file")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            yield db
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _not_vectors(path, str(error)) from error


def _not_vectors(path: Path, reason: str) -> CorruptCacheError:
    return CorruptCacheError(
        f"{path} cannot be read as vectors: {reason}", hint="write it again with assay encode"
    )


def damage(path: Path) -> str:
    """What is wrong with a file of vectors; an empty text if every row is intact."""
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS)) as db:
            (verdict,) = db.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                return str(verdict)
            rows = db.execute("SELECT key, data, checksum FROM vectors")
            wrong = sum(_checksum(key, data) != checksum for key, data, checksum in rows)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)
    return f"{wrong} vectors have another checksum" if wrong else ""


_STAMPS = ("application_id", "user_version")
_EXPECTED = [_APPLICATION, FORMAT]


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has already ended it
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def keys_of(texts: Iterable[str], kind: Kind) -> list[bytes]:
    """The key of every text; the error for an invalid text gives its position."""
    keys = []
    for at, text in enumerate(texts):
        try:
            keys.append(text_key(text, kind))
        except InputError as error:
            raise InputError(f"text {at}: {error.message}", hint=error.hint) from error
    return keys


def _checksum(key: bytes, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(key))


def _file_name(model_id: str) -> str:
    """A name that any file system accepts, unique to the model."""
    digest = hashlib.sha256(model_id.encode()).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", model_id.split(":", maxsplit=1)[0])[:60].strip(".-")
    return f"{readable}-{digest}"
