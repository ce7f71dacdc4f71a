"""How is no opinion asked for, or paid for, twice?

An opinion is stored as soon as it comes, under the judge's name and the digest of its task. Judging
that was killed goes on where it stopped; an equal task of another run costs nothing. What opinions
took is counted once: when all tasks that were asked together have come back. Where a judge has a
name for each kind of task (``name_for``), a change of one prompt leaves the other's opinions valid.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from assay.model.judges import Judge, JudgeTask, Opinion


class OpinionStore(Protocol):
    """Where opinions are kept; what ``keep`` has returned from is on the disk."""

    def opinions(self, judge: str, keys: Collection[str]) -> Mapping[str, Opinion]:
        """Those of the tasks with these keys that are known; ``usage`` if not yet counted."""

    def keep(self, judge: str, key: str, opinion: Opinion) -> None:
        """Store an opinion; the first one on a task stays."""

    def count(self, judge: str, keys: Collection[str]) -> None:
        """Note that what these opinions took was counted."""


@dataclass(frozen=True, slots=True)
class KeptJudge:
    """A judge that remembers; ``usage`` that was counted before is left out."""

    judge_behind: Judge
    store: OpinionStore

    @property
    def name(self) -> str:
        """That of the judge behind it."""
        return self.judge_behind.name

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """Known opinions first, then those that have to be asked for, each stored as it comes."""
        keys = [key_of(task) for task in tasks]
        names = {key: self._name_for(task) for key, task in zip(keys, tasks, strict=True)}
        known = self._known(names)
        places: dict[str, list[int]] = {}
        for at, key in enumerate(keys):
            places.setdefault(key, []).append(at)
        for key, opinion in known.items():
            yield from _shared(opinion, places[key])
        asked = [places[key][0] for key in places if key not in known]
        fresh = []
        for place, opinion in self.judge_behind.judge([tasks[at] for at in asked]):
            key = keys[asked[place]]
            self.store.keep(names[key], key, opinion)  # unreadable ones were paid for, too
            fresh.append((key, opinion))
            yield from _shared(opinion, places[key])
        self._count(names, [key for key, one in (*known.items(), *fresh) if one.usage is not None])

    def _name_for(self, task: JudgeTask) -> str:
        by_kind = getattr(self.judge_behind, "name_for", None)
        return self.name if by_kind is None else str(by_kind(task.kind))

    def _known(self, names: Mapping[str, str]) -> dict[str, Opinion]:
        found: dict[str, Opinion] = {}
        for name in sorted(set(names.values())):
            found |= self.store.opinions(name, [key for key in names if names[key] == name])
        return found

    def _count(self, names: Mapping[str, str], keys: Sequence[str]) -> None:
        for name in sorted({names[key] for key in keys}):
            self.store.count(name, [key for key in keys if names[key] == name])


def _shared(opinion: Opinion, places: Sequence[int]) -> Iterator[tuple[int, Opinion]]:
    """The opinion for every place of its task; it was paid for once."""
    yield places[0], opinion
    for other in places[1:]:
        yield other, replace(opinion, usage=None)


def key_of(task: JudgeTask) -> str:
    """The same for the same task."""
    content = json.dumps([str(task.kind), task.text, task.passage])
    return hashlib.sha256(content.encode()).hexdigest()
