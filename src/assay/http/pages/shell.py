"""What surrounds every page: the menu, who is signed in, and where everything else is?"""

from __future__ import annotations

from typing import Any

from assay.http.edge.auth import Caller
from assay.version import __version__

MENU = (
    ("/search", "Search"),
    ("/documents", "Documents"),
    ("/runs", "Runs"),
    ("/compare", "Compare"),
    ("/gate", "Gate"),
    ("/testsets", "Test sets"),
    ("/annotate", "Annotate"),
    ("/jobs", "Jobs"),
)
MORE = (
    ("/evaluate", "Evaluate a configuration", "evaluate"),
    ("/schedule", "Schedule: evaluations by the clock", "read"),
    ("/annotate/new", "New round of judging", "evaluate"),
    ("/claims", "Claims of judged answers", "annotate"),
    ("/ab", "A/B test: statistics of two runs", "read"),
    ("/keys", "Keys, and what I may do", "read"),
    ("/docs", "HTTP reference", "read"),
)
"""Pages that the menu has no room for, and who may open them; the command palette lists them."""
NOBODY = Caller("", frozenset())


def surroundings(path: str, caller: Caller, *, open_service: bool) -> dict[str, Any]:
    """What the frame of a page is made of."""
    return {
        "menu": MENU,
        "path": path,
        "may": caller.may,
        "signed_in": caller.name.startswith("key "),
        "caller": caller.name,
        "me": caller,
        "open": open_service,
        "version": __version__,
    }
