"""Which routes are there? One file per noun; ``ROUTERS`` is the whole list."""

from __future__ import annotations

from fastapi import APIRouter

from assay.serve.routes import (
    annotate,
    documents,
    evaluate,
    jobs,
    reference,
    runs,
    search,
    status,
    testsets,
    workflow,
)

ROUTERS: tuple[APIRouter, ...] = (
    search.router,
    evaluate.router,
    workflow.router,
    runs.router,
    testsets.router,
    annotate.router,
    documents.router,
    jobs.router,
    status.router,
    reference.router,
)
