"""How is the configuration of a run written down, and read again?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from assay.model.codec import encode
from assay.model.query import FILTER_OPTIONS, Filters
from assay.search.request import RUN_FILTERS, SearchOptions, changed

KEPT = 100
# An evaluation asks how good answers are: one that comes late on a busy machine still counts.
COMPONENT_TIMEOUT_MS = 30_000.0
RERANK_TIMEOUT_MS = 60_000.0
_NOT_KEPT = (
    *("k", "offset", "component_timeout_ms", "rerank_timeout_ms", "filters", "facets"),
    *("highlights", "terms"),
)
_SELDOM = ("query_type", "group_by", "collapse", "type_weights", "model_weights")


def evaluation_options(options: SearchOptions, **changes: Any) -> SearchOptions:
    """The options of a search as an evaluation uses them: patient, and keeping a long list."""
    return changed(
        options,
        **{
            "k": KEPT,
            "component_timeout_ms": COMPONENT_TIMEOUT_MS,
            "rerank_timeout_ms": RERANK_TIMEOUT_MS,
            **changes,
        },
    )


def search_config(options: SearchOptions) -> dict[str, Any]:
    """Everything that can change a ranking, as plain JSON values.

    What is seldom chosen is named only where it was: older runs do not name it.
    """
    plain = {
        item.name: encode(getattr(options, item.name))
        for item in fields(options)
        if item.name not in (*_NOT_KEPT, *_SELDOM)
    }
    usual = SearchOptions()
    seldom = {
        name: encode(getattr(options, name))
        for name in _SELDOM
        if getattr(options, name) != getattr(usual, name)
    }
    return {**plain, **seldom, **_filter_config(options.filters), "kept": options.k}


def _filter_config(filters: Filters) -> dict[str, Any]:
    """The filters that a run has for all its queries, as people write them."""
    usual = Filters()
    chosen = {name: FILTER_OPTIONS[name].attribute for name in RUN_FILTERS}
    return {
        name: value if isinstance(value, bool) else [str(one) for one in value]
        for name, attribute in chosen.items()
        if (value := getattr(filters, attribute)) != getattr(usual, attribute)
    }


def options_from(config: Mapping[str, Any], defaults: SearchOptions) -> SearchOptions:
    """The options that ``search_config`` wrote down; of synonyms, runs keep the digest."""
    known = {*(item.name for item in fields(SearchOptions)), *RUN_FILTERS}
    values = {name: value for name, value in config.items() if name in known}
    values["synonyms"] = bool(values.get("synonyms", False))
    return evaluation_options(defaults, **values, k=config.get("kept", defaults.k))
