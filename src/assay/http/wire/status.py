"""What do the routes about the service itself answer?"""

from __future__ import annotations

from typing import Literal

from assay.http.wire.base import Answer


class Alive(Answer):
    """The process answers."""

    status: Literal["alive"]


class Ready(Answer):
    """Searches can be answered."""

    status: Literal["ready"]
