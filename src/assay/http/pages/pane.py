"""Which search do the controls of the playground ask for, and how is it written elsewhere?

An address has the options of a search by name, those of the second pane with the prefix ``b_``, and
only if they differ from the settings. Controls have names of their own where an option needs
several of them (``c``, ``weighting``, ``w_bm25``, ``tables``); an address may have those, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams

from assay.app.configurations import SAVED_NAMES
from assay.app.runs import search_changes
from assay.app.search import weights_in_force
from assay.errors import UsageError
from assay.http.pages.page import address
from assay.model.query import FILTER_OPTIONS
from assay.model.runs import RunInfo
from assay.options import several
from assay.search.request import (
    COMPONENTS,
    SEARCH_OPTIONS,
    SearchOptions,
    changed,
    read_changes,
    write_changes,
)

OWN, BY_TYPE, DEFAULT = "own", "type", "default"
OF_BOTH = ("k", "offset", "floor", "facets", *FILTER_OPTIONS)
"""What both panes share."""
OF_PANE = tuple(name for name in SAVED_NAMES if name not in OF_BOTH)
"""What each pane has of its own."""
CONTROLS = frozenset({
    "k", "is_table", "speaker", "section", "filter", "components", "fusion_method", "rrf_k",
    "weights", "per_type_weights", "normalization", "query_intent", "query_type", "boosts",
    "rerank", "reranker", "group_by", "collapse", "facets",
})  # fmt: skip
"""Options that the form has a control for; others are passed on unchanged."""
Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Pane:
    """One configuration of the playground; ``usual`` is that of the service.

    ``components`` are all that the service has.
    """

    name: str
    prefix: str
    options: SearchOptions
    usual: SearchOptions
    components: Sequence[str] = COMPONENTS

    @property
    def weighting(self) -> str:
        """Where weights come from: the user, the type of the query, or the method."""
        return _weighting(self.options)

    @property
    def weights(self) -> dict[str, float]:
        """The positions of the weight sliders."""
        return weights_in_force(self.options, self.components)

    def changes(self) -> dict[str, Any]:
        """What differs from the usual, as values for ``changed``."""
        return read_changes(write_changes(self.options, self.usual))

    def shared_pairs(self) -> Pairs:
        """What both panes share, for an address."""
        return _pairs(write_changes(self.options, self.usual), OF_BOTH)

    def own_pairs(self) -> Pairs:
        """What belongs to this pane, for an address."""
        return _pairs(write_changes(self.options, self.usual), OF_PANE, self.prefix)

    def hidden_pairs(self) -> Pairs:
        """What the form has no control for and passes on."""
        pairs = self.own_pairs() + ([] if self.prefix else self.shared_pairs())
        known = CONTROLS | {"offset", "floor"}  # another question begins anew
        return [pair for pair in pairs if pair[0].removeprefix(self.prefix) not in known]


def read_pane(
    params: QueryParams,
    usual: SearchOptions,
    name: str = "A",
    *,
    components: Sequence[str] = COMPONENTS,
) -> Pane:
    """The pane that an address asks for."""
    prefix = "" if name == "A" else "b_"
    texts = _texts(params, OF_BOTH) | _texts(params, OF_PANE, prefix)
    if chosen := params.getlist(f"{prefix}c"):
        texts.setdefault("components", ",".join(dict.fromkeys(chosen)))
    changes = read_changes(texts)
    if "weights" not in changes:
        changes |= _weights(params, prefix, changes, usual)
    return Pane(name, prefix, changed(usual, **changes), usual, components)


def search_link(info: RunInfo, usual: SearchOptions, query_text: str, document: str = "") -> str:
    """The playground with a query under the configuration of a run; it explains ``document``."""
    pairs = _pairs(search_changes(info, usual), (*OF_BOTH, *OF_PANE))
    return address("/search", [("q", query_text), *pairs, ("document", document)])


def read_panes(params: QueryParams, usual: SearchOptions, components: Sequence[str]) -> list[Pane]:
    """Both panes that an address asks for, or the one."""
    names = ("A", "B") if params.get("two") == "on" else ("A",)
    return [read_pane(params, usual, name, components=components) for name in names]


def _weights(
    params: QueryParams, prefix: str, changes: dict[str, Any], usual: SearchOptions
) -> dict[str, Any]:
    """The options that the choice of weights and its sliders mean."""
    by_type = "per_type_weights" in changes or "type_weights" in changes
    choice = params.get(f"{prefix}weighting") or ("" if by_type else _weighting(usual))
    if choice not in {OWN, BY_TYPE, DEFAULT, ""}:
        raise UsageError(f"weighting: {choice!r:.40} is not known", hint="own, type or default")
    if choice == "":
        return {}
    given = changes.get("type_weights") or usual.type_weights
    if choice == BY_TYPE and given:
        return {"type_weights": given}
    if choice != OWN:
        return {"per_type_weights": choice == BY_TYPE, "weights": {}, "type_weights": {}}
    shown = weights_in_force(usual, changes.get("components", usual.components))
    read = SEARCH_OPTIONS["weights"].read
    weights = {
        name: read(f"{name}={text}")[name] if (text := params.get(f"{prefix}w_{name}")) else weight
        for name, weight in shown.items()
    }
    return {"per_type_weights": False, "weights": weights, "type_weights": {}}


def _weighting(options: SearchOptions) -> str:
    if options.type_weights:
        return BY_TYPE
    return OWN if options.weights else BY_TYPE if options.per_type_weights else DEFAULT


def _texts(params: QueryParams, names: Iterable[str], prefix: str = "") -> dict[str, Any]:
    """The options in an address; an empty one, as forms send it, counts as not given."""
    found: dict[str, Any] = {}
    for one in (SEARCH_OPTIONS[name] for name in names):
        given = [text for text in params.getlist(prefix + one.name) if text.strip()]
        if given:
            found[one.name] = given if several(one.kind) else given[-1]
    return found


def _pairs(texts: dict[str, str | list[str]], names: Iterable[str], prefix: str = "") -> Pairs:
    return [
        (prefix + name, text)
        for name in names
        if (written := texts.get(name)) is not None
        for text in ([written] if isinstance(written, str) else written)
    ]
