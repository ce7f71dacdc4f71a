"""How does a team fetch a backup of the workspace?"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Annotated, Any, BinaryIO

from fastapi import Query
from fastapi.responses import StreamingResponse

from assay import limits
from assay.app.backup import open_backup
from assay.http.routing import Admin, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Switch
from assay.model.moments import now

router = new_router("documents", prefix="/v1")

ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A file for assay restore",
        "content": {"application/gzip": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/backup", response_class=StreamingResponse, responses={**refusals(404), **ARCHIVE})
async def backup(
    service: ServiceOf,
    caller: Admin,
    vectors: Annotated[
        Switch, Query(description="Include vectors, so that a restore encodes nothing.")
    ] = False,
) -> StreamingResponse:
    """A verified copy of the workspace as one file, made while it is in use.

    With PostgreSQL, documents, runs and judgments are on that server and not in the file.
    """
    del caller
    file = await service.work(lambda: open_backup(service.workspace, vectors=vectors))
    return StreamingResponse(
        _parts(service, file),
        media_type="application/gzip",
        headers={
            "content-length": str(os.fstat(file.fileno()).st_size),
            "content-disposition": f'attachment; filename="assay-{now()[:10]}.tar.gz"',
        },
    )


async def _parts(service: Service, file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while part := await service.work(lambda: file.read(limits.STREAM_CHUNK_BYTES)):
            yield part
