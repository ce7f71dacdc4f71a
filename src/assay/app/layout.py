"""Where does everything of a workspace lie? Every path is spelled here and nowhere else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SQLITE = "sqlite"
_UNFIT = re.compile(r"[^A-Za-z0-9_.:#+-]")


@dataclass(frozen=True, slots=True)
class Layout:
    """The folder of one workspace.

    ``assay.db`` holds documents, runs, rounds of judging, keys, jobs and the query log; ``index/``
    is made from it and can be rebuilt; ``vectors/`` keeps what models made of texts, so that
    nothing is encoded twice. ``testsets/``, ``configs/`` and ``schedule/`` are files that people
    may edit.
    """

    home: Path

    @property
    def database(self) -> Path:
        """The SQLite file; on a PostgreSQL server there may be none."""
        return self.home / "assay.db"

    @property
    def had_keys(self) -> Path:
        """A mark that the service of this workspace needs keys, even if they are lost."""
        return self.home / "had-keys"

    @property
    def index(self) -> Path:
        """Generations of the index."""
        return self.home / "index"

    @property
    def vectors(self) -> Path:
        """What models made of texts."""
        return self.home / "vectors"

    @property
    def machine(self) -> Path:
        """How models run fastest on this machine."""
        return self.home / "machine.json"

    @property
    def models(self) -> Path:
        """Models that belong to this workspace alone."""
        return self.home / "models"

    @property
    def test_sets(self) -> Path:
        """Test sets that load by name."""
        return self.home / "testsets"

    @property
    def configurations(self) -> Path:
        """Saved configurations of the search."""
        return self.home / "configs"

    @property
    def schedule(self) -> Path:
        """Evaluations that the clock starts, besides those of the settings."""
        return self.home / "schedule"

    def scheduled(self, name: str) -> Path:
        """The file of an evaluation that the clock starts."""
        return self.schedule / f"{name}.json"

    @property
    def reports(self) -> Path:
        """Reports that were written with ``--write-report``."""
        return self.home / "reports"

    @property
    def deleted_runs(self) -> Path:
        """Runs that were deleted and can be restored."""
        return self.home / "deleted"

    @property
    def uploads(self) -> Path:
        """Files that were sent to a service and are not read yet."""
        return self.home / "uploads"

    def upload(self, token: str, name: str) -> Path:
        """The place of a file that a stranger named; the name never leads elsewhere."""
        own = name.replace("\\", "/").rpartition("/")[2]
        safe = _UNFIT.sub("_", own)[-120:].lstrip(".")
        return self.uploads / token / (safe or "file")

    @property
    def jobs_lock(self) -> Path:
        """What the one service that works on jobs holds."""
        return self.home / "jobs"

    def report(self, name: str) -> Path:
        """The file of a report; ids in its name may be a stranger's, and never lead elsewhere."""
        return self.reports / _UNFIT.sub("_", name)[-200:].lstrip(".")

    def test_set(self, name: str) -> Path:
        """The file of a test set of this workspace."""
        return self.test_sets / f"{name}.yaml"

    def configuration(self, name: str) -> Path:
        """The file of a saved configuration."""
        return self.configurations / f"{name}.yaml"
