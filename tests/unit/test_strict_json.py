"""Is JSON taken at its word, and each refusal placed on its line?"""

from __future__ import annotations

import sys

import pytest

from assay import limits
from assay.errors import DuplicateError, FormatError
from assay.strict_json import (
    line_of_depth,
    line_of_duplicate,
    line_of_surrogate,
    line_of_token,
    values,
)


def refusal(text: str | bytes, kind: type[Exception] = FormatError) -> str:
    with pytest.raises(kind) as caught:
        values(text if isinstance(text, bytes) else text.encode(), "a.json")
    assert caught.type is kind
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", [(1, {})]),
        ("[]", [(1, [])]),
        ('\ufeff{"a": 1}', [(1, {"a": 1})]),
        ('\n\n  {"a":\n 1}\n\n', [(3, {"a": 1})]),
        ('{"a": 1}\n{"b": 2}\n', [(1, {"a": 1}), (2, {"b": 2})]),
        ('\ufeff{"a": 1}\r\n\r\n{"b": 2}', [(1, {"a": 1}), (3, {"b": 2})]),
        ('\n{"a": 1} \t\n  \n [2]\n3\n"x"\n', [(2, {"a": 1}), (4, [2]), (5, 3), (6, "x")]),
        ('["\\ud83d\\ude00"]', [(1, ["\U0001f600"])]),
        ('["\\\\ud800"]', [(1, ["\\ud800"])]),
        ('["\u2028"]\n[1]', [(1, ["\u2028"]), (2, [1])]),
        ("5", [(1, 5)]),
    ],
)
def test_values_and_their_lines(text: str, expected: object) -> None:
    assert values(text.encode(), "a.json") == expected


def test_a_duplicate_key() -> None:
    message = refusal('{"a": {"b": 1},\n "c": {"b": 2,\n\n "d": 1, "\\u0062": 3}}', DuplicateError)
    assert message == "a.json:4: the key 'b' appears twice in one object (keep one of them)"
    message = refusal('{"a": 1}\n{"a": 1, "a": 2}', DuplicateError)
    assert message.startswith("a.json:2: the key 'a' appears twice")
    message = refusal('{"\\ud800": 1,\n"\\ud800": 2}', DuplicateError)
    assert message.startswith("a.json:2: the key '\\ud800' appears twice")


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_are_no_json(name: str) -> None:
    message = refusal(f'{{"NaN": "Infinity",\n\n"a": ["-Infinity", {name}]}}')
    assert message == f"a.json:3: {name} is not a number (leave the value out, or use null)"
    assert refusal(f"[1]\n[{name}]").startswith(f"a.json:2: {name} is not a number")


@pytest.mark.parametrize("depth", [limits.MAX_JSON_DEPTH + 1, 900, 5000, 100_000])
@pytest.mark.parametrize("form", ["[%s]", '{"a":%s}', '[\n[{"b": 1}],%s\n]'])
def test_depth(depth: int, form: str) -> None:
    begin, end = form.split("%s")
    text = begin * depth + "1" + end * depth
    message = refusal(text)
    assert "JSON nested more than 64 deep" in message
    line = 1 if "\n" not in form else limits.MAX_JSON_DEPTH  # the side lists nest, too
    assert message.startswith(f"a.json:{line}:")
    assert refusal("[1]\n" + text.replace("\n", " ")).startswith("a.json:2: JSON nested")


def test_a_depth_that_is_allowed() -> None:
    most = limits.MAX_JSON_DEPTH
    assert values(b"[" * most + b"]" * most, "a.json")


def test_a_number_of_thousands_of_digits() -> None:
    message = refusal(f'{{"a": 12,\n"b": {"9" * 5000}}}')
    assert message == "a.json:2: a number with too many digits"
    assert refusal(f"[1]\n[-{'9' * 5000}]").startswith("a.json:2: a number with too many digits")


def test_digits_without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert values(b"9" * 5000, "a.json") == [(1, 10**5000 - 1)]
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("half", ["\\ud800", "\\udc00", "\\uDBFFx", "\\ude00\\ud83d"])
@pytest.mark.parametrize("form", ['{"a":\n"%s"}', '{"a": 1,\n"%s": 2}', '[["x",\n["%s"]]]'])
def test_half_a_surrogate_pair(half: str, form: str) -> None:
    message = refusal(form % f"\\ud83d\\ude00{half}")
    assert message.startswith("a.json:2: text with half a surrogate pair (write the whole pair")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{"a": 1', 1),
        ('{"a":\n1,\n', 3),
        ('{"a": "b', 1),
        ('{"a": 1}\n{"b": 2', 2),
        ('{"a": 1}\n\n\n{"b": "x', 4),
        ("[1]\n]", 2),
        ('{"a": 1,}', 1),
        ("{'a': 1}", 1),
        ('{"a": 01}', 1),
        ('{"a": "\t"}', 1),
        ("[1\n2]", 2),
        ("[tru]", 1),
    ],
)
def test_what_is_no_json(text: str, line: int) -> None:
    message = refusal(text)
    assert message.startswith(f"a.json:{line}: not JSON: ")
    assert "is the file complete?" in message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[1] [2]", 1),
        ('{"a":\n1}\n{"b": 2}', 3),
        ('{"a":\n1} {"b": 2}', 2),
        ("[1]\n[2] [3]", 2),
        ("{} x", 1),
    ],
)
def test_something_after_the_value(text: str, line: int) -> None:
    message = refusal(text)
    assert message.startswith(f"a.json:{line}: not JSON: something follows the value (")


def test_what_is_not_utf8() -> None:
    message = refusal(b'{"a": 1,\n "b": "\xe9"}')
    assert message == "a.json:2: not UTF-8 (save it as UTF-8)"


def test_a_token_is_not_found_inside_text() -> None:
    assert line_of_token('["NaN",\n"\\"NaN",\nNaN]', lambda token: token == "NaN") == 3
    assert line_of_token('["NaN"]', lambda token: token == "NaN") == 1


def test_a_key_is_a_duplicate_within_its_own_object_only() -> None:
    text = '{"a": {"a": "a"},\n"b": [{"a": 1}, {"a": 2}],\n"a": 3}'
    assert line_of_duplicate(text, "a") == 3
    assert line_of_duplicate(text, "b") == 1


def test_braces_within_text_do_not_nest() -> None:
    assert line_of_depth('["[[[",\n[\n[1]]]', 2) == 3
    assert line_of_depth("[1]", 2) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('["\\ud83d\\ude00",\n"\\ud83d"]', 2),
        ('["\\ud83d\\ude00\\ude00"]\n', 1),
        ('[1,\n2,\n"\\udc00"]', 3),
        ("[]", 1),
    ],
)
def test_half_a_pair(text: str, line: int) -> None:
    assert line_of_surrogate(text, 0) == line
