"""Does a judge keep its contract?

Call ``check_judge``; it raises ``AssertionError`` at the first broken promise. Every judge of assay
passes it. Whether a judge is right is another matter: ``assay judge check`` asks people.
"""

from __future__ import annotations

from assay.model.judges import BEST_GRADE, Judge, JudgeTask, Opinion, Support, TaskKind

PASSAGE = "In renal impairment the dose of examplol is 5 mg once daily."
TASKS = (
    JudgeTask(TaskKind.SUPPORT, "The dose of examplol in renal impairment is 5 mg.", PASSAGE),
    JudgeTask(TaskKind.RELEVANCE, "What is the dose of examplol?", PASSAGE),
    JudgeTask(TaskKind.SUPPORT, "The dose of examplol in renal impairment is 50 mg.", PASSAGE),
    JudgeTask(TaskKind.SUPPORT, "The dose of examplol in renal impairment is 5 mg.", PASSAGE),
)


def check_judge(judge: Judge) -> None:
    """Ask about a few tasks, and look at what comes back."""
    assert judge.name, "a run records who judged"
    assert judge.name == judge.name, "a judge keeps its name"
    given = list(TASKS)
    said = list(judge.judge(given))
    assert given == list(TASKS), "tasks belong to the caller"
    assert sorted(at for at, _ in said) == list(range(len(TASKS))), "one opinion for each task"
    found = dict(said)
    for at, task in enumerate(TASKS):
        _check(task, found[at])
    assert found[0].label == found[3].label, "the same task gets the same opinion"
    assert list(judge.judge([])) == [], "nothing to judge, no opinion"


def _check(task: JudgeTask, opinion: Opinion) -> None:
    assert isinstance(opinion, Opinion)
    assert 0.0 <= opinion.score <= 1.0, "a score is a share"
    if not opinion.label:
        assert opinion.reason, "an opinion without a label says why"
    elif task.kind is TaskKind.SUPPORT:
        assert opinion.label in set(Support), "a claim is supported, contradicted or unsupported"
    else:
        assert opinion.grade is not None, "relevance is a grade"
        assert 0 <= opinion.grade <= BEST_GRADE, "grades go from 0 to 3"
