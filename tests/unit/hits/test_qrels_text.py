"""Do compiled code and arrays read judgments as the careful reader does, errors included?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay import limits
from assay.errors import AssayError
from assay.hits import qrels as module
from assay.hits.qrels import load_qrels, qrels_from_text

pytestmark = pytest.mark.usefixtures("loops")

SOUND = [
    b"q1 0 a 2\nq1 0 doc-longer-than-a-word 0\nq2 Q0 a 1",
    b"1 4.5  005b2j4b 2\n1 5  0ne21in2 1\n",
    b"q1 0 a -1\nq1 0 b +3\nq1 0 c 10\nq1 0 d -0\nq1 0 e 007\n",
    b"q1\t0\ta\t1\r\nq1\t0\tb\t0\r\n",
    b"  q1 0 a 1 \n\n  \nq1 \v\f 0 b 0\t\n \t \n",
    b"q1 0 a 1\nq2 0 a 1\nq1 0 b 1\nq3 0 c 0\nq2 0 c 1\n",
    b"\xef\xbb\xbfq1 0 a 1\n",
    b"\xef\xbb\xbf\xef\xbb\xbfq1 0 a 1\n",
    "q\u00e9 0 字\u2028x 1\nq\u00e9 0 \u00a0 2\nqe 0 \U0001f600 1\n".encode(),
    b"query-id\tcorpus-id\tscore\nq\td\t1\nq\te\t0\n",
    b"\xef\xbb\xbfquery-id corpus-id score\r\nq d 1\r\n",
    b"q#1 0 #a 1\n#q 0 # 1\n##\t0 # 1\n",
]
"""Nothing is wrong with these, so that they must not be read line by line."""

FAULTY = [
    b"",
    b"\n",
    b"q1 0 a x\n",
    b"q1 0 a 1\nq1 0 a 1\n",
    b"q1 0 a 1\nq2 0 b 1\nq1 0 a 0\n",
    b"q1 0 a 1\nq2 0 b\n",
    b"q1 0 a 1 t\n",
    b"q1 0 a 1\0\n",
    b"q1\x010 a 1\n",
    b"q1 0 a\x1fb 1\n",
    b"# \0 \xff\nq1 0 a 1\n",
    b"q1 \xff a 1\n",
    b"q1 0 \xff 1\n",
    b"\xff\xfeq\x001\x00",
    b"q1 0 a 1\rq1 0 b 1\n",
    b"q1 0 a 1001\n",
    b"q1 0 a -1001\n",
    b"q1 0 a 9999999999\n",
    b"q1 0 a 000000001\n",
    b"q1 0 a 0000000001\n",
    b"q1 0 a +\n",
    b"q1 0 a 1.0\n",
    b"q1 0 a 1e0\n",
    b"q1 0 a 1_0\n",
    "q1 0 a ١\n".encode(),
    b"query-id corpus-id score",
    b"query-id corpus-id score\n\xef\xbb\xbfq d 1\n",
    b"query-id corpus-id score\nq 0 d 1\n",
    b"query-id corpus-id score x\nq 0 d 1\n",
    b"q1 0 " + b"d" * 512 + b" 1\nq1 0 " + b"e" * 513 + b" 1\n",
    b"q" * 513 + b" 0 d 1\n",
    b"q1 0 a 1" + b" " * (1 << 20) + b"\n",
    b"# " + b"x" * (1 << 20) + b"\nq1 0 a 1\n",
]


def outcome(path: Path) -> Any:
    """The columns, or what the refusal says."""
    try:
        found = load_qrels(path)
    except AssayError as refusal:
        return type(refusal), str(refusal)
    return found.queries, found.query.tolist(), found.docs, found.grade.tolist()


def agree(path: Path) -> None:
    fast = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "qrels_from_text", lambda *_: None)
        assert fast == outcome(path)


@pytest.mark.parametrize("data", SOUND)
def test_sound_judgments_become_columns_at_once(data: bytes, tmp_path: Path) -> None:
    assert qrels_from_text(data, "qrels") is not None
    (tmp_path / "qrels").write_bytes(data)
    agree(tmp_path / "qrels")


@pytest.mark.parametrize("data", FAULTY, ids=lambda data: repr(data[:40]))
def test_faults_are_those_of_the_careful_reader(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(data)
    agree(tmp_path / "qrels")


def test_a_line_and_an_id_may_be_as_long_as_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 20)
    monkeypatch.setattr(limits, "MAX_ID_BYTES", 8)
    path = tmp_path / "qrels"
    for size in (19, 20, 21):
        for content in (f"q 0 d 1{' ' * (size - 7)}", "q 0 d 1\n#" + "x" * (size - 1)):
            path.write_text(content)
            agree(path)
            path.write_text(content + "\nq 0 e 1\n")
            agree(path)
    for size in (7, 8, 9):
        for content in (f"{'q' * size} 0 d 1\n", f"q 0 {'d' * size} 1\n", f"q 0 {'é' * size} 1\n"):
            path.write_text(content)
            agree(path)


def test_many_judgments_of_one_query(tmp_path: Path) -> None:
    """More than the smallest table has places for, with one document twice at the end."""
    path = tmp_path / "qrels"
    lines = "".join(f"q{n % 3} 0 d{n} {n % 4}\n" for n in range(60_000))
    path.write_text(lines)
    agree(path)
    path.write_text(lines + "q0 0 d59997 1\n")
    agree(path)


ids = st.text(st.sampled_from("aZ09é字-:#.\u00a0"), min_size=1, max_size=12) | st.sampled_from(
    ["q1", "q2", "d1", "d2", "#", "\ufeff", "a\x01", "a\0", "\x85"]
)
grades = st.integers(-3, 12).map(str) | st.sampled_from(
    ["+1", "-0", "007", "1.0", "x", "1001", "-1000", "1" * 10, "", "--1", "1e1", "²"]
)
blanks = st.sampled_from([" ", " ", " ", "\t", "  ", " \t", "\r", "\v", "\f", "\x1c", "\u3000"])
ends = st.sampled_from(
    ["\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n \n", "\n# x\n", "\n#\0\n"]
)
heads = st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"# x\n", b"query-id corpus-id score\n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Mostly judgments, often of the same few documents, sometimes with bytes out of place."""
    usual = st.sampled_from(["q1", "q2", "q3"]), st.sampled_from([f"d{n}" for n in range(30)])
    lines = []
    for _ in range(draw(st.integers(0, 8))):
        odd = draw(st.integers(0, 6)) == 0
        columns = [draw(ids if odd else usual[0]), "0", draw(ids if odd else usual[1])]
        columns.append(draw(grades if odd else st.sampled_from("0123")))
        if odd and draw(st.integers(0, 4)) == 0:
            columns.pop(draw(st.integers(0, 3)))
        blank = draw(blanks) if odd else " "
        lines.append(blank.join(columns) + (draw(ends) if odd else "\n"))
    data = draw(heads) + "".join(lines).encode()
    if draw(st.integers(0, 3)) == 0:
        data = data.rstrip(b"\n")
    if data and draw(st.integers(0, 5)) == 0:
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(st.binary(min_size=1, max_size=3)) + data[at:]
    return data


@given(files())
@example(b"q1 0 d1 1\nq1 0 d1\xff 1")
def test_any_file_is_read_alike(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.qrels"
    path.write_bytes(data)
    agree(path)
