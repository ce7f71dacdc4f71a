"""How should one search be done?

``SearchOptions`` is the one description of a search: every option with its default, its rule and
its help. What people write on the command line, in an address, on a page, in a saved configuration
or in ``assay.yaml`` becomes these options through ``changed`` (values) or ``read_changes`` (text).
Options that exist hold together: a value that is not allowed is refused when they are made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from assay import limits
from assay.encode.catalog import DEFAULTS
from assay.errors import UsageError
from assay.model.query import FILTER_OPTIONS, Filters
from assay.model.testset import QueryType
from assay.options import (
    Choice,
    Identifier,
    Listed,
    Maybe,
    Names,
    Option,
    Real,
    Switch,
    Text,
    Weights,
    WeightsBy,
    Whole,
    is_switch,
    option,
    options_of,
    several,
)

BUILT_IN_SYNONYMS, NO_SYNONYMS = "built-in", "none"
COMPONENTS = ("bm25", "splade", "dense")
MAX_OFFSET = limits.MAX_DEPTH * len(COMPONENTS)


class FusionMethod(StrEnum):
    """How do lists become one list?"""

    RRF = "rrf"
    WEIGHTED = "weighted"


class GroupBy(StrEnum):
    """Of what is there one result each?"""

    CHUNK = "chunk"
    DOCUMENT = "document"


class Normalization(StrEnum):
    """How are scores of different components made comparable?"""

    MIN_MAX = "min-max"
    Z_SCORE = "z-score"
    DBSF = "dbsf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Everything that changes an answer, beside the index and the query itself.

    An empty mapping of ``weights`` means the method's own; ``type_weights`` count instead of both
    for the types that they name. ``query_type`` overrides the classifier, ``query_intent`` the
    intents that would be read from the query. Timeouts are in milliseconds; for the reranker None
    means what suits its model (``search/rerank.py``). ``model_weights`` are the weights that suit
    the models of the index, by fusion method; a searcher fills them in.
    """

    k: int = option(Whole(1, limits.MAX_RESULTS), 10, "How many results.")
    offset: int = option(Whole(0, MAX_OFFSET), 0, "Results to skip, for the next page.")
    depth: int = option(Whole(1, limits.MAX_DEPTH), 100, "Candidates per component.", setting=True)
    components: tuple[str, ...] = option(
        Names(COMPONENTS),
        COMPONENTS,
        "Components to use: bm25, splade, dense or your own, such as bm25,dense.",
        setting=True,
    )
    fusion_method: FusionMethod = option(
        Choice(FusionMethod),
        FusionMethod.RRF,
        "How to fuse the components' lists.",
        setting=True,
    )
    rrf_k: int = option(
        Whole(1, limits.MAX_RRF_K), 60, "The constant k of reciprocal rank fusion.", setting=True
    )
    weights: Mapping[str, float] = option(
        Weights(), {}, "Weight of each component, such as bm25=.3,splade=.2,dense=.5.", setting=True
    )
    per_type_weights: bool = option(Switch(), False, "Choose weights by query type.", setting=True)
    type_weights: Mapping[str, Mapping[str, float]] = option(
        WeightsBy(QueryType),
        {},
        "Weights by query type, such as paraphrase:bm25=.2,splade=.3,dense=.5.",
        setting=True,
    )
    normalization: Normalization = option(
        Choice(Normalization),
        Normalization.MIN_MAX,
        "How weighted fusion makes scores comparable.",
        setting=True,
    )
    query_type: QueryType | None = option(
        Maybe(Choice(QueryType), none=()),
        None,
        "Query type, to override the classifier.",
    )
    query_intent: str | None = option(
        Maybe(Identifier(form="an intent such as tabular or eligibility, or none"), none=()),
        None,
        "Query intent (tabular, eligibility, ... or none), to override the one detected.",
    )
    boosts: bool = option(
        Switch(), True, "Boost the tables and sections that the query asks for.", setting=True
    )
    group_by: GroupBy = option(
        Choice(GroupBy),
        GroupBy.CHUNK,
        "One result per chunk, or per document with its other chunks folded under it.",
        setting=True,
    )
    collapse: bool = option(Switch(), False, "Fold results that repeat a better one.", setting=True)
    facets: tuple[str, ...] = option(
        Listed(Text(form="the name of a field", most=limits.MAX_FIELD_CHARS), limits.MAX_FACETS),
        (),
        "Count the values of these fields among the candidates, such as year,phase.",
        changes_results=False,
    )
    floor: bool = option(
        Switch(),
        True,
        "If nothing is about the query, say so instead of showing unrelated results.",
    )
    synonyms: bool = option(
        Switch(), True, "Add the synonyms from the settings.", per_request=False
    )
    synonym_rules: str = option(
        Text(form="rules such as mi, heart attack; tumour => neoplasm", least=0, most=10_000),
        "",
        "Synonyms to use instead of the settings': none, built-in, or rules separated by ;.",
    )
    terms: bool = option(
        Switch(),
        False,
        "Show which terms gave bm25 and splade their scores.",
        changes_results=False,
    )
    highlights: bool = option(
        Switch(),
        False,
        "Return the most telling part of each text, with the positions of matching words.",
        changes_results=False,
    )
    rerank: bool = option(
        Switch(), False, "Rerank the best candidates with a cross-encoder.", setting=True
    )
    reranker: str = option(
        Text(),
        DEFAULTS["reranker"],
        "The cross-encoder. BAAI/bge-reranker-base needs a GPU, built-in ones do not.",
        setting=True,
    )
    rerank_depth: int | None = option(
        Maybe(Whole(1, limits.MAX_DEPTH), none=("auto",)),
        None,
        "Number of candidates to rerank; auto depends on the model.",
    )
    rerank_share: float | None = option(
        Maybe(Real(0, 1), none=("auto",)),
        None,
        "Weight of the cross-encoder's score against the earlier one; auto depends on the model.",
        setting=True,
    )
    component_timeout_ms: float | None = option(
        Maybe(Real(0.001, limits.MAX_TIMEOUT_MS), none=("auto",)),
        None,
        "Time limit of each component in ms; auto is 300, or 5000 for a model over HTTP.",
        setting=True,
        per_request=False,
        changes_results=False,
    )
    rerank_timeout_ms: float | None = option(
        Maybe(Real(0.001, limits.MAX_TIMEOUT_MS), none=("auto", "0", "0.0")),
        None,
        "Time limit of reranking in ms; auto is 200 with a GPU, 2000 without.",
        setting=True,
        changes_results=False,
    )
    filters: Filters = field(default_factory=Filters)
    model_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for attribute, rule in _RULES:
            value = getattr(self, attribute)
            accepted = rule.accept(value)
            if accepted is not value:
                object.__setattr__(self, attribute, accepted)
        if self.weights:
            _check_weights(self.weights, self.components)
        for kind, weights in self.type_weights.items():
            _check_weights(weights, self.components, f"type_weights.{kind}")
        filters = _filters(self.filters)
        if filters is not self.filters:
            object.__setattr__(self, "filters", filters)

    def identity(self) -> str:
        """The same text for options that give the same answer; waiting longer changes none."""
        values = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if not field.name.endswith("_timeout_ms")
        }
        values["filters"] = {name: sorted(each) for name, each in self.filters.active().items()}
        if self.filters.metadata:
            values["filters"]["metadata"] = sorted(map(str, self.filters.metadata))
        return json.dumps(values, sort_keys=True, default=dict)


