"""Does a run with filters search only what passes them, and say so wherever it is shown?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.app.comparison import CompareRequest, compare
from assay.app.configurations import read_configuration, save_configuration
from assay.app.evaluation import evaluate
from assay.app.evaluation_request import EvaluationRequest
from assay.app.tuning import tune
from assay.app.workspace import Workspace
from assay.errors import UsageError
from assay.evaluation.record import Recorded
from assay.model.codec import decode, encode
from assay.model.testset import TestSet
from assay.search.request import SearchOptions, changed
from assay.search.run_config import options_from
from assay.testing.component import sample
from assay.testsets.load import parse_test_set
from tests.unit.search.corpus import filled

QUERIES = b"""
name: filtered
version: v1
queries:
  - query_id: q1
    query_text: heart failure adverse events
    relevant_docs: [{doc_id: "doc0:chunk_0", grade: 3}, {doc_id: "doc5:chunk_0", grade: 2}]
  - query_id: q2
    query_text: renal impairment dose
    speaker_filter: PATIENT
    relevant_docs: [{doc_id: "doc2:chunk_0", grade: 3}]
"""
METADATA = {row.chunk.chunk_id: row.chunk.metadata for row in sample()}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("filters") / "home") as opened:
        yield opened


def queries() -> TestSet:
    return parse_test_set(QUERIES).sound()


def run(here: Workspace, **options: Any) -> Recorded:
    (made,) = evaluate(here, EvaluationRequest(test_set=queries(), options=options)).runs
    return made


@pytest.mark.parametrize(
    "options",
    [
        {"filter": ["year>=2020", "phase=Phase 2"]},
        {"filter": {"year": (2020, None), "phase": ["PHASE2"]}},
    ],
)
def test_only_what_passes_is_found(here: Workspace, options: dict[str, Any]) -> None:
    made = run(here, **options)
    for outcome in made.result.outcomes:
        assert outcome.results
        for result in outcome.results:
            facts = METADATA[result.chunk_id]
            assert int(str(facts["year"])) >= 2020
            assert "PHASE2" in str(facts["phase"])
    speakers = {row.chunk.chunk_id: row.chunk.speaker_role.value for row in sample()}
    second = made.result.outcomes[1]
    assert {speakers[one.chunk_id] for one in second.results} == {"PATIENT"}


def test_they_are_kept_and_part_of_the_key(here: Workspace) -> None:
    plain, filtered = run(here), run(here, filter="year>=2020", section="results")
    assert "filter" not in plain.info.config
    assert filtered.info.config["filter"] == ["year>=2020"]
    assert filtered.info.config["section"] == ["results"]
    assert plain.info.cache_key != filtered.info.cache_key
    assert run(here, filter="year>=2020", section="results").cached
    assert not run(here, filter="year>=2021", section="results").cached
    assert filtered.info.filters == ("section=results", "year>=2020")
    (said,) = [one for one in filtered.result.warnings() if "filters" in one]
    assert said == (
        "searched with filters (section=results; year>=2020): "
        "what they leave out counts as not found"
    )
    assert not [one for one in plain.result.warnings() if "filters" in one]


def test_a_comparison_names_them_as_a_cause(here: Workspace) -> None:
    a, b = run(here).info.run_id, run(here, filter="year<2018", is_table=False).info.run_id
    found = compare(here, CompareRequest(a, b)).report
    causes = {one.key: (one.a, one.b) for one in found.differences}
    assert causes == {"filter": ("—", '["year<2018"]'), "is_table": ("—", "false")}


def test_a_stored_run_is_searched_again_in_the_same_way(here: Workspace) -> None:
    info = run(here, filter=["year>=2020", "phase!=PHASE3"], source="label").info
    options = options_from(info.config, here.searcher.defaults)
    wanted = changed(SearchOptions(), filter=["year>=2020", "phase!=PHASE3"], source="label")
    assert options.filters == wanted.filters


def test_a_job_keeps_them_as_people_write_them() -> None:
    request = EvaluationRequest(
        test_set=queries(), options={"filter": {"year": (2020, None)}, "is_table": True}
    )
    kept = encode(request)
    assert kept["options"] == {"filter": ["year=2020.."], "is_table": True}
    assert decode(EvaluationRequest, kept) == request


def test_a_field_that_no_document_has_is_refused_at_once(here: Workspace) -> None:
    with pytest.raises(UsageError, match="filter: no document has 'colour'"):
        run(here, filter="colour=red")


@pytest.mark.parametrize("name", ["speaker", "ingestion_mode", "doc_id", "interview_id"])
def test_what_belongs_to_single_queries_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not part of a configuration"):
        EvaluationRequest(test_set=queries(), options={name: "x"})


def test_another_engine_is_not_told_to_filter() -> None:
    with pytest.raises(UsageError, match="filter: another engine does not take these options"):
        EvaluationRequest(
            test_set=queries(), options={"filter": "year>2020"}, retriever="mine:search"
        )


def test_a_saved_configuration_carries_them(here: Workspace) -> None:
    options = changed(SearchOptions(), filter=["year>=2020", "phase=a\\|b|c"], is_table=False)
    path = save_configuration(here.layout, "recent", options)
    assert 'filter: ["year>=2020", "phase=a\\\\|b|c"]\n' in path.read_text(encoding="utf-8")
    read = changed(SearchOptions(), **read_configuration("recent.yaml", here.layout))
    assert read.filters == options.filters


def test_tuning_searches_with_them(here: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "filtered.yaml"
    path.write_bytes(QUERIES)
    options = {"filter": "year>=2015"}
    tuned = tune(here, str(path), step=0.3, options=options, holdout=False)
    assert tuned.tuning.evaluation.baseline == pytest.approx(
        run(here, **options).result.scores["nDCG@10"], abs=1e-12
    )
