"""Which pages are there? ``PAGES`` is the whole list."""

from __future__ import annotations

from fastapi import APIRouter

from assay.http.pages import (
    ab,
    annotate,
    claims,
    compare,
    documents,
    evaluate,
    gate,
    jobs,
    judging,
    keys,
    palette,
    run,
    runs,
    search,
    session,
    style,
    testsets,
)
from assay.http.pages import save as saving

PAGES: tuple[APIRouter, ...] = (
    style.router,
    session.router,
    search.router,
    saving.router,
    judging.router,
    documents.router,
    runs.router,
    evaluate.router,
    jobs.router,
    keys.router,
    palette.router,
    run.router,
    compare.router,
    ab.router,
    gate.router,
    testsets.router,
    annotate.router,
    claims.router,
)