RETRIEVAL_OPTIONS: Mapping[str, Option] = options_of(SearchOptions)
"""The options of a search without its filters, by name."""
SEARCH_OPTIONS: Mapping[str, Option] = {**RETRIEVAL_OPTIONS, **FILTER_OPTIONS}
"""Every option that a search takes, by the name that it has on every surface."""
SEARCH_NAMES = tuple(name for name, one in SEARCH_OPTIONS.items() if one.per_request)
"""What one search may name."""
ANSWER_NAMES = tuple(name for name in SEARCH_NAMES if name not in ("offset", "facets"))
"""What a question to be answered may name."""
RUN_FILTERS = ("section", "source", "is_table", "filter")
"""The filters that a run may have for all its queries: speakers and modes belong to single queries,
and documents and interviews to single searches."""
EVALUATION_NAMES = (
    *(
        name
        for name in SEARCH_NAMES
        if SEARCH_OPTIONS[name].setting and SEARCH_OPTIONS[name].changes_results
    ),
    *RUN_FILTERS,
)
"""What a run of a test set may name: its queries say the rest themselves, and it is patient."""
CONFIGURATION_NAMES = (
    *(
        name
        for name, one in RETRIEVAL_OPTIONS.items()
        if one.changes_results and name not in ("k", "offset")
    ),
    *RUN_FILTERS,
)
"""What a configuration may hold: all that changes results, beside pages."""
_RULES = tuple((one.attribute, one) for one in RETRIEVAL_OPTIONS.values())
_FIELDS = frozenset(one.name for one in fields(SearchOptions))


