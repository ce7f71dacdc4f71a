"""Are two configurations timed so that nothing else differs?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from assay import limits
from assay.app import comparison
from assay.app.comparison import AbRequest, Side, side
from assay.app.evaluation_request import EvaluationRequest
from assay.app.latency import timings
from assay.app.workspace import Workspace
from assay.errors import SearchUnavailableError, UsageError
from assay.model.runs import QueryOutcome
from assay.model.system import System
from assay.model.testset import GoldenQuery
from tests.unit.search.corpus import filled


@dataclass
class Clocked:
    """Systems that note who was asked what, and take ever longer."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    fails: str = ""

    def system(self, *, name: str) -> System:
        def retrieve(query: GoldenQuery) -> QueryOutcome:
            self.asked.append((query.query_id, name))
            if query.query_id == self.fails:
                raise SearchUnavailableError("the disk is on fire")
            drift = float(len(self.asked))  # the machine gets slower and slower
            return QueryOutcome(query.query_id, latency_ms=drift + (5.0 if name == "b" else 0.0))

        return System(retrieve, {})


def measured(clocked: Clocked, count: int, repeats: int = 3) -> Any:
    queries = [GoldenQuery(f"q{at}", "what") for at in range(count)]
    sides = clocked.system(name="a"), clocked.system(name="b")
    return timings(sides, queries, repeats=repeats, seed=1)


def test_both_sides_are_asked_in_turn_and_neither_always_first() -> None:
    clocked = Clocked()
    measured(clocked, 4)
    pairs = [clocked.asked[at : at + 2] for at in range(0, len(clocked.asked), 2)]
    assert all(one[0] == other[0] and one[1] != other[1] for one, other in pairs)
    first = Counter(one[1] for one, _ in pairs)
    assert first == {"a": 8, "b": 8}
    firsts: dict[str, Counter[str]] = {query: Counter() for query in ("q0", "q1")}
    for one, _ in pairs:
        if one[0] in firsts:
            firsts[one[0]][one[1]] += 1
    assert all(count == {"a": 2, "b": 2} for count in firsts.values())


def test_the_first_pass_warms_up_and_a_drift_is_not_a_difference() -> None:
    from assay.evaluation.latency import latency_together

    found = measured(Clocked(), 10)
    assert found.repeats == 3
    assert all(len(passes) == 3 for passes in found.pairs.values())
    change = latency_together(found)
    assert change.n == 10
    assert change.difference.mean == pytest.approx(5.0, abs=0.5)


def test_a_query_that_fails_is_left_out() -> None:
    found = measured(Clocked(fails="q1"), 3)
    assert list(found.pairs) == ["q0", "q2"]


def test_of_many_queries_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_TIMED_QUERIES", 5)
    found = measured(Clocked(), 50, repeats=1)
    assert len(found.pairs) == 5
    assert list(found.pairs) == list(measured(Clocked(), 50, repeats=1).pairs)


# Of a workspace


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Workspace]:
    with filled(tmp_path / "home") as workspace:
        yield workspace


@pytest.fixture
def golden(here: Workspace, tmp_path: Path) -> str:
    chunks = here.search("aspirin", k=3, floor=False).results
    queries = [
        {
            "query_id": f"q{at}",
            "query_text": " ".join(hit.chunk.text.split()[:4]),
            "relevant_docs": [{"doc_id": hit.chunk.chunk_id, "grade": 1}],
        }
        for at, hit in enumerate(chunks)
    ]
    path = tmp_path / "golden.json"
    path.write_text(json.dumps({"name": "golden", "version": "v1", "queries": queries}))
    return str(path)


Sides = Callable[..., tuple[Side, Side]]


@pytest.mark.req("E8")
def test_configurations_are_measured_together_and_runs_are_not(
    here: Workspace, golden: str
) -> None:
    sides = (side(here, "components=bm25", golden), side(here, "fusion_method=rrf", golden))
    request = AbRequest(sides[0].run_id, sides[1].run_id)
    usual = comparison.ab(here, request, sides=sides).result.latency
    assert (usual.repeats, usual.n) == (3, 3)
    found = comparison.ab(here, replace(request, latency_repeats=2)).result.latency
    assert (found.repeats, found.n) == (2, 3)
    assert found.interval.defined
    assert found.verdict is not None
    for repeats, chosen in (
        (None, None),
        (0, sides),
        (None, (sides[0], Side(sides[1].run_id, "latest"))),
    ):
        asked = replace(request, latency_repeats=repeats)
        apart = comparison.ab(here, asked, sides=chosen).result.latency
        assert (apart.repeats, apart.verdict, apart.interval.defined) == (None, None, False)
        assert apart.n == 3
        assert "not measured together" in apart.remark


def test_only_what_our_own_search_made_can_be_timed(
    here: Workspace, golden: str, tmp_path: Path
) -> None:
    ours = side(here, "rrf_k=60", golden).run_id
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"q0": ["x"]}))
    request = EvaluationRequest(test_sets=(golden,), run_file=str(file))
    other = here.carry_out(request).runs[0].info.run_id
    with pytest.raises(UsageError, match="was made by run file"):
        comparison.ab(here, AbRequest(ours, other, latency_repeats=1))
    with pytest.raises(UsageError, match="latency_repeats"):
        AbRequest(ours, ours, latency_repeats=101)


def test_a_run_asks_its_components_whatever_was_searched_before(
    here: Workspace, golden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists from memory would make the second of two runs look fast."""
    side(here, "rrf_k=60", golden)
    searcher = here.searcher
    monkeypatch.setattr(searcher._lists, "get", lambda key: pytest.fail(f"remembered: {key}"))
    side(here, "rrf_k=61", golden)
