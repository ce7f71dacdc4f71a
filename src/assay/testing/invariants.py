"""Is everything there that was acknowledged, and nothing else, whatever happened meanwhile?

Writers keep a ``Journal``: what they are about to write, and what came of it. ``check`` then looks
at a workspace through the verbs that everybody uses. It serves kills, full disks, wrong clocks and
lost leaders alike, for this project and for whoever runs a service: what the journal says must hold
of what the workspace says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from assay.app.doctor import State, examine
from assay.app.keys import list_keys
from assay.app.run_view import show
from assay.app.workspace import Workspace
from assay.errors import AssayError, MissingFileError, UnknownRunError
from assay.model.runs import RunStatus
from assay.testsets.load import load_test_set

Kind: TypeAlias = Literal["document", "run", "tag", "grade", "key"]
"""What can be written. The value of a document is its text, of a run its means by measure, of a tag
its run, of a grade (``set/question/result``) the grade, of a key its state. None stands
for what was deleted or never there."""
ANYTHING = "anything"
"""The value of a write that is begun where nobody knows yet what it comes to."""
MOST_SEARCHES = 300
CLOSE = 1e-9


class Journal:
    """What one writer asked for; one line at a time, so that a killed writer leaves a whole one.

    A name is written by one writer, and by one request after the other.
    """

    def __init__(self, path: Path) -> None:
        self._out = path.open("a", encoding="utf-8")

    def begin(self, kind: Kind, name: str, value: Any) -> None:
        """The request is about to be sent."""
        self._note("begin", kind, name, value)

    def done(self, kind: Kind, name: str, value: Any) -> None:
        """It was acknowledged."""
        self._note("done", kind, name, value)

    def refused(self, kind: Kind, name: str) -> None:
        """It was refused: nothing was changed."""
        self._note("refused", kind, name, None)

    def close(self) -> None:
        """Close the file."""
        self._out.close()

    def _note(self, state: str, kind: Kind, name: str, value: Any) -> None:
        self._out.write(json.dumps([state, kind, name, value]) + "\n")
        self._out.flush()


@dataclass(frozen=True)
class _Unsound:
    """Something that must not be, whatever was written."""

    says: str


@dataclass
class _Known:
    """What a name may stand for: what was acknowledged last, and what nobody was told about."""

    value: Any = None
    acknowledged: bool = False
    open: list[Any] = field(default_factory=list)

    def allows(self, found: Any) -> bool:
        if isinstance(found, _Unsound):
            return False
        return ANYTHING in self.open or any(_same(found, one) for one in (self.value, *self.open))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found. ``acknowledged`` counts names; every list is empty where all is well."""

    acknowledged: int
    lost: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is lost, wrong or damaged."""
        return not (self.lost or self.wrong or self.damaged)


def check(workspace: Workspace, journals: Iterable[Path]) -> Verdict:
    """Hold a workspace against the journals of those who wrote to it."""
    known = _read(journals)
    lost: list[str] = []
    wrong: list[str] = []
    for (kind, name), expected in sorted(known.items()):
        found = _LOOKS[kind](workspace, name)
        if expected.allows(found):
            continue
        what = f"{kind} {name}: {_short(found)} instead of {_short(expected.value)}"
        (lost if found is None else wrong).append(what)
    wrong += _not_found(workspace, known)
    return Verdict(
        sum(one.acknowledged for one in known.values()),
        tuple(lost),
        tuple(wrong),
        tuple(
            f"{one.name}: {one.says}"
            for one in examine(workspace.settings)
            if one.state is State.FAULT
        ),
    )


def _read(journals: Iterable[Path]) -> dict[tuple[str, str], _Known]:
    known: dict[tuple[str, str], _Known] = {}
    for path in journals:
        for line in path.read_text(encoding="utf-8").splitlines():
            state, kind, name, value = json.loads(line)
            one = known.setdefault((kind, name), _Known())
            if state == "begin":
                one.open.append(value)
            elif state == "done":
                one.value, one.acknowledged, one.open = value, True, []
            elif one.open:
                one.open.pop()
    return known


def _document(workspace: Workspace, name: str) -> str | None:
    try:
        return workspace.document(name).text
    except MissingFileError:
        return None


def _run(workspace: Workspace, name: str) -> Mapping[str, Any] | _Unsound | str | None:
    """The means of a run, where it is whole and its outcomes still give these means."""
    try:
        info = workspace.runs.run(name)
    except UnknownRunError:
        return None
    if info.status is not RunStatus.COMPLETE:
        return f"a run that is {info.status}"
    outcomes = workspace.runs.outcomes(info.run_id)
    if len(outcomes) != info.queries:
        return _Unsound(f"{len(outcomes)} of {info.queries} outcomes in a complete run")
    stored: Mapping[str, Any] = info.aggregate["metrics"]
    scored = show(workspace, info.run_id).to_dict()["metrics"]
    if not _same(stored, scored):
        return _Unsound(f"{_short(stored)}, and its outcomes give {_short(scored)}")
    return stored


def _tag(workspace: Workspace, name: str) -> str | None:
    try:
        return workspace.runs.run(name).run_id
    except UnknownRunError:
        return None


def _grade(workspace: Workspace, name: str) -> int | None:
    suite, question, result = name.split("/", 2)
    try:
        test_set = load_test_set(suite, folder=workspace.layout.test_sets)
    except MissingFileError:
        return None
    grades = {
        judged.doc_id: judged.grade
        for query in test_set.queries
        if query.query_text == question
        for judged in query.relevant_docs
    }
    return grades.get(result)


def _key(workspace: Workspace, name: str) -> str | None:
    found = {row.key_id: row.state for row in list_keys(workspace.layout)}
    return found.get(name)


_LOOKS = {"document": _document, "run": _run, "tag": _tag, "grade": _grade, "key": _key}


def _not_found(workspace: Workspace, known: Mapping[tuple[str, str], _Known]) -> list[str]:
    """Documents that a search for all their words does not find, or finds though they are gone."""
    problems = []
    sure = [
        (name, one.value)
        for (kind, name), one in known.items()
        if kind == "document" and one.acknowledged and not one.open
    ]
    if not sure:
        return []
    workspace.update_index()
    for name, text in sure[-MOST_SEARCHES:]:
        try:
            found = workspace.search(text or name, k=20)
        except AssayError as error:
            return [f"the search for {name} failed: {error}"]
        seen = any(one.chunk.doc_id == name for one in found.results)
        if seen != (text is not None):
            problems.append(f"document {name}: {'not ' if text else ''}found by a search")
    return problems


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= CLOSE
    return bool(one == other)


def _short(value: Any) -> str:
    return f"{json.dumps(value, default=str):.120}"
