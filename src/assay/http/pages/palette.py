"""Where does somebody want to go? Pages, runs, sets, rounds, documents by a few letters."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from fastapi import Request
from starlette.responses import Response

from assay.app import testsets
from assay.http.edge.auth import Caller
from assay.http.pages.page import Reader, ServiceOf, address, page
from assay.http.pages.page import router as new_router
from assay.http.pages.shell import MENU, MORE
from assay.http.service import Service
from assay.model.run_store import RunFilter

router = new_router()

MOST = 6
MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Target:
    """Somewhere to go."""

    kind: str
    label: str
    link: str
    note: str = ""


@router.get("/ui/palette")
async def palette(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """What the letters could mean, pages first."""
    text = request.query_params.get("q", "").strip()[:MAX_TEXT]
    targets = await service.work(lambda: _targets(service, caller, text))
    return page(request, "ui/palette.html", block="list", targets=targets, text=text)


def _targets(service: Service, caller: Caller, text: str) -> list[Target]:
    low = text.lower()
    allowed = [(link, label) for link, label, scope in MORE if caller.may(scope)]
    pages = [
        Target("page", label, link) for link, label in (*MENU, *allowed) if low in label.lower()
    ]
    if not text:
        return pages
    runs = service.workspace.runs.runs(RunFilter(text=text), limit=MOST).runs
    sets = [name for name in testsets.names(service.workspace.layout) if low in name.lower()]
    rounds: list[str] = []
    documents: list[Target] = []
    if service.workspace.exists():
        known = (one.round_id for one in service.workspace.annotations.rounds())
        rounds = [name for name in known if low in name.lower()]
        documents = [
            Target(
                "document", one.title or one.doc_id, f"/documents/{quote(one.doc_id)}", one.doc_id
            )
            for one in service.workspace.documents(limit=MOST, text=text).documents
        ]
    return [
        *pages,
        *(
            Target(
                "run",
                info.name or info.run_id,
                f"/runs/{info.run_id}",
                f"{info.suite} · {info.created_at[:10]}{''.join(f' · {tag}' for tag in info.tags)}",
            )
            for info in runs
        ),
        *(Target("test set", name, f"/testsets/{name}") for name in sets[:MOST]),
        *(Target("round", name, _round(caller, name)) for name in rounds[:MOST]),
        *documents,
        Target("search", f"Search for “{text}”", address("/search", {"q": text})),
    ]


def _round(caller: Caller, name: str) -> str:
    """Where somebody works on a round: judging it, or looking at how far it is."""
    if caller.may("evaluate"):
        return f"/annotate/{name}/agreement"
    return f"/annotate/{name}" if caller.may("annotate") else "/annotate"
