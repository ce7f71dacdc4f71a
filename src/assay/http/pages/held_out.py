"""What do pages do with held-out queries? They mask them until somebody asks, and note the look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import Request

from assay.app.held_out import masked_query
from assay.http.edge.auth import Caller
from assay.http.pages.pages import address
from assay.http.service import Service
from assay.model.moments import now
from assay.model.run_store import HeldOutUse
from assay.model.runs import RunInfo
from assay.model.testset import GoldenQuery

WORDS = "(held out)"


@dataclass(frozen=True, slots=True)
class Veil:
    """The queries that a page masks; ``link`` shows them, and is empty for who may not see them.

    ``reveal`` is what stands in addresses once they are shown.
    """

    hidden: frozenset[str]
    link: str
    reveal: str

    def over(self, queries: Mapping[str, GoldenQuery]) -> Mapping[str, GoldenQuery]:
        """The queries, without the words and judgments of those that are hidden."""
        masks = {
            name: masked_query(queries[name], WORDS) for name in self.hidden if name in queries
        }
        return {**queries, **masks} if masks else queries


def asks(request: Request, caller: Caller) -> bool:
    """Whether the address asks for what is held out, and the caller may see it."""
    return request.query_params.get("reveal") == "on" and caller.may("evaluate")


def veil(
    request: Request, service: Service, caller: Caller, held: frozenset[str], info: RunInfo
) -> Veil:
    """What a page on a run masks of the held-out queries on it; a look at them is noted."""
    if asks(request, caller):
        if held:
            note_look(service, caller, (info.suite, info.test_set_version), info.run_id)
        return Veil(frozenset(), "", "on")
    link = ""
    if held and caller.may("evaluate"):
        given = [pair for pair in request.query_params.multi_items() if pair[0] != "reveal"]
        link = address(quote(request.scope["path"]), [*given, ("reveal", "on")])
    return Veil(held, link, "")


def note_look(service: Service, caller: Caller, suite: tuple[str, str], run_id: str = "") -> None:
    """Log a look: who looks often at what is held out will overfit it, without wanting to."""
    purpose = f"shown in the browser to {caller.name}"
    service.workspace.runs.log_held_out(HeldOutUse(*suite, run_id, purpose, now()))
