"""Does a judge of answers agree with people?

People grade the claims of answers that were drawn at random, without what the judge said: on a page
or in a terminal, one claim at a time (``ClaimDesk``), or in a spreadsheet (``sheet``, ``grade``).
``check`` compares, and keeps what it found with the run, where reports and gates look for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import limits
from assay.app.annotation import Progress
from assay.app.engine import GRADED_ANSWERS
from assay.delimited import read_table
from assay.durable import write_atomically
from assay.errors import FormatError, UsageError
from assay.model.annotation import check_person
from assay.model.judges import Support
from assay.model.tabular import Records, Tabular
from assay.plain_file import read_plain
from assay.plural import counted
from assay.render.tables import comma_separated

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.evaluation.judge_quality import ClaimRow, JudgeQuality
    from assay.evaluation.stored_run import StoredRun
    from assay.model.runs import RunInfo
    from assay.store.opinions import SqlOpinionStore

LISTED = 50
COLUMNS = ("claim_id", "query_id", "question", "claim", "passages", "label")
BETWEEN = "\n\n---\n\n"  # passages of one cell


@dataclass(frozen=True, slots=True)
class ClaimSheet(Tabular):
    """Claims to be graded; ``label`` is empty until somebody fills it in."""

    run_id: str
    rows: tuple[ClaimRow, ...]

    def records(self) -> Records:
        """A row for each claim."""
        return Records(
            COLUMNS,
            [_cells(row) for row in self.rows],
            f"{counted(len(self.rows), 'claim')} of {self.run_id}",
            (f"fill in label: {', '.join(Support)}; by the passages alone",),
        )

    def to_csv(self) -> str:
        """The sheet as a file for a spreadsheet."""
        return comma_separated(COLUMNS, [_cells(row) for row in self.rows]) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        rows = [dict(zip(COLUMNS, _cells(row), strict=True)) for row in self.rows]
        return {"run_id": self.run_id, "claims": rows}


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that an answer cites; ``here``: the sentence of the claim cites it, too."""

    chunk_id: str
    text: str
    here: bool


@dataclass(frozen=True, slots=True)
class ClaimTask:
    """One claim for a person: the answer that makes it, and the passages that the answer cites."""

    run_id: str
    claim_id: str
    query_id: str
    question: str
    answer: str
    claim: str
    passages: tuple[CitedPassage, ...]
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class NextClaim:
    """The next claim; None where the person has graded all that were drawn."""

    task: ClaimTask | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class ClaimGraded:
    """A grade that is on the disk, and how far the person is now."""

    claim_id: str
    label: Support
    progress: Progress


@dataclass(frozen=True, slots=True)
class ClaimUndone:
    """The claim whose grade was taken back; None where there was none."""

    claim_id: str | None
    progress: Progress


@dataclass(frozen=True)
class ClaimDesk:
    """The claims of a judged run, as people grade them.

    Answers come in the order in which they were drawn, so that whoever stops early leaves a
    random sample of whole answers. Two people who name the same draw grade the same claims.
    """

    store: SqlOpinionStore
    run: StoredRun
    answers: int = GRADED_ANSWERS
    seed: int = 0

    @cached_property
    def rows(self) -> tuple[ClaimRow, ...]:
        """The claims that were drawn, answer by answer; each text once."""
        from assay.evaluation.judge_quality import claim_rows, sampled

        drawn = sampled(claim_rows(self.run), self.answers, self.seed)
        return tuple({row.key: row for row in drawn}.values())

    def turn(self, annotator: str) -> NextClaim:
        """The next claim for this person, and how far they are."""
        done = self._done(annotator)
        found = next(
            (
                self._task(row, number)
                for number, row in enumerate(self.rows, 1)
                if row.key not in done
            ),
            None,
        )
        return NextClaim(found, Progress(len(done), len(self.rows)))

    def grade(self, annotator: str, claim_id: str, label: Support) -> ClaimGraded:
        """Enter what a person says of a claim; it is on the disk when this returns."""
        check_person(annotator)
        if claim_id not in {row.key for row in self.rows}:
            raise UsageError(
                f"{claim_id!r:.80} is not one of the claims drawn from {self.run.name}",
                hint="give the answers and the seed of that draw",
            )
        self.store.grade(annotator, {claim_id: label})
        return ClaimGraded(claim_id, label, self.progress(annotator))

    def undo(self, annotator: str) -> ClaimUndone:
        """Take back what this person said last of the claims that were drawn."""
        check_person(annotator)
        undone = self.store.take_back(annotator, [row.key for row in self.rows])
        return ClaimUndone(undone, self.progress(annotator))

    def progress(self, annotator: str) -> Progress:
        """How far this person is."""
        return Progress(len(self._done(annotator)), len(self.rows))

    def _done(self, annotator: str) -> frozenset[str]:
        check_person(annotator)
        said = self.store.grades([row.key for row in self.rows])
        return frozenset(key for key, people in said.items() if annotator in people)

    def _task(self, row: ClaimRow, number: int) -> ClaimTask:
        said = self.run.by_query[row.query_id].answer
        own = frozenset(row.claim.citations)
        return ClaimTask(
            self.run.info.run_id,
            row.key,
            row.query_id,
            row.question,
            said.text if said else "",
            row.claim.text,
            tuple(
                CitedPassage(name, text, name in own)
                for name, text in zip(row.claim.opinions, row.passages, strict=True)
            ),
            number,
            len(self.rows),
        )


