"""Names among words: the longest counts, and none is found inside another."""

from __future__ import annotations

import pytest

from assay.analysis.longest import LongestNames

NAMES = LongestNames({
    ("heart",): "an organ",
    ("heart", "failure"): "a disease",
    ("acute", "heart", "failure", "unit"): "a ward",
})  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("no name", []),
        ("heart", [(0, 1, "an organ")]),
        ("the heart failure of hearts", [(1, 3, "a disease")]),
        ("acute heart failure", [(1, 3, "a disease")]),
        ("acute heart failure unit", [(0, 4, "a ward")]),
        ("heart heart failure", [(0, 1, "an organ"), (1, 3, "a disease")]),
    ],
)
def test_the_longest_name_at_each_place(text: str, found: list[tuple[int, int, str]]) -> None:
    assert [*NAMES.found_in(tuple(text.split()))] == found


def test_a_name_that_the_text_breaks_off_is_not_found() -> None:
    """A shorter name at the end is as long as it is."""
    names = LongestNames({("a",): 1, ("a", "b", "c"): 3})
    assert [*names.found_in(("x", "a"))] == [(1, 2, 1)]
