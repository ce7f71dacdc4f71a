"""What does a judge say of an answer, claim by claim?

Every claim is read beside every passage that the answer cites, the answer as a whole beside the
question, each nugget beside the answer and beside what was retrieved, and each retrieved passage
beside the question. All tasks of an answer go to the judge at once. A reference answer stands for
the nuggets that its sentences are. A refusal claims nothing, and only what was retrieved is judged.
What a system retrieved without its text is looked up in the corpus, where it has that id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TypeAlias

from assay import limits
from assay.evaluation.returned import checked_numbers
from assay.evidence.claims import claims_of, has_marks, in_context, statements_of
from assay.model.answers import Answer, added_usage
from assay.model.judges import (
    Judge,
    JudgedAnswer,
    JudgedClaim,
    JudgedNugget,
    JudgeTask,
    Opinion,
    TaskKind,
)
from assay.model.runs import QueryOutcome
from assay.model.system import System
from assay.model.testset import GoldenQuery, Nugget

Finish: TypeAlias = Callable[[GoldenQuery, QueryOutcome], QueryOutcome]
Look: TypeAlias = Callable[[str], str | None]
"""The text of the chunk or the document with an id; None where there is none."""
CONTEXT = 10  # retrieved passages that are read


def judged_system(system: System, judge: Judge, look: Look | None = None) -> System:
    """The same system, whose answers are judged; the judge is part of its configuration.

    ``look`` finds the texts that the system did not return.
    """
    return replace(
        system,
        config={**system.config, "judge": judge.name},
        finish=lambda query, outcome: judged_outcome(judge, query, outcome, look),
    )


def judged_outcome(
    judge: Judge, query: GoldenQuery, outcome: QueryOutcome, look: Look | None = None
) -> QueryOutcome:
    """The outcome with what the judge says of its answer; one without an answer stays as it is."""
    answer = outcome.answer
    if answer is None or outcome.failed:
        return outcome
    if look is not None:
        outcome = _looked_up(outcome, answer, look)
    return replace(outcome, judged=judge_answer(judge, query, answer, outcome.passages))


def judge_answer(
    judge: Judge, query: GoldenQuery, answer: Answer, passages: Mapping[str, str]
) -> JudgedAnswer:
    """Everything that a judge says of an answer; ``passages`` are what was retrieved, in order."""
    asking = _Asking()
    question = query.query_text
    cited = {one: passages[one] for one in answer.citations if one in passages}
    claims = claims_of(answer)[: limits.MAX_CLAIMS]
    support = {
        (at, name): asking.add(TaskKind.SUPPORT, in_context(question, claim.text), text)
        for at, claim in enumerate(claims)
        for name, text in cited.items()
    }
    whole = asking.add(TaskKind.RELEVANCE, question, answer.text) if answer.grounded else None
    context = [*passages.values()][:CONTEXT]
    relevant = [asking.add(TaskKind.RELEVANCE, question, text) for text in context]
    nuggets = nuggets_of(query)
    said = [
        asking.add(TaskKind.SUPPORT, one.text, answer.text) if answer.grounded else None
        for one in nuggets
    ]
    there = [[asking.add(TaskKind.SUPPORT, one.text, text) for text in context] for one in nuggets]
    found = asking.asked(judge)
    return JudgedAnswer(
        judge=judge.name,
        claims=tuple(
            JudgedClaim(
                claim.text,
                claim.citations,
                {name: found[support[at, name]] for name in cited},
            )
            for at, claim in enumerate(claims)
        ),
        relevance=None if whole is None else found[whole],
        nuggets=tuple(
            JudgedNugget(
                one.text,
                one.vital,
                None if in_answer is None else found[in_answer],
                _best([found[at] for at in in_context]),
            )
            for one, in_answer, in_context in zip(nuggets, said, there, strict=True)
        ),
        context=tuple(found[at] for at in relevant),
        usage=reduce(added_usage, (one.usage for one in found), None),
        marked=has_marks(answer),
    )


def _looked_up(outcome: QueryOutcome, answer: Answer, look: Look) -> QueryOutcome:
    """The outcome with the texts that it lacks, as far as they are found; numbers are rechecked."""
    if outcome.passages and outcome.known_citations <= outcome.passages.keys():
        return outcome
    retrieved = [one.chunk_id for one in outcome.results[: limits.MAX_KEPT_PASSAGES]]
    wanted = dict.fromkeys([*retrieved, *sorted(outcome.known_citations)])
    found = {one: outcome.passages.get(one) or look(one) for one in wanted}
    texts = {one: text[: limits.MAX_PASSAGE_CHARS] for one, text in found.items() if text}
    return replace(
        outcome, passages=texts, numbers=checked_numbers(answer, outcome.known_citations, texts)
    )


def nuggets_of(query: GoldenQuery) -> tuple[Nugget, ...]:
    """What a right answer says; of a reference answer each sentence."""
    if query.nuggets:
        return query.nuggets
    return tuple(Nugget(text) for text in statements_of(query.reference or ""))


@dataclass(slots=True)
class _Asking:
    """Tasks for a judge, each once; ``add`` gives the place of its opinion."""

    tasks: dict[JudgeTask, int] = field(default_factory=dict)

    def add(self, kind: TaskKind, text: str, passage: str) -> int:
        return self.tasks.setdefault(JudgeTask(kind, text, passage), len(self.tasks))

    def asked(self, judge: Judge) -> list[Opinion]:
        found = dict(judge.judge([*self.tasks]))
        return [found[at] for at in range(len(self.tasks))]


def _best(opinions: Sequence[Opinion]) -> Opinion | None:
    """The opinion that supports most, or one that might have; None where there is none."""
    return max(opinions, key=lambda one: (one.supported, one.unreadable, one.score), default=None)
