"""What does a person at the annotation desk see and do?

One desk serves the terminal, HTTP and web pages. An annotator gets one passage at a time; the third
person gets what the two disagree about, with both grades but without names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from assay.annotation.adjudicate import Settled, by_rule, settle, undecided
from assay.annotation.agreement import Agreement, agreement
from assay.annotation.exchange import Said
from assay.annotation.tasks import next_task, ordered, task
from assay.errors import UsageError
from assay.model.annotation import Decision, Grade, Item, ItemKey, Round, RoundQuery, Task
from assay.model.document import check_id
from assay.store.annotations import AnnotationStore


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an annotator is."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Dispute:
    """An item for the third person: the task and both grades in an order that tells no names."""

    task: Task
    grades: tuple[int | None, int | None]
    comments: tuple[str, ...]


@dataclass(frozen=True)
class Desk:
    """One round, as people work on it. What is to be judged never changes, and is read once."""

    store: AnnotationStore
    held: Round

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Everything that is to be judged."""
        return self.store.items(self.held.round_id)

    @cached_property
    def queries(self) -> tuple[RoundQuery, ...]:
        """The queries of the round."""
        return self.store.queries(self.held.round_id)

    def grades(self, annotator: str | None = None) -> tuple[Grade, ...]:
        """The grades that hold now."""
        return self.store.grades(self.held.round_id, annotator)

    def decisions(self) -> tuple[Decision, ...]:
        """What was decided."""
        return self.store.decisions(self.held.round_id)

    def next(self, annotator: str) -> Task | None:
        """The next passage for this annotator; None where everything is graded."""
        self._known(annotator)
        done = {one.key for one in self.grades(annotator)}
        return next_task(self.held, self.queries, self.items, done, annotator)

    def tasks(self, annotator: str) -> tuple[Task, ...]:
        """Everything this annotator is asked, in their order."""
        self._known(annotator)
        texts = {one.query_id: one.query_text for one in self.queries}
        mine = ordered(self.held, self.items, annotator)
        return tuple(
            task(self.held, item, texts[item.query_id], number, len(mine))
            for number, item in enumerate(mine, 1)
        )

    def grade(self, annotator: str, key: ItemKey, grade: int | None, comment: str = "") -> Grade:
        """Enter a grade; it is on the disk when this returns."""
        return self.store.grade(self.held.round_id, annotator, key, grade, comment)

    def enter(self, annotator: str, said: tuple[Said, ...]) -> int:
        """Enter the grades of a file, all or none; how many there were."""
        grades = [((one.query_id, one.chunk_id), one.grade, one.comment) for one in said]
        return len(self.store.enter(self.held.round_id, annotator, grades))

    def undo(self, annotator: str) -> Grade | None:
        """Take back this annotator's last grade."""
        return self.store.undo(self.held.round_id, annotator)

    def progress(self, annotator: str) -> Progress:
        """How far this annotator is."""
        self._known(annotator)
        return Progress(len(self.grades(annotator)), len(self.items))

    def agreement(self) -> Agreement:
        """How far the two agree."""
        return agreement(self.held, self.items, self.grades())

    def disputes(self, person: str | None = None) -> tuple[Dispute, ...]:
        """What waits for the third person, who is none of the two.

        None: the caller has made sure of that, or only counts.
        """
        if person is not None and person.casefold() in map(str.casefold, self.held.annotators):
            raise UsageError(
                f"{person} judges in {self.held.round_id} and must not see the other's grades",
                hint="a third person decides, or a rule: "
                "assay testset adjudicate --rule mean-down --as NAME",
            )
        items = {item.key: item for item in self.items}
        texts = {one.query_id: one.query_text for one in self.queries}
        comments: dict[ItemKey, list[str]] = {}
        for one in self.grades():
            if one.comment:
                comments.setdefault(one.key, []).append(one.comment)
        waiting = undecided(self.agreement().differences, self.decisions())
        return tuple(
            Dispute(
                task(self.held, items[one.key], texts[one.query_id], number, len(waiting)),
                _nameless(one.grades),
                tuple(sorted(comments.get(one.key, ()))),
            )
            for number, one in enumerate(waiting, 1)
        )

    def decide(self, person: str, key: ItemKey, grade: int | None, comment: str = "") -> Decision:
        """Enter what the third person says of a difference."""
        check_id(person, "name")
        differences = {one.key for one in self.agreement().differences}
        if key not in differences:
            raise UsageError(
                f"the annotators do not differ about {key[1]!r:.80} for {key[0]!r:.80}"
            )
        made = Decision(*key, grade, by=person, comment=comment)
        self.store.decide(self.held.round_id, [made])
        return made

    def decide_by_rule(self, rule: str, person: str) -> tuple[Decision, ...]:
        """Let a rule decide what no person has decided; ``person`` answers for the choice."""
        check_id(person, "name")
        by_people = [one for one in self.decisions() if not one.rule]
        found = by_rule(undecided(self.agreement().differences, by_people), rule, person)
        self.store.decide(self.held.round_id, found)
        return found

    def open_items(self) -> int:
        """How many passages wait for a grade or a decision."""
        return len(self.settled().open)

    def settled(self) -> Settled:
        """The grades that count, and what is still open."""
        return settle(self.held, self.items, self.grades(), self.decisions())

    def _known(self, annotator: str) -> None:
        if annotator not in self.held.annotators:
            raise UsageError(
                f"{annotator!r:.80} does not judge in {self.held.round_id}",
                hint=f"its annotators are {' and '.join(self.held.annotators)}",
            )


def desk(store: AnnotationStore, ref: str = "latest") -> Desk:
    """The desk of a round."""
    return Desk(store, store.round(ref))


def _nameless(grades: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """Both grades, the lower first and what cannot be judged last."""
    low, high = sorted(grades, key=lambda one: (one is None, one or 0))
    return low, high
