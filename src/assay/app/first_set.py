"""How does a team get its first test set, from questions and nothing else?

``new`` pools passages for the questions of a person, a file or the query log, and opens a round
that one person may judge alone; ``add_judge`` lets a second one check a sample; ``finish`` writes
what has been judged so far as a test set, again and again as more is judged. ``suggest`` (in
``suggestions.py``) makes questions where there are none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from assay import limits
from assay.annotation.active import depth_within, within_budget
from assay.annotation.agreement import kappa_dict
from assay.annotation.draw import DEFAULT_SEED, Strategy, cleaned, order
from assay.annotation.first import judged_queries
from assay.annotation.pool import DEFAULT_DEPTH as DEFAULT_DEPTH  # noqa: PLC0414 - surfaces
from assay.annotation.questions import question_rows, read_questions
from assay.annotation.similar import Known
from assay.annotation.standing import CUT, Standing
from assay.annotation.swap import next_name
from assay.app import pool, testsets
from assay.app.annotation import SECOND_SHARE, Desk, open_desk, read_limited
from assay.app.engine import Progress, silent
from assay.app.workspace import Workspace
from assay.errors import ConflictError, InputError, UsageError
from assay.evaluation.scores import rounded
from assay.hits.run import load_run
from assay.model.annotation import Order, Plan, Purpose, Round, RoundQuery
from assay.model.document import check_id
from assay.model.moments import now
from assay.model.testset import GoldenQuery, TestSet
from assay.plural import counted
from assay.search.query_type import classify
from assay.testsets.load import list_test_sets

FIRST_VERSION = "v1"
DEFAULT_QUESTIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSet:
    """What a first test set is made from.

    ``budget`` is how many passages may be judged at most: less depth where queries are judged one
    after the other, a draw where the order is active. ``until`` is the width of the interval of
    nDCG@10 (or as deep as the pool is) at which judging may stop. ``runs`` is how many stored runs
    are pooled too, ``others`` are runs of other engines by name.
    """

    name: str
    annotators: tuple[str, ...]
    questions: tuple[RoundQuery, ...]
    depth: int = DEFAULT_DEPTH
    budget: int | None = None
    until: float | None = None
    order: str = Order.QUERIES
    runs: int = pool.POOLED_RUNS
    others: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    seed: int = DEFAULT_SEED
    source: str = ""

    def __post_init__(self) -> None:
        check_id(self.name, "test set")
        if self.budget is not None and self.budget < 1:
            raise UsageError("a budget is at least one passage")
        if self.order not in list(Order):
            raise UsageError(f"there is no order {self.order!r:.40}", hint=", ".join(Order))
        if self.until is not None and not 0 < self.until < 1:
            raise UsageError(
                f"a width of {self.until} is not possible", hint="between 0 and 1, as in 0.2"
            )


class NewSetOptions(TypedDict, total=False):
    """The options of ``NewSet`` by name, as Python takes them."""

    depth: int
    budget: int | None
    until: float | None
    order: str
    runs: int
    others: Mapping[str, Mapping[str, Sequence[str]]]
    seed: int


def new_set(
    name: str,
    questions: str | Path | Sequence[str | Mapping[str, Any]],
    annotators: str | Sequence[str],
    **options: Unpack[NewSetOptions],
) -> NewSet:
    """What a first set is made from, as a person writes it in Python."""
    people = (annotators,) if isinstance(annotators, str) else tuple(annotators)
    if isinstance(questions, (str, Path)):
        path = Path(questions)
        read, source = questions_of(path), path.name
    else:
        rows = [{"query": one} if isinstance(one, str) else one for one in questions]
        read, source = questions_of_rows(rows), ""
    return NewSet(name=name, annotators=people, questions=read, source=source, **options)


def questions_of(path: Path) -> tuple[RoundQuery, ...]:
    """The questions of a file in any form."""
    return read_questions(read_limited(path), str(path))


def questions_of_rows(rows: Sequence[Mapping[str, Any]]) -> tuple[RoundQuery, ...]:
    """The questions of rows, as a program has them."""
    return read_questions(json.dumps(list(rows)).encode(), "questions.json")


def round_body(asked: NewSet) -> dict[str, Any]:
    """What a service is sent to begin the same set."""
    return {
        "name": asked.name,
        "annotators": list(asked.annotators),
        "questions": question_rows(asked.questions),
        **{name: getattr(asked, name) for name in NewSetOptions.__annotations__},
    }


def logged_questions(
    workspace: Workspace,
    *,
    count: int = DEFAULT_QUESTIONS,
    strategy: str = Strategy.FREQUENCY,
    seed: int = DEFAULT_SEED,
    since: str = "",
) -> tuple[RoundQuery, ...]:
    """Questions that people searched for here, without identifiers and near duplicates."""
    if strategy not in list(Strategy):
        raise UsageError(f"there is no strategy {strategy!r:.40}", hint=", ".join(Strategy))
    wordings, _, _ = cleaned(pool.logged(workspace, since))
    known = Known()
    found: list[RoundQuery] = []
    for one in order(wordings, Strategy(strategy), seed):
        if known.like(one.text) is None:
            name = f"q{len(found) + 1:03}"
            known.add(name, one.text)
            origin = {"strategy": strategy, "seed": seed, "times": one.times}
            found.append(RoundQuery(name, one.text, classify(one.text), origin))
        if len(found) == count:
            break
    if not found:
        raise InputError(
            "nobody has searched here yet, as far as the log knows",
            hint="a service (assay serve) logs searches where query_log is text; "
            "a file of questions works as well",
        )
    return tuple(found)


def runs_of_files(paths: Sequence[Path]) -> dict[str, dict[str, list[str]]]:
    """Runs of other engines, by the names of their files."""
    found = {}
    for path in paths:
        run = load_run(path)
        found[path.name] = {query: [hit.id for hit in hits] for query, hits in run.items()}
    return found


def new(workspace: Workspace, asked: NewSet, progress: Progress = silent) -> pool.PassagePool:
    """Pool passages for the questions and open the round in which they are judged."""
    workspace.require()
    if asked.name in list_test_sets(workspace.layout.test_sets):
        raise ConflictError(
            f"there is a test set {asked.name} already",
            hint="choose another name; assay testset sample and pool refresh one that exists",
        )
    queries = tuple(
        replace(query, query_type=query.query_type or classify(query.query_text))
        for query in asked.questions
    )
    golden = [GoldenQuery(one.query_id, one.query_text, one.query_type) for one in queries]
    stored = pool.newest_runs(workspace, asked.runs)
    made = pool.gather(
        workspace, golden, asked.depth, stored, others=asked.others, progress=progress
    )
    _refuse_strangers(asked, made)
    whole, made = len(made.items), _within(made, asked)
    synthetic = sum(query.synthetic is not None for query in queries)
    opened = Round(
        round_id=asked.name,
        purpose=Purpose.FIRST,
        test_set=asked.name,
        version=FIRST_VERSION,
        checksum="",
        annotators=asked.annotators,
        seed=asked.seed,
        created_at=now(),
        source={
            "questions": asked.source or "given",
            **({"synthetic": synthetic} if synthetic else {}),
            "pool": list(made.lists),
            "depth": made.depth,
            **({"budget": asked.budget} if asked.budget is not None else {}),
            **({CUT: whole - len(made.items)} if whole > len(made.items) else {}),
        },
        plan=Plan(
            Order(asked.order),
            1.0 if len(asked.annotators) > 1 else SECOND_SHARE,
            asked.until,
        ),
    )
    return replace(made, round=pool.open_round(workspace, opened, queries, made))


def _refuse_strangers(asked: NewSet, made: pool.PassagePool) -> None:
    """A run of which nothing is here would be pooled with nothing, without anybody noticing."""
    for name in asked.others:
        if not any(pool.engine_list(name) in item.found_by for item in made.items):
            raise InputError(
                f"{name}: nothing of it is in the corpus, or no query of it is asked",
                hint="its query ids are those of the questions, its documents those of the corpus",
            )


def _within(made: pool.PassagePool, asked: NewSet) -> pool.PassagePool:
    """The pool as far as the budget allows."""
    if asked.budget is None or len(made.items) <= asked.budget:
        return made
    if asked.order == Order.ACTIVE:
        return replace(made, items=within_budget(made.items, asked.budget, asked.seed))
    depth = depth_within(made.items, asked.budget, made.depth)
    kept = tuple(item for item in made.items if min(item.found_by.values()) <= depth)
    return replace(made, items=kept, depth=depth)


def add_judge(
    workspace: Workspace, name: str, round_id: str = "latest", *, share: float = SECOND_SHARE
) -> Desk:
    """Let a second person check a share of what the first has judged."""
    return open_desk(workspace, round_id).add_annotator(name, share)


@dataclass(frozen=True, slots=True)
class FinishedSet:
    """The set of what is judged so far; ``written`` is None where nothing was written.

    ``left_out`` says why a query is not in it, ``standing`` how sure its figures can be, ``lists``
    what the pooled lists come to, with expected grades where nobody has judged.
    """

    test_set: TestSet
    written: Path | None
    left_out: Mapping[str, str]
    standing: Standing
    lists: Mapping[str, float]
    closed: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "written": None if self.written is None else str(self.written),
            "name": self.test_set.name,
            "version": self.test_set.version,
            "checksum": self.test_set.checksum,
            "queries": len(self.test_set.queries),
            "judgments": sum(len(query.relevant_docs) for query in self.test_set.queries),
            "synthetic": len(self.test_set.synthetic_ids),
            "left_out": dict(self.left_out),
            "cautions": list(self.test_set.cautions),
            "standing": self.standing.to_dict(),
            "lists": {name: rounded(value) for name, value in self.lists.items()},
            "closed": self.closed,
        }


def finish(
    workspace: Workspace,
    round_id: str = "latest",
    *,
    close: bool = False,
    dry_run: bool = False,
    output: Path | None = None,
) -> FinishedSet:
    """Write what has been judged so far; what was written before stays, as an older version.

    ``close`` ends the round; until then more can be judged, by a second person too. A round with
    differences that nobody has decided stays open: nothing can be decided in a closed one.
    """
    desk = open_desk(workspace, round_id)
    about = desk.round
    if about.purpose is not Purpose.FIRST:
        raise UsageError(
            f"the round {about.round_id} is for {about.test_set} {about.version}",
            hint=f"assay testset refresh {about.test_set}",
        )
    if close:
        desk.check_decided("the round stays open")
    ready = judged_queries(desk.queries, desk.items, desk.settled())
    if not ready.queries:
        raise InputError(
            f"no query of {about.round_id} has a relevant passage yet",
            hint=f"assay annotate --as {about.annotators[0]} --round {about.round_id}",
        )
    made = TestSet(
        about.test_set,
        about.version,
        ready.queries,
        f"{counted(len(ready.queries), 'query')}, a first set",
        provenance=_provenance(desk),
        skipped=tuple(ready.left_out),
    )
    made, known = _versioned(workspace, made, about.round_id)
    standing, lists = desk.standing(), desk.estimates()
    if dry_run:
        return FinishedSet(made, None, ready.left_out, standing, lists, closed=False)
    written = known or testsets.save_new(workspace.layout, made, output)
    if close and about.closed_at is None:
        workspace.annotations.close_round(about.round_id)
    closed = close or about.closed_at is not None
    return FinishedSet(made, written, ready.left_out, standing, lists, closed)


def _versioned(workspace: Workspace, made: TestSet, round_id: str) -> tuple[TestSet, Path | None]:
    """The set under its next free version, or the file that has just these queries already."""
    parent: TestSet | None = None
    for _ in range(limits.MAX_TEST_SET_QUERIES):
        path = list_test_sets(workspace.layout.test_sets).get(made.name)
        if path is None:
            break
        before = testsets.read(path).sound()
        if before.provenance.get("round") != round_id:
            raise ConflictError(
                f"there is another test set {made.name}", hint="--output names another file"
            )
        if (before.queries, before.provenance.get("judges")) == (
            made.queries,
            made.provenance["judges"],
        ):
            return before, path
        parent = before
        name, version = next_name(made.name, made.version)
        made = replace(made, name=name, version=version)
    provenance = dict(made.provenance)
    if parent is not None:
        provenance["parent"] = {
            "name": parent.name,
            "version": parent.version,
            "checksum": parent.checksum,
        }
    return replace(made, provenance={**provenance, "checksum": made.checksum}), None


def _provenance(desk: Desk) -> dict[str, Any]:
    about, agreed, settled = desk.round, desk.agreement(), desk.settled()
    judges = [person.name for person in agreed.annotators if person.done]
    found: dict[str, Any] = {
        "created_at": now()[:10],
        "round": about.round_id,
        "purpose": about.purpose.value,
        "source": dict(about.source),
        "judges": judges,
        "passages": len(desk.items),
        "judged": len(settled.grades),
        "unjudged": len(settled.open),
        "without_grade": len(settled.without),
        "seed": about.seed,
    }
    if agreed.both:
        decided = {decision.key for decision in desk.decisions()}
        found["judged_by_both"] = agreed.both
        found["kappa"] = kappa_dict(agreed.plain, agreed.plain_interval)
        found["undecided"] = sum(one.key not in decided for one in agreed.differences)
    automatic = [
        {
            "judge": voice.judge,
            "beside": voice.person,
            "shown": voice.shown,
            "kappa": kappa_dict(voice.agreement.plain, voice.agreement.plain_interval),
        }
        for voice in desk.voices()
    ]
    if automatic:
        found["automatic"] = automatic
    return found
