"""Where is the test set of this name, and what does it hold?

A name is looked for in a folder first, if there is one, and then among the sets that ship with the
package; anything with a slash or a suffix is a path, and ``irds:NAME`` a set of ir_datasets. The
content of a file shows its form: our own, a golden list, a workflow dataset, rows of a table or of
JSON lines. A folder is BEIR or MTEB.
"""

from __future__ import annotations

import difflib
import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from assay import limits
from assay.errors import (
    AssayError,
    LimitError,
    MissingFileError,
    PlacedError,
    Problem,
    ProblemsError,
    UsageError,
)
from assay.model.document import ID_FORM
from assay.model.testset import HeldOut, TestSet, with_skipped
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode, parse_yaml
from assay.testsets import rows
from assay.testsets.draft import DraftSet
from assay.testsets.golden_list import KEYS, read_golden_list
from assay.testsets.grades import GradeScale, read_scale
from assay.testsets.json_nodes import parse_json
from assay.testsets.native import read_native
from assay.testsets.public import (
    VERSION,
    leave_out_without_relevant,
    name_of,
    read_beir,
    read_irds,
    read_trec,
)
from assay.testsets.rules import KnownIds, check, drop_unjudged
from assay.testsets.workflow import read_workflow

SUFFIXES = (".yaml", ".yml", ".json")
MOST_NAMES = 30  # that a hint lists
LENIENT_FORMS = frozenset({"workflow"})
FORMS_OF_ROWS = frozenset({"rows", "pairs"})
SCALED_FORMS = FORMS_OF_ROWS | {"trec", "beir", "ir_datasets"}
IRDS = "irds:"
"""Before the name of a set of ir_datasets, as in ``irds:beir/scifact/test``."""
_log = logging.getLogger("assay.testset")


_QRELS = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d{1,3}(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a file: the set, if it is valid, and all problems and warnings."""

    path: str
    form: str
    test_set: TestSet | None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def sound(self) -> TestSet:
        """The test set, or every problem at once."""
        if self.test_set is None:
            raise ProblemsError(self.path, self.problems)
        return self.test_set


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read: ``lenient`` skips queries without ground truth (None: the form's default).

    ``known_ids`` are the ids of the index, or a function that looks them up. ``qrels`` and
    ``field`` apply to TREC topics, ``split`` to BEIR; ``name`` and ``version`` override the file.
    ``grades`` says how grades of another scale become ours (``grades.py``). A list of more than
    ``max_items`` is an error in YAML and JSON.
    """

    lenient: bool | None = None
    known_ids: KnownIds | None = None
    qrels: Path | None = None
    field: str = "title"
    split: str | None = None
    name: str | None = None
    version: str | None = None
    grades: str | None = None
    max_items: int = limits.MAX_TEST_SET_QUERIES

    @property
    def scale(self) -> GradeScale | None:
        """The scale of the file's grades, where it was given."""
        return None if self.grades is None else read_scale(self.grades)


def load_test_set(
    name: str | os.PathLike[str],
    *,
    folder: Path | None = None,
    lenient: bool | None = None,
    known_ids: KnownIds | None = None,
    grades: str | None = None,
) -> TestSet:
    """The test set of a name or path; the error lists every problem of the file.

    ``folder`` is where names are looked for first; without one, only shipped sets have names.
    """
    path = find_test_set(name, folder)
    options = ReadOptions(lenient=lenient, known_ids=known_ids, grades=grades)
    reading = read_test_set(path, options)
    for warning in reading.warnings:
        _log.warning("%s", warning)
    return reading.sound()


def find_test_set(name: str | os.PathLike[str], folder: Path | None = None) -> Path:
    """The file or folder of a name or path."""
    text = os.fspath(name)
    if text.startswith(IRDS):
        return Path(text)
    if os.sep in text or text.endswith((*SUFFIXES, *rows.SUFFIXES)) or not isinstance(name, str):
        path = Path(text)
        if not path.exists():
            raise MissingFileError(f"there is no file {text!r:.200}", hint="check the path")
        return path
    return named_test_set(text, folder, "; a path needs a slash or a suffix")


def named_test_set(name: str, folder: Path | None = None, more: str = "") -> Path:
    """The file of a set with this name, which never becomes a path; ``more`` ends the hint."""
    known = list_test_sets(folder)
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, 1)
    meant = f"did you mean {close[0]}? " if close else ""
    listed = ", ".join(list(known)[:MOST_NAMES]) + (", ..." if len(known) > MOST_NAMES else "")
    raise MissingFileError(
        f"there is no test set {name!r:.80}", hint=f"{meant}known: {listed or 'none'}{more}"
    )


