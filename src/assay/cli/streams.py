"""How do output streams behave when the world around the process is unkind?

Covers a locale without UTF-8, a stream that is closed from the start, a reader that goes away and a
full disk.
"""

import codecs
import os
import sys
from io import TextIOWrapper
from typing import TextIO

from assay.render.escape import visible


def prepare() -> None:
    """Make stdout and stderr able to take any text."""
    sys.stdout = _usable(sys.stdout)
    sys.stderr = _usable(sys.stderr)


def flush() -> None:
    """Hand over what is still buffered, so that failures show while they can be reported."""
    sys.stdout.flush()


def complain(line: str) -> None:
    """One line to stderr; where even that is gone, nothing more can be said."""
    try:
        sys.stderr.write(f"{visible(line)}\n")
        sys.stderr.flush()
    except OSError:
        silence()


def silence() -> None:
    """Let stdout lead nowhere, so that the interpreter's last flush has nothing to complain of."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.close(sink)


def silence_if_broken() -> None:
    """Drop what stdout refuses to take."""
    try:
        sys.stdout.flush()
    except OSError:
        silence()


def is_utf8(name: str | None) -> bool:
    """Whether an encoding's name, however it is spelled, means UTF-8."""
    return name is not None and codecs.lookup(name).name == "utf-8"


def _usable(stream: TextIO | None) -> TextIO:
    """The stream itself, told to escape what its encoding lacks; UTF-8 where it knew only ASCII."""
    if stream is None:  # its file descriptor was closed before we started
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        ascii_only = codecs.lookup(stream.encoding).name == "ascii"
        encoding = "utf-8" if ascii_only else stream.encoding
        stream.reconfigure(encoding=encoding, errors="backslashreplace")
    return stream
