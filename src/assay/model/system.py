"""What is evaluated, and what is known of it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.model.testset import GoldenQuery


@dataclass(frozen=True)
class System:
    """A way to ask a system, and everything that is known of it.

    ``retrieve`` takes a query and returns its outcome, or results in any usual form; it may be a
    coroutine function. ``generation`` names the state of the system's index; where nobody knows it
    (None), a run can be resumed by its id but is never taken for the answer to a new call.
    """

    retrieve: Callable[[GoldenQuery], Any]
    config: Mapping[str, Any]
    engine: str = "embedded"
    generation: str | None = None
    chunker_versions: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
