"""How should a run be read and matched?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.ranking import Match, Ties

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Options:
    """``ties`` None means: by id for scores (as trec_eval), as given for lists.

    ``depth`` keeps the first results of each query only. ``float32`` rounds scores as trec_eval did
    before its version 10. ``extra_columns`` lets a run's lines go on after the tag.
    """

    match: Match = Match.CHUNK
    ties: Ties | None = None
    depth: int | None = None
    float32: bool = False
    extra_columns: bool = False
    separator: str = ":chunk_"
    progress: Callable[[int, int | None], None] | None = None
