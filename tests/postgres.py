"""How do tests get a real PostgreSQL server?

Debian's package is enough; the server listens on a socket in a temporary folder, so that nothing
on the machine is touched. It refuses to run as root, who therefore starts it as another user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGKILL

import pytest

PLACES = "/usr/lib/postgresql"
SECONDS = 60


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty database on a server of our own; skips where there is none."""
    with crashing_server() as (url, _):
        yield url


@contextmanager
def crashing_server() -> Iterator[tuple[str, Callable[[], None]]]:
    """The same, and a function that kills the server at once and starts it again."""
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server here: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
    user = _unprivileged()
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = str(folder / "data")
        _call(user, [str(programs / "initdb"), "-D", data, "-U", "assay", "-A", "trust", "-N"])
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        log = str(folder / "log")
        start = [str(programs / "pg_ctl"), "-D", data, "-o", options, "-l", log, "-w", "start"]
        _call(user, start)

        def crash() -> None:
            os.kill(int((folder / "data" / "postmaster.pid").read_text().split()[0]), SIGKILL)
            for _ in range(600):  # its children have to go first
                with suppress(subprocess.CalledProcessError):
                    _call(user, start)
                    return
                time.sleep(0.1)

        try:
            yield f"postgresql://assay@/postgres?host={folder}", crash
        finally:
            _call(user, [str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path | None:
    versions = sorted(Path(PLACES).glob("*/bin/initdb"), key=lambda path: path.parts[-3])
    if versions:
        return versions[-1].parent
    found = shutil.which("initdb")
    return Path(found).parent if found else None


def _unprivileged() -> str | None:
    """Whom to run the server as, where we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


def _call(user: str | None, command: list[str]) -> None:
    # pg_ctl's server keeps inherited pipes open: its output must not be one
    subprocess.run(
        command,
        user=user,
        check=True,
        timeout=SECONDS,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
