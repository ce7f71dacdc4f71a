"""How do tests run many commands, each in a process of its own, without importing assay each time?

A server imports assay once and forks for every call of the program that ``warm`` writes. The call
has its own arguments, folder, environment and streams; only the imports are shared. What a command
imports, and how long that takes, is tested elsewhere (``tests/timing/test_start.py``).
"""

from __future__ import annotations

import atexit
import gc
import importlib
import marshal
import os
import pkgutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMIT_S = 240
LENGTH = struct.Struct("!I")
CLIENT = """\
#!{python} -IS
import marshal, os, socket, struct, sys
call = marshal.dumps((sys.argv[1:], os.getcwdb(), dict(os.environb)))
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [struct.pack("!I", len(call))], [0, 1, 2])
    server.sendall(call)
    code = server.recv(4)
sys.exit(struct.unpack("!i", code)[0] if code else 1)
"""


@contextmanager
def warm(
    folder: Path,
    environment: Mapping[str, str] | None = None,
    entry: str = "assay.cli.main:main",
) -> Iterator[Path]:
    """The program ``assay`` in a folder ``bin``, quick to start until the context ends.

    ``environment`` is what the server itself starts with, such as a library to preload; ``entry``
    is the function that the program calls.
    """
    address, program = folder / "warm", folder / "bin" / "assay"
    program.parent.mkdir()
    program.write_text(CLIENT.format(python=sys.executable, address=str(address)))
    program.chmod(0o755)
    root = Path(__file__).resolve().parent.parent
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.warm", str(address), entry],
        cwd=root, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield program
    finally:
        server.kill()
        server.communicate()


def serve(address: str) -> None:
    """Answer calls for ever; in the process of a call, return when its command is to run."""
    _import_all()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            caller, _ = listener.accept()
            if not os.fork():
                break
            caller.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(caller, LENGTH.size, 3)
    (length,) = LENGTH.unpack(head)
    with caller.makefile("rb") as sent:
        arguments, folder, environment = marshal.loads(sent.read(length))
    if command := os.fork():
        code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
        caller.sendall(struct.pack("!i", code if code >= 0 else 128 - code))
        os._exit(0)
    caller.close()
    signal.alarm(LIMIT_S)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(environment)
    sys.argv[1:] = arguments


def _import_all() -> None:
    import assay
    from assay.errors import MissingDependencyError

    modules: Any = pkgutil.walk_packages(assay.__path__, "assay.", onerror=lambda name: None)
    for module in modules:
        if module.name not in ("assay.__main__", "assay.pytest"):  # pytest rewrites its own
            try:
                importlib.import_module(module.name)
            except (ImportError, MissingDependencyError):  # an extra that is not installed
                continue


def _end(code: int) -> None:
    """End as a process does, but leave taking the modules apart to the system."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    address, entry = sys.argv[1:]
    module, _, function = entry.partition(":")
    call = getattr(importlib.import_module(module), function)
    serve(address)
    try:
        sys.exit(call())
    except SystemExit as end:
        _end(end.code if isinstance(end.code, int) else end.code is not None)
