"""How does a copy of the workspace leave the machine?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from fastapi import Query
from fastapi.responses import StreamingResponse

from assay import limits
from assay.errors import UsageError
from assay.http.routing import Admin, ServiceOf, refusals
from assay.http.routing import router as new_router
from assay.http.service import Service
from assay.http.wire.base import Switch
from assay.model.moments import now
from assay.store.backup import BACKING_UP, back_up, scratch
from assay.store.file_copy import is_frozen

router = new_router("documents", prefix="/v1")

ARCHIVE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A file that assay restore takes",
        "content": {"application/gzip": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/backup", response_class=StreamingResponse, responses={**refusals(404), **ARCHIVE})
async def backup(
    service: ServiceOf,
    caller: Admin,
    vectors: Annotated[Switch, Query(description="Keep vectors, so nothing is encoded.")] = False,
) -> StreamingResponse:
    """A checked copy of the whole workspace, made while it is in use: one file to keep."""
    del caller
    if service.config.database != "sqlite":
        raise UsageError(
            "this workspace keeps its data on a PostgreSQL server",
            hint="pg_dump backs up a server's databases",
        )
    file = await service.work(lambda: _made(service.config.home, vectors=vectors))
    return StreamingResponse(
        _parts(service, file),
        media_type="application/gzip",
        headers={
            "content-length": str(os.fstat(file.fileno()).st_size),
            "content-disposition": f'attachment; filename="assay-{now()[:10]}.tar.gz"',
        },
    )


def _made(home: Path, *, vectors: bool) -> BinaryIO:
    """The backup, open and already without a name: nothing stays behind whatever happens."""
    if not home.is_dir():
        raise UsageError("there is no workspace yet", hint="POST /v1/documents makes one")
    place = Path(tempfile.gettempdir()) if is_frozen(home) else home
    with scratch(place, BACKING_UP) as folder:
        target = folder / "assay.tar.gz"
        back_up(home, target, vectors=vectors)
        return target.open("rb")


async def _parts(service: Service, file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while part := await service.work(lambda: file.read(limits.STREAM_CHUNK_BYTES)):
            yield part
