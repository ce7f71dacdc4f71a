"""Which search do the controls of the playground ask for, and how is it written elsewhere?

One pane is one configuration. Its parameters stand in the address under short names (those of the
second pane begin with ``b_``), only where they differ from what is configured; the same pane can be
written as a command line, as a request, and as a file that ``assay eval ab`` reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams

from assay.errors import UsageError
from assay.search.fusion.weights import DEFAULT_WEIGHTS
from assay.search.request import COMPONENTS, FusionMethod, SearchOptions, changed

OWN, BY_TYPE, DEFAULT = "own", "type", "default"
Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Pane:
    """The choices of one pane; None and empty mean: as configured, or as detected."""

    components: tuple[str, ...]
    fusion: str
    rrf_k: int
    weighting: str
    weights: dict[str, float]
    normalization: str
    intent: str
    query_type: str
    boosts: bool
    rerank: bool

    def changes(self) -> dict[str, Any]:
        """The options by the names of ``SearchOptions``."""
        given: dict[str, Any] = {
            "components": list(self.components),
            "fusion_method": self.fusion,
            "rrf_k": self.rrf_k,
            "normalization": self.normalization,
            "boosts": self.boosts,
            "rerank": self.rerank,
            "per_type_weights": self.weighting == BY_TYPE,
            "weights": {},
        }
        if self.weighting == OWN:
            given["weights"] = {name: self.weights[name] for name in self.components}
        given |= {"query_intent": self.intent} if self.intent else {}
        given |= {"query_type": self.query_type} if self.query_type else {}
        return given

    def options(self, defaults: SearchOptions, **more: Any) -> SearchOptions:
        """The options of a search, checked."""
        return changed(defaults, **self.changes(), **more)

    def params(self, standard: Pane, prefix: str = "") -> Pairs:
        """What has to stand in the address."""
        pairs: Pairs = []
        if self.components != standard.components:
            pairs += [("c", name) for name in self.components]
        for name in ("fusion", "rrf_k", "weighting", "normalization", "intent", "query_type"):
            if getattr(self, name) != getattr(standard, name):
                pairs.append((name, str(getattr(self, name))))
        if self.weighting == OWN:
            pairs += [(f"w_{name}", f"{self.weights[name]:g}") for name in COMPONENTS]
        for name in ("boosts", "rerank"):
            if getattr(self, name) != getattr(standard, name):
                pairs.append((name, "on" if getattr(self, name) else "off"))
        return [(prefix + name, value) for name, value in pairs]

    def api(self, standard: Pane) -> Pairs:
        """The parameters of ``GET /v1/search``."""
        pairs: Pairs = []
        if self.components != standard.components:
            pairs.append(("components", ",".join(self.components)))
        if self.fusion != standard.fusion:
            pairs.append(("fusion_method", self.fusion))
        if self.rrf_k != standard.rrf_k:
            pairs.append(("rrf_k", str(self.rrf_k)))
        if self.weighting == OWN:
            pairs.append(("weights", self._weights(",", "=")))
        elif self.weighting != standard.weighting:
            pairs.append(("per_type_weights", "true" if self.weighting == BY_TYPE else "false"))
        if self.normalization != standard.normalization:
            pairs.append(("normalization", self.normalization))
        if self.intent:
            pairs.append(("query_intent", self.intent))
        if self.query_type:
            pairs.append(("query_type", self.query_type))
        pairs += [
            (name, "true" if getattr(self, name) else "false")
            for name in ("boosts", "rerank")
            if getattr(self, name) != getattr(standard, name)
        ]
        return pairs

    def _weights(self, between: str, equals: str) -> str:
        return between.join(f"{name}{equals}{self.weights[name]:g}" for name in self.components)


def standard_pane(defaults: SearchOptions) -> Pane:
    """The pane that asks for nothing but what is configured."""
    weights = dict(defaults.weights)
    return Pane(
        components=defaults.components,
        fusion=defaults.fusion_method.value,
        rrf_k=defaults.rrf_k,
        weighting=OWN if weights else BY_TYPE if defaults.per_type_weights else DEFAULT,
        weights={name: weights.get(name, DEFAULT_WEIGHTS[name]) for name in COMPONENTS},
        normalization=defaults.normalization.value,
        intent="",
        query_type="",
        boosts=defaults.boosts,
        rerank=defaults.rerank,
    )


def read_pane(params: QueryParams, standard: Pane, prefix: str = "") -> Pane:
    """The pane that an address asks for."""

    def text(name: str, usual: str) -> str:
        return params.get(prefix + name) or usual

    chosen = _chosen(params.getlist(prefix + "c"), standard.components)
    return Pane(
        components=chosen,
        fusion=text("fusion", standard.fusion),
        rrf_k=_whole("rrf_k", text("rrf_k", str(standard.rrf_k))),
        weighting=_one_of("weighting", text("weighting", standard.weighting)),
        weights={
            name: _weight(name, text(f"w_{name}", str(standard.weights[name])))
            for name in COMPONENTS
        },
        normalization=text("normalization", standard.normalization),
        intent=text("intent", ""),
        query_type=text("query_type", ""),
        boosts=_on(params.get(prefix + "boosts"), standard.boosts),
        rerank=_on(params.get(prefix + "rerank"), standard.rerank),
    )


def as_file(options: SearchOptions) -> str:
    """The configuration as YAML, in the form that ``assay eval ab`` takes for a side."""
    lines = [
        f"components: [{', '.join(options.components)}]",
        f"fusion_method: {options.fusion_method.value}",
    ]
    if options.fusion_method is FusionMethod.RRF:
        lines.append(f"rrf_k: {options.rrf_k}")
    else:
        lines.append(f"normalization: {options.normalization.value}")
    if options.weights:
        pairs = ", ".join(f"{name}: {weight:g}" for name, weight in options.weights.items())
        lines.append(f"weights: {{{pairs}}}")
    elif options.per_type_weights:
        lines.append("per_type_weights: true")
    lines += [
        f"boosts: {'true' if options.boosts else 'false'}",
        f"rerank: {'true' if options.rerank else 'false'}",
    ]
    return "\n".join(lines) + "\n"


def _chosen(names: Iterable[str], usual: tuple[str, ...]) -> tuple[str, ...]:
    """In the usual order; a name that is not known is left for the search to refuse."""
    given = list(dict.fromkeys(names))
    return tuple(sorted(given, key=_place)) if given else usual


def _place(name: str) -> int:
    return COMPONENTS.index(name) if name in COMPONENTS else len(COMPONENTS)


def _on(text: str | None, usual: bool) -> bool:
    return usual if text is None else text == "on"


def _one_of(name: str, text: str) -> str:
    if text not in {OWN, BY_TYPE, DEFAULT}:
        raise UsageError(f"{name}: {text!r:.40} is not known", hint="own, type or default")
    return text


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise UsageError(f"{name}: must be a whole number, not {text!r:.40}")
    return int(text)


def _weight(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1_000.0:
        raise UsageError(f"the weight of {name} must be a number of 0 or more, not {text!r:.40}")
    return number
