"""Is the step named at which a document falls out of the results?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.app.workspace import Workspace
from assay.model.document import Chunk
from assay.render.search import absence
from assay.search.rerank import Rerankers
from assay.search.searcher import Searcher, Source
from assay.search.why import Verdict
from tests.unit.search.corpus import documents, filled
from tests.unit.search.faults import Rig, no_reranker

WORDS = ["dose", "rash", "heart", "pain", "fever", "cough", "sleep", "vision"]


def rows() -> list[Chunk]:
    """Forty chunks; the smaller the number, the more often they say dose."""
    return [
        Chunk(
            chunk_id=f"d{at:02}:chunk_0",
            doc_id=f"d{at:02}",
            text=" ".join(["dose"] * max(0, 30 - at) + [WORDS[at % 8]] * at + ["patient"]),
            title=f"Report {at}",
            section_label="results" if at % 2 else "methods",
            is_table=at == 25,
        )
        for at in range(40)
    ]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("why") / "home", rows()) as opened:
        yield opened


def test_a_document_that_is_not_in_the_index(here: Workspace) -> None:
    why = here.searcher.why("dose", "nowhere")
    assert why.verdict is Verdict.NOT_IN_INDEX
    assert "is not in this index" in why.sentence
    assert "assay index update" in absence(why)[-1]


def test_a_document_that_was_ingested_but_not_indexed(tmp_path: Path) -> None:
    with filled(tmp_path / "home", rows()[:5]) as opened:
        opened.store_documents(documents([Chunk("new:chunk_0", "new", "dose", "New")]))
        assert opened.searcher.why("dose", "new").verdict is Verdict.NOT_IN_INDEX
        opened.update_index()
        opened.searcher.refresh()
        assert opened.searcher.why("dose", "new").verdict is Verdict.IN_RESULTS


def test_a_document_that_the_filters_leave_out(here: Workspace) -> None:
    why = here.searcher.why("dose", "d01", filters={"section_label": "methods"})
    assert why.verdict is Verdict.FILTERED_OUT
    assert why.sentence.endswith("section_label is results, not methods")


@pytest.mark.parametrize("name", ["d38", "d38:chunk_0"])
def test_a_document_that_no_component_found(here: Workspace, name: str) -> None:
    why = here.searcher.why("dose", name, k=2, depth=3, components="bm25,dense")
    assert why.verdict is Verdict.NOT_FOUND
    assert why.components["bm25"].score is None  # it says nothing of a dose
    everything = here.components(here.generation())["dense"].search("dose", 100)
    rank = next(at for at, hit in enumerate(everything, 1) if hit.chunk_id == "d38:chunk_0")
    assert why.components["dense"].rank == rank
    assert why.components["dense"].score == everything[rank - 1].score
    assert "best 3" in why.sentence


def test_a_document_below_the_page(here: Workspace) -> None:
    why = here.searcher.why("dose", "d20", k=2)
    assert why.verdict is Verdict.BELOW_K
    results = here.search("dose", k=40).results
    hit = next(hit for hit in results if hit.chunk.doc_id == "d20")
    assert (why.rank, why.score) == (hit.rank, hit.score)
    assert why.needed == results[1].score
    assert {one.chunk_id for one in why.overtaken_by} <= {hit.chunk.chunk_id for hit in results[:2]}
    assert why.overtaken_by


def test_a_document_that_one_component_had_high(here: Workspace) -> None:
    query = "dose"
    best = here.components(here.generation())["dense"].search(query, 1)[0]
    why = here.searcher.why(query, best.chunk_id, k=1, query_intent="tabular")
    assert why.verdict is Verdict.LOST_IN_FUSION
    assert why.components["dense"].rank == 1
    (above,) = why.overtaken_by
    first = here.search(query, k=1, query_intent="tabular").results[0]
    assert (above.chunk_id, above.rank) == (first.chunk.chunk_id, 1)
    assert above.reason.startswith(("lifted ×3", "found by"))
    assert f"  above it: {first.chunk.chunk_id} at 1, {above.reason}" in absence(why)


def test_a_table_that_was_lifted_over_a_document_is_named(here: Workspace) -> None:
    """Only one chunk is a table, and fusion alone has others first."""
    plain = [hit.chunk.chunk_id for hit in here.search("dose", k=40).results]
    assert plain[0] != "d25:chunk_0"
    why = here.searcher.why("dose", plain[0], k=1, query_intent="tabular")
    assert [(one.chunk_id, one.rank) for one in why.overtaken_by] == [("d25:chunk_0", 1)]
    assert why.overtaken_by[0].reason.startswith("lifted ×3")


def test_a_document_that_is_there(here: Workspace) -> None:
    first = here.search("dose").results[0].chunk.doc_id
    why = here.searcher.why("dose", first)
    assert (why.verdict, why.rank) == (Verdict.IN_RESULTS, 1)
    json.dumps(why.to_dict(), allow_nan=False)


class Backwards:
    """A reranker that prefers what stood last."""

    model_id = "backwards"

    def score(self, query: str, passages: list[str], *, stop: object = None) -> NDArray[np.float32]:
        return np.arange(len(passages), dtype=np.float32)


def test_a_document_that_the_reranker_moved_down(here: Workspace) -> None:
    searcher = Searcher(
        Source(lambda: "1", here.snapshot), Rerankers(lambda name: Backwards(), lambda name: False)
    )
    first = here.search("dose").results[0].chunk.doc_id
    why = searcher.why("dose", first, k=3, rerank=True, reranker="backwards")
    searcher.close()
    assert why.verdict is Verdict.RERANKED_AWAY
    assert (why.rank_boosted, why.rank) == (1, 20)
    assert [one.rank for one in why.overtaken_by] == [1, 2, 3]
    assert "the reranker gave it" in why.overtaken_by[0].reason


def test_a_component_that_did_not_answer_is_named(here: Workspace) -> None:
    with Rig(here.snapshot(), no_reranker()) as rig:
        rig.parts["splade"].fault = "raise"
        rig.parts["dense"].fault = "partial"
        why = rig.searcher.why("dose", "d35", depth=2)
    assert why.verdict is Verdict.NOT_FOUND
    assert set(why.components) == {"bm25", "dense"}
    assert "this search was degraded; splade: RuntimeError: the disk is on fire" in why.sentence
    assert "dense: 1 of 3 shards did not answer" in why.sentence


# A query that is an identifier, contains one, or has conditions of its own


def trials() -> list[Chunk]:
    """Three trials, of which the first two speak of the same thing."""
    drugs = {"NCT01000001": "zelomab", "NCT01000002": "zelomab", "NCT01000003": "tavolimus"}
    sections = ("eligibility", "adverse_events", "results")
    return [
        Chunk(
            f"{doc_id}:chunk_{at}",
            doc_id,
            f"{section.replace('_', ' ')} of {drug} in {at + 2} patients with psoriasis",
            f"Trial of {drug}",
            section_label=section,
            metadata={"identifiers": (doc_id,)},
        )
        for doc_id, drug in drugs.items()
        for at, section in enumerate(sections)
    ]


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("studies") / "home", trials()) as opened:
        yield opened


@pytest.mark.parametrize("query", ["NCT01000001", "NCT01000001 adverse events"])
def test_a_query_that_names_another_document(studies: Workspace, query: str) -> None:
    why = studies.why(query, "NCT01000002")
    assert why.verdict is Verdict.NOT_NAMED
    assert why.sentence == (
        "the query names another document: NCT01000001 is document NCT01000001: "
        "only this was searched"
    )
    results = studies.search(query).results
    assert [(one.chunk_id, one.rank) for one in why.overtaken_by] == [
        (hit.chunk.chunk_id, hit.rank) for hit in results
    ]
    assert {one.reason for one in why.overtaken_by} == {"belongs to NCT01000001, as asked for"}


def test_the_document_that_a_query_names_says_so(studies: Workspace) -> None:
    why = studies.why("NCT01000001 adverse events", "NCT01000001")
    assert (why.verdict, why.rank) == (Verdict.IN_RESULTS, 1)
    assert why.sentence.endswith("; NCT01000001 is document NCT01000001: only this was searched")
    assert why.overtaken_by == ()
    behind = studies.why("NCT01000001 adverse events", "NCT01000001:chunk_2")
    first = studies.search("NCT01000001 adverse events").results[0]
    assert behind.verdict is Verdict.IN_RESULTS
    assert all(one.rank < behind.rank for one in behind.overtaken_by if behind.rank)
    assert first.chunk.chunk_id == "NCT01000001:chunk_1"


def test_a_passage_that_a_query_names_comes_first(studies: Workspace) -> None:
    why = studies.why("NCT01000002:chunk_2", "NCT01000002:chunk_2")
    assert why.rank == 1
    assert why.sentence.endswith("it comes first, and only its document was searched")
    other = studies.why("NCT01000002:chunk_2", "NCT01000001:chunk_2")
    assert other.verdict is Verdict.NOT_NAMED


def test_documents_that_a_caller_names_count_more_than_the_query(studies: Workspace) -> None:
    why = studies.why("NCT01000001 adverse events", "NCT01000002", doc_id="NCT01000002")
    assert why.verdict is Verdict.IN_RESULTS


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ('"tavolimus in" psoriasis', "only passages with “tavolimus in”"),
        ("psoriasis -zelomab", "only passages without zelomab"),
        ("NCT09999999", "no document here is NCT09999999 (trial)"),
    ],
)
def test_a_query_that_keeps_a_document_out(studies: Workspace, query: str, reason: str) -> None:
    why = studies.why(query, "NCT01000001")
    assert why.verdict is Verdict.KEPT_OUT
    assert why.sentence.startswith("the query itself keeps it out: ")
    assert reason in why.sentence


def test_what_is_withheld_is_not_said_to_be_there(studies: Workspace) -> None:
    query = "football stadium tickets"
    assert studies.search(query).withheld
    why = studies.why(query, studies.search(query, floor=False).results[0].chunk.chunk_id)
    assert why.verdict is Verdict.WITHHELD
    assert why.sentence.endswith("so nothing is shown (floor: off shows it at rank 1)")
    shown = studies.why(query, why.chunk_id or "", floor=False)
    assert shown.verdict is Verdict.IN_RESULTS
