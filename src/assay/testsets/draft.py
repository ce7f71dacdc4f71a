"""What did a file say, before it is validated?

Every reader produces a ``DraftSet``: the queries it could read, their lines, and the problems found
so far. The rules of ``rules.py`` then check drafts of all formats alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay import limits
from assay.errors import AssayError, PlacedError, Problem, ProblemsError
from assay.model.testset import GoldenQuery, HeldOut
from assay.testsets.grades import HINT, GradeScale


@dataclass(frozen=True, slots=True)
class DraftQuery:
    """A query with its lines; ``whole`` is false if one of its judgments could not be read."""

    query: GoldenQuery
    line: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    judgment_lines: tuple[int | None, ...] = ()
    whole: bool = True

    def line_of(self, name: str) -> int | None:
        """The line of a field, else the first line of the query."""
        return self.lines.get(name, self.line)


@dataclass(slots=True)
class DraftSet:
    """What a reader could read; it collects ``problems`` and ``warnings`` on the way.

    ``scale`` is that of the grades in the file, where it is another than ours.
    """

    source: str
    name: str = ""
    version: str = ""
    description: str = ""
    queries: list[DraftQuery] = field(default_factory=list)
    held_out: HeldOut | None = None
    held_out_line: int | None = None
    skipped: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    scale: GradeScale | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def graded(self, grade: int) -> int | None:
        """A grade of the file's scale as one of ours; None where it is none."""
        if grade < 0:
            return grade  # not judged
        if self.scale is not None:
            return self.scale.known.get(grade)
        return grade if grade <= limits.MAX_GOLDEN_GRADE else None

    def grade_hint(self) -> str:
        """What to do about a grade that is none of ours."""
        if self.scale is not None:
            return f"the scale {self.scale.text} does not have it; {HINT}"
        return f"test sets grade from 0 to {limits.MAX_GOLDEN_GRADE}; {HINT}"

    def problem(
        self,
        line: int | None,
        message: str,
        *,
        query_id: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Record a problem."""
        self.problems.append(Problem(message, self.source, line, query_id, hint))

    def warn(
        self,
        line: int | None,
        message: str,
        *,
        query_id: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Record a warning."""
        self.warnings.append(Problem(message, self.source, line, query_id, hint))

    def fault(self, error: AssayError) -> None:
        """Record an error raised while reading."""
        if isinstance(error, ProblemsError):
            self.problems.extend(error.problems)
            return
        source, line = self.source, None
        message = error.message.removeprefix(f"{self.source}: ")
        if isinstance(error, PlacedError):
            source, line = error.source or self.source, error.line
            place = ":".join(str(part) for part in (error.source, error.line) if part is not None)
            message = message.removeprefix(f"{place}: ")
        self.problems.append(Problem(message, source, line, None, error.hint))
