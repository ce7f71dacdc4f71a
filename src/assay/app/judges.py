"""Does a judge of answers agree with people?

``sheet`` draws answers of a judged run and writes their claims for somebody to grade, without what
the judge said; ``grade`` takes the sheet back; ``check`` compares, and keeps what it found with the
run, where reports and gates look for it.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import limits
from assay.durable import write_atomically
from assay.errors import FormatError, UsageError
from assay.model.annotation import check_person
from assay.model.judges import Support
from assay.model.tabular import Records, Tabular
from assay.plain_file import read_plain
from assay.plural import counted

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.evaluation.judge_quality import ClaimRow, JudgeQuality

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
        written = io.StringIO()
        table = csv.writer(written)
        table.writerow(COLUMNS)
        table.writerows(_cells(row) for row in self.rows)
        return written.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        rows = [dict(zip(COLUMNS, _cells(row), strict=True)) for row in self.rows]
        return {"run_id": self.run_id, "claims": rows}


def sheet(
    workspace: Workspace, ref: str, *, answers: int = 30, seed: int = 0, out: Path | None = None
) -> ClaimSheet:
    """Draw answers of a judged run at random, and list their claims for somebody to grade."""
    from assay.evaluation.judge_quality import claim_rows, sampled

    run = workspace.stored_run(ref, stages=True)
    found = ClaimSheet(run.info.run_id, tuple(sampled(claim_rows(run), answers, seed)))
    if out is not None:
        write_atomically(out, found.to_csv().encode())
    return found


def grade(workspace: Workspace, ref: str, path: Path, annotator: str) -> JudgeQuality:
    """Keep what somebody said of claims, and compare it with the judge."""
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
    if not found.claims:
        raise UsageError(
            f"nobody has graded claims of {run.name}",
            hint=f"assay judge sheet {ref} --out claims.csv, then assay judge grade",
        )
    workspace.runs.finish(
        run.info.run_id, {**run.info.aggregate, KEY: found.to_dict()}, status=run.info.status
    )
    return found


def _cells(row: ClaimRow) -> tuple[str, ...]:
    passages = BETWEEN.join(row.passages)
    return (row.key, row.query_id, row.question, row.claim.text, passages, "")


def _read(path: Path) -> dict[str, Support]:
    """The labels of a sheet; rows without one are left out."""
    data = read_plain(path, limits.MAX_YAML_BYTES, hint="check the path")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(
            "this is not UTF-8 text", source=str(path), hint="save it as UTF-8"
        ) from None
    with io.StringIO(text, newline="") as file:
        table = csv.DictReader(file)
        if not {"claim_id", "label"} <= set(table.fieldnames or ()):
            raise FormatError(
                "there is no column claim_id or label", source=str(path), hint=", ".join(COLUMNS)
            )
        found: dict[str, Support] = {}
        for row in table:
            said = (row["label"] or "").strip().lower()
            if not said:
                continue
            if said not in set(Support):
                raise FormatError(
                    f"{said!r:.40} is no label",
                    source=str(path),
                    line=table.line_num,
                    hint=", ".join(Support),
                )
            found[row["claim_id"]] = Support(said)
    return found
