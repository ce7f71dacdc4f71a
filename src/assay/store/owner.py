"""Which process is making a run, and is it still alive?

A process is identified by host, process id and start time, since process ids are reused.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path


def this_process() -> str:
    """The name under which this process owns what it writes."""
    return f"{socket.gethostname()}/{os.getpid()}/{_started(os.getpid())}"


def alive(owner: str) -> bool:
    """Whether the owner is another live process on this machine.

    Nothing is known about other machines: their unfinished runs may be taken over.
    """
    return owner != this_process() and _runs(owner) is True


def ended(owner: str) -> bool:
    """Whether the owner was a process on this machine that is gone.

    Nothing is known about other machines: what they began may go on.
    """
    return _runs(owner) is False


def _runs(owner: str) -> bool | None:
    """Whether a process of this machine is alive; None for any other owner."""
    host, _, rest = owner.partition("/")
    number, _, started = rest.partition("/")
    if host != socket.gethostname() or not number.isdigit():
        return None
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it exists, and belongs to another user
    return _started(int(number)) == started


def _started(number: int) -> str:
    """When the process started, in kernel ticks; empty if that is unknown."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return fields.rpartition(")")[2].split()[19]
