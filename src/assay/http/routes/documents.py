"""Which documents are there, how do more come in, and how is the index?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from assay.app import corpus
from assay.app.corpus import DocumentPage, DocumentsWritten
from assay.app.index import IndexWritten
from assay.app.models import ModelRow
from assay.http.job_answers import answered, idempotency_key, new_job_id, wants_waiting
from assay.http.routing import Admin, Reader, ServiceOf, answers, refusals, rendered
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Id, Json
from assay.http.wire.documents import (
    CheckAnswer,
    DeleteRequest,
    IndexRequest,
    IngestRequest,
    PlacesAnswer,
    PlacesRequest,
    PresentAnswer,
    PresentRequest,
)
from assay.http.wire.jobs import JobBody
from assay.http.wire.paging import Limit, Offset
from assay.model.codec import encode
from assay.model.document import StoredDocument
from assay.render.markup import safe_table

router = new_router("documents", prefix="/v1")

LATER: dict[int | str, dict[str, Any]] = {202: {"description": "It goes on", "model": JobBody}}


@dataclass(frozen=True, slots=True)
class ModelList:
    """Every model that is known."""

    models: tuple[ModelRow, ...]


@router.post("/documents", responses={**answers(DocumentsWritten), **refusals(409), **LATER})
async def ingest(
    asked: IngestRequest, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Store documents and make them searchable; an unchanged one is a no-op."""
    return await _done(service, request, "ingest", asked.model_dump(), caller.name)


@router.get("/documents", responses={**answers(DocumentPage), **refusals()})
async def list_documents(
    service: ServiceOf, caller: Reader, limit: Limit = 50, offset: Offset = 0
) -> JSONResponse:
    """Documents by id, with their titles and numbers of chunks."""
    del caller
    return await rendered(
        service, lambda: encode(service.workspace.documents(limit=limit, offset=offset))
    )


@router.get("/documents/{doc_id}", responses={**answers(StoredDocument), **refusals(404)})
async def show(doc_id: Id, service: ServiceOf, caller: Reader) -> JSONResponse:
    """A document with its sections and chunks."""
    del caller
    return await rendered(service, lambda: encode(_harmless(service.workspace.document(doc_id))))


@router.delete(
    "/documents/{doc_id}",
    responses={**answers(DocumentsWritten), **refusals(404), **LATER},
)
async def delete(doc_id: Id, request: Request, service: ServiceOf, caller: Admin) -> JSONResponse:
    """Delete a document, and bring the index up to date."""
    return await _deleted(service, request, [doc_id], caller.name)


@router.post(
    "/documents/delete", responses={**answers(DocumentsWritten), **refusals(404, 409), **LATER}
)
async def delete_several(
    asked: DeleteRequest, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Delete documents, and bring the index up to date; with an unknown id, none is deleted."""
    return await _deleted(service, request, asked.doc_ids, caller.name)


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


@router.post("/index", responses={**answers(IndexWritten), **refusals(409), **LATER})
async def write_index(
    asked: IndexRequest, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Bring the index up to the store's last change, or write it anew; searches go on."""
    return await _done(service, request, "index", asked.model_dump(), caller.name)


@router.get("/models", responses={**answers(ModelList), **refusals()})
async def models(service: ServiceOf, caller: Reader) -> JSONResponse:
    """Every model, what it is for and whether it is here."""
    del caller
    rows = await service.work(service.workspace.models)
    nameless = tuple(replace(row, folder=None) for row in rows)  # where it lies is not for callers
    return JSONResponse(encode(ModelList(nameless)))


def _harmless(document: StoredDocument) -> StoredDocument:
    """Markup of tables is made harmless once more on its way out, whatever the store holds."""
    return replace(
        document,
        sections=tuple(
            replace(one, table_html=safe_table(one.table_html)) for one in document.sections
        ),
        chunks=tuple(
            replace(one, table_html=safe_table(one.table_html)) for one in document.chunks
        ),
    )


async def _deleted(
    service: Service, request: Request, doc_ids: list[str], owner: str
) -> JSONResponse:
    await service.work(lambda: corpus.require_documents(service.workspace, doc_ids))
    return await _done(service, request, "delete", {"doc_ids": doc_ids}, owner)


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
    return await answered(
        service, job, wait=wants_waiting(request.headers), body=lambda job: dict(job.result or {})
    )
