"""Which documents are there, how do more come in, and how is the index?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from assay.app.corpus import listed_documents
from assay.app.engine import model_shelf
from assay.encode.catalog import CARDS
from assay.errors import MissingFileError
from assay.http.job_answers import answered, idempotency_key, new_job_id, wants_waiting
from assay.http.routing import Admin, Reader, ServiceOf, refusals, rendered
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id, Json
from assay.http.wire.documents import (
    CheckAnswer,
    DocumentsAnswer,
    IndexRequest,
    IndexWritten,
    IngestRequest,
    ModelsAnswer,
    PlacesAnswer,
    PlacesRequest,
    PresentAnswer,
    PresentRequest,
    WrittenAnswer,
)
from assay.http.wire.jobs import JobBody
from assay.http.wire.paging import Limit, Offset
from assay.render.markup import safe_table
from assay.store.jobs import Job

router = new_router("documents", prefix="/v1")

LATER: dict[int | str, dict[str, Any]] = {202: {"description": "It goes on", "model": JobBody}}


@router.post("/documents", response_model=WrittenAnswer, responses={**refusals(409), **LATER})
async def ingest(
    asked: IngestRequest, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Store documents and make them searchable; an unchanged one is a no-op."""
    return await _done(service, request, "ingest", asked.model_dump(), caller.name)


@router.get("/documents", response_model=DocumentsAnswer, responses=refusals())
async def list_documents(
    service: ServiceOf, caller: Reader, limit: Limit = 50, offset: Offset = 0
) -> JSONResponse:
    """Documents by id, with their titles and numbers of chunks."""
    del caller

    def work() -> dict[str, Any]:
        return listed_documents(service.workspace, limit=limit, offset=offset)

    return await rendered(service, work)


@router.get("/documents/{doc_id}", response_model=Json, responses=refusals(404))
async def show(doc_id: Id, service: ServiceOf, caller: Reader) -> JSONResponse:
    """A document with its sections and chunks."""
    del caller
    found = await service.work(lambda: service.workspace.store.document(doc_id))
    if found is None:
        raise MissingFileError(f"there is no document {doc_id!r:.140}")
    fields, chunks = found
    for section in fields["sections"]:
        section["table_html"] = safe_table(section["table_html"])
    rows = [{**asdict(chunk), "table_html": safe_table(chunk.table_html)} for chunk in chunks]
    return JSONResponse({**fields, "chunks": rows})


@router.delete(
    "/documents/{doc_id}", response_model=WrittenAnswer, responses={**refusals(404), **LATER}
)
async def delete(doc_id: Id, request: Request, service: ServiceOf, caller: Admin) -> JSONResponse:
    """Delete a document, and bring the index up to date."""
    if await service.work(lambda: service.workspace.store.document(doc_id)) is None:
        raise MissingFileError(f"there is no document {doc_id!r:.140}")
    return await _done(service, request, "delete", {"doc_ids": [doc_id]}, caller.name)


@router.post("/chunks/places", response_model=PlacesAnswer, responses=refusals())
async def places(asked: PlacesRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Where chunks stood in their documents as these chunkers cut them, also replaced ones."""
    del caller
    versions = frozenset(asked.versions)
    found = await service.work(lambda: service.workspace.archived(asked.chunk_ids, versions))
    return JSONResponse({"places": {name: place._asdict() for name, place in found.items()}})


@router.post("/chunks/present", response_model=PresentAnswer, responses=refusals())
async def present(asked: PresentRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Which of these chunks and documents are in the corpus."""
    del caller
    found = await service.work(lambda: service.workspace.present(asked.ids))
    return JSONResponse({"ids": sorted(found)})


@router.get("/index", response_model=Json, responses=refusals(404))
async def index_card(service: ServiceOf, caller: Reader) -> JSONResponse:
    """What the index holds, how fresh it is and which models made it."""
    del caller
    card = await service.work(service.workspace.index_card)
    card.pop("home", None)
    return JSONResponse(card)


@router.get("/index/check", response_model=CheckAnswer, responses=refusals(404))
async def check_index(service: ServiceOf, caller: Admin) -> JSONResponse:
    """Check every file of the index against its checksum and against the store."""
    del caller
    problems = await service.work(service.workspace.check_index)
    return JSONResponse({"sound": not problems, "problems": problems})


@router.post("/index", response_model=IndexWritten, responses={**refusals(409), **LATER})
async def write_index(
    asked: IndexRequest, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Bring the index up to the store's last change, or write it anew; searches go on."""
    return await _done(service, request, "index", asked.model_dump(), caller.name)


@router.get("/models", response_model=ModelsAnswer, responses=refusals())
async def models(service: ServiceOf, caller: Reader) -> JSONResponse:
    """Every model, what it is for and whether it is here."""
    del caller
    here = model_shelf(service.config)
    rows = [
        {
            "name": card.name,
            "role": card.role,
            "about": card.about,
            "dimension": card.dimension,
            "licence": card.licence,
            "requires_gpu": card.requires_gpu,
            "here": here.find(card) is not None,
        }
        for card in CARDS.values()
    ]
    return JSONResponse({"models": rows})


async def _done(
    service: Service, request: Request, kind: str, content: dict[str, Any], owner: str
) -> JSONResponse:
    """Do a piece of work as a job, and wait for it a little."""
    key = idempotency_key(request.headers)
    job = await service.work(
        lambda: service.jobs.submit(
            new_job_id(kind), kind, content, owner=owner, idempotency_key=key
        )
    )
    return await answered(service, job, wait=wants_waiting(request.headers), body=_result)


def _result(job: Job) -> dict[str, Any]:
    assert job.result is not None
    return dict(job.result)
