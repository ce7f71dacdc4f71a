"""What changed between two test sets: queries, judgments, anything that counts?"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.testsets.write import query_as_plain


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of a query that changed; values as in the file."""

    query_id: str
    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class JudgmentChange:
    """A judgment that was added, removed or changed; None means not judged.

    If both are None, judgments of the query changed, and ``id`` says why they are not shown.
    """

    query_id: str
    id: str
    before: Judgment | None
    after: Judgment | None

    @property
    def masked(self) -> bool:
        """Whether it hides which judgments changed."""
        return self.before is None and self.after is None


@dataclass(frozen=True, slots=True)
class TestSetDiff:
    """The differences between two sets; ``same`` if nothing significant changed."""

    __test__ = False  # pytest looks for classes of this name

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[FieldChange, ...]
    judgments: tuple[JudgmentChange, ...]
    held_out_in: tuple[str, ...]
    held_out_out: tuple[str, ...]
    reordered: bool

    @property
    def same(self) -> bool:
        """Whether both have the same queries, judgments, order and split."""
        return not any(getattr(self, item.name) for item in fields(self))


def diff(before: TestSet, after: TestSet) -> TestSetDiff:
    """Compare two sets query by query; their names and versions may differ."""
    old, new = before.by_id, after.by_id
    shared = [query_id for query_id in old if query_id in new]
    changes = [change for query_id in shared for change in _fields(old[query_id], new[query_id])]
    judgments = [
        change for query_id in shared for change in _judgments(old[query_id], new[query_id])
    ]
    kept_back, keeps_back = before.held_out_ids, after.held_out_ids
    return TestSetDiff(
        tuple(query_id for query_id in new if query_id not in old),
        tuple(query_id for query_id in old if query_id not in new),
        tuple(changes),
        tuple(judgments),
        tuple(sorted(keeps_back - kept_back)),
        tuple(sorted(kept_back - keeps_back)),
        shared != [query_id for query_id in new if query_id in old],
    )


def _fields(old: GoldenQuery, new: GoldenQuery) -> list[FieldChange]:
    before, after = query_as_plain(old), query_as_plain(new)
    names = [name for name in dict.fromkeys((*before, *after)) if name != "relevant_docs"]
    return [
        FieldChange(old.query_id, name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _judgments(old: GoldenQuery, new: GoldenQuery) -> list[JudgmentChange]:
    before = {judgment.id: judgment for judgment in old.relevant_docs}
    after = {judgment.id: judgment for judgment in new.relevant_docs}
    return [
        JudgmentChange(old.query_id, name, before.get(name), after.get(name))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    ]
