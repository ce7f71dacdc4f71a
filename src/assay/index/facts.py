"""Which chunks of a segment have which metadata?

Chunks of one document share their facts, so each distinct set of facts is kept once (a profile):
a row has the number of its profile, a profile the numbers of its terms. A condition is tested on
the distinct values of its field and becomes a mask over the rows, whatever the number of chunks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.model.arrays import BoolArray
from assay.model.conditions import Condition, facts_of
from assay.model.document import MetadataValue

VALUES = "facts.json"
PROFILES = "fact_profiles.npy"
TERMS = "fact_terms.npy"


class Facts:
    """The facts of the rows of a segment."""

    def __init__(
        self,
        values: Mapping[str, Sequence[str]],
        profiles: NDArray[np.int32],
        terms: NDArray[np.int32],
    ) -> None:
        self.values = values
        self._profiles = profiles
        self._owners, self._terms = terms
        starts = np.cumsum([0, *map(len, values.values())])
        self._starts = dict(zip(values, starts.tolist(), strict=False))
        self._count = int(starts[-1])

    def save(self, folder: Path) -> None:
        """Write them into the folder of a segment."""
        (folder / VALUES).write_text(json.dumps(self.values), encoding="utf-8")
        np.save(folder / PROFILES, self._profiles, allow_pickle=False)
        np.save(folder / TERMS, np.stack([self._owners, self._terms]), allow_pickle=False)

    def passing(self, conditions: Iterable[Condition]) -> BoolArray:
        """The rows that meet all conditions."""
        mask = np.ones(len(self._profiles), dtype=bool)
        for condition in conditions:
            mask &= self._having(condition) != condition.negated
        return mask

    def _having(self, condition: Condition) -> BoolArray:
        """The rows with one of the values that a condition names."""
        values = self.values.get(condition.field, ())
        meant = {*condition.fitting(values)}
        start = self._starts.get(condition.field, 0)
        chosen = np.zeros(self._count, dtype=bool)
        chosen[[start + at for at, value in enumerate(values) if value in meant]] = True
        having = np.zeros(1 + int(self._profiles.max(initial=0)), dtype=bool)
        having[self._owners[chosen[self._terms]]] = True
        found: BoolArray = having[self._profiles]
        return found


def facts_of_rows(metadata: Iterable[Mapping[str, MetadataValue]]) -> Facts:
    """The facts of rows with this metadata, in their order."""
    known: dict[tuple[tuple[str, tuple[str, ...]], ...], int] = {}
    fields: dict[str, dict[str, int]] = {}
    profiles = []
    for one in metadata:
        facts = facts_of(one)
        profiles.append(known.setdefault(tuple(facts.items()), len(known)))
        for field, values in facts.items():
            codes = fields.setdefault(field, {})
            for value in values:
                codes.setdefault(value, len(codes))
    starts = dict(zip(fields, np.cumsum([0, *map(len, fields.values())]).tolist(), strict=False))
    pairs = [
        (at, starts[field] + fields[field][value])
        for facts, at in known.items()
        for field, values in facts
        for value in values
    ]
    return Facts(
        {field: list(codes) for field, codes in fields.items()},
        np.array(profiles, dtype=np.int32),
        np.array(pairs, dtype=np.int32).reshape(-1, 2).T,
    )


def open_facts(folder: Path) -> Callable[[], Facts] | None:
    """The facts of a segment, to be parsed when they are needed; None where it has none.

    Files are opened at once: a reader keeps them, whatever a writer removes meanwhile.
    """
    if not (folder / VALUES).exists():
        return None
    text = (folder / VALUES).read_bytes()
    profiles, terms = (
        np.load(folder / name, mmap_mode="r", allow_pickle=False) for name in (PROFILES, TERMS)
    )
    return lambda: Facts(json.loads(text), np.asarray(profiles), np.asarray(terms))
