"""Who may call the service? Keys are made, listed, revoked and recognised here."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

from assay.app.layout import Layout
from assay.durable import write_atomically
from assay.errors import StorageError
from assay.model.codec import flat
from assay.store.keys import SCOPES, ApiKey, KeyState, KeyStore, matches, parse

__all__ = ["SCOPES", "KeyRow", "Keys", "NewKey", "create_key", "list_keys", "revoke_key"]

REFRESH_SECONDS = 2.0
_MARK = b"""This workspace has had API keys, so its service answers nobody without one.
If it should be open to every program of this machine again, remove this file.
"""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What is known of a key: all but its secret."""

    key_id: str
    name: str
    scopes: tuple[str, ...]
    state: KeyState
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was made; its secret form cannot be had again."""

    about: KeyRow = field(metadata=flat)
    key: str


def create_key(
    layout: Layout, name: str, scopes: Sequence[str] = ("read",), *, days: float | None = None
) -> NewKey:
    """Make a key, which expires after ``days``; only its hash is kept."""
    with closing(KeyStore(layout.database)) as store:
        key, secret = store.create(name, scopes, days=days)
    _mark(layout)
    return NewKey(_row(key), secret)


def list_keys(layout: Layout) -> tuple[KeyRow, ...]:
    """Every key that was ever made, oldest first; looking makes no workspace."""
    if not layout.database.exists():
        return ()
    with closing(KeyStore(layout.database)) as store:
        return tuple(_row(key) for key in store.all())


def revoke_key(layout: Layout, key_id: str) -> KeyRow:
    """Revoke a key; a running service refuses it within two seconds."""
    with closing(KeyStore(layout.database)) as store:
        return _row(store.revoke(key_id))


class Keys:
    """The keys as a service recognises them: in memory, read again every two seconds."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._store = KeyStore(layout.database)
        self._keys: dict[str, ApiKey] = {}
        self._ever = False
        self._read_at = float("-inf")

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def read_again(self) -> None:
        """Read the file at the next question, however short ago it was read."""
        self._read_at = float("-inf")

    def any(self) -> bool:
        """Whether a key was ever made, also where all of them were lost since."""
        return bool(self._known()) or self._ever or os.path.lexists(self._layout.had_keys)

    def active(self) -> int:
        """How many keys can be used now."""
        return sum(key.state() == "active" for key in self._known().values())

    def shown(self, text: str) -> KeyRow | None:
        """The active key that this secret belongs to."""
        parts = parse(text)
        key = self._known().get(parts[0]) if parts else None
        if parts is None or key is None or not matches(key, parts[1]):
            return None
        return self.get(parts[0])

    def get(self, key_id: str) -> KeyRow | None:
        """The key of this id, if it is active."""
        key = self._known().get(key_id)
        return _row(key) if key is not None and key.state() == "active" else None

    def name(self, key_id: str) -> str:
        """Whom a key was made for, valid or not; its id where it is not known."""
        key = self._known().get(key_id)
        return key.name if key is not None else key_id

    def _known(self) -> Mapping[str, ApiKey]:
        now = time.monotonic()
        if now - self._read_at > REFRESH_SECONDS:
            self._keys = {key.key_id: key for key in self._store.all()}
            self._read_at = now
            if self._keys and not self._ever:
                self._ever = True
                with suppress(StorageError):  # a disk that cannot be written to is still served
                    _mark(self._layout)
        return self._keys


def _mark(layout: Layout) -> None:
    """Remember outside of the database that there are keys."""
    if not os.path.lexists(layout.had_keys):
        write_atomically(layout.had_keys, _MARK)


def _row(key: ApiKey) -> KeyRow:
    return KeyRow(
        key.key_id,
        key.name,
        tuple(sorted(key.scopes)),
        key.state(),
        key.created_at,
        key.expires_at,
        key.revoked_at,
    )