def claim_sheet(desk: ClaimDesk) -> ClaimSheet:
    """What was drawn, as one table to be filled in."""
    return ClaimSheet(desk.run.info.run_id, desk.rows)


def open_claims(
    workspace: Workspace, ref: str = "latest", *, answers: int = GRADED_ANSWERS, seed: int = 0
) -> ClaimDesk:
    """Where people grade claims of a judged run."""
    return ClaimDesk(workspace.opinions, workspace.stored_run(ref, stages=True), answers, seed)


def judged_runs(workspace: Workspace) -> list[RunInfo]:
    """The newest runs whose answers were judged."""
    return [info for info in workspace.runs.runs(limit=LISTED).runs if info.config.get("judge")]


def sheet(
    workspace: Workspace,
    ref: str,
    *,
    answers: int = GRADED_ANSWERS,
    seed: int = 0,
    out: Path | None = None,
) -> ClaimSheet:
    """Draw answers of a judged run at random, and list their claims for somebody to grade."""
    found = claim_sheet(open_claims(workspace, ref, answers=answers, seed=seed))
    if out is not None:
        write_atomically(out, found.to_csv().encode())
    return found


def grade(workspace: Workspace, ref: str, path: Path, annotator: str) -> JudgeQuality:
    """Import graded claims, and compare them with the judge."""
    from assay.evaluation.judge_quality import claim_rows

    check_person(annotator)
    known = {row.key for row in claim_rows(workspace.stored_run(ref, stages=True))}
    grades = _read(path)
    if not known.intersection(grades):
        raise UsageError(
            f"no claim of {path} is one of the run {ref}", hint=f"assay judge sheet {ref}"
        )
    workspace.opinions.grade(annotator, grades)
    return check(workspace, ref)


def check(workspace: Workspace, ref: str) -> JudgeQuality:
    """Compare the judge of a run with people, and keep what was found with the run."""
    from assay.evaluation.judge_quality import KEY, claim_rows, judge_quality

    run = workspace.stored_run(ref, stages=True)
    keys = [row.key for row in claim_rows(run)]
    found = judge_quality(run, workspace.opinions.grades(keys))
    if not found.people:
        raise UsageError(
            f"nobody has graded claims of {run.name}",
            hint=f"assay judge claims {ref} --as NAME",
        )
    workspace.runs.finish(
        run.info.run_id, {**run.info.aggregate, KEY: found.to_dict()}, status=run.info.status
    )
    return found


def last_check(run: RunInfo) -> dict[str, Any]:
    """What the last comparison with people found; nothing where there was none."""
    from assay.evaluation.judge_quality import KEY

    return dict(run.aggregate.get(KEY) or {})


def _cells(row: ClaimRow) -> tuple[str, ...]:
    passages = BETWEEN.join(row.passages)
    return (row.key, row.query_id, row.question, row.claim.text, passages, "")


def _read(path: Path) -> dict[str, Support]:
    """The labels of a sheet; rows without one are left out."""
    data = read_plain(path, limits.MAX_YAML_BYTES, hint="check the path")
    found: dict[str, Support] = {}
    for line, row in read_table(data, str(path), frozenset({"claim_id", "label"})):
        said = row["label"].lower()
        if not said:
            continue
        if said not in set(Support):
            raise FormatError(
                f"{said!r:.40} is not a label", source=str(path), line=line, hint=", ".join(Support)
            )
        found[row["claim_id"]] = Support(said)
    return found
