"""How do pages treat held-out queries? They mask them until somebody asks, and log the look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import Request

from assay.app.held_out import Viewer, masked_query
from assay.http.edge.auth import Caller
from assay.http.pages.page import address
from assay.http.service import Service
from assay.model.runs import RunInfo
from assay.model.testset import GoldenQuery

MASK = "(held out)"


@dataclass(frozen=True, slots=True)
class Masking:
    """The queries that a page masks.

    ``link`` shows them, and is empty for callers who may not see them; ``reveal`` is the parameter
    of addresses once they are shown.
    """

    hidden: frozenset[str]
    link: str
    reveal: str

    def masked(self, queries: Mapping[str, GoldenQuery]) -> Mapping[str, GoldenQuery]:
        """The queries, without the text and judgments of those that are hidden."""
        masks = {name: masked_query(queries[name], MASK) for name in self.hidden if name in queries}
        return {**queries, **masks} if masks else queries


def reveals(request: Request, caller: Caller) -> bool:
    """Whether the address asks for held-out queries and the caller may see them."""
    return request.query_params.get("reveal") == "on" and caller.may("evaluate")


def viewer_of(request: Request, service: Service, caller: Caller) -> Viewer:
    """What a page may show to this caller."""
    return _viewer(service, caller, may_see=reveals(request, caller))


def _viewer(service: Service, caller: Caller, *, may_see: bool) -> Viewer:
    return Viewer(
        may_see,
        purpose=f"shown in the browser to {caller.name}",
        log=service.workspace.runs.log_held_out,
        mask=MASK,
    )


def masking(
    request: Request, service: Service, caller: Caller, held: frozenset[str], info: RunInfo
) -> Masking:
    """Which of the held-out queries on a page about a run are masked; a look at them is logged."""
    viewer = viewer_of(request, service, caller)
    hidden = viewer.hidden(held, info.suite, info.test_set_version, info.run_id)
    return masking_of(request, caller, hidden)


def masking_of(request: Request, caller: Caller, hidden: frozenset[str]) -> Masking:
    """The same for queries that are known to be hidden."""
    if reveals(request, caller):
        return Masking(hidden, "", "on")
    link = ""
    if hidden and caller.may("evaluate"):
        given = [pair for pair in request.query_params.multi_items() if pair[0] != "reveal"]
        link = address(quote(request.scope["path"]), [*given, ("reveal", "on")])
    return Masking(hidden, link, "")


def note_look(service: Service, caller: Caller, suite: tuple[str, str], run_id: str = "") -> None:
    """Log a look at the held-out part of a test set, given by name and version."""
    _viewer(service, caller, may_see=True).note(*suite, run_id)
