"""What in an address or a description of a service is a secret, and how does it read without?

Addresses and headers are kept with runs and shown in reports; the keys in them are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote_plus, urlsplit, urlunsplit

HIDDEN = "***"
_NAMES = re.compile(
    r"key|token|secret|passw|pwd|passphrase|auth|signature|\bsig\b|credential|session|cookie|bearer",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"\$\{?\w+\}?|\{\w+\}")


def hidden_address(address: str) -> str:
    """An address without its user, password and keys; what is no address stays as it is."""
    if "://" not in address:
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return HIDDEN
    user, at, place = parts.netloc.rpartition("@")
    del user
    pairs = []
    for pair in parts.query.split("&") if parts.query else ():
        name, equals, value = pair.partition("=")
        pairs.append(f"{name}={HIDDEN}" if equals and value and _NAMES.search(name) else pair)
    netloc = f"{HIDDEN}@{place}" if at else place
    return urlunsplit((parts.scheme, netloc, parts.path, "&".join(pairs), ""))


def hidden_values(content: Any, name: str = "") -> Any:
    """JSON values without the secrets in them; names of variables stay, since they are none."""
    if isinstance(content, Mapping):
        return {key: hidden_values(value, str(key)) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [hidden_values(one, name) for one in content]
    if isinstance(content, str) and _NAMES.search(name) and not _VARIABLE.search(content):
        return HIDDEN if content else content
    return content


def secrets_of_address(address: str) -> set[str]:
    """The user, password and keys in an address, as they stand there and as they are meant."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return set()
    user, at, _ = parts.netloc.rpartition("@")
    found = {user, user.partition(":")[2]} if at else set()
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        if _NAMES.search(name):
            found.add(value)
    return found | {unquote_plus(one) for one in found}


def secrets_of_values(content: Any, name: str = "") -> set[str]:
    """What ``hidden_values`` hides, also the word after ``Bearer``."""
    if isinstance(content, Mapping):
        return {one for key in content for one in secrets_of_values(content[key], str(key))}
    if isinstance(content, list | tuple):
        return {found for one in content for found in secrets_of_values(one, name)}
    if hidden_values(content, name) != content:
        return {content, content.rpartition(" ")[2]}
    return set()


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """A text without secrets, which some services repeat when they refuse them."""
    for one in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(one, HIDDEN)
    return text
