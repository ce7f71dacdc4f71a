"""Does the searcher answer, remember, and move on with the index?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.workspace import Workspace, open_workspace
from assay.errors import EngineError, UsageError
from assay.model.arrays import BoolArray, IntArray
from assay.model.query import Filters
from assay.render.search import account
from assay.search.request import SearchOptions
from assay.testing.component import sample
from tests.unit.search.corpus import documents, filled

QUERY = "heart failure adverse events"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("search") / "home") as opened:
        yield opened


@pytest.mark.req("R1", "R3")
def test_every_result_accounts_for_its_score(here: Workspace) -> None:
    answer = here.search(QUERY, k=5)
    assert answer.components_used == ("bm25", "splade", "dense")
    assert not answer.degraded
    assert len(answer.results) == 5
    for hit in answer.results:
        shares = [share for share in hit.contributions.values() if share is not None]
        assert sum(shares) == pytest.approx(hit.fused, abs=1e-12)
        factor = next((boost.factor for boost in hit.boosts if boost.applied), 1.0)
        assert hit.boosted == pytest.approx(hit.fused * factor)
        assert hit.score == hit.boosted
        for name, rank in hit.ranks.items():
            assert (rank is None) == (hit.component_scores[name] is None)


def test_raw_scores_are_those_of_the_components(here: Workspace) -> None:
    parts = here.components(here.generation())
    for hit in here.search(QUERY, k=10).results:
        for name, component in parts.items():
            found = {one.chunk_id: one.score for one in component.search(QUERY, 100)}
            assert found.get(hit.chunk.chunk_id) == hit.component_scores[name]


@pytest.mark.req("R16")
def test_only_the_components_that_were_named_are_asked(here: Workspace) -> None:
    answer = here.search(QUERY, components=["bm25", "dense"])
    assert answer.components_used == ("bm25", "dense")
    assert set(answer.results[0].component_scores) == {"bm25", "dense"}


def test_pages_are_cut_of_one_pool(here: Workspace) -> None:
    whole = here.search(QUERY, k=12).results
    pages = [here.search(QUERY, k=4, offset=at).results for at in (0, 4, 8)]
    assert [hit for page in pages for hit in page] == list(whole)
    assert here.search(QUERY, k=4, offset=900).results == ()


def test_filters_hold_for_the_fused_list(here: Workspace) -> None:
    answer = here.search(QUERY, k=30, filters=Filters(section_label=("methods",)))
    assert {hit.chunk.section_label for hit in answer.results} == {"methods"}
    same = here.search(QUERY, k=30, filters={"section_label": "methods"})
    assert same.results == answer.results


def test_the_same_question_is_answered_from_memory(here: Workspace) -> None:
    first = here.search("migraine aura")
    again = here.search("  MIGRAINE   aura ")
    assert not first.cached
    assert here.search("migraine aura").cached
    assert [hit.chunk for hit in again.results] == [hit.chunk for hit in first.results]


def test_a_coroutine_gets_the_same_answer(here: Workspace) -> None:
    answer = asyncio.run(here.asearch(QUERY, k=7))
    assert answer.results == here.search(QUERY, k=7).results


def test_lists_are_fused_again_without_a_search(here: Workspace) -> None:
    prepared = here.searcher.prepare(QUERY)
    for changes in (
        {"fusion_method": "weighted", "weights": {"bm25": 0.3, "splade": 0.4, "dense": 0.3}},
        {"rrf_k": 1, "boosts": False},
        {"components": "splade"},
        {"k": 3, "query_intent": "tabular"},
    ):
        assert prepared.fuse_again(**changes).results == here.search(QUERY, **changes).results
    with pytest.raises(UsageError, match="need a new search"):
        prepared.fuse_again(depth=7)


@pytest.mark.req("R1")
def test_what_is_ingested_is_found_at_the_next_search(tmp_path: Path) -> None:
    rows = [row.chunk for row in sample()]
    with filled(tmp_path / "home", rows[:9]) as opened:
        before = opened.search("skin rash", k=30)
        opened.store_documents(documents(rows[9:]))
        opened.update_index()
        after = opened.search("skin rash", k=30)
    assert int(after.generation) > int(before.generation)
    assert {hit.chunk.doc_id for hit in after.results} > {
        hit.chunk.doc_id for hit in before.results
    }


def test_an_empty_index_answers_with_nothing_and_says_why(tmp_path: Path) -> None:
    with filled(tmp_path / "home", []) as opened:
        answer = opened.search("anything")
    assert answer.results == ()
    assert "empty" in answer.warnings[0]


def test_a_workspace_opens_by_its_folder(tmp_path: Path) -> None:
    with filled(tmp_path / "home"):
        pass
    with open_workspace(tmp_path / "home", dense_model="none", splade_model="none") as opened:
        answer = opened.search(QUERY)
    assert answer.components_used == ("bm25",)
    assert not answer.degraded


@pytest.mark.parametrize("query", ["renal impairment dose", "heart failure", "asthma dose"])
def test_the_terms_of_a_score_sum_to_it(here: Workspace, query: str) -> None:
    answer = here.search(query, k=30, terms=True)
    assert answer.results
    for hit in answer.results:
        scored = {name for name in ("bm25", "splade") if hit.ranks[name]}
        assert hit.terms.keys() == scored
        for name, terms in hit.terms.items():
            assert sum(terms.values()) == pytest.approx(hit.component_scores[name], rel=1e-4)
            assert [*terms.values()] == sorted(terms.values(), reverse=True)
    assert not here.search(query, k=30).results[0].terms


def test_the_account_of_a_score_names_its_terms(here: Workspace) -> None:
    first = here.search("renal impairment dose", components="bm25", terms=True).results[0]
    (line,) = (line for line in account(first) if line.startswith("bm25 "))
    assert all(f"{stem} " in line for stem in ("renal", "impair", "dose"))


class _Silent:
    """The words of an index that cannot be asked, as where the nodes of a cluster are away."""

    def frequency(self, word: str) -> int:
        raise EngineError("no node of OpenSearch can be reached")

    def among(self, word: str, keys: IntArray) -> BoolArray:
        raise EngineError("no node of OpenSearch can be reached")


def test_where_the_words_of_the_index_cannot_be_asked_candidates_tell_the_subject(
    here: Workspace,
) -> None:
    snapshot, options = here.searcher.snapshot, SearchOptions(k=20)
    alone = here.searcher.traced(QUERY, options, replace(snapshot, words=_Silent())).response
    candidates = here.searcher.traced(QUERY, options, replace(snapshot, words=None)).response
    assert alone.results == candidates.results
    assert len(alone.results) == 20
    assert not alone.degraded
