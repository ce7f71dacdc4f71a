"""How is each kind of job done?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from assay.app import corpus, index
from assay.app.engine import Progress
from assay.app.evaluation import run_evaluation
from assay.app.jobs import Control, Done
from assay.app.workspace import Workspace
from assay.model.codec import encode
from assay.store.jobs import ClaimedJob

REPORT_EVERY_S = 0.5


def perform(
    workspace: Workspace, job: ClaimedJob, control: Control, busy: Callable[[], bool]
) -> Done:
    """Do a job, whatever its kind; ``busy`` says whether people wait for searches."""
    if job.kind == "evaluation":
        return run_evaluation(workspace, job, control, busy)
    written = _VERBS[job.kind](workspace, job.request, _progress(control))
    workspace.searcher.refresh()  # so that the next search sees it
    return Done(encode(written))


def _ingest(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return corpus.add_documents(
        workspace, request["documents"], profile=request["profile"], progress=progress
    )


def _delete(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return corpus.remove_documents(workspace, request["doc_ids"], progress)


def _index(workspace: Workspace, request: Mapping[str, Any], progress: Progress) -> object:
    return index.write_index(workspace, request["action"], progress)


def _progress(control: Control) -> Progress:
    """Progress that the job records now and then; also where the work can be stopped."""
    recorded = float("-inf")

    def report(stage: str, done: int, total: int) -> None:
        nonlocal recorded
        del stage
        control.check()
        if time.monotonic() - recorded >= REPORT_EVERY_S:
            recorded = time.monotonic()
            control.tell(done, total)

    return report


Verb = Callable[[Workspace, Mapping[str, Any], Progress], object]
_VERBS: Mapping[str, Verb] = {"ingest": _ingest, "delete": _delete, "index": _index}
