"""How does a text that somebody pasted become a document?"""

from __future__ import annotations

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from assay.errors import InputError
from assay.http.pages.page import Administrator, ServiceOf, form_of
from assay.http.pages.page import router as new_router
from assay.model.run_ids import new_job_id

router = new_router()


@router.post("/ui/documents/add")
async def add(request: Request, service: ServiceOf, caller: Administrator) -> Response:
    """Store one document as a job, and show how far it is."""
    fields = await form_of(request)
    title, text = fields.get("title", "").strip(), fields.get("text", "").strip()
    if not text:
        raise InputError("the text is empty", hint="paste what should be searched")
    content = {"documents": [{"title": title, "text": text}], "profile": "auto"}
    job = await service.work(
        lambda: service.jobs.submit(new_job_id("ingest"), "ingest", content, owner=caller.name)
    )
    return RedirectResponse(f"/jobs/{job.job_id}", 303)