def check_components(options: SearchOptions, own: Iterable[str] = ()) -> None:
    """Refuse options that name a component which is neither assay's nor one of ``own``."""
    named = {
        "components": options.components,
        "weights": options.weights,
        **{f"type_weights.{kind}": one for kind, one in options.type_weights.items()},
    }
    for what, names in named.items():
        check_names(what, names, own)


def without_components(options: SearchOptions, names: Collection[str]) -> SearchOptions:
    """The options without components that cannot be asked; unchanged where no other is left."""
    left = tuple(name for name in options.components if name not in names)
    return replace(options, components=left) if left and left != options.components else options


def check_names(what: str, names: Iterable[str], own: Iterable[str]) -> None:
    """Refuse names of components that there are not."""
    known = (*COMPONENTS, *own)
    for name in names:
        if name not in known:
            raise UsageError(
                f"{what}: there is no component {name!r:.40}", hint=f"known: {', '.join(known)}"
            )


def option_name(name: str) -> str:
    """The name of an option; an unknown one is refused."""
    if name not in SEARCH_OPTIONS and name not in _FIELDS:
        similar = get_close_matches(name[:60], SEARCH_OPTIONS, n=1, cutoff=0.5)
        meant = f"did you mean {similar[0]}? " if similar else ""
        raise UsageError(
            f"{name!r:.60} is not a search option",
            hint=f"{meant}known: {', '.join(SEARCH_OPTIONS)}",
        )
    return name


def configuration_name(name: str) -> str:
    """The name of an option that a configuration may hold; another one is refused."""
    known = option_name(name)
    if known not in CONFIGURATION_NAMES:
        raise UsageError(
            f"{name:.60}: not part of a configuration",
            hint=f"known: {', '.join(CONFIGURATION_NAMES)}",
        )
    return known


def changed(options: SearchOptions, **changes: Any) -> SearchOptions:
    """The options with some of them replaced; filters may be given one by one.

    Weights for every query replace those by type, too, unless both are given.
    """
    given: dict[str, Any] = {}
    filters: dict[str, Any] = {}
    for name, value in changes.items():
        known = option_name(name)
        if known in FILTER_OPTIONS:
            filters[FILTER_OPTIONS[known].attribute] = value
        else:
            given[known] = value
    if filters:
        given["filters"] = replace(_filters(given.get("filters", options.filters)), **filters)
    if "weights" in given and options.type_weights:
        given.setdefault("type_weights", {})
    return replace(options, **given) if given else options


def read_changes(texts: Mapping[str, str | bool | Sequence[str]]) -> dict[str, Any]:
    """Options as people write them, as values for ``changed``."""
    found: dict[str, Any] = {}
    for name, text in texts.items():
        known = option_name(name)
        one = SEARCH_OPTIONS[known]
        found[known] = one.read(text) if isinstance(text, str) else one.accept(text)
    return found


def write_changes(options: SearchOptions, usual: SearchOptions) -> dict[str, str | list[str]]:
    """The options that differ from the usual ones, as people write them.

    The usual ones name no type and no intent of queries, as those of settings never do.
    """
    found: dict[str, str | list[str]] = {}
    for name, one in RETRIEVAL_OPTIONS.items():
        value = getattr(options, one.attribute)
        if value != getattr(usual, one.attribute):
            found[name] = one.kind.write(value)
    if "weights" in found and options.type_weights:  # which weights alone would replace
        found["type_weights"] = SEARCH_OPTIONS["type_weights"].kind.write(options.type_weights)
    for name, one in FILTER_OPTIONS.items():
        value = getattr(options.filters, one.attribute)
        if value != getattr(usual.filters, one.attribute):
            several_of = isinstance(value, tuple)
            found[name] = [str(item) for item in value] if several_of else one.kind.write(value)
    return found


