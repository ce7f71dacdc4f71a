"""Do queries that are searched at once get the outcomes that each gets alone, digit by digit?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.app.evaluation_request import EvaluationRequest
from assay.app.workspace import Workspace
from assay.errors import SearchUnavailableError
from assay.index.dense import Vectors, write_dense
from assay.model.document import Chunk
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery, Judgment, SpeakerFilter, TestSet
from assay.search.request import SearchOptions
from tests.unit.search.corpus import filled

WORDS = ("headache", "migraine", "aspirin", "placebo", "asthma", "renal", "dose", "nausea", "trial")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    rng = np.random.default_rng(5)
    chunks = [
        Chunk(f"d{at}:0", f"d{at}", " ".join(rng.choice(WORDS, 20)), title=f"Report {at}")
        for at in range(60)
    ]
    with filled(tmp_path_factory.mktemp("many") / "home", chunks) as workspace:
        workspace.delete(["d3", "d4"])
        yield workspace


def golden() -> TestSet:
    texts = (
        "aspirin for migraine", "asthma trial", '"renal dose"', "migrane", "nausea -placebo",
        "dose of aspirin", "headache", "zzz", "placebo", "asthma trial",
    )  # fmt: skip
    speakers = (SpeakerFilter.ALL, SpeakerFilter.PATIENT)
    return TestSet("many", "v1", tuple(
        GoldenQuery(
            f"q{at}", text, relevant_docs=(Judgment(f"d{at}:0", 1),),
            speaker_filter=speakers[at == 8],
        )
        for at, text in enumerate(texts)
    ))  # fmt: skip


def outcomes(here: Workspace, concurrency: int, **options: object) -> dict[str, QueryOutcome]:
    request = EvaluationRequest(test_set=golden(), concurrency=concurrency, options=options)
    (run,) = here.carry_out(request).runs
    return {one.query_id: one for one in here.stored_run(run.info.run_id).outcomes}


@pytest.mark.parametrize("options", [{}, {"collapse": True}, {"boosts": False, "depth": 7}])
def test_a_batch_gives_the_same_outcomes(here: Workspace, options: dict[str, object]) -> None:
    alone, together = outcomes(here, 1, **options), outcomes(here, 4, **options)
    assert all(one.results for name, one in together.items() if name not in ("q7", "q8"))
    assert all(one.latency_ms is None and not one.timings_ms for one in together.values())
    assert all(one.latency_ms for one in alone.values())
    assert {
        name: replace(one, latency_ms=None, timings_ms={}) for name, one in alone.items()
    } == together


def test_a_run_that_was_cut_short_goes_on_in_batches(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.search.recorded import Recorder

    many, asked = Recorder.many, []

    def stopped(self: Recorder, queries: list[GoldenQuery]) -> list[QueryOutcome]:
        asked.append(len(queries))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return many(self, queries)

    monkeypatch.setattr(Recorder, "many", stopped)
    request = EvaluationRequest(test_set=golden(), concurrency=6, use_cache=False)
    with pytest.raises(KeyboardInterrupt):
        here.carry_out(replace(request, run_id="cut"))
    (run,) = here.carry_out(EvaluationRequest(resume="cut")).runs
    assert asked == [6, 4, 4]
    assert (run.reused, len(run.result.scores.queries)) == (6, 10)


def test_what_cannot_be_searched_at_once_is_searched_alone(here: Workspace) -> None:
    system = here.system(rerank=True)
    assert system.retrieve_many is None
    assert here.system().retrieve_many is not None


def test_a_query_that_fails_in_a_batch_fails_alone(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = here.searcher
    traced, first = searcher.traced, searcher._first

    def refused(search: object) -> object:
        if search.question.written == "headache":  # type: ignore[attr-defined]
            raise SearchUnavailableError("the disk is on fire")
        return first(search)  # type: ignore[arg-type]

    monkeypatch.setattr(searcher, "_first", refused)
    found = outcomes(here, 10, depth=9)
    assert [name for name, one in found.items() if one.error] == ["q6"]
    assert "on fire" in str(found["q6"].error)
    assert traced("asthma", SearchOptions(), searcher.snapshot).response.results


@pytest.mark.parametrize("rows", [7, 900])
def test_the_nearest_of_many_queries_are_those_of_each(tmp_path: Path, rows: int) -> None:
    rng = np.random.default_rng(rows)
    vectors = rng.standard_normal((rows, 24)).astype(np.float32)
    vectors[3] = vectors[5]  # ties come back together
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    write_dense(tmp_path, vectors, large=False)
    stored, queries = Vectors(tmp_path), vectors[:6].copy()
    for allowed in (None, rng.random(rows) < 0.9, np.zeros(rows, dtype=bool)):
        many = stored.nearest_many(queries, 5, allowed)
        for query, (found, scores) in zip(queries, many, strict=True):
            alone, expected = stored.nearest(query, 5, allowed)
            assert found.tolist() == alone.tolist()
            assert scores.tolist() == expected.tolist()
