"""Which documents are there, how are they added and deleted, and what is the state of the index?"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from assay.app import corpus
from assay.app.corpus import DocumentPage, DocumentsWritten
from assay.app.document_uses import DocumentUses
from assay.app.index import IndexWritten
from assay.app.models import ModelRow
from assay.http.job_answers import ACCEPTED, as_job
from assay.http.routing import (
    Admin,
    Reader,
    ServiceOf,
    answer_with,
    answers,
    json_response,
    refusals,
)
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import DocumentId, Json, Limit, Offset
from assay.http.wire.documents import (
    DeleteRequest,
    IndexRequest,
    IngestRequest,
    PlacesRequest,
    PresentRequest,
)
from assay.model.codec import encode
from assay.model.document import Label, StoredDocument
from assay.render.markup import safe_table

router = new_router("documents", prefix="/v1")


@router.post("/documents", responses={**answers(DocumentsWritten), **refusals(409), **ACCEPTED})
async def ingest(
    body: IngestRequest, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Store documents and make them searchable; unchanged ones are left alone."""
    return await as_job(service, request, "ingest", body.model_dump(), caller.name)


@router.get("/documents", responses={**answers(DocumentPage), **refusals()})
async def list_documents(
    service: ServiceOf,
    caller: Reader,
    limit: Limit = 50,
    offset: Offset = 0,
    text: Annotated[
        str, Query(max_length=200, description="Words that the id or the title has.")
    ] = "",
) -> JSONResponse:
    """Documents by id, with title and number of chunks."""
    del caller
    documents = service.workspace.documents
    return await json_response(
        service, lambda: encode(documents(limit=limit, offset=offset, text=text))
    )


@router.get("/documents/{doc_id:path}/uses", responses={**answers(DocumentUses), **refusals(404)})
async def uses(doc_id: DocumentId, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Where a document was judged, and which queries of the newest runs found it."""
    del caller
    return await json_response(service, lambda: encode(service.workspace.document_uses(doc_id)))


@router.get("/documents/{doc_id:path}", responses={**answers(StoredDocument), **refusals(404)})
async def show(doc_id: DocumentId, service: ServiceOf, caller: Reader) -> JSONResponse:
    """A document with its sections and chunks."""
    del caller
    return await json_response(service, lambda: encode(_safe(service.workspace.document(doc_id))))


@router.delete(
    "/documents/{doc_id:path}",
    responses={**answers(DocumentsWritten), **refusals(404), **ACCEPTED},
)
async def delete(
    doc_id: DocumentId, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Delete a document, and bring the index up to date."""
    return await _delete(service, request, [doc_id], caller.name)


@router.post(
    "/documents/delete", responses={**answers(DocumentsWritten), **refusals(404, 409), **ACCEPTED}
)
async def delete_several(
    body: DeleteRequest, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Delete documents, and bring the index up to date; with an unknown id, none is deleted."""
    return await _delete(service, request, body.doc_ids, caller.name)


@router.post(
    "/chunks/places",
    responses={**answer_with("The chunks that are known", places=dict[str, Json]), **refusals()},
)
async def chunk_places(body: PlacesRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """The positions of chunks in their documents, also of chunks that have been replaced."""
    del caller
    versions = frozenset(body.versions)
    places = await service.work(lambda: service.workspace.archived(body.chunk_ids, versions))
    return JSONResponse({"places": {name: place._asdict() for name, place in places.items()}})


@router.post(
    "/chunks/present",
    responses={**answer_with("Those that are there", ids=list[str]), **refusals()},
)
async def present(body: PresentRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Which of these chunks and documents are in the corpus."""
    del caller
    ids = await service.work(lambda: service.workspace.present(body.ids))
    return JSONResponse({"ids": sorted(ids)})


@router.post(
    "/chunks/labels",
    responses={**answer_with("Those that are known", labels=dict[str, Label]), **refusals()},
)
async def labels(body: PresentRequest, service: ServiceOf, caller: Reader) -> JSONResponse:
    """Title and beginning of these chunks and documents, to be shown instead of their ids."""
    del caller
    return await json_response(
        service, lambda: {"labels": encode(service.workspace.labels(body.ids))}
    )


@router.get("/index", response_model=Json, responses=refusals(404))
async def index_card(service: ServiceOf, caller: Reader) -> JSONResponse:
    """What the index holds, how up to date it is and which models made it."""
    del caller
    card = await service.work(service.workspace.index_card)
    card.pop("home", None)
    return JSONResponse(card)


@router.get(
    "/index/check",
    responses={
        **answer_with("What is wrong with the index", sound=bool, problems=list[str]),
        **refusals(404),
    },
)
async def check_index(service: ServiceOf, caller: Admin) -> JSONResponse:
    """Check every file of the index against its checksum and against the store."""
    del caller
    problems = await service.work(service.workspace.check_index)
    return JSONResponse({"sound": not problems, "problems": problems})


@router.post("/index", responses={**answers(IndexWritten), **refusals(409), **ACCEPTED})
async def write_index(
    body: IndexRequest, request: Request, service: ServiceOf, caller: Admin
) -> JSONResponse:
    """Bring the index up to date, or rewrite it; searches go on meanwhile."""
    return await as_job(service, request, "index", body.model_dump(), caller.name)


@router.get(
    "/models",
    responses={**answer_with("Every known model", models=list[ModelRow]), **refusals()},
)
async def models(service: ServiceOf, caller: Reader) -> JSONResponse:
    """Every model, its purpose and whether the service has it."""
    del caller
    rows = await service.work(service.workspace.models)
    public = [replace(row, folder=None) for row in rows]  # callers need no paths of this machine
    return JSONResponse({"models": encode(public)})


def _safe(document: StoredDocument) -> StoredDocument:
    """The document with its tables sanitised once more, whatever the store holds."""
    return replace(
        document,
        sections=tuple(
            replace(one, table_html=safe_table(one.table_html)) for one in document.sections
        ),
        chunks=tuple(
            replace(one, table_html=safe_table(one.table_html)) for one in document.chunks
        ),
    )


async def _delete(
    service: Service, request: Request, doc_ids: list[str], owner: str
) -> JSONResponse:
    await service.work(lambda: corpus.require_documents(service.workspace, doc_ids))
    return await as_job(service, request, "delete", {"doc_ids": doc_ids}, owner)
