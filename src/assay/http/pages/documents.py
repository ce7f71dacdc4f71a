"""What does a document say, chunk by chunk, and where was it found and judged?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from assay.app.document_uses import FoundUse
from assay.http.pages.hits import marked
from assay.http.pages.listing import PAGE, listing, page_number
from assay.http.pages.page import Reader, ServiceOf, address, cli, curl, is_htmx, page
from assay.http.pages.page import router as new_router
from assay.model.document import Chunk, MetadataValue, StoredDocument
from assay.render.markup import safe_table
from assay.search.snippet import wanted_stems, whole

router = new_router()

CHUNKS = 50
"""Chunks on one page of a document."""
_IN_HEADER = frozenset({"page", "heading"})
"""Metadata of a chunk that its header shows."""


@dataclass(frozen=True, slots=True)
class ChunkView:
    """One chunk as it is shown; ``facts`` is what its metadata has beyond the document's."""

    chunk: Chunk
    number: int
    text: Markup
    table: Markup
    facts: Mapping[str, str]


@router.get("/documents")
async def documents_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Every document by id, or those with some words in their id or title."""
    del caller
    params = request.query_params
    number, text = page_number(params.get("page")), params.get("text", "").strip()[:200]
    documents = service.workspace.documents
    found = await service.work(lambda: documents(limit=PAGE, offset=(number - 1) * PAGE, text=text))
    words = ["--text", text] if text else []
    return page(
        request,
        "ui/documents.html",
        found=found,
        text=text,
        listing=listing("/documents", [("text", text)], number, found.total),
        commands=[cli("corpus", "list", *words), curl(request, "/v1/documents", {"text": text})],
    )


@router.get("/ui/documents")
async def choices(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The first documents with some words, to choose from while one types."""
    del caller
    text = request.query_params.get("document", "").strip()[:200]
    if not is_htmx(request):
        return RedirectResponse(address("/documents", {"text": text}), 303)
    documents = service.workspace.documents
    found = await service.work(lambda: documents(limit=12, text=text))
    return page(request, "ui/documents.html", block="choices", found=found, text=text)


@router.get("/documents/{doc_id:path}/uses")
async def uses_part(doc_id: str, request: Request, service: ServiceOf, caller: Reader) -> Response:
    """Where the document was judged, and which queries found it."""
    del caller
    found = await service.work(lambda: service.workspace.document_uses(doc_id))
    queries: dict[str, list[FoundUse]] = {}
    for one in found.found:
        queries.setdefault(one.query_text, []).append(one)
    return page(request, "ui/document_uses.html", block="part", found=found, queries=queries)


@router.get("/documents/{doc_id:path}")
async def document_page(
    doc_id: str, request: Request, service: ServiceOf, caller: Reader
) -> Response:
    """One document: metadata and chunks in order, with the words of a question marked."""
    del caller
    params = request.query_params
    found = await service.work(lambda: service.workspace.document(doc_id))
    chosen, query = params.get("chunk", ""), params.get("q", "").strip()
    number = _page_of(found, chosen) if chosen else page_number(params.get("page"))
    path = str(request.url.path)
    start = (number - 1) * CHUNKS
    return page(
        request,
        "ui/document.html",
        found=found,
        chosen=chosen,
        query=query,
        facts=_facts(found.metadata),
        chunks=_views(found, start, query),
        listing=listing(path, [("q", query)], number, len(found.chunks), CHUNKS),
        search=address("/search", {"q": query}) if query else "",
        commands=[
            cli("corpus", "show", doc_id),
            cli("corpus", "uses", doc_id),
            curl(request, f"/v1/documents/{doc_id}"),
        ],
    )


def _page_of(found: StoredDocument, chunk_id: str) -> int:
    """The page that a chunk stands on; the first where there is no such chunk."""
    places = (at for at, one in enumerate(found.chunks) if one.chunk_id == chunk_id)
    return next(places, 0) // CHUNKS + 1


def _views(found: StoredDocument, start: int, query: str) -> list[ChunkView]:
    wanted = wanted_stems(query, ()) if query else set[str]()
    return [
        ChunkView(
            chunk=chunk,
            number=at,
            text=marked(whole(chunk.text, wanted)),
            table=Markup(safe_table(chunk.table_html)) if chunk.table_html else Markup(),  # noqa: S704
            facts=_facts(
                {
                    name: value
                    for name, value in chunk.metadata.items()
                    if found.metadata.get(name) != value and name not in _IN_HEADER
                }
            ),
        )
        for at, chunk in enumerate(found.chunks[start : start + CHUNKS], start + 1)
    ]


def _facts(metadata: Mapping[str, MetadataValue]) -> dict[str, str]:
    """Metadata in words: lists between commas, names without underscores."""
    return {
        name.replace("_", " "): ", ".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
        for name, value in metadata.items()
        if value not in ("", ())
    }
