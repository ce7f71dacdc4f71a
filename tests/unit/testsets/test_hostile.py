"""Does a broken file give problems, and never anything else?"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.testsets.load import parse_test_set
from assay.testsets.write import as_plain, as_yaml
from tests.unit.testsets.samples import fifty

YAML = as_yaml(fifty()).encode()[:600]
JSON = json.dumps(as_plain(fifty()), indent=1).encode()[:900]
SCRAPS = [
    *(b"[", b"]", b"{", b"}", b":", b"- ", b"&a ", b"*a", b"!!x ", b'"', b"\n", b"\t", b"~", b","),
    *(b"\0", b"\xff", b"#", b"---\n", b"| ", b"grade: 9", b"9" * 50, b"<<: ", b"? ", b"\\u0000"),
    b"\\ud800",
]


@pytest.mark.parametrize("whole", [YAML, JSON], ids=["yaml", "json"])
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(whole: bytes, data: st.DataObject) -> None:
    text = whole
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 20)))
        text = text[:at] + data.draw(st.sampled_from(SCRAPS)) + text[end:]
    for source in ("t.yaml", "t.json", "upload"):
        reading = parse_test_set(text, source=source)
        assert (reading.test_set is None) == bool(reading.problems)
        assert all(problem.message for problem in reading.problems)


@given(st.binary(max_size=80) | st.text(max_size=80).map(lambda text: text.encode()))
def test_any_bytes(data: bytes) -> None:
    for source in ("t.yaml", "t.json", "upload"):
        reading = parse_test_set(data, source=source)
        assert (reading.test_set is None) == bool(reading.problems)
