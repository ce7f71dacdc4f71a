"""How is each kind of job done?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from assay.app.evaluation import run_evaluation
from assay.app.jobs import Control, Done
from assay.app.workspace import Workspace
from assay.errors import InputError, PlacedError
from assay.ingest import read_corpus
from assay.store.corpus import Written
from assay.store.jobs import ClaimedJob

UPLOAD = "upload.jsonl"


def perform(
    workspace: Workspace, job: ClaimedJob, control: Control, busy: Callable[[], bool]
) -> Done:
    """Do a job, whatever its kind; ``busy`` says whether people wait for searches."""
    if job.kind == "evaluation":
        return run_evaluation(workspace, job, control, busy)
    return _KINDS[job.kind](workspace, job, control)


def _ingest(workspace: Workspace, job: ClaimedJob, control: Control) -> Done:
    """Documents of a request go the way of a file, so that both are read by the same rules."""
    with tempfile.TemporaryDirectory(prefix="assay-upload-") as folder:
        path = Path(folder) / UPLOAD
        with path.open("w", encoding="utf-8") as file:
            for row in job.request["documents"]:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        try:
            documents = read_corpus(path, format="jsonl", profile=job.request["profile"])
            written = workspace.ingest(documents, _told(control))
        except PlacedError as error:
            raise InputError(error.message.replace(f"{folder}/", ""), hint=error.hint) from None
    return _indexed(workspace, written, control)


def _delete(workspace: Workspace, job: ClaimedJob, control: Control) -> Done:
    written = workspace.store.delete(job.request["doc_ids"])
    return _indexed(workspace, written, control)


def _indexed(workspace: Workspace, written: Written, control: Control) -> Done:
    """Bring the index up to the store, and let the next search see it."""
    generation = workspace.update_index(_told(control)).generation
    workspace.searcher.refresh()
    return Done({**asdict(written), "generation": generation})


def _index(workspace: Workspace, job: ClaimedJob, control: Control) -> Done:
    fresh = job.request["action"] != "update"
    manifest = workspace.update_index(_told(control), fresh=fresh)
    workspace.searcher.refresh()
    rows = sum(part.rows for part in manifest.segments)
    return Done(
        {"generation": manifest.generation, "rows": rows, "segments": len(manifest.segments)}
    )


def _told(control: Control) -> Callable[[str, int, int], None]:
    """Progress of the workspace, which is also where the work can be stopped."""

    def tell(stage: str, done: int, total: int) -> None:
        del stage, done, total
        control.check()

    return tell


Kind = Callable[[Workspace, ClaimedJob, Control], Done]
_KINDS: Mapping[str, Kind] = {"ingest": _ingest, "delete": _delete, "index": _index}
