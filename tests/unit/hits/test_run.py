"""Is a run the same in whatever form it comes, and does trec_eval agree on what it is worth?"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pytest
import pytrec_eval
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from assay.errors import AssayError, FormatError
from assay.evaluation.score import score
from assay.evaluation.scores import Scores
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge
from assay.hits.trec_lines import read_run_lines
from assay.model.judgments import Qrels

from .conftest import make_careful, make_stream
from .tables import assert_same, contents

Run: TypeAlias = dict[str, dict[str, float]]
Grades: TypeAlias = dict[str, dict[str, int]]
Row: TypeAlias = tuple[str, str, float]

QUERIES = ["1", "2", "10", "q", "q\u00a0x", "é"]
DOCS = ["a", "b", "B", "aa", "a-1", "9", "10", "é", "\u2028z", "\U0001f600", "doc-000000001", "~"]
# Few values, so that most of them tie; all of them are the same in 32 bits.
SCORES = [0.0, -0.0, 0.5, 1.0, 1.5, -2.25, 2.0**35, 2.0**-30, 16777216.0]

# More of them, seeded anew: ASSAY_TEST_EXAMPLES=2000
EXAMPLES = int(os.environ.get("ASSAY_TEST_EXAMPLES", "30"))

QUICK = settings(
    deadline=None,
    max_examples=EXAMPLES,
    derandomize="ASSAY_TEST_EXAMPLES" not in os.environ,
    phases=[Phase.explicit, Phase.generate],  # examples are small as they are
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

rankings = st.dictionaries(st.sampled_from(DOCS), st.sampled_from(SCORES), min_size=1)
runs = st.dictionaries(st.sampled_from(QUERIES), rankings, min_size=1)
judgments = st.dictionaries(
    st.sampled_from(QUERIES[:-1]),
    st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), min_size=1),
    min_size=1,
)


@st.composite
def files(draw: st.DrawFn) -> tuple[Grades, list[Row], str]:
    """Judgments, the rows of a run in some order, and a file that holds them."""
    grades, run = draw(judgments), draw(runs)
    shared = next(iter(grades))
    run.setdefault(shared, draw(rankings))
    rows = [(query, doc, value) for query, ranking in run.items() for doc, value in ranking.items()]
    if draw(st.booleans()):
        rows = draw(st.permutations(rows))
    plain = draw(st.booleans())
    lines = [" ".join(_cells(row)) if plain else draw(odd_lines(row)) for row in rows]
    ends = ["\n"] if plain else ["\n", "\r\n", "\n\n", " \n", "\n# 1 Q0 a 1 1 t\n", "\n \t\n"]
    text = "".join(line + draw(st.sampled_from(ends)) for line in lines)
    if not plain:
        text = draw(st.sampled_from(["", "\ufeff", "\n", "# x\n", "\ufeff#\n"])) + text
        text = text.rstrip("\n") if draw(st.booleans()) else text
    return grades, rows, text


def _cells(row: Row) -> list[str]:
    return [row[0], "Q0", row[1], "1", repr(row[2]), "t"]


@st.composite
def odd_lines(draw: st.DrawFn, row: Row) -> str:
    blank = st.sampled_from([" ", "\t", "  ", " \t ", "\x0b", "\r"])
    cells = _cells(row)
    forms = [f"{row[2]!r}", f"{row[2]:.30f}", f"{row[2]:+.20e}", f"{row[2]:.17G}"]
    cells[4] = draw(st.sampled_from(forms))
    cells[1], cells[3] = draw(st.sampled_from(["Q0", "#", "é"])), draw(st.sampled_from(["1", "x"]))
    before = draw(st.sampled_from(["", " ", "\t"]))
    return before + "".join(cell + draw(blank) for cell in cells[:-1]) + cells[-1]


@contextmanager
def line_by_line() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        make_careful(patch)
        yield


@contextmanager
def streaming(chunk: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        make_stream(patch, chunk)
        yield


def forms(rows: list[Row]) -> Iterator[Any]:
    """The rows in every form but a file's."""
    run: Run = {}
    for query, doc, value in rows:
        run.setdefault(query, {})[doc] = value
    yield run
    columns = {"query_id": [r[0] for r in rows], "doc_id": [r[1] for r in rows]}
    values = [r[2] for r in rows]
    yield pl.DataFrame(columns | {"score": values})
    yield pl.DataFrame(columns | {"score": values}).lazy()
    yield pd.DataFrame(columns | {"score": values})
    yield pd.DataFrame(columns | {"score": values}).astype({"query_id": "category"})
    yield (*columns.values(), values)
    yield (*map(np.array, columns.values()), np.array(values, dtype=np.float32))


