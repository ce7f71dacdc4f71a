"""How do people judge passages: two without seeing each other, and a third where they differ?

One ``Desk`` serves the terminal, HTTP, pages and other tools. An annotator gets one passage at a
time; the third person gets what the two disagree about, with both grades but without names. A first
test set may begin with one person. An automatic judge is one more voice: it proposes grades, which
are compared with those of people and never take their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import limits
from assay.annotation.active import estimates
from assay.annotation.adjudicate import RULES as RULES  # noqa: PLC0414 - pages offer them
from assay.annotation.adjudicate import Settled, by_rule, settle, undecided
from assay.annotation.agreement import KAPPA_FLOOR as KAPPA_FLOOR  # noqa: PLC0414 - pages show it
from assay.annotation.agreement import (
    Agreement,
    Difference,
    Voice,
    agreement,
    by_annotator,
    differ,
    differences,
    gap,
    judged_by_both,
)
from assay.annotation.exchange import read_grades
from assay.annotation.joint import joint
from assay.annotation.standing import Standing, standing
from assay.annotation.tasks import asked, next_task, ordered, task
from assay.app.engine import Progress as Watch
from assay.app.engine import silent
from assay.digests import digest_of
from assay.errors import ConflictError, UsageError
from assay.evaluation.scores import rounded
from assay.judges.relevance import relevance
from assay.model.annotation import (
    AUTOMATIC,
    Decision,
    Grade,
    Item,
    ItemKey,
    Purpose,
    Round,
    RoundQuery,
    Task,
)
from assay.model.document import check_id
from assay.plain_file import read_plain
from assay.plural import counted
from assay.render.annotation import LABEL_STUDIO_VIEW, tasks_csv, tasks_label_studio
from assay.render.markup import safe_table
from assay.store.annotations import AnnotationStore
from assay.testsets.save import write_text

if TYPE_CHECKING:
    from assay.app.workspace import Workspace

SECOND_SHARE = 0.25
MOST_VOICE = 100  # characters of a judge's name
TASK_FORMS = {"csv": tasks_csv, "label-studio": tasks_label_studio}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an annotator is."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class NextTask:
    """The next passage; None where everything is judged."""

    task: Task | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade that is on the disk, and how far the annotator is now."""

    grade: Grade
    progress: Progress


@dataclass(frozen=True, slots=True)
class Undone:
    """The grade that was taken back; None where there was none."""

    undone: Grade | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class Dispute:
    """A passage about which the annotators differ; the order of the grades tells no names."""

    task: Task
    grades: tuple[int | None, int | None]
    comments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedTask:
    """A passage that an annotator has graded, and their grade."""

    task: Task
    grade: Grade


