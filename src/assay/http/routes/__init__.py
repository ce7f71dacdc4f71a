"""Which routes are there? One file per noun; ``ROUTERS`` is the whole list."""

from __future__ import annotations

from fastapi import APIRouter

from assay.http.routes import (
    annotate,
    answer,
    backup,
    claims,
    comparison,
    documents,
    evaluate,
    jobs,
    keys,
    reference,
    runs,
    schedules,
    scoring,
    search,
    status,
    testsets,
    workflow,
)

ROUTERS: tuple[APIRouter, ...] = (
    search.router,
    answer.router,
    evaluate.router,
    workflow.router,
    runs.router,
    claims.router,
    comparison.router,
    scoring.router,
    testsets.router,
    annotate.router,
    documents.router,
    backup.router,
    jobs.router,
    schedules.router,
    keys.router,
    status.router,
    reference.router,
)
