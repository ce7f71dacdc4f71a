"""Does a component say what it promised?

Fusion trusts that a list is in order and that every hit is a chunk of this generation. A component
that breaks such a promise fails for this search: it is left out of the answer and named in it.
``assay.testing.component`` has the whole contract as a suite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from assay.index.columns import ChunkIds
from assay.model.query import Hit


class BrokenContractError(ValueError):
    """A component returned something that it must not."""


def check_hits(hits: Sequence[Hit], k: int, chunk_ids: Mapping[int, str] | None) -> None:
    """Refuse hits that break the contract; ``chunk_ids`` are those of the generation, if known."""
    scores = [hit.score for hit in hits]
    if not all(map(math.isfinite, scores)):
        bad = next(hit for hit in hits if not math.isfinite(hit.score))
        raise BrokenContractError(f"the score of {bad.chunk_id} is {bad.score}")
    for place, (one, following) in enumerate(pairwise(scores), start=1):
        if following > one:
            raise BrokenContractError(
                f"out of order: {hits[place].chunk_id} with {following:g} comes after {one:g}"
            )
    if len(hits) > k:
        raise BrokenContractError(f"{len(hits)} hits, asked for {k}")
    if len({hit.key for hit in hits}) < len(hits):
        raise BrokenContractError("a chunk comes twice")
    if chunk_ids is None:
        return
    keys = [hit.key for hit in hits]
    ids = chunk_ids.of(keys) if isinstance(chunk_ids, ChunkIds) else map(chunk_ids.get, keys)
    for (key, chunk_id, _), known in zip(hits, ids, strict=True):
        if known is None:
            raise BrokenContractError(f"no chunk of this index has the key {key!r:.40}")
        if known != chunk_id:
            raise BrokenContractError(f"the key of {chunk_id!r:.80} is that of {known}")
