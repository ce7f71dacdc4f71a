"""How is no opinion asked for, or paid for, twice?

An opinion is stored as soon as it comes, under the judge's name and the digest of its task. Judging
that was killed goes on where it stopped; an equal task of another run costs nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.model.judges import Judge, JudgeTask, Opinion


class OpinionStore(Protocol):
    """Where opinions are kept; what ``keep`` has returned from is on the disk."""

    def opinions(self, judge: str, keys: Collection[str]) -> Mapping[str, Opinion]:
        """Those of the tasks with these keys that are known."""

    def keep(self, judge: str, key: str, opinion: Opinion) -> None:
        """Store an opinion; the first one on a task stays."""


@dataclass(frozen=True, slots=True)
class KeptJudge:
    """A judge that remembers; ``usage`` of what it remembers was paid before and is left out."""

    judge_behind: Judge
    store: OpinionStore

    @property
    def name(self) -> str:
        """That of the judge behind it."""
        return self.judge_behind.name

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """Known opinions first, then those that have to be asked for, each stored as it comes."""
        keys = [key_of(task) for task in tasks]
        known = self.store.opinions(self.name, set(keys))
        first = {key: at for at, key in reversed([*enumerate(keys)]) if key not in known}
        for at, key in enumerate(keys):
            if key in known:
                yield at, _reused(known[key])
        asked = sorted(first.values())
        same: dict[str, list[int]] = {}
        for at, key in enumerate(keys):
            if key in first and at != first[key]:
                same.setdefault(key, []).append(at)
        for place, opinion in self.judge_behind.judge([tasks[at] for at in asked]):
            at = asked[place]
            self.store.keep(self.name, keys[at], opinion)  # unreadable ones were paid for, too
            yield at, opinion
            for other in same.get(keys[at], ()):
                yield other, _reused(opinion)


def key_of(task: JudgeTask) -> str:
    """The same for the same task."""
    content = json.dumps([str(task.kind), task.text, task.passage])
    return hashlib.sha256(content.encode()).hexdigest()


def _reused(opinion: Opinion) -> Opinion:
    return Opinion(opinion.label, opinion.score, opinion.reason)
