"""Which process makes a run, and is it still alive?

A process is told by its host, its number and the moment it started, since numbers are used again.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path


def this_process() -> str:
    """The name under which this process owns what it writes."""
    return f"{socket.gethostname()}/{os.getpid()}/{_started(os.getpid())}"


def alive(owner: str) -> bool:
    """Whether the owner is at work on this machine, and is not this process itself.

    Of other machines nothing is known: what they left unfinished may be taken over.
    """
    host, _, rest = owner.partition("/")
    number, _, started = rest.partition("/")
    if host != socket.gethostname() or not number.isdigit() or owner == this_process():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is there, and someone else's
    return _started(int(number)) == started


def _started(number: int) -> str:
    """When the process started, in the kernel's own ticks; nothing where that cannot be seen."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return fields.rpartition(")")[2].split()[19]
