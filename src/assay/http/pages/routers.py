"""Which pages are there? ``PAGES`` is the whole list."""

from __future__ import annotations

from fastapi import APIRouter

from assay.http.pages import (
    ab,
    agreement,
    annotate,
    answer,
    claims,
    compare,
    documents,
    evaluate,
    gate,
    jobs,
    judging,
    keys,
    next_version,
    palette,
    rounds,
    run,
    runs,
    schedule,
    search,
    session,
    style,
    testsets,
    upload,
)
from assay.http.pages import save as saving

PAGES: tuple[APIRouter, ...] = (
    style.router,
    session.router,
    search.router,
    saving.router,
    answer.router,
    judging.router,
    documents.router,
    runs.router,
    evaluate.router,
    jobs.router,
    schedule.router,
    keys.router,
    palette.router,
    run.router,
    compare.router,
    ab.router,
    gate.router,
    testsets.router,
    upload.router,
    rounds.router,
    annotate.router,
    agreement.router,
    next_version.router,
    claims.router,
)
