"""How well does each of some passages answer a question?"""

from __future__ import annotations

from collections.abc import Sequence

from assay.model.judges import Judge, JudgeTask, Opinion, TaskKind


def relevance(judge: Judge, question: str, passages: Sequence[str]) -> list[Opinion]:
    """The judge's opinions, in the order of the passages."""
    tasks = [JudgeTask(TaskKind.RELEVANCE, question, passage) for passage in passages]
    found = dict(judge.judge(tasks))
    return [found[at] for at in range(len(tasks))]
