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
    ("/evaluate", "Evaluate a configuration"),
    ("/schedule", "Schedule: evaluations by the clock"),
    ("/annotate/new", "New round of judging"),
    ("/ab", "A/B test: statistics of two runs"),
    ("/keys", "Keys, and what I may do"),
    ("/docs", "HTTP reference"),
)
"""Pages that the menu has no room for; the command palette lists them."""
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
