"""Which documents are there?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from assay.app.workspace import Workspace


def listed_documents(workspace: Workspace, *, limit: int, offset: int) -> dict[str, Any]:
    """A page of the documents in the order of their ids, and how many there are in all."""
    return {
        "total": workspace.store.counts()["documents"],
        "documents": [
            asdict(one) for one in workspace.store.places.documents(limit=limit, offset=offset)
        ],
    }
