"""How are documents of each kind split into chunks?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal, TypeAlias

from assay.errors import UsageError
from assay.ingest import tokens

Unit: TypeAlias = Literal["section", "turn", "document"]
ALGORITHM_VERSION = 1  # of chunker.py: increase it whenever any document would be split differently


@dataclass(frozen=True, slots=True)
class Profile:
    """How to chunk: up to ``size`` tokens, repeating up to ``overlap`` of the previous chunk.

    Chunks do not cross a ``unit``: a section, a speaker's turn, or (one chunk for everything) the
    document. ``join`` lets short neighbouring units of the same kind share a chunk.
    """

    name: str
    version: int
    size: int
    overlap: int
    unit: Unit = "section"
    join: bool = False
    help: str = ""

    def __post_init__(self) -> None:
        """Reject sizes with which the chunker might not terminate."""
        if self.size < 8 or not 0 <= 2 * self.overlap < self.size:
            raise UsageError(
                f"profile {self.name}: {self.overlap} of {self.size} tokens cannot overlap",
                hint="at least 8 tokens, of which fewer than half overlap",
            )

    @property
    def chunker_version(self) -> str:
        """Name, version and a digest of everything that decides where a text is split."""
        return _chunker_version(self)


@cache
def _chunker_version(profile: Profile) -> str:
    parameters = asdict(profile)
    del parameters["help"]
    parameters |= {"algorithm": ALGORITHM_VERSION, "tokens": tokens.VERSION}
    canonical = json.dumps(parameters, sort_keys=True).encode()
    return f"{profile.name}-{profile.version}-{hashlib.sha256(canonical).hexdigest()[:8]}"


WHOLE = 1 << 40
PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("imrad", 1, 450, 50, join=True, help="articles: sections, 450 tokens, overlap 50"),
        Profile(
            "citation", 1, 450, 50, "document", help="abstracts: whole, or in parts of 450 tokens"
        ),
        Profile("registry", 1, 300, 0, join=True, help="trials: modules, 300 tokens"),
        Profile("label", 1, 400, 30, join=True, help="drug labels: sections, 400, overlap 30"),
        Profile("transcript", 1, 450, 0, "turn", help="interviews: one chunk per turn"),
        Profile(
            "transcript-joined", 1, 450, 0, "turn", join=True,
            help="interviews: neighbouring turns of one speaker together",
        ),
        Profile("text", 1, 450, 50, join=True, help="anything else: 450 tokens, overlap 50"),
        Profile("whole", 1, WHOLE, 0, "document", help="one chunk per document"),
    )
}  # fmt: skip


def profile_named(name: str) -> Profile:
    """The profile of this name."""
    if name not in PROFILES:
        raise UsageError(
            f"there is no profile {name!r:.40}", hint=f"known: auto, {', '.join(PROFILES)}"
        )
    return PROFILES[name]
