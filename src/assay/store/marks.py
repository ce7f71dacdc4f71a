"""How is one store told from another that has as many changes?"""

from __future__ import annotations

import hashlib
import json

from sqlalchemy import Connection, and_, select

from assay.model.document import LoggedChange
from assay.store.schema import changes, chunks, documents

MARKED = 50  # chunks, and changes, that tell one store from another


def mark(connection: Connection, seq: int) -> str:
    """The digest of the newest chunks at change ``seq``; what it is made of never changes."""
    rows = connection.execute(
        select(chunks.c.key, chunks.c.chunk_id, chunks.c.added, chunks.c.spans)
        .where(chunks.c.added <= seq)
        .order_by(chunks.c.key.desc())
        .limit(MARKED)
    )
    facts = [tuple(row) for row in rows]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def newest(connection: Connection, seq: int) -> list[LoggedChange]:
    """The last changes up to ``seq``; a document that was changed since has no digest here."""
    same = and_(documents.c.doc_id == changes.c.doc_id, documents.c.seq == changes.c.seq)
    rows = connection.execute(
        select(changes.c.seq, changes.c.doc_id, changes.c.kind, documents.c.digest)
        .select_from(changes.outerjoin(documents, same))
        .where(changes.c.seq <= seq)
        .order_by(changes.c.seq.desc())
        .limit(MARKED)
    )
    return [(number, doc_id, kind, digest and digest[:16]) for number, doc_id, kind, digest in rows]
