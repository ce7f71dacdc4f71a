"""Do the keywords that type checkers know agree with the table of options?"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from assay.errors import UsageError
from assay.model.conditions import Condition, Conditions
from assay.model.query import Filters
from assay.options import (
    Choice,
    Kind,
    Listed,
    Maybe,
    Names,
    Real,
    Several,
    Switch,
    Text,
    Weights,
    WeightsBy,
    Whole,
)
from assay.search.changes import SearchChanges
from assay.search.request import SEARCH_OPTIONS, SearchOptions, changed, option_name

HINTS = get_type_hints(SearchChanges)


def test_every_option_is_a_keyword_under_its_one_name() -> None:
    assert set(HINTS) == {*SEARCH_OPTIONS, "filters"}


def allowed(kind: Kind) -> set[Any]:
    """What an option of this kind takes in Python: types, and single words."""
    match kind:
        case Maybe():
            return allowed(kind.of) | {type(None)}
        case Choice():
            assert isinstance(kind.of, type)
            return {kind.of, *kind.words}
        case Conditions():
            return {str, Condition, "sequence of str", "sequence of Condition", Mapping}
        case Listed() | Names():
            return {str, "sequence of str"}
        case Several():
            one = allowed(kind.of)
            return one | {f"sequence of {getattr(each, '__name__', each)}" for each in one}
        case Whole():
            return {int}
        case Real():
            return {float}
        case Switch():
            return {bool}
        case Weights() | WeightsBy():
            return {Mapping}
        case Text():
            return {str}
    raise AssertionError(kind)


def stated(hint: Any) -> set[Any]:
    """What a hint allows, in the same terms."""
    origin = get_origin(hint)
    if origin is types.UnionType or str(origin) == "typing.Union":
        return {each for one in get_args(hint) for each in stated(one)}
    if origin is Literal:
        return set(get_args(hint))
    if origin is Sequence:
        parts = stated(get_args(hint)[0])
        return {f"sequence of {getattr(each, '__name__', each)}" for each in parts}
    return {origin or hint}


@pytest.mark.parametrize("name", sorted(set(HINTS) - {"filters"}))
def test_a_keyword_takes_what_its_option_accepts(name: str) -> None:
    assert stated(HINTS[name]) == allowed(SEARCH_OPTIONS[option_name(name)].kind)


def test_filters_are_a_value_or_a_mapping() -> None:
    assert stated(HINTS["filters"]) == {Filters, Mapping}


def test_a_misspelt_option_is_refused_by_name_with_what_was_meant() -> None:
    with pytest.raises(UsageError, match="'fusin' is not a search option") as error:
        changed(SearchOptions(), fusin="rrf")
    assert error.value.hint is not None
    assert error.value.hint.startswith("did you mean fusion_method?")
    with pytest.raises(UsageError) as error:
        changed(SearchOptions(), xyz=1)
    assert str(error.value.hint).startswith("known: k, ")