def as_parameters(
    changes: Mapping[str, Any],
    options: SearchOptions | None = None,
    *,
    names: Sequence[str] = SEARCH_NAMES,
) -> list[tuple[str, str]]:
    """Values for ``changed`` as the parameters of an address; lists repeat their name.

    With ``options`` each of them is named, whatever the service is configured with.
    """
    given: dict[str, Any] = {} if options is None else _values(options, names)
    for name, value in changes.items():
        known = option_name(name)
        if known == "filters":
            filters = _filters(value)
            given |= {one.name: getattr(filters, one.attribute) for one in FILTER_OPTIONS.values()}
        elif known not in names:
            raise UsageError(
                f"{known}: a service takes it from its settings, not from a request",
                hint=f"known: {', '.join(names)}",
            )
        else:
            given[known] = SEARCH_OPTIONS[known].accept(value)
    return [
        pair for name, value in given.items() for pair in address_pairs(SEARCH_OPTIONS[name], value)
    ]


def _values(options: SearchOptions, names: Sequence[str]) -> dict[str, Any]:
    """The options by name, filters too."""
    described = {name: SEARCH_OPTIONS[name] for name in names}
    return {
        name: getattr(options.filters if name in FILTER_OPTIONS else options, one.attribute)
        for name, one in described.items()
    }


def address_pairs(one: Option, value: Any) -> list[tuple[str, str]]:
    """An option and its value as an address has them: nothing for None, a pair for each item."""
    if value is None:
        return []
    if isinstance(value, bool):
        return [(one.name, str(value).lower())]
    if several(one.kind):
        return [(one.name, str(item)) for item in value]
    return [(one.name, one.kind.write(value))]


def as_flags(changes: Mapping[str, Any]) -> list[str]:
    """The same as words of a command line."""
    words: list[str] = []
    for name, text in as_parameters(changes):
        flag = name.replace("_", "-")
        if is_switch(SEARCH_OPTIONS[name].kind):
            words.append(f"--{flag}" if text == "true" else f"--no-{flag}")
        else:
            words += ["-k" if name == "k" else f"--{flag}", text]
    return words


def _filters(value: object) -> Filters:
    """Filters, from whatever stands for them."""
    if value is None:
        return Filters()
    if isinstance(value, Mapping):
        value = _named_filters(value)
    if not isinstance(value, Filters):
        raise UsageError("filters: must be a mapping", hint=f"known: {', '.join(FILTER_OPTIONS)}")
    return value


def _named_filters(given: Mapping[Any, Any]) -> Filters:
    """Filters by name or as ``Filters`` has them; any other name is a field of the metadata."""
    names = {one.attribute: name for name, one in FILTER_OPTIONS.items()}
    wanted = {names.get(str(name), str(name)): one for name, one in given.items()}
    own = {name: one for name, one in wanted.items() if name in FILTER_OPTIONS}
    conditions = FILTER_OPTIONS["filter"].accept(own.pop("filter", None))
    for name, one in wanted.items():
        if name not in FILTER_OPTIONS and one is not None:
            conditions += FILTER_OPTIONS["filter"].accept({name: one})
    return Filters(
        **{FILTER_OPTIONS[name].attribute: one for name, one in own.items()}, metadata=conditions
    )


def _check_weights(
    weights: Mapping[str, float], components: Sequence[str], what: str = "weights"
) -> None:
    """Refuse weights that fusion cannot work with; the message names the component."""
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise UsageError(f"{what}.{name} is {weight!r:.40}", hint="a number of 0 or more")
        if not 0 <= weight < math.inf:
            raise UsageError(
                f"{what}.{name} is {weight!r:.40}", hint="a finite number of 0 or more"
            )
        if weight > limits.MAX_WEIGHT:
            raise UsageError(
                f"{what}.{name} is {weight!r:.40}",
                hint=f"at most {limits.MAX_WEIGHT}: only ratios count",
            )
    missing = [name for name in components if name not in weights]
    if missing:
        verb = "has" if len(missing) == 1 else "have"
        raise UsageError(
            f"{what}: {', '.join(missing)} {verb} no weight",
            hint="give every component a weight; 0 leaves it out of the score",
        )
    if not any(weights[name] for name in components):
        raise UsageError(f"{what}: all are 0", hint="at least one must be larger")