def list_test_sets(folder: Path | None = None) -> dict[str, Path]:
    """Every name that loads, with its file; a set in the folder hides a shipped one of its name."""
    found: dict[str, Path] = {}
    for source in (shipped_folder(), folder):
        if source is not None and source.is_dir():
            files = sorted(path for path in source.iterdir() if path.suffix in SUFFIXES)
            found |= {path.stem: path for path in files if ID_FORM.fullmatch(path.stem)}
    return dict(sorted(found.items()))


def shipped_folder() -> Path:
    """Where the sets that ship with the package are."""
    return Path(str(resources.files("assay"))) / "data" / "testsets"


def read_test_set(path: Path, options: ReadOptions | None = None) -> Reading:
    """Read any file or folder of golden queries; problems are returned, not raised."""
    options = options or ReadOptions()
    draft = DraftSet(str(path), scale=options.scale)
    if str(path).startswith(IRDS):
        named = str(path).removeprefix(IRDS)
        return _finished(
            "ir_datasets", draft, options, lambda: read_irds(named, draft, options.field)
        )
    if options.qrels is not None:
        qrels = options.qrels
        return _finished(
            "trec", draft, options, lambda: read_trec(path, qrels, draft, field=options.field)
        )
    if path.is_dir():
        return _finished("beir", draft, options, lambda: read_beir(path, draft, options.split))
    return parse_test_set(_read(path), source=str(path), options=options)


def parse_test_set(
    data: bytes, *, source: str = "upload", options: ReadOptions | None = None
) -> Reading:
    """Read golden queries from bytes of YAML, JSON, JSON lines, CSV or parquet."""
    options = options or ReadOptions()
    draft = DraftSet(source, scale=options.scale)
    form = "native"
    if rows.is_rows(data, source) and len(data) <= limits.MAX_YAML_BYTES:
        return _finished("rows", draft, options, lambda: _fill_rows(data, draft, options))
    try:
        root = _tree(data, source, draft, options.max_items)
        form = _form(root)
        if form in FORMS_OF_ROWS and _is_json(data, source):
            return _finished(form, draft, options, lambda: _fill_rows(data, draft, options))
    except AssayError as error:
        draft.fault(error)
        return Reading(source, form, None, tuple(draft.problems))
    return _finished(form, draft, options, lambda: _fill(form, root, draft))


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise MissingFileError(f"{path} is not a regular file", hint="name a file or a BEIR folder")
    try:
        with path.open("rb") as file:
            return file.read(limits.MAX_YAML_BYTES + 1)
    except OSError as error:
        raise MissingFileError(f"cannot read {path}: {error.strerror}") from None


def _tree(data: bytes, source: str, draft: DraftSet, max_items: int) -> Node | None:
    if len(data) > limits.MAX_YAML_BYTES:
        raise LimitError(f"larger than {limits.MAX_YAML_BYTES:,} bytes")
    if _is_json(data, source):
        return parse_json(data, source=source, max_items=max_items)
    faults: list[PlacedError] = []
    root = parse_yaml(data, source=source, max_items=max_items, faults=faults)
    for fault in faults:
        draft.fault(fault)
    return root


