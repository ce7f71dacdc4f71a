"""Which configuration files may run code, say where secrets go, or where files are written?

A file that lies in a folder may be somebody else's: a checkout of a stranger's branch, a shared
folder. Settings that could do harm (``Setting.guard``) hold from such a file only if the user named
it, or trusted it as it is now. What was trusted is kept with the user, not beside the file: the
path, and the digest of these settings, so that other lines may change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from assay.digests import digest_of
from assay.durable import alone_in, write_atomically
from assay.errors import ConfigError


def is_trusted(path: Path, guarded: Mapping[str, str], environ: Mapping[str, str]) -> bool:
    """Whether the user trusted this file with just these values."""
    return _read(_book(environ)).get(_place(path)) == digest_of(dict(guarded))


def trust(path: Path, guarded: Mapping[str, str], environ: Mapping[str, str]) -> None:
    """Remember that the user trusts this file with these values; without any, forget it."""
    book = _book(environ)
    if book is None:
        raise ConfigError(
            "there is no home folder to keep trust in",
            hint="set HOME or XDG_CONFIG_HOME, or name the file: assay --config FILE",
        )
    with alone_in(book.parent):
        known = _read(book)
        known.pop(_place(path), None)
        if guarded:
            known[_place(path)] = digest_of(dict(guarded))
        write_atomically(book, json.dumps(known, indent=1, sort_keys=True).encode())


def _place(path: Path) -> str:
    return str(path.resolve())


def _book(environ: Mapping[str, str]) -> Path | None:
    """The file of what this user trusts; None if there is no home folder."""
    for variable in ("XDG_CONFIG_HOME", "APPDATA"):
        if os.path.isabs(environ.get(variable, "")):
            return Path(environ[variable]) / "assay" / "trusted.json"
    try:
        return Path.home() / ".config" / "assay" / "trusted.json"
    except RuntimeError:
        return None


def _read(book: Path | None) -> dict[str, str]:
    """What is trusted; nothing where the file is missing or damaged."""
    if book is None:
        return {}
    try:
        found = json.loads(book.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
