"""Are fields read in the type that is meant?"""

from __future__ import annotations

import pytest

from assay import limits
from assay.errors import FormatError, LimitError
from assay.ingest import fields
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Progress, Watch

HERE = FileLocation("c", 1)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (3, 3.0),
        (2.5, 2.5),
        ("01:02", 62.0),
        ("01:00:00.5", 3600.5),
        ("0:01,25", 1.25),
        (None, None),
    ],
)
def test_times_are_numbers_or_clocks(value: object, seconds: float | None) -> None:
    assert fields.seconds({"start": value}, ("start",), HERE) == seconds


@pytest.mark.parametrize("value", [True, -1, "soon", "1:99", float("inf"), [], "1:2:3:4"])
def test_other_times_are_refused(value: object) -> None:
    with pytest.raises(FormatError, match="c:1"):
        fields.seconds({"start": value}, ("start",), HERE)


def test_metadata_keeps_its_types() -> None:
    seen: list[Progress] = []
    value = {"a": 1, "b": True, "c": ["x", 2], "d": None, "e": {"f": 1}, "g": "y" * 9000,
             "h": [[]], "i": 0.5, "j": ["z" * 2000, "z" * 99]}  # fmt: skip
    found = fields.metadata(value, HERE, Watch(seen.append))
    assert found == {"a": 1, "b": True, "c": ("x", 2), "i": 0.5, "j": ("z" * 2000,)}
    assert [note.note for note in seen] == [
        "c: metadata.e is nested and was dropped",
        "c: metadata.h is nested and was dropped",
        "c: metadata.g is too long and was dropped",
        "c: metadata.j is too long and was cut",
    ]


def test_metadata_has_bounds() -> None:
    with pytest.raises(FormatError, match="metadata is list"):
        fields.metadata([1], HERE, Watch())
    seen: list[Progress] = []
    many = {str(key): key or None for key in range(99)}
    found = fields.metadata(many, HERE, Watch(seen.append))
    assert list(found.values()) == list(range(1, 65))
    assert "more than 64 fields of metadata" in seen[0].note


def test_titles_have_one_line_and_a_cap() -> None:
    assert fields.short({"title": " a\n b "}, ("title",), HERE) == "a b"
    with pytest.raises(LimitError, match="title has more"):
        fields.short({"title": "x" * (limits.MAX_TITLE_CHARS + 1)}, ("title",), HERE)
    with pytest.raises(FormatError, match="title is int"):
        fields.short({"title": 5}, ("title",), HERE)


def test_text_is_decoded_with_plain_newlines() -> None:
    assert fields.decoded(b"\xef\xbb\xbfa\r\nb\rc", HERE) == "a\nb\nc"
    with pytest.raises(FormatError, match="c:2: a NUL character"):
        fields.decoded(b"ok\n\0", HERE)
    with pytest.raises(FormatError, match="c:2: not UTF-8"):
        fields.decoded(b"ok\n\xe9", HERE)