def _is_json(data: bytes, source: str) -> bool:
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return source.endswith(".json") or (
        start in (b"{", b"[") and not source.endswith((".yaml", ".yml"))
    )


def _form(root: Node | None) -> str:
    """The form of a tree, judged by its keys."""
    if isinstance(root, SequenceNode):
        first = root.items[0] if root.items else None
        names = [key.text for key, _ in first.entries] if isinstance(first, MappingNode) else []
        foreign = rows.looks_like_rows(names) and not set(names) <= set(KEYS)
        return "rows" if foreign else "golden-list"
    if isinstance(root, MappingNode):
        keys = {key.text for key, _ in root.entries}
        if "test_queries" in keys or "dataset_id" in keys:
            return "workflow"
        if "golden" in keys:
            return "golden-list"
        if {"queries", "relevant_docs"} <= keys:
            return "pairs"
    return "native"


def _fill_rows(data: bytes, draft: DraftSet, options: ReadOptions) -> None:
    draft.name = name_of(Path(draft.source))
    draft.version = VERSION
    rows.read_rows(data, draft, options.max_items)
    leave_out_without_relevant(draft)


def _fill(form: str, root: Node | None, draft: DraftSet) -> None:
    if root is None:
        draft.problem(None, "the file is empty", hint="a test set has name, version and queries")
    elif form in ("golden-list", "rows"):
        listed = root.get("golden") if isinstance(root, MappingNode) else root
        draft.name = name_of(Path(draft.source))
        draft.version = "v1"
        if isinstance(listed, SequenceNode):
            read_golden_list(listed.items, draft)
        else:
            draft.problem(root.line, "golden must be a list")
    elif isinstance(root, ScalarNode) and _QRELS.match(root.text):
        draft.problem(
            root.line,
            "these are judgments of TREC without the queries",
            hint=f"assay testset import TOPICS --qrels {Path(draft.source).name}; "
            "assay score takes them without any test set",
        )
    elif not isinstance(root, MappingNode):
        draft.problem(root.line, "a test set is a mapping with name, version and queries")
    elif form == "workflow":
        read_workflow(root, draft)
    else:
        read_native(root, draft)


def _finished(
    form: str, draft: DraftSet, options: ReadOptions, fill: Callable[[], None]
) -> Reading:
    """Run a reader, then the rules; the result has a set only if there are no problems."""
    try:
        fill()
        if draft.scale is not None:
            if form not in SCALED_FORMS:
                raise UsageError(f"--grades is for judgments of others, and this file is {form}")
            draft.provenance = {**draft.provenance, "grades": draft.scale.text}
    except AssayError as error:
        draft.fault(error)
    draft.name = options.name or draft.name
    draft.version = options.version or draft.version
    if form in LENIENT_FORMS if options.lenient is None else options.lenient:
        dropped = drop_unjudged(draft)
        held = () if draft.held_out is None else draft.held_out.query_ids
        ids = tuple(query.query_id for query in dropped)
        draft.provenance = with_skipped(draft.provenance, dropped, held)
        draft.held_out = _without(draft.held_out, ids)
        draft.skipped = (*draft.skipped, *ids)
    check(draft, options.known_ids)
    problems, warnings = tuple(draft.problems), tuple(draft.warnings)
    if problems:
        return Reading(draft.source, form, None, problems, warnings)
    test_set = TestSet(
        draft.name,
        draft.version,
        tuple(item.query for item in draft.queries),
        draft.description,
        draft.held_out,
        draft.provenance,
        draft.skipped,
    )
    return Reading(draft.source, form, test_set, (), warnings)


def _without(held_out: HeldOut | None, skipped: tuple[str, ...]) -> HeldOut | None:
    if held_out is None:
        return None
    gone = set(skipped)
    return HeldOut(held_out.seed, tuple(name for name in held_out.query_ids if name not in gone))