@dataclass(frozen=True, slots=True)
class DecidedDispute:
    """A difference that was settled; ``decision`` says how, by whom and why."""

    dispute: Dispute
    decision: Decision


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A passage that two people graded; ``grades`` are in the order of the round's annotators."""

    task: Task
    grades: tuple[int | None, int | None]
    comments: tuple[str, str]
    decision: Decision | None

    @property
    def differs(self) -> bool:
        """Whether somebody must decide: two grades, or none that counts."""
        return differ(self.grades)


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that is on the disk, and how many passages still wait for one or for a grade."""

    query_id: str
    chunk_id: str
    grade: int | None
    by: str
    open: int


@dataclass(frozen=True, slots=True)
class RoundCard:
    """One round, without anything that could sway an annotator."""

    round_id: str
    purpose: Purpose
    test_set: str
    version: str
    annotators: tuple[str, ...]
    passages: int
    created_at: str
    closed_at: str | None


@dataclass(frozen=True, slots=True)
class RoundStatus:
    """One round as whoever runs it sees it; ``annotators`` says how many passages each judged.

    ``judges`` are the automatic ones, ``standing`` says how sure the figures are, ``lists`` what
    nDCG@10 of each pooled list is, with expected grades where nobody has judged.
    """

    round_id: str
    purpose: Purpose
    test_set: str
    version: str
    created_at: str
    closed_at: str | None
    passages: int
    annotators: dict[str, int]
    kappa: float | None
    open: int
    judges: dict[str, int]
    standing: dict[str, Any]
    lists: dict[str, float | None]


@dataclass(frozen=True)
class Desk:
    """One round, as people work on it. What is to be judged never changes, and is read once."""

    store: AnnotationStore
    round: Round

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Everything that is to be judged."""
        return self.store.items(self.round.round_id)

    @cached_property
    def queries(self) -> tuple[RoundQuery, ...]:
        """The queries of the round."""
        return self.store.queries(self.round.round_id)

    def card(self) -> RoundCard:
        """What anybody may know of the round."""
        about = self.round
        return RoundCard(
            about.round_id,
            about.purpose,
            about.test_set,
            about.version,
            about.annotators,
            len(self.items),
            about.created_at,
            about.closed_at,
        )

    def status(self) -> RoundStatus:
        """How far the round is, and how well the two agree."""
        about, agreed = self.round, self.agreement()
        return RoundStatus(
            about.round_id,
            about.purpose,
            about.test_set,
            about.version,
            about.created_at,
            about.closed_at,
            agreed.items,
            {person.name: person.done for person in agreed.annotators},
            rounded(agreed.plain.value),
            self.open_items(),
            {
                name.removeprefix(AUTOMATIC): len(said)
                for name, said in by_annotator(self.grades()).items()
                if name.startswith(AUTOMATIC)
            },
            self.standing().to_dict(),
            {name: rounded(value) for name, value in self.estimates().items()},
        )

    # Two people judge

    def grades(self, annotator: str | None = None) -> tuple[Grade, ...]:
        """The grades that hold now."""
        return self.store.grades(self.round.round_id, annotator)

    def next(self, annotator: str, later: Collection[ItemKey] = ()) -> Task | None:
        """The next passage for this annotator; None where everything is graded.

        What they put off (``later``) comes once nothing else is left.
        """
        self._check_annotator(annotator)
        done = {grade.key for grade in self.grades(annotator)}
        mine = self._asked(annotator)
        found = next_task(self.round, self.queries, mine, done, annotator, later=later)
        return None if found is None else self._harmless(found)

    def turn(self, annotator: str) -> NextTask:
        """The next passage for this annotator, and how far they are."""
        return NextTask(self.next(annotator), self.progress(annotator))

    def tasks(self, annotator: str) -> tuple[Task, ...]:
        """Everything this annotator is asked, in their order."""
        self._check_annotator(annotator)
        texts = {query.query_id: query.query_text for query in self.queries}
        mine = ordered(self.round, self._asked(annotator), annotator)
        return tuple(
            task(self.round, item, texts[item.query_id], number, len(mine))
            for number, item in enumerate(mine, 1)
        )

    def judged(self, annotator: str) -> tuple[JudgedTask, ...]:
        """What this annotator has graded, in the order in which they did."""
        tasks = {(one.query_id, one.chunk_id): one for one in self.tasks(annotator)}
        return tuple(
            JudgedTask(_harmless(tasks[grade.key]), grade)
            for grade in self.grades(annotator)
            if grade.key in tasks
        )

    def task(self, annotator: str, key: ItemKey) -> Task:
        """One passage, judged or not, as this annotator sees it."""
        for one in self.tasks(annotator):
            if (one.query_id, one.chunk_id) == key:
                return self._harmless(one)
        raise UsageError(
            f"{annotator} is not asked about {key[1]!r:.80} for {key[0]!r:.80}",
            hint="only pooled passages are judged",
        )

    def grade(self, annotator: str, key: ItemKey, grade: int | None, comment: str = "") -> Graded:
        """Enter a grade; it is on the disk when this returns. The same again changes nothing."""
        entered = self.store.grade(self.round.round_id, annotator, key, grade, comment)
        return Graded(entered, self.progress(annotator))

    def undo(self, annotator: str) -> Undone:
        """Take back this annotator's last grade."""
        undone = self.store.undo(self.round.round_id, annotator)
        return Undone(undone, self.progress(annotator))

    def progress(self, annotator: str) -> Progress:
        """How far this annotator is."""
        self._check_annotator(annotator)
        return Progress(len(self.grades(annotator)), len(self._asked(annotator)))

    def _asked(self, annotator: str) -> tuple[Item, ...]:
        """What this annotator judges; all of it, unless they check a sample."""
        first = {grade.key for grade in self.grades(self.round.annotators[0])}
        return asked(self.round, self.items, first, annotator)

    def standing(self) -> Standing:
        """Whether there are enough grades yet."""
        return standing(self.round, self.items, self.grades(self.round.annotators[0]))

    def estimates(self) -> dict[str, float]:
        """nDCG@10 of each pooled list, best first; nothing where nothing is judged yet."""
        grades = self.settled().grades
        found = estimates(self.items, grades) if grades else {}
        return dict(sorted(found.items(), key=lambda row: (-row[1], row[0])))

    def add_annotator(self, name: str, share: float = SECOND_SHARE) -> Desk:
        """The desk with a second person, who checks a share of what the first has judged."""
        if not 0 < share <= 1:
            raise UsageError(f"a share of {share} is not possible", hint="above 0, and at most 1")
        plan = replace(self.round.plan, second_share=share)
        return Desk(self.store, self.store.add_annotator(self.round.round_id, name, plan))

    # An automatic judge is one more voice

    def propose(
        self,
        judge: str,
        grade: Callable[[str, Sequence[str]], Sequence[int | None]],
        *,
        shown: bool = False,
        progress: Watch = silent,
    ) -> Desk:
        """Let an automatic judge grade what it has not graded yet, query by query.

        ``grade`` takes a question and passages. With ``shown``, annotators see what it proposes;
        otherwise only whoever runs the round does.
        """
        name = f"{AUTOMATIC}{check_id(judge, 'judge')}"
        done = {one.key for one in self.grades(name)}
        for number, query in enumerate(self.queries, 1):
            mine = [item for item in self.items if item.query_id == query.query_id]
            left = [item for item in mine if item.key not in done]
            if left:
                said = grade(query.query_text, [_passage(item) for item in left])
                rows = [(item.key, one, "") for item, one in zip(left, said, strict=True)]
                self.store.enter(self.round.round_id, name, rows)
            progress("judge", number, len(self.queries))
        plan = replace(self.round.plan, shown=judge if shown else "")
        if plan == self.round.plan:
            return self
        return Desk(self.store, self.store.change_plan(self.round.round_id, plan))

    def voices(self) -> tuple[Voice, ...]:
        """How far each automatic judge agrees with each person, so far."""
        grades = self.grades()
        judges = sorted(name for name in by_annotator(grades) if name.startswith(AUTOMATIC))
        return tuple(
            Voice(
                judge.removeprefix(AUTOMATIC),
                person,
                judge.removeprefix(AUTOMATIC) == self.round.plan.shown,
                agreement(self.round, self.items, grades, voices=(person, judge)),
                joint(self.round, self.items, grades, person, judge),
            )
            for judge in judges
            for person in self.round.annotators
        )

    def to_review(self, annotator: str) -> tuple[Task, ...]:
        """What this annotator and an automatic judge graded differently, the most so first."""
        self._check_annotator(annotator)
        voices = [one for one in self.voices() if one.person == annotator and one.shown]
        if not voices:
            raise UsageError(
                f"no automatic judge is shown in {self.round.round_id}",
                hint="assay annotate --judge words --show lets one propose grades",
            )
        rows = [row for voice in voices for row in voice.differences]
        rows.sort(key=lambda row: (-gap(row[1], row[2]), row[0]))
        items = {item.key: item for item in self.items}
        texts = {query.query_id: query.query_text for query in self.queries}
        keys = dict.fromkeys(key for key, _, _ in rows)
        return tuple(
            self._harmless(task(self.round, items[key], texts[key[0]], number, len(keys)))
            for number, key in enumerate(keys, 1)
        )

    def _harmless(self, shown: Task) -> Task:
        """The task with markup that can be shown anywhere, and the proposed grade if it may be."""
        if self.round.plan.shown:
            name = f"{AUTOMATIC}{self.round.plan.shown}"
            key = (shown.query_id, shown.chunk_id)
            said = {one.key: one.grade for one in self.grades(name)}
            shown = replace(shown, proposed=said.get(key))
        return _harmless(shown)

    # Where they differ

    def agreement(self) -> Agreement:
        """How far the two agree."""
        return agreement(self.round, self.items, self.grades())

    def report(self, person: str = "") -> dict[str, Any]:
        """The agreement, and what is still open, as JSON; for nobody who is still judging."""
        if self.open_items():
            self.refuse_judge(person)
        return {**self.agreement().to_dict(), "open": self.open_items()}

    def refuse_judge(self, person: str) -> None:
        """Refuse who judges here beside another: they must not see the other's grades."""
        if len(self.round.annotators) < 2:
            return  # there is nobody else's grade to see
        if person.casefold() in map(str.casefold, self.round.annotators):
            raise UsageError(
                f"{person} judges in {self.round.round_id} and must not see the other's grades",
                hint="a third person decides, or chooses a rule: "
                "assay testset adjudicate --rule mean-down --as NAME",
            )

    def decisions(self) -> tuple[Decision, ...]:
        """What was decided."""
        return self.store.decisions(self.round.round_id)

    def disputes(self, person: str | None = None) -> tuple[Dispute, ...]:
        """What waits for the third person, who is none of the two.

        None: the caller has made sure of that, or only counts.
        """
        self.refuse_judge(person or "")
        return self._disputes(undecided(self._differences(), self.decisions()))

    def decided(self, person: str | None = None) -> tuple[DecidedDispute, ...]:
        """What was decided, the last decision first; for nobody who judges here."""
        self.refuse_judge(person or "")
        settled = {decision.key: decision for decision in self.decisions()}
        found = self._disputes([one for one in self._differences() if one.key in settled])
        pairs = [
            DecidedDispute(one, settled[one.task.query_id, one.task.chunk_id]) for one in found
        ]
        return tuple(sorted(pairs, key=lambda one: one.decision.at, reverse=True))

    def _disputes(self, differences: Sequence[Difference]) -> tuple[Dispute, ...]:
        items = {item.key: item for item in self.items}
        texts = {query.query_id: query.query_text for query in self.queries}
        comments: dict[ItemKey, list[str]] = {}
        for grade in self.grades():
            if grade.comment and grade.annotator in self.round.annotators:
                comments.setdefault(grade.key, []).append(grade.comment)
        total = len(differences)
        return tuple(
            Dispute(
                _harmless(task(self.round, items[one.key], texts[one.query_id], number, total)),
                _nameless(one.grades),
                tuple(sorted(comments.get(one.key, ()))),
            )
            for number, one in enumerate(differences, 1)
        )

    def pairs(self, person: str | None = None) -> tuple[JudgedPair, ...]:
        """Every passage that both have graded, with both grades; for nobody who judges here."""
        self.refuse_judge(person or "")
        items = {item.key: item for item in self.items}
        texts = {query.query_id: query.query_text for query in self.queries}
        decisions = {decision.key: decision for decision in self.decisions()}
        both = self._judged_by_both()
        return tuple(
            JudgedPair(
                _harmless(task(self.round, items[key], texts[key[0]], number, len(both))),
                (first.grade, second.grade),
                (first.comment, second.comment),
                decisions.get(key),
            )
            for number, (key, (first, second)) in enumerate(both.items(), 1)
        )

    def _judged_by_both(self) -> dict[ItemKey, tuple[Grade, Grade]]:
        said = by_annotator(self.grades())
        first, second = (said.get(name, {}) for name in (*self.round.annotators, "")[:2])
        return judged_by_both(self.items, first, second)

    def _differences(self) -> tuple[Difference, ...]:
        """Where the two differ, without the statistics of their agreement."""
        both = self._judged_by_both()
        return differences({key: (one.grade, two.grade) for key, (one, two) in both.items()})

    def decide(self, person: str, key: ItemKey, grade: int | None, comment: str = "") -> Decided:
        """Enter the third person's decision about a difference."""
        check_id(person, "name")
        if key not in {difference.key for difference in self._differences()}:
            raise UsageError(
                f"the annotators do not differ about {key[1]!r:.80} for {key[0]!r:.80}"
            )
        decision = Decision(*key, grade, by=person, comment=comment)
        self.store.decide(self.round.round_id, [decision])
        return Decided(*key, grade, person, self.open_items())

    def undecide(self, person: str, key: ItemKey | None = None) -> Decision | None:
        """Take back a decision: the one on ``key``, else the last that this person made."""
        self.refuse_judge(person)
        chosen = [
            decision
            for decision in self.decisions()
            if (decision.by == person and not decision.rule if key is None else decision.key == key)
        ]
        if not chosen:
            return None
        last = max(chosen, key=lambda decision: decision.at)
        self.store.undecide(self.round.round_id, [last.key])
        return last

    def undecide_rules(self, person: str) -> int:
        """Take back everything that a rule decided; how many decisions there were."""
        self.refuse_judge(person)
        keys = [decision.key for decision in self.decisions() if decision.rule]
        self.store.undecide(self.round.round_id, keys)
        return len(keys)

    def decide_by_rule(self, rule: str, person: str) -> tuple[Decision, ...]:
        """Let a rule decide what no person has decided; ``person`` answers for the choice."""
        check_id(person, "name")
        by_people = [decision for decision in self.decisions() if not decision.rule]
        decisions = by_rule(undecided(self._differences(), by_people), rule, person)
        self.store.decide(self.round.round_id, decisions)
        return decisions

    def check_decided(self, otherwise: str) -> None:
        """Refuse while the annotators differ about something that nobody has decided."""
        if waiting := undecided(self._differences(), self.decisions()):
            raise ConflictError(
                f"{self.round.round_id}: {counted(len(waiting), 'difference', 'is')} undecided; "
                f"{otherwise}",
                hint=f"assay testset adjudicate --rule mean-down --as NAME "
                f"--round {self.round.round_id}, or a third person: assay annotate --as THIRD "
                f"--adjudicate --round {self.round.round_id}",
            )

    def open_items(self) -> int:
        """How many passages wait for a grade or a decision."""
        return len(self.settled().open)

    def settled(self) -> Settled:
        """The grades that count, and what is still open."""
        return settle(self.round, self.items, self.grades(), self.decisions())

    def _check_annotator(self, annotator: str) -> None:
        if annotator not in self.round.annotators:
            raise UsageError(
                f"{annotator!r:.80} does not judge in {self.round.round_id}",
                hint=f"its annotators are {' and '.join(self.round.annotators)}",
            )

    # Grades come from another tool

    def export_tasks(self, annotator: str, form: str, output: Path) -> list[Path]:
        """Write an annotator's tasks, with their grades so far; Label Studio gets its view, too."""
        if form not in TASK_FORMS:
            raise UsageError(f"there is no form {form!r:.40}", hint=", ".join(TASK_FORMS))
        grades = {grade.key: grade for grade in self.grades(annotator)}
        write_text(output, TASK_FORMS[form](self.tasks(annotator), grades))
        if form == "csv":
            return [output]
        view = output.with_suffix(".view.xml")
        write_text(view, LABEL_STUDIO_VIEW)
        return [output, view]

    def import_grades(self, annotator: str, path: Path) -> int:
        """Enter the grades of a file, all or none; how many there were."""
        rows = read_grades(read_limited(path), str(path))
        grades = [((row.query_id, row.chunk_id), row.grade, row.comment) for row in rows]
        return len(self.store.enter(self.round.round_id, annotator, grades))


