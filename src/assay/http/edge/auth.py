"""Who is calling, and may they?

A caller sends a key in ``Authorization: Bearer`` or ``X-API-Key``; a browser that signed in with
one sends a session cookie. Keys are never part of an address. As long as no key was ever made and
the service has no name that other machines use, every caller of this machine may do everything; not
one whom a proxy passed on. A service whose last key has expired stays closed.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request
from starlette.requests import cookie_parser

from assay import limits
from assay.app.keys import SCOPES, KeyRow, Keys
from assay.http.edge.problems import ProblemError
from assay.http.settings import is_loopback

SESSION_COOKIE = "assay_session"
SESSION_SECONDS = 12 * 3600
_OF_PROXIES = re.compile(
    rb"forwarded|via|cdn-loop|x-(forwarded|original|envoy|proxy).*|.*(client|connecting|real)-?ip"
)
"""Headers that proxies add: the caller may be anywhere."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the id of a key, or the address of an unknown caller.

    ``who`` is the name that the key was made for; empty without a key.
    """

    name: str
    scopes: frozenset[str]
    who: str = ""

    def may(self, scope: str) -> bool:
        """Whether the caller has a scope."""
        return scope in self.scopes or "admin" in self.scopes


class Keyring:
    """The keys, and the sessions of browsers that signed in with one."""

    def __init__(self, keys: Keys, *, local: bool) -> None:
        self._keys = keys
        self._local = local
        self._sessions: dict[str, tuple[str, float]] = {}

    @property
    def open(self) -> bool:
        """Whether callers of this machine may do everything: never again once there was a key."""
        return self._local and not self._keys.any()

    def who(self, name: str) -> str:
        """The name that a key was made for, of a caller as jobs and logs have it."""
        kind, _, key_id = name.partition(" ")
        if kind == "key":
            return self._keys.name(key_id)
        return "this machine" if kind == "address" and is_loopback(key_id) else name

    def read_again(self) -> None:
        """Look at the keys now: one was made or revoked here."""
        self._keys.read_again()

    def active(self) -> int:
        """How many keys are valid now."""
        return self._keys.active()

    def caller(self, headers: Mapping[bytes, bytes], address: str) -> Caller:
        """Who sent these headers; a wrong key is refused even if none is needed."""
        sent = _sent_key(headers)
        if sent is not None:
            return _as_caller(self._key(sent))
        session = self._session(headers)
        if session is not None:
            return _as_caller(session)
        if self.open and is_loopback(address) and not any(map(_OF_PROXIES.fullmatch, headers)):
            return Caller(f"address {address}", frozenset(SCOPES))
        return Caller(f"address {address}", frozenset())

    def still(self, name: str) -> bool:
        """Whether a caller who was let in some time ago, by this name, still would be."""
        kind, _, rest = name.partition(" ")
        if kind == "key":
            return self._keys.get(rest) is not None
        return self.open and is_loopback(rest)

    def open_session(self, sent: str) -> str:
        """The value of a session cookie for a browser that sent a valid key."""
        key = self._key(sent)
        now = time.monotonic()
        self._sessions = {
            token: session for token, session in self._sessions.items() if session[1] > now
        }
        own = [token for token, (key_id, _) in self._sessions.items() if key_id == key.key_id]
        for token in own[: max(0, len(own) + 1 - limits.MAX_OWN_SESSIONS)]:
            del self._sessions[token]  # the oldest; nobody ends the session of another key
        token = secrets.token_urlsafe(32)
        self._sessions[token] = (key.key_id, now + SESSION_SECONDS)
        return token

    def close_session(self, token: str) -> None:
        """Forget a session."""
        self._sessions.pop(token, None)

    def _key(self, sent: str) -> KeyRow:
        key = self._keys.shown(sent)
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
    """A dependency of a route: the caller must have this scope."""

    async def check(request: Request) -> Caller:  # async: no thread is needed
        caller: Caller = request.scope["assay.caller"]
        require(caller, scope)
        return caller

    return check


def require(caller: Caller, scope: str) -> None:
    """Refuse a caller without this scope."""
    if caller.may(scope):
        return
    if not caller.scopes:
        raise unknown_caller("this service needs an API key")
    raise ProblemError(
        403,
        "forbidden",
        f"the API key does not have the scope {scope}",
        hint=f"use a key with it; whoever runs the service can create one: "
        f"assay keys create NAME --scope {scope}",
    )


def _as_caller(key: KeyRow) -> Caller:
    return Caller(f"key {key.key_id}", frozenset(key.scopes), key.name)


def _sent_key(headers: Mapping[bytes, bytes]) -> str | None:
    plain = headers.get(b"x-api-key")
    if plain is not None:
        return plain.decode("latin-1").strip()
    kind, _, rest = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if not kind:
        return None
    if kind.lower() != "bearer":
        raise unknown_caller("the Authorization header must be: Bearer KEY")
    return rest.strip()


def unknown_caller(detail: str) -> ProblemError:
    """The refusal of a caller without a valid key."""
    return ProblemError(
        401,
        "unauthorized",
        detail,
        hint="send the header Authorization: Bearer assay_...",
        headers={"www-authenticate": 'Bearer realm="assay"'},
    )
