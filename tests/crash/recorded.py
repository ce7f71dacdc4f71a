"""What did a program do to its files, call by call?

A program is run under ``strace``, and what it asked of the system is done again to a model of a
disk (``disk.py``), whatever wrote it: Python, SQLite or faiss.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.crash.disk import Disk, File

_NAMES = "open openat creat close dup dup2 dup3 fcntl lseek"
_CONTENT = "write pwrite64 writev pwritev ftruncate fallocate copy_file_range sendfile"
_TREE = "rename renameat renameat2 link linkat unlink unlinkat mkdir mkdirat rmdir fsync fdatasync"
_LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)")
_UNFINISHED = re.compile(r"^(\d+) +(.*) <unfinished \.\.\.>$")
_RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_PLACE = re.compile(r"<((?:\\x[0-9a-f]{2})*|[^>]*)>")


class NoTracer(Exception):
    """Programs cannot be watched here."""


@dataclass(frozen=True)
class Call:
    """One call that succeeded: its name, what stood between the brackets, and its result."""

    name: str
    arguments: str
    result: int

    @property
    def texts(self) -> list[bytes]:
        return [_bytes(text) for text in _TEXT.findall(self.arguments)]

    @property
    def place(self) -> str:
        """The path behind the first descriptor."""
        found = _PLACE.search(self.arguments)
        return "" if found is None else _bytes(found[1]).decode()

    @property
    def descriptor(self) -> int:
        return int(re.split(r"[<,]", self.arguments, maxsplit=1)[0])

    @property
    def numbers(self) -> list[int]:
        """The whole numbers after the last text."""
        rest = self.arguments.rpartition('"')[2]
        return [int(one) for one in re.findall(r"(?:^|, )(-?\d+)(?=,|$)", rest)]

    @property
    def paths(self) -> list[str]:
        """The paths that the call names; ``openat`` and its kin may name a folder first."""
        folders = [_bytes(one).decode() for one in _PLACE.findall(self.arguments)]
        found = [text.decode() for text in self.texts]
        if len(folders) == len(found):
            return [str(Path(base) / name) for base, name in zip(folders, found, strict=True)]
        return found


def traced(command: Sequence[str], home: Path) -> list[Call]:
    """Everything that a program did to files; refused where nothing can be traced."""
    tracer = shutil.which("strace")
    if tracer is None:
        raise NoTracer("there is no strace on this machine")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "calls"
        calls = ",".join(f"{_NAMES} {_CONTENT} {_TREE}".split())
        watched = [tracer, "-f", "-y", "-xx", "-s", "100000000", "-e", f"trace={calls}"]
        done = subprocess.run(
            [*watched, "-o", str(log), *command],
            cwd=home,
            capture_output=True,
            timeout=300,
            check=False,
        )
        if b"ptrace" in done.stderr and not log.stat().st_size:
            raise NoTracer(done.stderr.decode(errors="replace"))
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-3_000:]
        with log.open(encoding="ascii", errors="replace") as lines:
            return list(_calls(lines))


def _calls(lines: Iterator[str] | Sequence[str]) -> Iterator[Call]:
    waiting: dict[str, str] = {}
    for line in lines:
        if begun := _UNFINISHED.match(line):
            waiting[begun[1]] = begun[2]
            continue
        resumed = _RESUMED.match(line)
        whole = f"{resumed[1]} {waiting.pop(resumed[1])}{resumed[2]}" if resumed else line
        found = _LINE.match(whole)
        if found and int(found[4]) >= 0:
            yield Call(found[2], found[3], int(found[4]))


class Replay:
    """Does the calls to a model of a disk, one after the other."""

    def __init__(self, top: Path, lies: Callable[[], bool] = lambda: False) -> None:
        self.disk = Disk(top, lies)
        self.said = ""
        self._open: dict[int, _Opened] = {}

    def do(self, call: Call) -> bool:
        """Whether the call made something certain, or said something to whoever listens."""
        if call.name in ("fsync", "fdatasync"):
            self._sync(call)
            return True
        if call.name in ("write", "writev") and call.descriptor == 1:
            self.said += b"".join(call.texts)[: call.result].decode()
            return True
        kind = "_open_file" if call.name in ("open", "openat", "creat") else f"_{call.name}"
        getattr(self, kind, self._ignore)(call)
        return False

    def _ignore(self, call: Call) -> None:
        assert call.name in ("fallocate", "copy_file_range"), call
        assert call.descriptor not in self._open, f"{call.name} is not known here"

    def _sync(self, call: Call) -> None:
        opened = self._open.get(call.descriptor)
        if opened is not None:
            self.disk.sync_file(opened.file)
        elif self.disk.holds(call.place) or Path(call.place) == self.disk.top:
            self.disk.sync(call.place)

    def _open_file(self, call: Call) -> None:
        name = call.paths[-1] if call.name != "open" else call.texts[0].decode()
        self._open.pop(call.result, None)
        if not self.disk.holds(name) or "O_DIRECTORY" in call.arguments:
            return
        known = self.disk.find(name)
        if known is not None and not isinstance(known, File):
            return  # a folder, opened to be made durable
        file = self.disk.create(name)
        if "O_TRUNC" in call.arguments:
            file.now.clear()
        self._open[call.result] = _Opened(file, [0], "O_APPEND" in call.arguments)

    def _close(self, call: Call) -> None:
        self._open.pop(call.descriptor, None)

    def _dup(self, call: Call) -> None:
        if (opened := self._open.get(call.descriptor)) is not None:
            self._open[call.result] = opened

    _dup2 = _dup3 = _dup

    def _fcntl(self, call: Call) -> None:
        if "F_DUPFD" in call.arguments:
            self._dup(call)

    def _lseek(self, call: Call) -> None:
        if (opened := self._open.get(call.descriptor)) is not None:
            opened.at[0] = call.result

    def _write(self, call: Call) -> None:
        opened = self._open.get(call.descriptor)
        if opened is None:
            return
        data = b"".join(call.texts)[: call.result]
        at = len(opened.file.now) if opened.append else opened.at[0]
        opened.put(at, data)
        opened.at[0] = at + len(data)

    _writev = _write

    def _sendfile(self, call: Call) -> None:
        opened = self._open.get(call.descriptor)
        source = self._open.get(int(re.findall(r", (\d+)<", call.arguments)[0]))
        if opened is not None and source is not None:
            start = int(re.findall(r"\[(\d+)\]", call.arguments)[0])
            opened.put(opened.at[0], bytes(source.file.now[start : start + call.result]))
            opened.at[0] += call.result

    def _pwrite64(self, call: Call) -> None:
        if (opened := self._open.get(call.descriptor)) is not None:
            opened.put(call.numbers[-1], b"".join(call.texts)[: call.result])

    _pwritev = _pwrite64

    def _ftruncate(self, call: Call) -> None:
        if (opened := self._open.get(call.descriptor)) is not None:
            size = int(call.arguments.rpartition(",")[2])
            del opened.file.now[size:]
            opened.file.now.extend(bytes(size - len(opened.file.now)))

    def _rename(self, call: Call) -> None:
        source, target = call.paths
        if self.disk.holds(source) and self.disk.holds(target):
            self.disk.rename(source, target)

    _renameat = _renameat2 = _rename

    def _link(self, call: Call) -> None:
        source, target = call.paths
        if self.disk.holds(target):
            self.disk.link(source, target)

    _linkat = _link

    def _unlink(self, call: Call) -> None:
        if self.disk.holds(path := call.paths[0]):
            self.disk.remove(path)

    _unlinkat = _rmdir = _unlink

    def _mkdir(self, call: Call) -> None:
        if self.disk.holds(path := call.paths[0]):
            self.disk.make_folder(path)

    _mkdirat = _mkdir


@dataclass
class _Opened:
    """An open file; copies of a descriptor share the place where it stands."""

    file: File
    at: list[int]
    append: bool

    def put(self, at: int, data: bytes) -> None:
        now = self.file.now
        now.extend(bytes(max(0, at - len(now))))
        now[at : at + len(data)] = data


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", "")) if text.startswith("\\x") else text.encode()
