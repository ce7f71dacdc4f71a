"""What is a run scored by?

The rule belongs to the run. Whoever shows, reports, compares or gates it later scores it in the
same way unless told otherwise, so that a number of a run means one thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from assay.model.ranking import CHUNK_SEPARATOR, Match
from assay.model.sampling import Sampling

ProtocolName: TypeAlias = Literal["positives_only", "all_queries"]

MATCHED_BY = {
    Match.EXACT: "by the judged ids",
    Match.DOC: "by document",
    Match.SPAN: "by document and characters",
}


@dataclass(frozen=True, slots=True)
class Scoring:
    """How outcomes are scored; without measures, by those that are usual for the test set.

    ``by_group``: queries of one group (a post, an interview) are resampled together.
    ``chunk_separator`` stands between document and chunk in the ids of chunks.
    """

    measures: str | None = None
    protocol: ProtocolName | None = None
    match: Match = Match.EXACT
    by_group: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    chunk_separator: str = CHUNK_SEPARATOR

    def changed(self, **changes: Any) -> Scoring:
        """The same with what is given instead; None leaves it as it is."""
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(self, **given) if given else self

    def same_rule(self, other: Scoring) -> bool:
        """Whether both count the same results and queries; how intervals are drawn aside."""
        return self.rule == other.rule

    @property
    def rule(self) -> tuple[Match, ProtocolName | None, str]:
        """What decides which results and queries count."""
        return self.match, self.protocol, self.chunk_separator

    @property
    def rule_notes(self) -> tuple[str, ...]:
        """The rule in words, as far as it is not the usual one."""
        said = []
        if self.match is not Match.EXACT:
            said.append(f"results are matched {MATCHED_BY[self.match]}")
        if self.chunk_separator != CHUNK_SEPARATOR:
            said.append(f'ids of chunks begin with their document and "{self.chunk_separator}"')
        if self.protocol is not None:
            said.append(f"protocol {self.protocol}")
        return tuple(said)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the figures must know, where it is not the usual."""
        clustered = ("queries of one group are resampled together",) if self.by_group else ()
        return (*self.rule_notes, *clustered)
