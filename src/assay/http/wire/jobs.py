"""What is told about long work?"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from assay.http.wire.base import Answer, Json


class JobBody(Answer):
    """One job: how far it is and, once it has ended, what came of it."""

    job_id: str = Field(examples=["eval_run_001"])
    kind: Literal["evaluation", "ingest", "delete", "index"]
    state: Literal["queued", "running", "interrupted", "complete", "failed", "cancelled"]
    done: int
    total: int
    run_id: str | None
    created_at: str
    updated_at: str
    result: Json | None
    problem: Json | None


class JobsAnswer(Answer):
    """Some jobs, newest first, and how many there are in all."""

    total: int
    jobs: list[JobBody]
