"""Are ranks in plain dicts right, ties included, and is every bad score or id refused?"""

from __future__ import annotations

from collections import OrderedDict, UserDict, defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from assay.errors import AssayError, FormatError, InputError
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge

from .tables import ranks

pytestmark = pytest.mark.usefixtures("loops")

QRELS = load_qrels({"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1}})
BOTH: list[dict[str, Any]] = [{}, {"match": "doc"}, {"ties": "given"}]


def refusal(run: Any, kind: type[AssayError] = InputError, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        judge(QRELS, run, RunOptions(**options))
    assert caught.type is kind
    return str(caught.value)


@pytest.mark.parametrize(
    "run",
    [
        {"q1": {"a": 3, "z": 2, "c": 1}, "q2": {"x": 1}},
        {"q2": {"x": 1}, "q1": {"c": 1, "z": 2, "a": 3}},
        OrderedDict(q1=UserDict({"z": 2.0, "a": 3.0, "c": 1.0}), q2={"x": 1}),
        MappingProxyType({"q1": MappingProxyType({"z": 2, "a": 3, "c": 1}), "q2": {"x": 1}}),
        {"q1": {"a": np.float32(3), "z": np.int16(2), "c": np.float64(1)}, "q2": {"x": 1}},
        {"q1": {"a": 2**70, "z": 2**64, "c": -(2**70)}, "q2": {"x": 1}},
        {"q1": {"a": 1e308, "z": 5e-324, "c": -1e308}, "q2": {"x": 1}},
    ],
)
def test_forms(run: Any) -> None:
    table = judge(QRELS, run)
    assert ranks(table, "q1") == [(1, 1), (3, 2)]
    assert ranks(table, "q2") == [(1, 1)]


def test_nothing_is_changed() -> None:
    run: Any = defaultdict(dict, {"q1": {"c": 1.0, "a": 3.0}})
    judge(QRELS, run, RunOptions(float32=True, depth=1))
    assert run == {"q1": {"c": 1.0, "a": 3.0}}
    assert list(run["q1"]) == ["c", "a"]


def test_queries_without_results() -> None:
    runs: list[Any] = [{"q1": {}}, {"q1": {}, "q2": {}}, {"q1": [], "q2": []}]
    for run in runs:
        table = judge(QRELS, run)
        assert table.retrieved.tolist() == [0, 0]
        assert table.top_score.tolist() == [-np.inf, -np.inf]
        assert table.missing.tolist() == [False, "q2" not in run]
    table = judge(QRELS, {"q1": {}, "q2": {"x": 1.0}, "q3": {"x": 5.0}})
    assert ranks(table, "q2") == [(1, 1)]
    assert table.top_score.tolist() == [-np.inf, 1.0]
    assert table.extra_queries == 1


def test_an_empty_run_and_a_run_of_strangers() -> None:
    assert refusal({}) == "the run is empty (check that it is the right one)"
    assert refusal({"q9": {"a": 1}}).startswith("no query of the run is in the qrels")
    assert refusal({"q9": []}).startswith("no query of the run is in the qrels")


def test_ties_go_to_the_higher_id() -> None:
    run = {"q1": {"a": 1.0, "z": 1.0, "c": 1.0, "y": 2.0, "b": 0.5}, "q2": {"x": 1.0}}
    table = judge(QRELS, run)
    assert ranks(table, "q1") == [(3, 2), (4, 1), (5, 0)]
    assert table.tied.tolist() == [2, 0]
    as_given = judge(QRELS, run, RunOptions(ties="given"))  # type: ignore[arg-type]
    assert ranks(as_given, "q1") == [(2, 1), (4, 2), (5, 0)]


def test_minus_zero_ties_with_zero() -> None:
    table = judge(QRELS, {"q1": {"a": -0.0, "b": 0.0, "c": 0}})
    assert ranks(table, "q1") == [(1, 2), (2, 0), (3, 1)]


def test_scores_in_32_bits() -> None:
    run = {"q1": {"a": 1.00000001, "z": 1.0, "y": 16777217, "c": 16777216.0}}
    assert ranks(judge(QRELS, run), "q1") == [(2, 2), (3, 1)]
    for options in BOTH[:2]:
        table = judge(QRELS, run, RunOptions(float32=True, **options))
        assert ranks(table, "q1") == [(2, 2), (4, 1)]
        assert table.top_score[0] == 16777216.0


@pytest.mark.parametrize("score", [1e308, -1e308, 3.5e38, 2**200])
def test_a_score_beyond_32_bits(score: float) -> None:
    run = {"q2": {}, "q1": {"b": 1.0, "a": score}}
    for options in BOTH:
        message = refusal(run, float32=True, **options)
        assert message.startswith("query 'q1', document 'a': the score ")
        assert "does not fit into 32 bits (without float32" in message


@pytest.mark.parametrize(
    ("score", "says"),
    [
        ("1.5", "the score '1.5' is not (str) a number"),
        ("nan", "the score 'nan' is not (str) a number"),
        (b"1.5", "the score b'1.5' is not (bytes) a number"),
        (True, "the score True is not (bool) a number"),
        (np.True_, "the score np.True_ is not (bool) a number"),
        (None, "the score None is not (NoneType) a number"),
        ([1.0], "the score [1.0] is not (list) a number"),
        (np.str_("1.5"), "the score np.str_('1.5') is not (str_) a number"),
        (Decimal("1.5"), "the score Decimal('1.5') is not (Decimal) a number"),
        (Fraction(1, 2), "the score Fraction(1, 2) is not (Fraction) a number"),
        (1j, "the score 1j is not (complex) a number"),
        (float("nan"), "the score nan is not a finite number"),
        (float("inf"), "the score inf is not a finite number"),
        (np.float32("-inf"), "the score np.float32(-inf) is not a finite number"),
        (10**400, "the score 1000000000000"),
        (10**5000, "the score with too many digits to show is not a finite number"),
    ],
    ids=[str(number) for number in range(16)],
)
def test_a_score_that_is_refused(score: Any, says: str) -> None:
    rankings: list[dict[str, Any]] = [{"b": score}]
    if not isinstance(score, (bool, np.bool_, Decimal, Fraction)):  # beside floats, they are floats
        rankings += [{"a": 1.0, "b": score}, {"b": score, "a": 1.0}]
    for ranking in rankings:
        for options in BOTH:
            message = refusal({"q2": {"x": 1.0}, "q1": ranking}, **options)
            assert message.startswith(f"query 'q1', document 'b': {says}")
            assert "scores are finite ints or floats: float(score)" in message


@pytest.mark.parametrize("doc", [1, None, b"a", ("a",), 1.5])
def test_a_document_id_that_is_no_text(doc: Any) -> None:
    for ranking in ({doc: 2.0, "a": 1.0}, {doc: 2.0}):
        for options in BOTH:
            message = refusal({"q1": ranking, "q2": {"x": 1.0}}, **options)
            assert message.startswith(f"query 'q1': the document id {doc!r} is a ")
            assert "ids are text, on both sides: str(id)" in message


def test_queries_that_nobody_judged_are_checked_too() -> None:
    for bad in ("1.5", float("nan"), None):
        message = refusal({"q1": {"a": 1.0}, "q9": {"d": bad}})
        assert message.startswith("query 'q9', document 'd': the score ")
    assert "the document id 5 is a int" in refusal({"q1": {"a": 1.0}, "q9": {5: 1.0}})
    run = {"q1": {"a": 1.0}, "q9": {"c": 1.0, "d": 1e300}}
    assert judge(QRELS, run).extra_queries == 1
    assert refusal(run, float32=True).startswith("query 'q9', document 'd': the score 1e+300 does")


@pytest.mark.parametrize("query", [1, None, b"q1", ("q1",)])
def test_a_query_id_that_is_no_text(query: Any) -> None:
    for ranking in ({"a": 1.0}, ["a"]):
        message = refusal({query: ranking, "q1": ranking})
        assert message.startswith(f"the query id {query!r} is a ")


@pytest.mark.parametrize(
    "ranking",
    [
        None,
        5,
        "a",
        b"a",
        {"a"},
        iter(["a"]),
        (doc for doc in "ab"),
        np.array(["a"]),
        {"a": 1}.keys(),
    ],
)
def test_rankings_that_are_neither_dicts_nor_lists(ranking: Any) -> None:
    message = refusal({"q1": ranking}, FormatError)
    assert message.startswith(
        "run: query 'q1': a run maps each query to {document: score}, or each"
    )
    assert f"this is a {type(ranking).__name__}" in message


def test_dicts_and_lists_in_one_run() -> None:
    for run in ({"q1": {"a": 1.0}, "q2": ["x"]}, {"q2": ["x"], "q1": {"a": 1.0}}):
        assert "a run maps each query to" in refusal(run, FormatError)


def test_a_mapping_that_lies_about_its_length() -> None:
    class Lying(Mapping[str, float]):
        def __getitem__(self, key: str) -> float:
            return 1.0

        def __iter__(self) -> Iterator[str]:
            return iter("ab")

        def __len__(self) -> int:
            return 5

    assert "its rankings are not plain mappings" in refusal({"q1": Lying()})


def test_ids_may_be_any_text() -> None:
    plain = ["", " ", "a b", "\u2028", "x" * 1000, "a\nb", "\n", "a\0"]
    for docs in (plain, [*plain, "\ud800"]):
        table = judge(load_qrels({"q": dict.fromkeys(docs, 1)}), {"q": dict.fromkeys(docs, 1.0)})
        assert table.rank.tolist() == list(range(1, len(docs) + 1))


def test_an_id_that_is_not_text_in_the_middle_matches_nothing() -> None:
    run: Any = {"q1": {"a": 3.0, 7: 2.0, "c": 1.0}, "q2": {"x": 1.0}}
    assert ranks(judge(QRELS, run), "q1") == [(1, 1), (3, 2)]


@pytest.mark.parametrize("others", [0, 10, 1000])
def test_few_and_many_results_per_judgment(others: int) -> None:
    """Compiled code reads dense rankings, and leaves sparse ones to dicts."""
    ranking = {f"z{n}": float(n) for n in range(others)}
    run = {"q1": {**ranking, "a": 0.5, "b": 0.5, "c": 2000.0}, "q2": {"x": 1.0, "y": 1.0}}
    table = judge(QRELS, run)
    above = max(others - 1, 0)
    assert ranks(table, "q1") == [(1, 2), (2 + above, 0), (3 + above, 1)]
    assert ranks(table, "q2") == [(2, 1)]
    assert table.top_score.tolist() == [2000.0, 1.0]
    assert table.tied.tolist() == [2, 1]


def test_thousands_of_queries() -> None:
    """Against a plain sort, for rankings in every order and with many ties."""
    rng = np.random.default_rng(5)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    expected = []
    for number in range(300):
        docs = [f"d{n}" for n in rng.permutation(40)[: rng.integers(0, 30)]]
        ranking = {doc: float(rng.integers(0, 6)) for doc in docs}
        if number % 3:
            ranking = dict(sorted(ranking.items(), key=lambda item: -item[1]))
        judged = {f"d{n}": int(rng.integers(0, 3)) for n in rng.permutation(40)[:5]}
        qrels[f"q{number}"] = judged
        run[f"q{number}"] = ranking
        in_order = sorted(ranking, key=lambda doc: (ranking[doc], doc), reverse=True)
        expected.append([(r, judged[d]) for r, d in enumerate(in_order, 1) if d in judged])
    table = judge(load_qrels(qrels), run)
    assert [ranks(table, query) for query in qrels] == expected
