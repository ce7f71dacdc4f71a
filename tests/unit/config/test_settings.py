"""Does each kind of setting take what it should and nothing else?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.settings import SETTINGS, Choice, Folder, Kind, Real, Setting, Text, Whole


@pytest.mark.parametrize("row", SETTINGS.values(), ids=lambda row: str(row.name))
def test_a_row_is_complete_and_its_default_valid(row: Setting) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", row.name)
    assert row.help
    row.kind.read(row.default)


def test_names_derive_from_the_row() -> None:
    row = SETTINGS["ci_method"]
    assert (row.env, row.flag) == ("ASSAY_CI_METHOD", "--ci-method")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Text(), " nDCG@10 ", "nDCG@10"),
        (Folder(), "a b/c", Path("a b/c")),
        (Choice(("bca", "percentile")), "bca", "bca"),
        (Whole(0, 10), "10", 10),
        (Whole(0, 10), "007", 7),
        (Whole(-5, 10), "-5", -5),
        (Real(0, 1), "1", 1.0),
        (Real(0, 1), ".5", 0.5),
        (Real(0, 1), "5e-2", 0.05),
        (Real(0, 1, open_ends=True), "0.95", 0.95),
    ],
)
def test_values_that_are_taken(kind: Kind, text: str, value: object) -> None:
    read = kind.read(text)
    assert read == value
    assert type(read) is type(value) or isinstance(read, Path)


NOT_WHOLE = ["", " 1", "1.0", "1e3", "1_0", "１０", "0x1", "true", "~", "12:30", "9" * 5000]
NOT_REAL = [
    "",
    " .5",
    ".nan",
    "nan",
    ".inf",
    "inf",
    "1e999",
    "0,5",
    "1_0",
    "０.5",
    "5%",
    "0." + "1" * 99,
]


@pytest.mark.parametrize("text", [*NOT_WHOLE, "-1", "11"])
def test_what_is_not_a_whole_number(text: str) -> None:
    with pytest.raises(ValueError):
        Whole(0, 10).read(text)


@pytest.mark.parametrize("text", [*NOT_REAL, "-0.1", "1.1"])
def test_what_is_not_a_number(text: str) -> None:
    with pytest.raises(ValueError):
        Real(0, 1).read(text)


@pytest.mark.parametrize("text", ["0", "1", "-0.0"])
def test_open_ends_leave_the_borders_out(text: str) -> None:
    with pytest.raises(ValueError):
        Real(0, 1, open_ends=True).read(text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Text(), " "),
        (Folder(), ""),
        (Folder(), "a\0b"),
        (Choice(("a", "b")), "A"),
        (Choice(("a", "b")), ""),
    ],
)
def test_text_that_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(ValueError):
        kind.read(text)


def test_a_tilde_means_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    assert Folder().read("~/x") == Path("/somewhere/x")
    with pytest.raises(ValueError):
        Folder().read("~no-such-user-here/x")


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (Choice(("auto", "always", "never")), "auto, always or never"),
        (Choice(("bca", "percentile")), "bca or percentile"),
        (Whole(1, 9), "a whole number from 1 to 9"),
        (Real(0, 1), "a number between 0 and 1"),
        (Real(0, 1, open_ends=True), "a number strictly between 0 and 1"),
        (Text(), "text that is not blank"),
        (Folder(), "the path of a folder"),
    ],
)
def test_the_form_in_words(kind: Kind, form: str) -> None:
    assert kind.form == form


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("opensearch_prefix", "Assay"),
        ("opensearch_prefix", "a,b"),
        ("opensearch_prefix", "a*"),
        ("opensearch_prefix", "a/b"),
        ("opensearch_prefix", "-a"),
        ("opensearch_prefix", "_all"),
        ("opensearch_refresh", "1 sec"),
        ("opensearch_refresh", "1"),
    ],
)
def test_what_a_cluster_would_refuse_after_a_load_is_refused_before(name: str, text: str) -> None:
    with pytest.raises(ValueError):
        SETTINGS[name].kind.read(text)


def test_names_and_intervals_of_a_cluster() -> None:
    assert SETTINGS["opensearch_prefix"].kind.read("team-1_x") == "team-1_x"
    for text in ("-1", "500ms", "30s"):
        assert SETTINGS["opensearch_refresh"].kind.read(text) == text