@pytest.mark.slow
@QUICK
@given(case=files(), chunk=st.integers(1, 300), float32=st.booleans())
def test_every_form_gives_the_same_table(
    case: tuple[Grades, list[Row], str], chunk: int, float32: bool, tmp_path: Path
) -> None:
    grades, rows, text = case
    qrels, options = load_qrels(grades), RunOptions(float32=float32)
    path = tmp_path / "a.run"
    path.write_text(text, newline="")
    with line_by_line():
        expected = judge(qrels, path, options)
    with streaming(chunk):
        assert_same(judge(qrels, path, options), expected)
    with streaming(1 << 20):
        assert_same(judge(qrels, path, options), expected)
    for form in forms(rows):
        assert_same(judge(qrels, form, options), expected)


@pytest.mark.slow
@QUICK
@given(case=files(), match=st.sampled_from(["chunk", "doc"]))
def test_every_form_gives_the_same_table_as_lists(
    case: tuple[Grades, list[Row], str], match: str, tmp_path: Path
) -> None:
    """By document, with ids that have no chunks, it is the same as by chunk."""
    grades, rows, text = case
    qrels, options = load_qrels(grades), RunOptions(match=match)  # type: ignore[arg-type]
    path = tmp_path / "a.run"
    path.write_text(text, newline="")
    with line_by_line():
        expected = judge(qrels, path)
    assert_same(judge(qrels, path, options), expected)
    for form in forms(rows):
        assert_same(judge(qrels, form, options), expected)


@QUICK
@given(case=files())
def test_ranks_are_those_of_a_plain_sort(
    case: tuple[Grades, list[Row], str], tmp_path: Path
) -> None:
    grades, rows, text = case
    path = tmp_path / "a.run"
    path.write_text(text, newline="")
    run: Run = {}
    for query, doc, value in rows:
        run.setdefault(query, {})[doc] = value
    found = []
    for at, (query, judged) in enumerate(grades.items()):
        ranking = run.get(query, {})
        order = sorted(ranking, key=lambda doc: (ranking[doc], doc.encode()), reverse=True)
        found += [[at, rank, judged[doc]] for rank, doc in enumerate(order, 1) if doc in judged]
    table = judge(load_qrels(grades), path)
    assert np.stack((table.query, table.rank, table.grade), axis=1).tolist() == found


MEASURES = {
    "map": "MAP",
    "recip_rank": "MRR",
    "P_5": "P@5",
    "recall_5": "Recall@5",
    "ndcg": "nDCG(gain=linear)",
    "ndcg_cut_5": "nDCG(gain=linear)@5",
    "bpref": "bpref",
    "Rprec": "Rprec",
    "infAP": "infAP",
    "success_5": "Success@5",
}


def assert_trec_eval_agrees(grades: Grades, run: Run, scores: Scores) -> None:
    """Every measure of every query; trec_eval leaves out queries that the run lacks.

    Nor is it asked for queries with negative grades only: it then reads memory that is not its own
    and may never come back.
    """
    sound = {query: judged for query, judged in grades.items() if max(judged.values()) >= 0}
    theirs = pytrec_eval.RelevanceEvaluator(sound, set(MEASURES)).evaluate(run) if sound else {}
    for name, form in MEASURES.items():
        values = scores.per_query(form)
        for query in grades:
            expected = theirs[query][name] if query in theirs else 0.0
            ours = values[query]
            assert ours is not None
            assert math.isclose(ours, expected, rel_tol=0, abs_tol=1e-9), (name, query)


@pytest.mark.slow
@QUICK
@given(case=files(), chunk=st.integers(20, 300))
def test_trec_eval_agrees(case: tuple[Grades, list[Row], str], chunk: int, tmp_path: Path) -> None:
    grades, rows, text = case
    path = tmp_path / "a.run"
    path.write_text(text, newline="")
    run: Run = {}
    for query, doc, value in rows:
        run.setdefault(query, {})[doc] = value
    with streaming(chunk):
        scores = score(grades, path, list(MEASURES.values()), undefined="zero")

    assert_trec_eval_agrees(grades, run, scores)


# The reader of large files against the careful one

