"""Which runs were deleted, and what is needed to bring one back?

A file per run, as ``app/run_exchange.py`` packs it, compressed. Of many, the newest are kept.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay import limits
from assay.durable import storing, write_atomically
from assay.errors import CorruptError, UnknownRunError
from assay.model.run_store import DeletedRun
from assay.model.runs import RunInfo

_LEVEL = 5
_UNREADABLE = (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError)


class DeletedRuns:
    """The deleted runs of one workspace."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, info: RunInfo, packed: Mapping[str, Any], deleted_at: str) -> None:
        """Keep a run that is about to be deleted; beyond the limit, the oldest goes for good."""
        head = {
            "run_id": info.run_id,
            "name": info.name,
            "suite": info.suite,
            "created_at": info.created_at,
            "deleted_at": deleted_at,
            "tags": list(info.tags),
        }
        # the head is a line of its own, so that a list does not read whole runs
        text = f"{json.dumps(head)}\n{json.dumps(packed)}"
        write_atomically(self._file(info.run_id), gzip.compress(text.encode(), _LEVEL))
        for old in self.all()[limits.MAX_DELETED_RUNS :]:
            self.forget(old.run_id)

    def all(self) -> tuple[DeletedRun, ...]:
        """Every run that can be brought back, the one deleted last first."""
        found = []
        for path in self._folder.glob("*.json.gz"):
            try:
                with gzip.open(path, "rt", encoding="utf-8") as lines:
                    head = json.loads(lines.readline())
                found.append(DeletedRun(**{**head, "tags": tuple(head["tags"])}))
            except _UNREADABLE:
                continue  # one bad file hides no other
        return tuple(sorted(found, key=lambda one: (one.deleted_at, one.run_id), reverse=True))

    def read(self, run_id: str) -> tuple[DeletedRun, dict[str, Any]]:
        """A deleted run, as it was packed."""
        path = self._file(run_id)
        if not path.is_file():
            raise UnknownRunError(
                f"there is no deleted run {run_id!r:.80}", hint="assay eval list --deleted"
            )
        try:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                head = json.loads(lines.readline())
                packed = json.loads(lines.read())
            return DeletedRun(**{**head, "tags": tuple(head["tags"])}), packed
        except _UNREADABLE as problem:
            raise CorruptError(f"{path} cannot be read: {problem}") from None

    def forget(self, run_id: str) -> None:
        """Remove the copy of a run."""
        path = self._file(run_id)
        with storing(path):
            path.unlink(missing_ok=True)

    def _file(self, run_id: str) -> Path:
        return self._folder / f"{quote(run_id, safe='')}.json.gz"
