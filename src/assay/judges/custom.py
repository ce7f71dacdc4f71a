"""How does a Python function become a judge?

It takes the kind of a task (``support`` or ``relevance``), a text and a passage. It returns an
``Opinion``, or of support ``supported``, ``contradicted``, ``unsupported``, True, False or a
probability; of relevance a grade from 0 to 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from assay.errors import AssayError, JudgeError
from assay.model.judges import BEST_GRADE, JudgeTask, Opinion, Support, TaskKind, graded
from assay.user_code import TimedFunction

_HALF = 0.5


class CallableJudge(TimedFunction):
    """Calls a function for each task, and checks what it returns."""

    error: ClassVar[type[AssayError]] = JudgeError
    takes: ClassVar[str] = "the kind of task, a text and a passage"

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """The function's opinions, in order."""
        for at, task in enumerate(tasks):
            said = self.call(str(task.kind), task.text, task.passage)
            found = read_opinion(task.kind, said)
            if found is None:
                raise JudgeError(f"{self.called} returned {said!r:.80}", hint=_EXPECTED[task.kind])
            yield at, found


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
