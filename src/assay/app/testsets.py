"""Which test sets are there, what do they hold, and how do they come, change and go elsewhere?

A name is looked for in the workspace first and among the shipped sets second. Only where ``paths``
is true may a name also be the path of a file or of a BEIR folder: commands and Python allow that,
HTTP and pages never do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import limits
from assay.annotation.due import Due, refresh_due
from assay.app.held_out import MASK, masked, masked_diff, noted, uses
from assay.app.layout import Layout
from assay.durable import alone_in
from assay.errors import ConflictError, UsageError
from assay.model.codec import as_json, encode
from assay.model.run_store import HeldOutUse
from assay.model.testset import TestSet
from assay.testsets import diff as diffs
from assay.testsets.export import files, lost
from assay.testsets.load import (
    FORMS_OF_ROWS,
    ReadOptions,
    find_test_set,
    list_test_sets,
    load_test_set,
    named_test_set,
    parse_test_set,
    read_test_set,
    shipped_folder,
)
from assay.testsets.load import Reading as Reading  # noqa: PLC0414 - surfaces hold them
from assay.testsets.overlap import Overlap, overlaps
from assay.testsets.save import save_test_set, with_split, write_text
from assay.testsets.schema import schema as build_schema
from assay.testsets.split import (
    DEFAULT_SEED,
    HELD_OUT_SHARE,
    PARTS,
    hold_out,
    part,
    refuse_redraw,
    split_by_group,
    split_notes,
)

if TYPE_CHECKING:
    from assay.app.workspace import Workspace

Name = str | os.PathLike[str]
NAMELESS = FORMS_OF_ROWS
"""Forms that give no name to a test set."""


# Find and read


@dataclass(frozen=True, slots=True)
class TestSetEntry:
    """One test set of the list; version and number of queries are None where it is not sound."""

    __test__ = False  # pytest looks for classes of this name

    name: str
    version: str | None
    queries: int | None
    sound: bool
    path: Path | None = field(default=None, metadata=as_json(None))
    reading: Reading | None = field(default=None, metadata=as_json(None))

    @property
    def shipped(self) -> bool:
        """Whether it ships with the package."""
        return self.path is not None and self.path.is_relative_to(shipped_folder())


def list_sets(
    layout: Layout, reader: Callable[[Path], Reading] = read_test_set
) -> tuple[TestSetEntry, ...]:
    """Every test set that loads by name; ``reader`` may remember what it has read before."""
    entries = []
    for name, path in list_test_sets(layout.test_sets).items():
        reading = reader(path)
        found = reading.test_set
        version, queries = (found.version, len(found.queries)) if found else (None, None)
        entries.append(TestSetEntry(name, version, queries, found is not None, path, reading))
    return tuple(entries)


def names(layout: Layout) -> list[str]:
    """Every name that loads."""
    return list(list_test_sets(layout.test_sets))


def find(layout: Layout, name: Name, *, paths: bool = False) -> Path:
    """The file or folder of a test set."""
    if paths:
        return find_test_set(name, layout.test_sets)
    return named_test_set(os.fspath(name), layout.test_sets)


def load(
    layout: Layout, name: Name, *, paths: bool = False, lenient: bool | None = None
) -> TestSet:
    """A test set by its name; every problem of its file is in the error."""
    if paths:
        return load_test_set(name, folder=layout.test_sets, lenient=lenient)
    return read_test_set(find(layout, name), ReadOptions(lenient=lenient)).sound()


def read(path: Path) -> Reading:
    """A file or folder of golden queries; what is wrong with it is in the answer, not raised."""
    return read_test_set(path)


def read_upload(
    data: bytes,
    *,
    lenient: bool | None = None,
    name: str | None = None,
    version: str | None = None,
    grades: str | None = None,
) -> Reading:
    """A test set that was sent; one that is too large is refused before it is looked into."""
    most = limits.MAX_UPLOAD_QUERIES
    options = ReadOptions(
        max_items=most, lenient=lenient, name=name, version=version, grades=grades
    )
    return parse_test_set(data, options=options)


def validate(
    workspace: Workspace,
    name: Name,
    *,
    index: bool = False,
    lenient: bool | None = None,
    paths: bool = False,
) -> Reading:
    """Read a test set and say everything that is wrong with it.

    With ``index``, judged ids must be in the corpus of the workspace.
    """
    path = find(workspace.layout, name, paths=paths)
    if index:
        workspace.require()
    known_ids = workspace.store.has_id if index else None
    return read_test_set(path, ReadOptions(lenient=lenient, known_ids=known_ids))


def schema() -> dict[str, Any]:
    """The JSON schema of test sets, for editors."""
    return build_schema()


# Look at them


@dataclass(frozen=True, slots=True)
class Shown:
    """A test set as it may be seen, and the whole of it, which its figures come from."""

    test_set: TestSet
    whole: TestSet


def show(
    workspace: Workspace,
    name: Name,
    query_id: str | None = None,
    *,
    held_out: bool = False,
    words: str = MASK,
    lenient: bool | None = None,
    paths: bool = False,
) -> Shown:
    """A test set, or one query of it; ``words`` stand for what is held out.

    With ``held_out`` nothing is masked, and the look is logged.
    """
    whole = load(workspace.layout, name, paths=paths, lenient=lenient)
    if query_id is not None and query_id not in whole.by_id:
        raise UsageError(f"{whole.name} has no query {query_id!r:.80}")
    if not held_out:
        return Shown(masked(whole, words), whole)
    noted(workspace, whole, query_id)
    return Shown(whole, whole)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two test sets as they may be seen, and what it takes to get from one to the other."""

    before: TestSet
    after: TestSet
    changes: diffs.TestSetDiff

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the sets themselves."""
        return {"same": self.changes.same, **encode(self.changes)}


def diff(
    workspace: Workspace,
    before: Name,
    after: Name,
    *,
    held_out: bool = False,
    words: str = MASK,
    paths: bool = False,
) -> Difference:
    """What changed from one test set to another; ``words`` stand for what either holds out.

    With ``held_out`` nothing is masked, and the look is logged.
    """
    old, new = (load(workspace.layout, name, paths=paths) for name in (before, after))
    if not held_out:
        return Difference(masked(old, words), masked(new, words), masked_diff(old, new, words))
    for test_set in (old, new):
        noted(workspace, test_set)
    return Difference(old, new, diffs.diff(old, new))


@dataclass(frozen=True, slots=True)
class Exported:
    """A test set in the form of another tool; ``lost`` is what that form has no place for."""

    form: str
    files: Mapping[str, str]
    lost: tuple[str, ...]

    def write(self, folder: Path) -> list[Path]:
        """Write the files into a folder."""
        for name, text in self.files.items():
            write_text(folder / name, text)
        return [folder / name for name in self.files]


def export(workspace: Workspace, name: Name, form: str, *, paths: bool = False) -> Exported:
    """All of a test set for another tool, so a look at a held-out part is logged."""
    test_set = load(workspace.layout, name, paths=paths)
    exported = Exported(form, files(test_set, form), tuple(lost(test_set, form)))
    noted(workspace, test_set)
    return exported


@dataclass(frozen=True, slots=True)
class Looks:
    """Who looked at the held-out part of a test set, oldest first."""

    test_set: TestSet
    uses: tuple[HeldOutUse, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: every look, without the queries."""
        return {
            "name": self.test_set.name,
            "held_out": len(self.test_set.held_out_ids),
            "looks": len(self.uses),
            "uses": [
                {"at": use.at, "version": use.version, "run_id": use.run_id, "purpose": use.purpose}
                for use in self.uses
            ],
        }


