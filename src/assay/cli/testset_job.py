"""What do the commands that write test sets do?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from assay.annotation.due import refresh_due
from assay.cli.console import note
from assay.errors import UsageError
from assay.model.testset import TestSet
from assay.settings import Settings
from assay.testsets.load import (
    Reading,
    ReadOptions,
    find_test_set,
    load_test_set,
    read_test_set,
)
from assay.testsets.save import save_test_set


def load_here(config: Settings, name: str) -> TestSet:
    """The test set of a name, looked for in the workspace first."""
    return load_test_set(name, folder=config.home / "testsets")


def remind(test_set: TestSet) -> None:
    """Say when the set is due for a refresh, once it is."""
    due = refresh_due(test_set, datetime.now(UTC).date())
    if due.overdue:
        note(f"note: {due}")


def import_into(
    path: Path, options: ReadOptions, folder: Path, *, output: Path | None, force: bool
) -> tuple[Path, Reading]:
    """Read a file and write it in our own form; nothing is replaced without ``force``."""
    reading = read_test_set(find_test_set(path), options)
    target = output or folder / f"{reading.sound().name}.yaml"
    if target.exists() and not force:
        raise UsageError(f"{target} is there already", hint="--force replaces it, --name renames")
    save_test_set(reading.sound(), target)
    return target, reading
