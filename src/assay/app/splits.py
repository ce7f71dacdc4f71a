"""Which queries of a test set are held out, and where is that written?"""

from __future__ import annotations

from pathlib import Path

from assay.errors import ConflictError
from assay.testsets.load import (
    find_test_set,
    load_test_set,
    read_test_set,
    shipped_folder,
)
from assay.testsets.save import save_test_set, with_split, write_text
from assay.testsets.split import (
    PARTS,
    hold_out,
    part,
    refuse_redraw,
    split_by_group,
)


def split_held_out(
    name: str,
    folder: Path,
    *,
    share: float,
    seed: int,
    output: Path | None,
    redraw: bool = False,
) -> tuple[list[Path], dict[str, tuple[str, ...]]]:
    """Store a held-out part in the file, or in ``output``, which a shipped set needs."""
    path = find_test_set(name, folder)
    before = read_test_set(path).sound()
    found = hold_out(before, share=share, seed=seed)
    if not redraw:
        refuse_redraw(before, found)
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
    name: str, folder: Path, *, seed: int, output: Path | None
) -> tuple[list[Path], dict[str, tuple[str, ...]]]:
    """Write one set for each part; the parts share no group."""
    found = load_test_set(name, folder=folder)
    drawn = split_by_group(found, PARTS, seed=seed)
    written = []
    for label, ids in drawn.parts.items():
        one = part(found, label, ids)
        written.append((output or folder) / f"{one.name}.yaml")
        save_test_set(one, written[-1])
    return written, dict(drawn.parts)


def _own(path: Path, folder: Path, name: str) -> Path:
    """Where a changed set goes: its own file, or the workspace where it is read from a folder."""
    if shipped_folder().resolve() in path.resolve().parents:
        raise ConflictError(
            f"{name} ships with assay: a changed copy in the workspace would hide it",
            hint=f"--output {folder / f'my_{name}.yaml'} writes one beside it; give it a name of "
            "its own in the file",
        )
    return folder / f"{name}.yaml" if path.is_dir() else path
