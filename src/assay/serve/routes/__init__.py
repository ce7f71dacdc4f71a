"""Which routes are there? One file per noun; ``ROUTERS`` is the whole list."""

from __future__ import annotations

from fastapi import APIRouter

from assay.serve.routes import reference, status

ROUTERS: tuple[APIRouter, ...] = (status.router, reference.router)
