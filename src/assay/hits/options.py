"""How should a run be read and matched?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.model.ranking import CHUNK_SEPARATOR, Match, Ties

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Options:
    """``ties`` None means: by id for scores (as trec_eval), as given for lists.

    ``match`` and ``ties`` may be given by name. ``depth`` keeps the first results of each query
    only. ``float32`` rounds scores as trec_eval did before its version 10. ``extra_columns`` lets a
    run's lines go on after the tag.
    """

    match: Match = Match.EXACT
    ties: Ties | None = None
    depth: int | None = None
    float32: bool = False
    extra_columns: bool = False
    separator: str = CHUNK_SEPARATOR
    progress: Callable[[int, int | None], None] | None = None

    def __post_init__(self) -> None:
        for name, kind in (("match", Match), ("ties", Ties)):
            value = getattr(self, name)
            if name == "ties" and value is None:
                continue
            try:
                object.__setattr__(self, name, kind(value))
            except ValueError:
                known = ", ".join(member.value for member in kind)
                raise UsageError(f"unknown {name}: {value!r}", hint=f"one of: {known}") from None
        depth = self.depth
        if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int)):
            raise UsageError(f"the depth {depth!r} is not a whole number")
        if depth is not None and depth < 1:
            raise UsageError(f"the depth {depth} is below 1", hint="leave it out to keep all")
        if not self.separator:
            raise UsageError(
                "the separator is empty", hint="it parts document and chunk: ':chunk_'"
            )
