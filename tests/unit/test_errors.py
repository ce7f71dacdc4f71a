"""Does every error carry what a command or a server needs to answer with it?"""

from __future__ import annotations

import pytest

from assay import errors

EXIT_CODES = {1, 2, 3, 4}
HTTP_STATUSES = range(400, 600)


def tree(root: type[errors.AssayError]) -> list[type[errors.AssayError]]:
    return [root, *(found for child in root.__subclasses__() for found in tree(child))]


# Other packages may subclass for themselves; this tests what the module promises.
TREE = [found for found in tree(errors.AssayError) if found.__module__ == errors.__name__]


def test_the_docstring_draws_every_class() -> None:
    assert errors.__doc__
    missing = [kind.__name__ for kind in TREE if kind.__name__ not in errors.__doc__]
    assert missing == []


def test_codes_are_unique_but_for_the_abstract_place() -> None:
    codes = [kind.code for kind in TREE if kind is not errors.PlacedError]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", TREE)
def test_exit_code_and_status_are_allowed(kind: type[errors.AssayError]) -> None:
    assert kind.exit_code in EXIT_CODES
    assert kind.http_status in HTTP_STATUSES
    assert kind.code == kind.code.lower()
    assert kind.code.replace("_", "").isalpha()


@pytest.mark.parametrize("kind", TREE)
def test_the_docstring_gives_the_right_numbers(kind: type[errors.AssayError]) -> None:
    assert errors.__doc__
    line = next(line for line in errors.__doc__.splitlines() if f" {kind.__name__} " in line)
    words = line.split()
    at = words.index(kind.__name__)
    assert words[at + 1 : at + 5] == [kind.code, str(kind.http_status), "exit", str(kind.exit_code)]


def test_a_message_and_its_hint() -> None:
    error = errors.UsageError("no such file", hint="check the path")
    assert (error.message, error.hint) == ("no such file", "check the path")
    assert str(error) == "no such file (check the path)"
    assert str(errors.UsageError("no such file")) == "no such file"


@pytest.mark.parametrize(
    ("source", "line", "expected"),
    [
        ("a.run", 3, "a.run:3: odd"),
        ("a.run", None, "a.run: odd"),
        (None, 3, "3: odd"),
        (None, None, "odd"),
    ],
)
def test_a_place_comes_first(source: str | None, line: int | None, expected: str) -> None:
    assert errors.PlacedError("odd", source=source, line=line).message == expected


def test_a_problem_says_what_to_do_wherever_it_is() -> None:
    assert str(errors.Problem("no grade", hint="0 to 3")) == "no grade (0 to 3)"
    assert str(errors.Problem("no grade", "a", 2, "q1", "0 to 3")) == "a:2: q1: no grade (0 to 3)"
