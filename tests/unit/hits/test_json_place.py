"""Is the line of a refused token found, and nothing taken for it that is not it?"""

from __future__ import annotations

import pytest

from assay.hits import json_place


def test_a_token_is_not_found_inside_text() -> None:
    assert json_place.of_token('["NaN",\n"\\"NaN",\nNaN]', lambda token: token == "NaN") == 3
    assert json_place.of_token('["NaN"]', lambda token: token == "NaN") == 1


def test_a_key_is_a_duplicate_within_its_own_object_only() -> None:
    text = '{"a": {"a": "a"},\n"b": [{"a": 1}, {"a": 2}],\n"a": 3}'
    assert json_place.of_duplicate(text, "a") == 3
    assert json_place.of_duplicate(text, "b") == 1


def test_braces_within_text_do_not_nest() -> None:
    assert json_place.of_depth('["[[[",\n[\n[1]]]', 2) == 3
    assert json_place.of_depth("[1]", 2) == 1


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
    assert json_place.of_surrogate(text, 0) == line