def looks(workspace: Workspace, test_set: TestSet) -> Looks:
    """Every look at the held-out part of a set."""
    return Looks(test_set, uses(workspace, test_set))


# Bring them in and change them


@dataclass(frozen=True, slots=True)
class StoredSet:
    """The test set is on the disk; ``new`` is false where it was there before.

    ``skipped`` names the queries that were left out because nobody judged them.
    """

    name: str
    version: str
    checksum: str
    queries: int
    new: bool
    skipped: tuple[str, ...] = ()


def upload(
    layout: Layout,
    data: bytes,
    *,
    name: str | None = None,
    version: str | None = None,
    grades: str | None = None,
) -> StoredSet:
    """Store a test set that was sent; the same one again changes nothing.

    ``name`` and ``version`` replace its own; a table of queries has none. ``grades`` says how
    grades of another scale become 0 to 3.
    """
    test_set = read_upload(data, name=name, version=version, grades=grades).sound()
    with alone_in(layout.test_sets):
        known = list_test_sets(layout.test_sets).get(test_set.name)
        if known is None:
            save_test_set(test_set, layout.test_set(test_set.name))
    if known is not None and read_test_set(known).sound().checksum != test_set.checksum:
        raise ConflictError(
            f"there is another test set {test_set.name}",
            hint="give a changed test set a new version and a new name",
        )
    return StoredSet(
        test_set.name,
        test_set.version,
        test_set.checksum,
        len(test_set.queries),
        known is None,
        test_set.skipped,
    )


def import_file(
    layout: Layout,
    path: Path,
    *,
    qrels: Path | None = None,
    field: str = "title",
    split: str | None = None,
    name: str | None = None,
    version: str | None = None,
    grades: str | None = None,
    lenient: bool | None = None,
    output: Path | None = None,
    force: bool = False,
) -> tuple[Path, Reading]:
    """Read a file and write it in our own form; nothing is replaced without ``force``.

    ``qrels`` and ``field`` belong to TREC topics, ``split`` to a BEIR folder; ``name`` and
    ``version`` replace what the file says. ``grades`` says how grades of another scale become 0 to
    3. ``output`` is a file to write outside the workspace.
    """
    options = ReadOptions(
        lenient=lenient,
        qrels=qrels,
        field=field,
        split=split,
        name=name,
        version=version,
        grades=grades,
    )
    reading = read_test_set(find_test_set(path), options)
    test_set = reading.sound()
    target = output or place_of_new(layout, test_set.name)
    with alone_in(target.absolute().parent):
        if target.exists() and not force:
            raise UsageError(f"{target} already exists", hint="--force replaces it, --name renames")
        save_test_set(test_set, target)
    return target, reading


