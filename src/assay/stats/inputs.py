"""Can these arrays and options be computed with, and if not, which entry is to blame?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from assay.errors import InputError, UsageError
from assay.limits import MAX_RESAMPLES
from assay.stats.defaults import MAX_MAGNITUDE

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import ArrayLike

    from assay.model.arrays import BoolArray, FloatArray, IntArray

    Clusters: TypeAlias = Iterable[Hashable]

Method: TypeAlias = Literal["percentile", "bca"]
"""How an interval comes from resamples (``bounds.py``)."""


def float_array(values: ArrayLike, name: str, dimensions: int) -> FloatArray:
    """``values`` as floats with the given number of dimensions; the contents are not judged."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} cannot be read as numbers: {error}",
            hint="drop undefined entries or mask them",
        ) from error
    if array.size == 0 and array.ndim < dimensions:
        array = array.reshape((0,) * dimensions)
    if array.ndim != dimensions:
        raise InputError(f"{name} has {array.ndim} dimension(s), expected {dimensions}")
    return array


def number_vector(values: ArrayLike, name: str) -> FloatArray:
    """``values`` as one row of usable numbers."""
    array = float_array(values, name, 1)
    refuse_bad_entries(array, unusable(array), name)
    return array


def unusable(array: FloatArray) -> BoolArray:
    """Which entries are NaN, infinite, or too large for their powers to be summed."""
    return ~(np.abs(array) <= MAX_MAGNITUDE)


def refuse_bad_entries(array: FloatArray, bad: BoolArray, name: str) -> None:
    """Refuse an array that holds a bad entry, naming the first one."""
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"{name}[{', '.join(map(str, where))}] is {array[where]}",
            hint="drop undefined entries or mask them",
        )


def defined_mask(defined: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    """The mask of defined entries: all of them where the caller gave none."""
    if defined is None:
        return np.ones(shape, dtype=np.bool_)
    mask = np.asarray(defined)
    if mask.dtype != np.bool_ and mask.size:
        raise InputError(f"defined must be boolean, not {mask.dtype}")
    if mask.shape != shape:
        raise InputError(f"defined has shape {mask.shape}, the values have {shape}")
    return mask.astype(np.bool_)


def label_array(labels: ArrayLike) -> BoolArray:
    """Labels as booleans; only true/false and 0/1 are taken."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InputError(f"labels have {array.ndim} dimension(s), expected 1")
    if array.size and array.dtype != np.bool_:
        wrong = ~np.isin(array, (0, 1))
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(f"labels[{place}] is {array[place]!r}", hint="use true/false or 0/1")
    return array.astype(np.bool_)


def labels_and_scores(labels: ArrayLike, scores: ArrayLike) -> tuple[BoolArray, FloatArray]:
    """Labels with their scores; a score of −inf means that no result came back."""
    truth = label_array(labels)
    points = float_array(scores, "scores", 1)
    if truth.size != points.size:
        raise InputError(f"{truth.size} labels do not pair with {points.size} scores")
    refuse_bad_entries(points, np.isnan(points) | (points == np.inf), "scores")
    return truth, points


def cluster_codes(clusters: Clusters, n: int) -> tuple[IntArray, int]:
    """Each unit's cluster as a number in order of first appearance, and how many there are."""
    seen: dict[Hashable, int] = {}
    codes = np.empty(n, dtype=np.int64)
    place = -1
    for place, cluster in enumerate(clusters):
        if cluster is None:
            raise InputError(
                f"clusters[{place}] is None", hint="give a unit without a cluster its own name"
            )
        try:
            code = seen.setdefault(cluster, len(seen))
        except TypeError as error:
            raise InputError(f"clusters[{place}] is {cluster!r}, which is no name") from error
        if place < n:
            codes[place] = code
    if place + 1 != n:
        raise InputError(f"{place + 1} cluster names do not pair with {n} values")
    return codes, len(seen)


def check_share(value: float, name: str) -> None:
    """Refuse a level, alpha or power that is not strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise UsageError(f"{name} is {value}", hint="give a number between 0 and 1, such as 0.95")


def check_method(method: str, level: float) -> None:
    """Refuse an unknown kind of interval, or a level that is none."""
    check_share(level, "level")
    if method not in ("percentile", "bca"):
        raise UsageError(f"unknown bootstrap method {method!r}", hint="use percentile or bca")


def check_sampling(resamples: int, seed: int) -> None:
    """Refuse a number of resamples or a seed that cannot be drawn with."""
    if not 1 <= resamples <= MAX_RESAMPLES:
        raise UsageError(f"resamples is {resamples}", hint=f"give 1 to {MAX_RESAMPLES}")
    if seed < 0:
        raise UsageError(f"seed is {seed}", hint="give an integer of at least 0")
