"""Who is calling, and may they?

A caller shows a key in ``Authorization: Bearer`` or ``X-API-Key``; a browser that signed in with
one shows a session cookie. Keys never stand in an address. As long as no key was ever
made and only this machine can reach the service, whoever calls may do everything; a service whose
last key has ended stays closed.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request
from starlette.requests import cookie_parser

from assay.app.keys import SCOPES, KeyRow, Keys
from assay.http.edge.problems import ProblemError

SESSION_COOKIE = "assay_session"
SESSION_SECONDS = 12 * 3600
MAX_SESSIONS = 1_000


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the id of a key, or the address of an unknown caller.

    ``who`` is the name that the key was made for; empty without a key.
    """

    name: str
    scopes: frozenset[str]
    who: str = ""

    def may(self, scope: str) -> bool:
        """Whether the caller may do what a scope stands for."""
        return scope in self.scopes or "admin" in self.scopes


class Keyring:
    """The keys, and the sessions of browsers that showed one."""

    def __init__(self, keys: Keys, *, loopback: bool) -> None:
        self._keys = keys
        self._loopback = loopback
        self._sessions: dict[str, tuple[str, float]] = {}

    @property
    def open(self) -> bool:
        """Whether everybody may do everything: never again once there was a key."""
        return self._loopback and not self._keys.any()

    def active(self) -> int:
        """How many keys can be used now."""
        return self._keys.active()

    def caller(self, headers: Mapping[bytes, bytes], address: str) -> Caller:
        """Who sent these headers; a key that is wrong is refused even where none is needed."""
        shown = _shown(headers)
        if shown is not None:
            return _as_caller(self._key(shown))
        session = self._session(headers)
        if session is not None:
            return _as_caller(session)
        if self.open:
            return Caller(f"address {address}", frozenset(SCOPES))
        return Caller(f"address {address}", frozenset())

    def open_session(self, shown: str) -> str:
        """A cookie's value for a browser that showed a valid key."""
        key = self._key(shown)
        now = time.monotonic()
        self._sessions = {token: held for token, held in self._sessions.items() if held[1] > now}
        while len(self._sessions) >= MAX_SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        token = secrets.token_urlsafe(32)
        self._sessions[token] = (key.key_id, now + SESSION_SECONDS)
        return token

    def close_session(self, token: str) -> None:
        """Forget a session."""
        self._sessions.pop(token, None)

    def _key(self, shown: str) -> KeyRow:
        key = self._keys.shown(shown)
        if key is None:
            raise unknown_caller("the API key is not valid")
        return key

    def _session(self, headers: Mapping[bytes, bytes]) -> KeyRow | None:
        cookie = headers.get(b"cookie")
        if cookie is None:
            return None
        token = cookie_parser(cookie.decode("latin-1")).get(SESSION_COOKIE, "")
        key_id, until = self._sessions.get(token, ("", 0.0))
        return self._keys.get(key_id) if until > time.monotonic() else None


def requires(scope: str) -> object:
    """A dependency of a route: the caller must hold this scope."""

    async def check(request: Request) -> Caller:  # not a thread for each look
        caller: Caller = request.scope["assay.caller"]
        if caller.may(scope):
            return caller
        if not caller.scopes:
            raise unknown_caller("this service wants an API key")
        raise ProblemError(
            403,
            "forbidden",
            f"the API key does not have the scope {scope}",
            hint=f"assay keys create NAME --scope {scope}",
        )

    return check


def _as_caller(key: KeyRow) -> Caller:
    return Caller(f"key {key.key_id}", frozenset(key.scopes), key.name)


def _shown(headers: Mapping[bytes, bytes]) -> str | None:
    plain = headers.get(b"x-api-key")
    if plain is not None:
        return plain.decode("latin-1").strip()
    kind, _, rest = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if not kind:
        return None
    if kind.lower() != "bearer":
        raise unknown_caller("the Authorization header must hold a Bearer key")
    return rest.strip()


def unknown_caller(detail: str) -> ProblemError:
    """Refused for want of a valid key."""
    return ProblemError(
        401,
        "unauthorized",
        detail,
        hint="send the header Authorization: Bearer assay_...",
        headers={"www-authenticate": 'Bearer realm="assay"'},
    )
