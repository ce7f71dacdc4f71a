"""Does each kind of option take what it should, from text and from values, and nothing else?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import validator_for

from assay.errors import UsageError
from assay.model.query import FILTER_OPTIONS
from assay.options import (
    Choice,
    Identifier,
    Kind,
    Maybe,
    NamedCode,
    Names,
    Option,
    PathName,
    Real,
    Several,
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
from assay.search.request import SEARCH_OPTIONS


class Colour(StrEnum):
    """A closed list."""

    RED = "red"
    BLUE = "blue"


TAKEN: list[tuple[Kind, str, Any]] = [
    (Text(), " nDCG@10 ", "nDCG@10"),
    (Text(r"[a-z]+", "small letters"), "abc", "abc"),
    (Text(r"[a-z]*", "small letters, or none"), "", ""),
    (PathName(), "a b/c", Path("a b/c")),
    (Choice(("bca", "percentile")), "bca", "bca"),
    (Choice(Colour), "red", Colour.RED),
    (Whole(0, 10), "10", 10),
    (Whole(0, 10), "007", 7),
    (Whole(-5, 10), "-5", -5),
    (Real(0, 1), "1", 1.0),
    (Real(0, 1), ".5", 0.5),
    (Real(0, 1), "5e-2", 0.05),
    (Real(0, 1, open_ends=True), "0.95", 0.95),
    (Switch(), "on", True),
    (Switch(), "True", True),
    (Switch(), "no", False),
    (Names(("x", "b", "c")), "c, x", ("x", "c")),
    (Names(("x", "b", "c")), "own_1 c a", ("c", "a", "own_1")),
    (NamedCode(), "none", {}),
    (NamedCode(), "b=m.n:f, a=m:g", {"a": "m:g", "b": "m.n:f"}),
    (WeightsBy(Colour), "default", {}),
    (
        WeightsBy(Colour),
        "red: a=.3,b=.7; blue = a:1 b:2",
        {"red": {"a": 0.3, "b": 0.7}, "blue": {"a": 1.0, "b": 2.0}},
    ),
    (Weights(), "bm25=.3, dense = 1", {"bm25": 0.3, "dense": 1.0}),
    (Weights(), "bm25:0.3 dense:1", {"bm25": 0.3, "dense": 1.0}),
    (Weights(), "default", {}),
    (Weights(), "bm25=1e-05,dense=1E3", {"bm25": 1e-05, "dense": 1000.0}),
    (Weights(), "bm25=0.30000000000000004,dense=.1", {"bm25": 0.1 + 0.2, "dense": 0.1}),
    (Real(0, 1), "0.30000000000000004", 0.1 + 0.2),
    (Text(ends="\r\n"), " pw \r\n", " pw "),
    (Text(ends="", least=0), "", ""),
    (Text(ends="", least=0), " a ", " a "),
    (Identifier(form="an intent"), "phase2", "phase2"),
    (Identifier(form="an intent"), "Größe_mg", "Größe_mg"),
    (Switch(lenient=True), "2", True),
    (Switch(lenient=True), "OFF", False),
    (Several(Choice(Colour)), "blue", (Colour.BLUE,)),
    (Maybe(Whole(1, 9)), "none", None),
    (Maybe(Whole(1, 9), none=("auto", "0")), "0", None),
    (Maybe(Whole(1, 9)), "9", 9),
]


@pytest.mark.parametrize(("kind", "text", "value"), TAKEN)
def test_texts_that_are_taken(kind: Kind, text: str, value: object) -> None:
    read = kind.read(text)
    assert read == value
    assert type(read) is type(value) or isinstance(read, Path)
    assert kind.read(kind.write(read)) == value
    assert kind.accept(read) == value


NOT_WHOLE = ["", "+5", " 1", "1.0", "1e3", "1_0", "１０", "0x1", "true", "~", "12:30", "9" * 5000]
NOT_REAL = [
    "", "+.5", " .5", ".nan", "nan", ".inf", "inf", "1e999", "0,5", "1_0", "０.5", "5%",
    "0." + "1" * 99,
]  # fmt: skip
REFUSED: list[tuple[Kind, str]] = [
    *((Whole(0, 10), text) for text in [*NOT_WHOLE, "-1", "11"]),
    *((Real(0, 1), text) for text in [*NOT_REAL, "-0.1", "1.1"]),
    *((Real(0, 1, open_ends=True), text) for text in ["0", "1", "-0.0"]),
    (Text(), " "),
    (Text(r"[a-z]+", "small letters"), "a1"),
    (Text(most=3), "four"),
    (PathName(), ""),
    (PathName(), "a\0b"),
    (Text(ends="\r\n"), "\n"),
    (Identifier(form="an intent"), "2phase"),
    (Identifier(form="an intent"), "a-b"),
    (Identifier(form="an intent"), ""),
    (Switch(lenient=True), ""),
    (Choice(("a", "b", "A")), "B "),
    (Choice(("a", "b")), ""),
    (Choice(Colour), "green"),
    (Switch(), "maybe"),
    (Switch(), ""),
    (Names(("a", "b")), ""),
    (Names(("a", "b")), "a,a"),
    (Names(("a", "b")), "a,Z"),
    (Names(("a", "b")), "a,b,c,d,e,f,g,h,i"),
    *(
        (NamedCode(("taken",)), text)
        for text in ["", "a", "a=m", "a=m:", "A=m:f", "a=m:f,a=m:g", "taken=m:f", "a=m:f:g", "a=/x"]
    ),
    *(
        (WeightsBy(Colour), text)
        for text in ["", ";", "red", "red:", "green:a=1", "red:a=1;red:a=2", "red:default", "a=1"]
    ),
    *(
        (Weights(), text)
        for text in [
            "",
            " ",
            "bm25",
            "bm25=",
            "=1",
            "bm25=-1",
            "bm25=nan",
            "bm25=１",
            "a=1,a=2",
            "a=1" + " " * 400,
        ]
    ),
    (Several(Choice(Colour)), "green"),
    (Maybe(Whole(1, 9)), "0"),
    (Maybe(Choice(Colour), none=()), ""),
]


@pytest.mark.parametrize(("kind", "text"), REFUSED)
def test_texts_that_are_refused(kind: Kind, text: str) -> None:
    with pytest.raises(ValueError):
        kind.read(text)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Text(), 5),
        (Text(), None),
        (PathName(), 5),
        (Choice(Colour), Colour),
        (Choice(("a", "b")), ["a"]),
        (Whole(0, 10), True),
        (Whole(0, 10), 1.0),
        (Whole(0, 10), "1"),
        (Real(0, 1), False),
        (Real(0, 1), float("nan")),
        (Real(0, 1), "0.5"),
        (Switch(), 1),
        (Switch(), "on"),
        (Names(("a", "b")), 7),
        (Names(("a", "b")), []),
        (Names(("a", "b")), [["a"]]),
        (Names(("a", "b")), [{}]),
        (NamedCode(), 7),
        (NamedCode(), {"a": 7}),
        (NamedCode(), {7: "m:f"}),
        (WeightsBy(Colour), 7),
        (WeightsBy(Colour), {"green": {"a": 1}}),
        (WeightsBy(Colour), {"red": {}}),
        (WeightsBy(Colour), {"red": 1}),
        (Real(0, 1), 10**400),
        (Weights(), [0.3, 0.7]),
        (Several(Text()), 5),
        (Several(Text()), [None]),
        (Several(Text(), most=2), ["a", "b", "c"]),
    ],
)
def test_values_that_are_refused(kind: Kind, value: object) -> None:
    with pytest.raises(ValueError):
        kind.accept(value)


def test_lists_take_one_value_or_none() -> None:
    kind = Several(Choice(Colour))
    assert kind.accept("red") == (Colour.RED,)
    assert kind.accept(None) == ()
    assert kind.accept(["red", Colour.BLUE]) == (Colour.RED, Colour.BLUE)


def test_a_tilde_means_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    assert PathName().read("~/x") == Path("/somewhere/x")
    with pytest.raises(ValueError):
        PathName().read("~no-such-user-here/x")


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (Choice(("auto", "always", "never")), "auto, always or never"),
        (Choice(("bca", "percentile")), "bca or percentile"),
        (Whole(1, 9), "a whole number from 1 to 9"),
        (Real(0, 1), "a number between 0 and 1"),
        (Real(0, 1, open_ends=True), "a number strictly between 0 and 1"),
        (Text(), "text that is not blank"),
        (PathName("file"), "the path of a file"),
        (Switch(), "on or off"),
        (Maybe(Whole(1, 9)), "a whole number from 1 to 9, or none"),
        (Several(Whole(1, 9), most=3), "a whole number from 1 to 9; at most 3 of them"),
    ],
)
def test_the_form_in_words(kind: Kind, form: str) -> None:
    assert kind.form == form


def test_kinds_tell_how_they_are_given() -> None:
    assert is_switch(Switch())
    assert is_switch(Maybe(Switch()))
    assert not is_switch(Several(Text()))
    assert several(Several(Text()))
    assert not several(Names(("a", "b")))


@dataclass(frozen=True)
class Paint:
    """Something with options."""

    colour: Colour = option(Choice(Colour), Colour.RED, "Which.", name="color")
    shares: dict[str, float] = option(Weights(), {}, "How much of each.")
    note: str = field(default="")


def test_options_are_found_in_the_order_of_fields_and_know_where_they_are_kept() -> None:
    found = options_of(Paint)
    assert list(found) == ["color", "shares"]
    one = found["color"]
    assert (one.name, one.attribute, one.default) == ("color", "colour", Colour.RED)
    assert Paint().shares == {}
    assert Paint().shares is not Paint().shares


def test_an_option_refuses_by_its_name_with_what_it_may_be() -> None:
    with pytest.raises(UsageError) as caught:
        options_of(Paint)["color"].read("green" * 100)
    assert caught.value.message.startswith("color: must be red or blue, not 'greengreen")
    assert len(caught.value.message) < 100
    assert caught.value.hint == "known: red, blue"


def test_an_option_that_is_refused_says_what_it_is_for() -> None:
    with pytest.raises(UsageError) as caught:
        SEARCH_OPTIONS["rrf_k"].read("0")
    assert caught.value.hint == "rrf_k is: The constant k of reciprocal rank fusion."


@pytest.mark.parametrize("one", SEARCH_OPTIONS.values(), ids=lambda one: str(one.name))
def test_every_option_of_a_search_is_complete(one: Option) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", one.name)
    assert one.help.endswith(".")
    assert one.kind.accept(one.default) == one.default
    if one.default is not None and one.name not in FILTER_OPTIONS:
        assert one.kind.read(one.kind.write(one.default)) == one.default


SCHEMES = [Text(), Text(most=2), Choice(Colour), Whole(-3, 9), Real(0, 1), Names(("a", "b", "c"))]


@pytest.mark.parametrize("kind", SCHEMES, ids=lambda kind: type(kind).__name__)
@given(data=st.data())
def test_the_schema_says_the_same_as_the_rule(kind: Kind, data: st.DataObject) -> None:
    texts = st.text(max_size=5) | st.sampled_from(["red", "a,b", "b,a,c", "a,a", " "])
    numbers = st.integers(-20, 20) | st.floats(-2, 2, allow_nan=False)
    value = data.draw(st.one_of(texts, numbers, st.booleans(), st.none()))
    fits = validator_for(kind.schema()).is_valid(value)
    try:
        kind.accept(value)
        taken = True
    except ValueError:
        taken = False
    if isinstance(kind, Whole) and isinstance(value, float):
        return  # JSON Schema takes 1.0 for an integer
    if isinstance(kind, Text | Names) and isinstance(value, str):
        written: Any = kind.read(value) if taken else ""
        assert fits or not taken or value != kind.write(written)
        return
    assert fits == taken


@given(st.floats(0, 1e6))
def test_a_weight_is_written_as_the_same_number(weight: float) -> None:
    assert Weights().read(Weights().write({"bm25": weight})) == {"bm25": weight}
    assert Real(0, 1e6).read(Real(0, 1e6).write(weight)) == weight