@dataclass(frozen=True, slots=True)
class SplitSet:
    """Which queries are in which part, the files that say so, and what the parts have in common."""

    seed: int
    parts: Mapping[str, tuple[str, ...]]
    written: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def split(
    layout: Layout,
    name: Name,
    *,
    share: float = HELD_OUT_SHARE,
    seed: int = DEFAULT_SEED,
    by_group: bool = False,
    redraw: bool = False,
    output: Path | None = None,
    paths: bool = False,
) -> SplitSet:
    """Hold out a part of the queries, stratified by type, and store that in the file.

    Queries of one group (a post, an interview), and queries that ask the same, stay on one side.
    ``by_group`` writes three sets instead, 80/10/10, that share no group. ``output`` is another
    file to write (a folder with ``by_group``); a shipped set needs one.
    """
    path = find(layout, name, paths=paths)
    if by_group:
        return _split_by_group(read_test_set(path).sound(), output or layout.test_sets, seed)
    with alone_in(_changed_in(path, layout, output)):
        reading = read_test_set(path)
        before = reading.sound()
        after = hold_out(before, share=share, seed=seed)
        if not redraw:
            refuse_redraw(before, after)
        target = output or _own_file(path, layout, after.name)
        is_our_yaml = reading.form == "native" and path.suffix in (".yaml", ".yml")
        if target.suffix != ".json" and is_our_yaml:
            write_text(target, with_split(path.read_bytes(), after))
        else:
            save_test_set(after, target)
    parts = {
        "evaluation": tuple(query.query_id for query in after.evaluation_queries),
        "held_out": tuple(query.query_id for query in after.held_out_queries),
    }
    return SplitSet(seed, parts, (target,), split_notes(after, share))


def _split_by_group(test_set: TestSet, folder: Path, seed: int) -> SplitSet:
    drawn = split_by_group(test_set, PARTS, seed=seed)
    pieces = [part(test_set, label, ids) for label, ids in drawn.parts.items()]
    written = []
    with alone_in(folder.absolute()):
        for piece in pieces:
            written.append(folder / f"{piece.name}.yaml")
            save_test_set(piece, written[-1])
    notes = (sentence for one in overlaps(pieces) for sentence in one.sentences())
    return SplitSet(seed, dict(drawn.parts), tuple(written), tuple(notes))


def overlap(layout: Layout, names: Sequence[Name], *, paths: bool = False) -> tuple[Overlap, ...]:
    """What each two of several test sets have in common: queries, texts, groups, documents."""
    if len(names) < 2:
        raise UsageError("an overlap needs more than one test set", hint="name two or more")
    return overlaps([load(layout, name, paths=paths, lenient=True) for name in names])


def _own_file(path: Path, layout: Layout, name: str) -> Path:
    """Where a changed set goes: its own file, or the workspace where it is read from a folder."""
    if shipped_folder().resolve() in path.resolve().parents:
        raise ConflictError(
            f"{name} ships with assay: a changed copy in the workspace would hide it",
            hint=f"--output {layout.test_set(f'my_{name}')} writes one beside it; give it a "
            "name of its own in the file",
        )
    return layout.test_set(name) if path.is_dir() else path


def _changed_in(path: Path, layout: Layout, output: Path | None) -> Path:
    """The folder in which a set is changed."""
    if output is not None:
        return output.absolute().parent
    shipped = shipped_folder().resolve() in path.resolve().parents  # refused a moment later
    return layout.test_sets if path.is_dir() or shipped else path.absolute().parent


def place_of_new(layout: Layout, name: str) -> Path:
    """The file of a set of the workspace; one that ships with assay is not hidden by another."""
    if name in list_test_sets():
        raise ConflictError(
            f"{name} ships with assay: a test set of that name would hide it for everybody",
            hint=f"choose another name, such as my_{name}",
        )
    return layout.test_set(name)


def save_new(layout: Layout, test_set: TestSet, output: Path | None = None) -> Path:
    """Write the next version of a set to a file of its own; a file that is there is kept."""
    target = output or place_of_new(layout, test_set.name)
    with alone_in(target.absolute().parent):
        if target.exists():
            raise ConflictError(f"{target.name} already exists", hint="--output names another file")
        save_test_set(test_set, target)
    return target


# When they are due


def due(test_set: TestSet, today: date | None = None) -> Due:
    """When a set should be refreshed next."""
    return refresh_due(test_set, today or datetime.now(UTC).date())


def due_sets(layout: Layout, today: date | None = None) -> list[Due]:
    """The same for every set that no newer version has replaced; shipped ones included."""
    readings = (entry.reading for entry in list_sets(layout))
    sets = [reading.test_set for reading in readings if reading and reading.test_set]
    replaced = {_parent(test_set) for test_set in sets}
    return [due(test_set, today) for test_set in sets if test_set.name not in replaced]


def _parent(test_set: TestSet) -> str:
    parent = test_set.provenance.get("parent")
    return str(parent.get("name", "")) if isinstance(parent, Mapping) else ""
