"""Does compiled code say what array operations say, to the last bit?"""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay import compiled
from assay.hits import kernels
from assay.hits.fields import Text, WordArray, evened_out
from assay.hits.qrels import load_qrels
from assay.hits.run import judge
from assay.hits.text_rows import TextRows, _array_rows, _compiled_rows
from assay.model.arrays import IntArray
from tests.conftest import without_compiled

SOURCE = Path(compiled.__file__).with_name("kernels.c")

needs_compiled = pytest.mark.skipif(
    compiled.library() is None, reason="nothing is compiled here: no C compiler was found"
)

ids = st.text(st.sampled_from("aZ09é字-:#."), min_size=1, max_size=20)
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
    st.from_regex(r"[+-]?[0-9]{0,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{1,4})?", fullmatch=True),
    st.sampled_from(["nan", "inf", "1_0", "0x1p3", ".", "-", "+.e1", "1e", "1e+", "--1", "1.2.3"]),
).filter(bool)
blanks = st.sampled_from([" ", " ", " ", " ", "\t", "  ", "\r", "\0"])
ends = st.sampled_from(["\n", "\n", "\n", "\n", "\n\n", " \n", "\r\n", "\n#"])


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Mostly regular runs."""
    lines = []
    for _ in range(draw(st.integers(0, 12))):
        columns = [draw(ids), "Q0", draw(ids), "1", draw(numbers), "t"]
        if draw(st.integers(0, 30)) == 0:
            columns.pop()
        blank = draw(blanks) if draw(st.integers(0, 20)) == 0 else " "
        end = draw(ends) if draw(st.integers(0, 20)) == 0 else "\n"
        lines.append(blank.join(columns) + end)
    return "".join(lines).encode()


@needs_compiled
@given(texts())
@example(b"")
@example(b"q 0 d 1 2 t")
@example(b"q 0 d 1 2 t\nq 0 d")
@example(b"\xff 0 d 1 2 t\n")
@example(b"q 0 " + b"d" * 1025 + b" 1 2 t\n")
def test_a_text_has_the_same_rows(content: bytes) -> None:
    """Arrays take single blanks; compiled code takes more, and as if they had been evened out."""
    cut = _compiled_rows(Text(content))
    arrays = _array_rows(Text(content), floats=True) if content else None
    if cut is None:
        assert arrays is None
        return
    even = _array_rows(Text(evened_out(content)), floats=True)
    assert even is not None
    assert _parts(cut) == _parts(even if arrays is None else arrays)
    assert len(cut) == content.count(b"\n")


def _parts(rows: TextRows) -> list[object]:
    fields = [field.bytes(rows.text) for field in (rows.query, rows.doc, rows.number)]
    hashes = [rows.query_hash.tolist(), rows.doc_hash.tolist(), rows.starts.tolist()]
    return [*fields, *hashes, rows.score.tobytes(), rows.floats]


@needs_compiled
@given(st.lists(numbers, min_size=1, max_size=30))
@example(["9007199254740993", "0.95321468114852913", "999999999999999999", "-0.0", "5e-324"])
@example(["1e22", "1e23", "123456789012345678e3", "8.5e-22", "8.5e-23", "0." + "0" * 30 + "1"])
@example(["1234567890123456789", "0" * 40 + "1", "1" + "0" * 17 + ".5"])
def test_a_number_is_what_float_reads_or_left_to_it(written: list[str]) -> None:
    lines = kernels.cut_lines(Text("".join(f"q 0 d 1 {one} t\n" for one in written).encode()))
    assert lines is not None
    for one, read in zip(written, lines.score.tolist(), strict=True):
        if not math.isnan(read):
            assert float(one).hex() == read.hex()


@needs_compiled
def test_plain_numbers_are_read_here() -> None:
    """Those of common runs; leaving one in a thousand to Python would halve the speed."""
    written = [f"{value:.{places}f}" for places in range(1, 16) for value in (0.1234567, 31.25)]
    written += [repr(1 / n) for n in range(1, 2000)] + ["12", "-3", "+4.5", "1e-5", "2.5E+3"]
    lines = kernels.cut_lines(Text("".join(f"q 0 d 1 {one} t\n" for one in written).encode()))
    assert lines is not None
    assert [float(one).hex() for one in written] == [read.hex() for read in lines.score.tolist()]


@st.composite
def groups(draw: st.DrawFn) -> list[tuple[list[int], list[int]]]:
    """Of each group the hashes that it has, and those that are wanted."""
    hashes = st.integers(0, 2**64 - 1) | st.integers(0, 40)
    few = st.lists(hashes, max_size=20)
    return draw(st.lists(st.tuples(few, few), max_size=8))


@needs_compiled
@given(groups())
def test_hashes_are_found_in_their_group(found: list[tuple[list[int], list[int]]]) -> None:
    rows = matched(found)
    if any(len(set(own)) < len(own) for own, _ in found):
        assert rows is None
        return
    expected, first = [], 0
    for own, wanted in found:
        expected += [first + own.index(one) if one in own else -1 for one in wanted]
        first += len(own)
    assert rows == expected


ranked = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "q3"]), ids, st.sampled_from("01236")), max_size=40
)


@needs_compiled
@given(ranked, st.lists(st.tuples(st.sampled_from(["q1", "q2", "q4"]), ids), max_size=20))
@example([("q1", "é", "1"), ("q1", "z", "1"), ("q1", "zz", "1")], [("q1", "z")])
def test_hits_have_the_ranks_that_arrays_give_them(
    rows: list[tuple[str, str, str]], judged: list[tuple[str, str]]
) -> None:
    """Rankings in any order, full of ties; few ids, so that many are judged."""
    run: dict[str, dict[str, float]] = {"q1": {"only": 1.0}}
    for query, doc, score in rows:
        run.setdefault(query, {})[doc] = float(score)
    grades: dict[str, dict[str, int]] = {"q1": {"only": 1}}
    for at, (query, doc) in enumerate(judged):
        grades.setdefault(query, {})[doc] = at % 4
    for query, doc, _ in rows[::2]:
        grades.setdefault(query, {})[doc] = 2
    qrels = load_qrels(grades)
    tables = [judge(qrels, run)]
    with pytest.MonkeyPatch.context() as patch:
        without_compiled(patch)
        tables.append(judge(qrels, run))
    fast, slow = (
        [getattr(table, name).tolist() for name in ("query", "rank", "grade", "tied", "top_score")]
        for table in tables
    )
    assert fast == slow


@needs_compiled
@pytest.mark.parametrize("size", [1, 7, 8, 9, 16, 17, 100, 1_000])
def test_rows_of_every_number_are_sorted(size: int) -> None:
    """Against a plain sort: scores in random order, of which every third is tied."""
    rng = np.random.default_rng(size)
    ranking = {f"d{n}": float(rng.integers(0, max(size // 3, 1))) for n in rng.permutation(size)}
    table = judge(load_qrels({"q": dict.fromkeys(ranking, 1)}), {"q": ranking})
    assert table.rank.tolist() == list(range(1, size + 1))
    order = sorted(ranking, key=lambda doc: (ranking[doc], doc), reverse=True)
    for rank, doc in enumerate(order, 1):
        alone = judge(
            load_qrels({"q": {doc: 1, **dict.fromkeys(map(str, range(size)), 0)}}), {"q": ranking}
        )
        assert alone.rank.tolist() == [rank]


@needs_compiled
def test_a_document_judged_twice_is_left_to_arrays(tmp_path: Path) -> None:
    """As where two spans of it are judged."""
    qrels = load_qrels({"q": {"a": 1, "b": 2}})
    twice = replace(qrels, docs=("a", "a"), spans={0: ((0, 5),), 1: ((5, 9),)})
    path = tmp_path / "run"
    path.write_text("q 0 b 1 2.0 t\nq 0 a 2 1.0 t\n")
    found = judge(twice, path)
    assert (found.rank.tolist(), found.grade.tolist()) == ([2, 2], [2, 1])


def matched(found: list[tuple[list[int], list[int]]]) -> list[int] | None:
    def joined(at: int) -> tuple[WordArray, IntArray]:
        parts = [pair[at] for pair in found]
        sizes = np.array([len(part) for part in parts], dtype=np.int64)
        return np.array([one for part in parts for one in part], dtype=np.uint64), np.append(
            np.int64(0), np.cumsum(sizes)
        )

    rows = kernels.match_groups(*joined(0), *joined(1))
    return None if rows is None else rows.tolist()


@needs_compiled
@pytest.mark.parametrize("count", [4_096, 4_097, 70_000])
def test_large_groups_have_room(count: int) -> None:
    own = (np.arange(count, dtype=np.uint64) * np.uint64(11400714819323198485)).tolist()
    assert matched([([1], [1]), (own, own[::-1]), ([], [1])]) == [
        0, *range(count, 0, -1), -1
    ]  # fmt: skip


@needs_compiled
def test_narrower_numbers_are_widened() -> None:
    """As numpy counts on machines of 32 bits."""
    hashes = np.array([5, 6, 7], dtype=np.uint64)
    bounds: Any = np.array([0, 2, 3], dtype=np.int32)
    wanted_bounds: Any = np.array([0, 1, 2], dtype=np.int32)
    found = kernels.match_groups(hashes, bounds, np.array([6, 7], dtype=np.uint32), wanted_bounds)
    assert found is not None
    assert found.tolist() == [1, 2]


def test_without_a_library_nothing_is_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiled.library.cache_clear()
    try:
        for content in (None, b"", b"not a library"):
            place = tmp_path / "_kernels.so"
            if content is not None:
                place.write_bytes(content)
            monkeypatch.setattr(compiled, "LIBRARY", place)
            assert compiled.library() is None
            assert kernels.cut_lines(Text(b"q 0 d 1 2 t\n")) is None
            compiled.library.cache_clear()
    finally:
        compiled.library.cache_clear()


@needs_compiled
def test_a_library_of_another_source_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "kernels.c"
    changed.write_bytes(compiled.SOURCE.read_bytes() + b"\n")
    compiled.library.cache_clear()
    monkeypatch.setattr(compiled, "SOURCE", changed)
    assert compiled.library() is None
    compiled.library.cache_clear()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_source_compiles_without_a_warning(tmp_path: Path) -> None:
    strict = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
    command = ["cc", *strict, "-O2", "-c", "-o", str(tmp_path / "kernels.o"), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", ["", "  ", '"', "no-such-compiler", "false"])
def test_without_a_compiler_building_goes_on(compiler: str, tmp_path: Path) -> None:
    """``CC`` may be anything; nothing of an older library stays, and nobody is told a stack."""
    build = Path(__file__).parents[3] / "hatch_build.py"
    copy = tmp_path / "hatch_build.py"
    copy.write_text(build.read_text("utf-8"), "utf-8")
    folder = tmp_path / "src" / "assay" / "compiled"
    folder.mkdir(parents=True)
    (folder / "kernels.c").write_bytes(SOURCE.read_bytes())
    (folder / "_kernels.so").write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, str(copy)],
        env={"PATH": "/usr/bin:/bin", "CC": compiler},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    compiled = compiler == "" and shutil.which("cc", path="/usr/bin:/bin") is not None
    assert done.returncode == (0 if compiled else 1)
    left = {path.name for path in folder.iterdir()}
    assert left == ({"kernels.c", "_kernels.so"} if compiled else {"kernels.c"})
