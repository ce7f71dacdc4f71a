"""What do the commands that write test sets do?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from assay.cli.console import note
from assay.config import Configuration
from assay.errors import UsageError
from assay.evaluation.refresh.due import refresh_due
from assay.evaluation.testset.load import (
    Reading,
    ReadOptions,
    find_test_set,
    load_test_set,
    read_test_set,
    shipped_folder,
)
from assay.evaluation.testset.save import save_test_set, with_split, write_text
from assay.evaluation.testset.split import PARTS, hold_out, part, split_by_group
from assay.model.testset import TestSet


def load_here(config: Configuration, name: str) -> TestSet:
    """The test set of a name, looked for in the workspace first."""
    return load_test_set(name, folder=config.home / "testsets")


MASK = "(held out: --held-out shows it, and the look is logged)"


def masked(test_set: TestSet) -> TestSet:
    """The set without the words and judgments of its held-out queries."""
    hidden = test_set.held_out_ids
    return replace(
        test_set,
        queries=tuple(
            replace(query, query_text=MASK, relevant_docs=(), must_contain=(), forbidden=())
            if query.query_id in hidden
            else query
            for query in test_set.queries
        ),
    )


def noted(config: Configuration, test_set: TestSet, query_id: str | None) -> None:
    """Log a look at held-out queries, where there is a workspace to log it in."""
    from assay.lifecycle.holding import note_use
    from assay.workspace import Workspace

    looked = test_set.held_out_ids if query_id is None else test_set.held_out_ids & {query_id}
    with Workspace(config) as workspace:
        if looked and workspace.exists():
            note_use(workspace, test_set, "show")


def remind(test_set: TestSet) -> None:
    """Say when the set is due for a refresh, once it is."""
    due = refresh_due(test_set, datetime.now(UTC).date())
    if due.overdue:
        note(f"note: {due}")


def split_held_out(
    name: str, folder: Path, *, share: float, seed: int, output: Path | None
) -> tuple[list[Path], dict[str, tuple[str, ...]]]:
    """Store a held-out part in the file, or in ``output``; a shipped set is copied."""
    path = find_test_set(name, folder)
    found = hold_out(read_test_set(path).sound(), share=share, seed=seed)
    target = output or _own(path, folder, found.name)
    own_form = read_test_set(path).form == "native"
    if target.suffix != ".json" and own_form and path.suffix in (".yaml", ".yml"):
        write_text(target, with_split(path.read_bytes(), found))
    else:
        save_test_set(found, target)
    parts = {
        "evaluation": tuple(query.query_id for query in found.evaluation_queries),
        "held_out": tuple(query.query_id for query in found.held_out_queries),
    }
    return [target], parts


def split_groups(
    name: str, folder: Path, *, share: float, seed: int, output: Path | None
) -> tuple[list[Path], dict[str, tuple[str, ...]]]:
    """Write one set for each part; the parts share no group."""
    del share  # the parts have their own
    found = load_test_set(name, folder=folder)
    drawn = split_by_group(found, PARTS, seed=seed)
    written = []
    for label, ids in drawn.parts.items():
        one = part(found, label, ids)
        written.append((output or folder) / f"{one.name}.yaml")
        save_test_set(one, written[-1])
    return written, dict(drawn.parts)


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


def _own(path: Path, folder: Path, name: str) -> Path:
    """Where a changed set goes: its own file, unless that belongs to the package or is no file."""
    if path.is_dir() or shipped_folder() in path.resolve().parents:
        return folder / f"{name}.yaml"
    return path
