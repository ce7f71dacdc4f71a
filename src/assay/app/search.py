"""What should a person know about a search, beside its results?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from assay.plural import counted

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.search.response import SearchResponse

MOST_SECTIONS = 30
"""Sections that a hint names."""


def hints(assay: Assay, response: SearchResponse, changes: Mapping[str, Any]) -> Iterator[str]:
    """What was not read, not indexed or not there to be filtered by cannot be found."""
    yield from incomplete(assay)
    asked = changes.get("section") or ()
    if not response.results and asked:
        known = assay.sections()
        if known and not set(asked) & set(known):
            more = "" if len(known) <= MOST_SECTIONS else ", ..."
            named = ", ".join(known[:MOST_SECTIONS]) + more
            yield f"no document has a section {asked[0]!r:.60}; known: {named}"


def incomplete(assay: Assay) -> Iterator[str]:
    """What is stored and not indexed cannot be found; where nobody can tell, nothing is said."""
    with suppress(AssayError):
        card = assay.index_card()
        if card["documents"] == 0:
            where = f"the workspace {card['home']}" if "home" in card else "the service"
            yield f"{where} holds no documents yet (assay ingest PATH)"
        elif card["changes_behind"] > 0:
            told = counted(card["changes_behind"], "document change", "is")
            yield f"{told} not indexed yet (assay index update)"
