"""How often did one annotator say i where the other said j?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.errors import InputError, LimitError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from assay.model.arrays import IntArray

MAX_CATEGORIES: Final = 1_000
"""More categories than this are refused: the table would hold their square."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """``counts[i, j]`` items are ``categories[i]`` to the first and ``[j]`` to the second."""

    categories: tuple[Hashable, ...]
    counts: IntArray

    @property
    def n(self) -> int:
        """How many items both annotators labelled."""
        return int(self.counts.sum())


def tabulate(
    first: Iterable[Hashable],
    second: Iterable[Hashable],
    *,
    categories: Sequence[Hashable] | None = None,
    ordered: bool = False,
) -> Agreement:
    """Count the label pairs of the same items.

    Categories are sorted unless given. Labels that cannot be sorted stand in order of first use,
    which is refused where the order matters (``ordered``).
    """
    a, b = _labels(first, "first"), _labels(second, "second")
    if len(a) != len(b):
        raise InputError(
            f"{len(a)} labels do not pair with {len(b)}", hint="pass both labels of every item"
        )
    names = _in_order(a + b, ordered) if categories is None else _given(categories)
    if len(names) > MAX_CATEGORIES:
        raise LimitError(f"{len(names)} categories are more than {MAX_CATEGORIES}")
    place = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(counts, (_places(a, place, "first"), _places(b, place, "second")), 1)
    return Agreement(names, counts)


def _labels(labels: Iterable[Hashable], name: str) -> list[Hashable]:
    listed = list(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    for i, label in enumerate(listed):
        if label is None or label != label:  # noqa: PLR0124 - only NaN differs from itself
            raise InputError(f"{name}[{i}] has no label", hint="drop items that lack a label")
        try:
            hash(label)
        except TypeError as error:
            raise InputError(f"{name}[{i}] is {label!r}, which cannot be a category") from error
    return listed


def _in_order(labels: list[Hashable], ordered: bool) -> tuple[Hashable, ...]:
    distinct = list(dict.fromkeys(labels))
    try:
        return tuple(sorted(distinct))  # type: ignore[type-var]
    except TypeError as error:
        if ordered:
            raise InputError(
                "the categories have no natural order", hint="pass categories from low to high"
            ) from error
        return tuple(distinct)


def _given(categories: Sequence[Hashable]) -> tuple[Hashable, ...]:
    names = tuple(categories)
    if len(set(names)) < len(names):
        raise InputError("categories name one category twice", hint="list each once, low to high")
    return names


def _places(labels: list[Hashable], place: dict[Hashable, int], name: str) -> IntArray:
    for i, label in enumerate(labels):
        if label not in place:
            known = ", ".join(map(repr, place)) or "none"
            raise InputError(f"{name}[{i}] is {label!r}, not one of the categories: {known}")
    return np.array([place[label] for label in labels], dtype=np.int64)
