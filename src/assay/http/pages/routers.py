"""Which pages are there? ``PAGES`` is the whole list."""

from __future__ import annotations

from fastapi import APIRouter

from assay.http.pages import (
    ab,
    annotate,
    compare,
    gate,
    run,
    runs,
    saving,
    search,
    session,
    style,
    testsets,
)

PAGES: tuple[APIRouter, ...] = (
    style.router,
    session.router,
    search.router,
    saving.router,
    runs.router,
    run.router,
    compare.router,
    ab.router,
    gate.router,
    testsets.router,
    annotate.router,
)