def open_desk(workspace: Workspace, ref: str = "latest") -> Desk:
    """The desk of a round."""
    workspace.require()
    return Desk(workspace.annotations, workspace.annotations.round(ref))


def automatic(
    workspace: Workspace,
    desk: Desk,
    spec: str,
    *,
    shown: bool = False,
    progress: Watch = silent,
) -> Desk:
    """Let an automatic judge propose grades for a round: ``words``, an address, a function."""
    judge = workspace.judge(spec)

    def grades(question: str, passages: Sequence[str]) -> list[int | None]:
        return [opinion.grade for opinion in relevance(judge, question, passages)]

    return desk.propose(_voice(judge.name), grades, shown=shown, progress=progress)


def _voice(name: str) -> str:
    """A judge's name as an id: what changes its opinions changes its name."""
    found = re.sub(r"[^A-Za-z0-9_.#:-]+", "-", name).strip("-")
    if len(found) <= MOST_VOICE:
        return found
    end = digest_of(name).replace("sha256:", "-")
    return f"{found[: MOST_VOICE - len(end)]}{end}"


def open_desks(workspace: Workspace) -> list[Desk]:
    """The desks of all rounds, newest first."""
    workspace.require()
    store = workspace.annotations
    return [Desk(store, about) for about in store.rounds()]


def read_limited(path: Path) -> bytes:
    """A file of a person, as far as one may be read."""
    return read_plain(path, limits.MAX_YAML_BYTES, hint="check the path")


def _passage(item: Item) -> str:
    return f"{item.title}\n{item.text}".strip()


def _harmless(shown: Task) -> Task:
    """The task with markup that can be shown anywhere."""
    return replace(shown, table_html=safe_table(shown.table_html)) if shown.table_html else shown


def _nameless(grades: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """Both grades, the lower first and what cannot be judged last."""
    low, high = sorted(grades, key=lambda grade: (grade is None, grade or 0))
    return low, high
