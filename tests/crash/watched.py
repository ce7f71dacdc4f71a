"""What is certain on the disk, seen from inside the process?

Without ``strace`` the calls of libraries cannot be seen, but every sync of ours can: whatever is
beneath a folder then is what programs see, and only what we synced is certain.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.crash.disk import Disk, File, Folder, make_safe


class Watch:
    """Stands in for ``os.fsync``; ``before`` is called with the disk as it is before each sync."""

    def __init__(self, top: Path, before: Callable[[Disk], None]) -> None:
        self.disk = Disk(top)
        self._before = before
        self._nodes: dict[int, File | Folder] = {top.stat().st_ino: self.disk.root}
        self._held: list[int] = []

    def fsync(self, descriptor: int) -> None:
        """Make a file or folder certain, after a look at what there is."""
        self._look(self.disk.top, self.disk.root)
        self._before(self.disk)
        node = self._nodes.get(os.fstat(descriptor).st_ino)
        if node is not None:
            make_safe(node)

    def close(self) -> None:
        """Let numbers of files be used again."""
        for descriptor in self._held:
            os.close(descriptor)

    def _look(self, place: Path, folder: Folder) -> None:
        folder.now.clear()
        for path in place.iterdir():
            node = self._node(path)
            folder.now[path.name] = node
            if isinstance(node, Folder):
                self._look(path, node)
            else:
                node.now[:] = path.read_bytes()

    def _node(self, path: Path) -> File | Folder:
        number = path.stat().st_ino
        if number not in self._nodes:
            # as long as somebody holds a file, the system gives its number to no other
            self._held.append(os.open(path, os.O_RDONLY))
            self._nodes[number] = Folder() if path.is_dir() else File()
        return self._nodes[number]
