"""Who may call the service, and what may each caller do?

A key is ``assay_<id>_<secret>``. The secret has 256 random bits, so only its SHA-256 is stored and
a slow hash would add nothing; it is compared in constant time and shown once.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from sqlalchemy import func, insert, select, update

from assay import limits
from assay.errors import InputError, LimitError, MissingFileError, UsageError
from assay.model.moments import days_ago, now
from assay.store.database import open_database, writing
from assay.store.schema import api_keys
from assay.store.seals import is_sound

SCOPES = ("read", "evaluate", "annotate", "admin")
MOST_DAYS = 36_500
DAMAGED = "damaged"
"""In place of the moment of revoking, for a key that is not as it was written."""
KeyState: TypeAlias = Literal["active", "expired", "revoked"]
_FORM = re.compile(r"assay_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@ -]{0,63}")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret; ``admin`` may do everything."""

    key_id: str
    name: str
    digest: str
    scopes: frozenset[str]
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None

    def state(self) -> KeyState:
        """Whether it can be used, and if not, why."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now() else "active"


class KeyStore:
    """The keys of one workspace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = open_database(path)

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def create(
        self, name: str, scopes: Iterable[str], *, days: float | None = None
    ) -> tuple[ApiKey, str]:
        """A new key and its full form with the secret, which is never shown again."""
        chosen = _checked_scopes(scopes)
        if not _NAME.fullmatch(name):
            raise InputError(
                f"the name {name!r:.80} is not allowed",
                hint="up to 64 letters, digits, blanks or . _ @ -",
            )
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        if days is not None and not 0 <= days <= MOST_DAYS:
            raise InputError(
                f"a key can be valid for up to {MOST_DAYS:,} days, not {days:g}",
                hint="without a number of days it does not expire",
            )
        expires = days_ago(-days) if days is not None else None
        key = ApiKey(key_id, name, _digest(secret), chosen, now(), expires)
        with writing(self._engine) as connection:
            here = connection.execute(
                select(func.count()).where(api_keys.c.revoked_at.is_(None))
            ).scalar_one()
            if here >= limits.MAX_API_KEYS:
                raise LimitError(f"there are {here} keys already", hint="revoke some of them")
            connection.execute(
                insert(api_keys),
                {
                    "key_id": key_id,
                    "name": name,
                    "digest": key.digest,
                    "scopes": " ".join(sorted(chosen)),
                    "created_at": key.created_at,
                    "expires_at": expires,
                },
            )
        return key, f"assay_{key_id}_{secret}"

    def all(self) -> list[ApiKey]:
        """Every key that was ever made, oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(api_keys).order_by(api_keys.c.created_at, api_keys.c.key_id)
            )
            return [
                ApiKey(
                    row.key_id,
                    row.name,
                    row.digest,
                    frozenset(row.scopes.split()),
                    row.created_at,
                    row.expires_at,
                    # a scope or an end that turned on the disk must let nobody in
                    row.revoked_at if is_sound(row._mapping) else row.revoked_at or DAMAGED,
                )
                for row in rows
            ]

    def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key at once; one that was already revoked or expired stays as it is."""
        with writing(self._engine) as connection:
            connection.execute(
                update(api_keys)
                .where(api_keys.c.key_id == key_id, api_keys.c.revoked_at.is_(None))
                .values(revoked_at=now())
            )
        found = next((key for key in self.all() if key.key_id == key_id), None)
        if found is None:
            raise MissingFileError(f"there is no key {key_id!r:.40}", hint="assay keys list")
        return found


def parse(text: str) -> tuple[str, str] | None:
    """The id and the secret of a key's full form; None if it is malformed."""
    found = _FORM.fullmatch(text)
    return (found[1], found[2]) if found else None


def matches(key: ApiKey, secret: str) -> bool:
    """Whether this is the key's secret, compared in constant time."""
    return hmac.compare_digest(key.digest, _digest(secret))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _checked_scopes(scopes: Iterable[str]) -> frozenset[str]:
    chosen = frozenset(scopes)
    unknown = sorted(chosen - set(SCOPES))
    if unknown or not chosen:
        what = f"{unknown[0]!r:.40} is not a scope" if unknown else "a key needs a scope"
        raise UsageError(what, hint=f"known scopes: {', '.join(SCOPES)}")
    return chosen
