"""How does a Python function become a judge?

It takes the kind of a task (``support`` or ``relevance``), a text and a passage. It returns an
``Opinion``, or of support ``supported``, ``contradicted``, ``unsupported``, True, False or a
probability; of relevance a grade from 0 to 3.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.errors import JudgeError
from assay.model.judges import BEST_GRADE, JudgeTask, Opinion, Support, TaskKind, graded
from assay.time_limit import TimeLimit

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class CallableJudge:
    """Calls a function for each task, and checks what it returns; a call gets ``seconds``.

    ``code`` identifies the function's code. Where nobody knows it, no two judges have the same
    name, and nothing that one said is reused.
    """

    function: Callable[[str, str, str], Any]
    label: str = ""
    code: str | None = None
    seconds: float = 60.0
    _limit: TimeLimit = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", self.code or f"unknown-{secrets.token_hex(6)}")
        object.__setattr__(self, "_limit", TimeLimit(self.seconds))

    @property
    def name(self) -> str:
        """Identifies everything known to affect an opinion."""
        return f"{self._called}(code={self.code})"

    @property
    def _called(self) -> str:
        module = getattr(self.function, "__module__", "?")
        return self.label or f"{module}:{getattr(self.function, '__qualname__', '?')}"

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """The function's opinions, in order; its exceptions become an error that names it."""
        for at, task in enumerate(tasks):
            yield at, self._one(task)

    def _one(self, task: JudgeTask) -> Opinion:
        def call(resolve: Callable[[Any], Any]) -> Any:
            return resolve(self.function(str(task.kind), task.text, task.passage))

        try:
            said = self._limit.call(call)
        except (Exception, SystemExit) as problem:  # user code
            raise JudgeError(
                f"{self._called} failed: {type(problem).__name__}: {problem!s:.200}",
                hint="it gets the kind of task, a text and a passage",
            ) from problem
        found = read_opinion(task.kind, said)
        if found is None:
            raise JudgeError(f"{self._called} returned {said!r:.80}", hint=_EXPECTED[task.kind])
        return found


_EXPECTED = {
    TaskKind.SUPPORT: "of support, return supported, contradicted, unsupported or a probability",
    TaskKind.RELEVANCE: f"of relevance, return a grade from 0 to {BEST_GRADE}",
}


def read_opinion(kind: TaskKind, said: Any) -> Opinion | None:
    """The opinion that a plain value means; None where it means none."""
    if isinstance(said, Opinion):
        return said
    if kind is TaskKind.RELEVANCE:
        whole = isinstance(said, (int, float)) and not isinstance(said, bool) and said == int(said)
        return graded(int(said)) if whole and 0 <= said <= BEST_GRADE else None
    if isinstance(said, str):
        known = said.strip().lower()
        return Opinion(known, float(known == Support.SUPPORTED)) if known in set(Support) else None
    if isinstance(said, (bool, int, float)) and 0.0 <= said <= 1.0:
        return Opinion(
            Support.SUPPORTED if said >= _HALF else Support.UNSUPPORTED, round(float(said), 6)
        )
    return None
