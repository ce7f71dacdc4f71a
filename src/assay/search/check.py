"""Can a search be done with these options?

``changed`` takes what people write (``fusion_method="weighted"``, ``components="bm25,dense"``) and
gives options that hold together, or an error that names the field and what it may be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from assay import limits
from assay.errors import UsageError
from assay.model.document import IngestionMode, SpeakerRole
from assay.model.query import Filters
from assay.model.testset import QueryType
from assay.search.boost.apply import canonical_label
from assay.search.fusion import check_fusion
from assay.search.options import COMPONENTS, FusionMethod, Normalization, SearchOptions

E = TypeVar("E", bound=StrEnum)

_NAMES = tuple(field.name for field in fields(SearchOptions))
_FILTERS = tuple(field.name for field in fields(Filters))
_FLAGS = ("per_type_weights", "boosts", "synonyms", "rerank")
MAX_OFFSET = limits.MAX_DEPTH * len(COMPONENTS)


def changed(options: SearchOptions, **changes: Any) -> SearchOptions:
    """The options with some of them replaced, checked."""
    for name in changes:
        if name not in _NAMES:
            raise UsageError(
                f"{name:.60} is not a search option", hint=f"known: {', '.join(_NAMES)}"
            )
    given = {
        name: _READERS[name](name, value) for name, value in changes.items() if name in _READERS
    }
    return check(replace(options, **{**changes, **given}))


def check(options: SearchOptions) -> SearchOptions:
    """The options, if a search can be done with them; names as text become what they stand for."""
    options = _read(options)
    _whole("k", options.k, 1, limits.MAX_RESULTS)
    _whole("offset", options.offset, 0, MAX_OFFSET)
    _whole("depth", options.depth, 1, limits.MAX_DEPTH)
    if options.rerank_depth is not None:
        _whole("rerank_depth", options.rerank_depth, 1, limits.MAX_DEPTH)
    _milliseconds("component_timeout_ms", options.component_timeout_ms)
    if options.rerank_timeout_ms is not None:
        _milliseconds("rerank_timeout_ms", options.rerank_timeout_ms)
    for name in _FLAGS:
        if not isinstance(getattr(options, name), bool):
            raise UsageError(f"{name}: must be true or false")
    for name in ("query_intent", "reranker"):
        if not isinstance(getattr(options, name), str | None):
            raise UsageError(f"{name}: must be a name")
    _components("components", options.components)
    check_fusion(options)
    return options


def _read(options: SearchOptions) -> SearchOptions:
    """The options with every value of its own kind: "rrf" is equal to a method and is none."""
    given = {
        name: _READERS[name](name, value)
        for name, kind in _KINDS.items()
        if not isinstance(value := getattr(options, name), kind)
    }
    filters = _filters("filters", options.filters)
    if filters is not options.filters:
        given["filters"] = filters
    return replace(options, **given) if given else options


def known_value(kind: type[E], name: str, value: object) -> E:
    """The member of a closed list that a text stands for."""
    try:
        return kind(str(value))
    except ValueError:
        raise UsageError(
            f"{name}: {str(value)!r:.60} is not known",
            hint=f"known: {', '.join(member.value for member in kind)}",
        ) from None


def _components(name: str, value: object) -> tuple[str, ...]:
    """Names in the usual order, so that the order of asking changes no answer."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    if not isinstance(value, Iterable):
        raise UsageError(f"{name}: must be a list of {', '.join(COMPONENTS)}")
    chosen = list(value)
    unknown = [one for one in chosen if one not in COMPONENTS]
    hint = f"known: {', '.join(COMPONENTS)}"
    if unknown or not chosen:
        shown = f"{unknown[0]!r:.60} is not one" if unknown else "none is named"
        raise UsageError(f"{name}: {shown}", hint=hint)
    if len(set(chosen)) < len(chosen):
        raise UsageError(f"{name}: one is named twice", hint=hint)
    return tuple(one for one in COMPONENTS if one in chosen)


def _weights(name: str, value: object) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{name}: must give a number to each component", hint="bm25=0.3,dense=0.7")
    return dict(value)


def _filters(name: str, value: object) -> Filters:
    if isinstance(value, Filters):
        return value if _is_sound(value) else make_filters(**_values(value))
    if value is None:
        return Filters()
    if not isinstance(value, Mapping) or (unknown := set(value) - set(_FILTERS)):
        shown = f"{min(map(str, unknown))!r:.60} is not one" if isinstance(value, Mapping) else ""
        raise UsageError(
            f"{name}: {shown or 'must be a mapping'}", hint=f"known: {', '.join(_FILTERS)}"
        )
    return make_filters(**value)


_CLOSED: dict[str, type[StrEnum]] = {
    "speaker_role": SpeakerRole,
    "ingestion_mode": IngestionMode,
}


def make_filters(is_table: bool | None = None, **values: Any) -> Filters:
    """Filters from plain text; one value or several for each field."""
    if is_table is not None and not isinstance(is_table, bool):
        raise UsageError(f"is_table: must be true or false, not {is_table!r:.40}")
    several: dict[str, Any] = {name: _texts(name, value) for name, value in values.items()}
    for name, kind in _CLOSED.items():
        several[name] = tuple(known_value(kind, name, one) for one in several.get(name, ()))
    if labels := several.get("section_label"):  # as people write it, and as we call it
        several["section_label"] = tuple(
            dict.fromkeys(one for label in labels for one in (label, canonical_label(label)) if one)
        )
    return Filters(is_table=is_table, **several)


def _texts(name: str, value: object) -> tuple[str, ...]:
    """One text or several; None is none."""
    if value is None:
        return ()
    texts = (value,) if isinstance(value, str) else value
    if isinstance(texts, Iterable):
        texts = tuple(texts)
        if all(isinstance(text, str) for text in texts):
            return texts
    raise UsageError(f"{name}: must be text, or a list of texts, not {value!r:.40}")


def _values(filters: Filters) -> dict[str, Any]:
    return {name: getattr(filters, name) for name in _FILTERS}


def _is_sound(filters: Filters) -> bool:
    """Whether every field holds what it says: one text instead of a list would be its letters."""
    values = _values(filters)
    flag = values.pop("is_table")
    several = all(isinstance(value, tuple) for value in values.values())
    known = several and all(
        isinstance(one, kind) for name, kind in _CLOSED.items() for one in values[name]
    )
    return known and (flag is None or isinstance(flag, bool))


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UsageError(
            f"{name}: must be a whole number from {low} to {high:,}, not {value!r:.40}"
        )


def _milliseconds(name: str, value: object) -> None:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 < number <= limits.MAX_TIMEOUT_MS:
        raise UsageError(
            f"{name}: must be milliseconds from above 0 to {limits.MAX_TIMEOUT_MS:,}, "
            f"not {value!r:.40}"
        )


_READERS: Mapping[str, Any] = {
    "components": _components,
    "weights": _weights,
    "filters": _filters,
    "fusion_method": lambda name, value: known_value(FusionMethod, name, value),
    "normalization": lambda name, value: known_value(Normalization, name, value),
    "query_type": lambda name, value: (
        None if value is None else known_value(QueryType, name, value)
    ),
}
_KINDS: Mapping[str, Any] = {
    "components": tuple,
    "fusion_method": FusionMethod,
    "normalization": Normalization,
    "query_type": QueryType | None,
}