TOKENS = st.one_of(
    st.text("0123456789+-.eE_ xdinfatyNI,１٣\u00a0", min_size=1, max_size=12),
    st.floats(allow_nan=False).map(repr),
    st.integers(-(10**40), 10**40).map(str),
    st.tuples(st.integers(0, 10**25), st.integers(-400, 400)).map(lambda p: f"{p[0]}e{p[1]}"),
    st.tuples(st.integers(0, 10**17), st.integers(0, 9)).map(lambda p: f"{p[0] / 7:.{p[1]}f}"),
    st.decimals(allow_nan=True).map(str),
)
MANY = load_qrels({f"q{n}": {"d": 1} for n in range(6)})


def read_both_ways(path: Path, content: bytes, qrels: Qrels) -> None:
    """A table that is the same to the last bit, or a refusal that says the same."""
    path.write_bytes(content)
    outcomes: list[tuple[object, bytes]] = []
    for reading in (line_by_line(), streaming(1 << 20), streaming(30)):
        with reading:
            try:
                table = judge(qrels, path)
                outcomes.append((contents(table), table.top_score.tobytes()))
            except AssayError as refusal:
                outcomes.append((str(refusal), b""))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.slow
@settings(QUICK, max_examples=5 * EXAMPLES)
@given(tokens=st.lists(TOKENS, min_size=1, max_size=6))
def test_large_files_take_no_other_numbers(tokens: list[str], tmp_path: Path) -> None:
    """What is a number in a large file is one in a small file, and the same one."""
    lines = (f"q{n} Q0 d 1 {token} t\n" for n, token in enumerate(tokens))
    read_both_ways(tmp_path / "a", "".join(lines).encode(), MANY)


LINES = st.lists(
    st.sampled_from(["q0", "q1", "1", "é", "#", "\0", "\x01", "\r", '"', "\ufeff", "2.5"]),
    max_size=8,
).flatmap(lambda cells: st.sampled_from([" ", "\t", "  "]).map(lambda blank: blank.join(cells)))


@pytest.mark.slow
@settings(QUICK, max_examples=5 * EXAMPLES)
@given(lines=st.lists(LINES, min_size=1, max_size=4))
def test_large_files_take_no_other_lines(lines: list[str], tmp_path: Path) -> None:
    read_both_ways(tmp_path / "a", ("\n".join(lines) + "\n").encode(), MANY)


FLOATS = "1_0 0x10 infinity nan +5 .5 5. 1e5 1E+5 1d5 1,5 1__0 inf -inf +nan 1e999 ½ １ 1e 0b1 1f"


@pytest.mark.parametrize("token", [*FLOATS.split(), " 5", ""])
def test_tokens_that_parsers_disagree_about(token: str, tmp_path: Path) -> None:
    content = f"q0 Q0 d 1 {token} t\nq0 Q0 e 1 1.0 t\n".encode()
    read_both_ways(tmp_path / "a", content, MANY)
    taken = not isinstance(_careful(content), FormatError)
    assert taken == (token in {"+5", ".5", "5.", "1e5", "1E+5", " 5"})


def _careful(data: bytes) -> object:
    try:
        return read_run_lines(data, "a")
    except FormatError as refusal:
        return refusal


@pytest.mark.slow
def test_a_run_of_thousands_of_rows_is_the_same_in_every_form(tmp_path: Path) -> None:
    """Larger than what random tests make: thousands of ties, hits and borders of pieces."""
    rng = np.random.default_rng(3)
    rows: list[Row] = []
    for query in range(60):
        docs = rng.choice(3000, size=int(rng.integers(1, 400)), replace=False)
        values = np.round(rng.gamma(2, 2, size=len(docs)), 1)
        if query % 2:
            values = np.sort(values)[::-1]
        rows += [(f"q{query}", f"d{d}", float(v)) for d, v in zip(docs, values, strict=True)]
    grades = {
        f"q{query}": {
            f"d{d}": int(rng.integers(-1, 4)) for d in rng.choice(3000, 300, replace=False)
        }
        for query in range(0, 70, 2)
    }
    path = tmp_path / "a.run"
    path.write_text("".join(" ".join(_cells(row)) + "\n" for row in rows))
    qrels = load_qrels(grades)
    with line_by_line():
        expected = judge(qrels, path)
    shuffled = [rows[at] for at in rng.permutation(len(rows)).tolist()]
    for order in (rows, shuffled):
        path.write_text("".join(" ".join(_cells(row)) + "\n" for row in order))
        with streaming(1000):
            assert_same(judge(qrels, path), expected)
        for form in list(forms(order))[:-1]:  # the last rounds scores to 32 bits
            assert_same(judge(qrels, form), expected)
