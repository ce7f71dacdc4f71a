"""Is JSON taken at its word, with the line where it is wrong?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import FormatError
from assay.ingest.json_rows import file_rows, line_rows, parse
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Watch

HERE = FileLocation("c.jsonl", 7)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1, "a": 2}', "the key 'a' appears twice"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": -Infinity}', "is not a number"),
        (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not usable JSON"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"{'a': 1}", r"not JSON: .*column 2"),
        (b"", "not JSON"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
    ],
)
def test_bad_json_names_file_and_line(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=rf"c\.jsonl:7: .*{message}"):
        parse(data, HERE)


def test_lines_of_a_longer_value_are_counted() -> None:
    with pytest.raises(FormatError, match=r"c:3: not JSON"):
        parse(b'{\n"a": 1,\n}', FileLocation("c", 1))


def test_blank_lines_and_byte_order_mark_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"a": 2}')
    found = [(place.line, row) for place, row in line_rows(path, Watch())]
    assert found == [(1, {"a": 1}), (4, {"a": 2})]


def test_a_half_written_last_line_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2, "text": "half a sen')
    with pytest.raises(FormatError, match=r"c\.jsonl:2: the last line is truncated"):
        list(line_rows(path, Watch()))
    path.write_bytes(b'{"a": 1}\n{"a": 2, "text": "half a sen\n')
    with pytest.raises(FormatError, match=r"c\.jsonl:2: not JSON"):
        list(line_rows(path, Watch()))


@pytest.mark.parametrize(
    "content",
    [
        '{"n": 1}\n{"n": 2}\n',
        '[{"n": 1},\n {"n": 2}]',
        '{"rows": [{"n": 1}, {"n": 2}], "nextPageToken": "x"}',
        '{\n "rows": [{"n": 1}, {"n": 2}]\n}',
    ],
)
def test_every_shape_of_file_gives_its_objects(tmp_path: Path, content: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(content)
    assert [row for _, row in file_rows(path, Watch(), "rows")] == [{"n": 1}, {"n": 2}]


def test_one_object_is_one_row_however_it_is_laid_out(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    for text in (json.dumps({"n": 1}), json.dumps({"n": 1}, indent=1)):
        path.write_text(text)
        assert [row for _, row in file_rows(path, Watch(), "rows")] == [{"n": 1}]


def test_rows_are_objects(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("[1]")
    with pytest.raises(FormatError, match=r"c\.json\[0\]: expected an object, not int"):
        list(file_rows(path, Watch(), "rows"))
