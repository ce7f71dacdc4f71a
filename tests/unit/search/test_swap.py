"""Does each answer come from exactly one generation while the index changes under it?"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from assay import limits
from assay.errors import SearchUnavailableError
from assay.model.document import Chunk
from assay.search.response import SearchResponse
from assay.search.searcher import Searcher, Source
from tests.unit.search.corpus import documents, filled, workspace
from tests.unit.search.faults import Faulty, no_reranker

ROUNDS, EACH = 8, 4


def batch(number: int) -> list[Chunk]:
    return [
        Chunk(f"d{number}-{at}:chunk_0", f"d{number}-{at}", f"heart failure {number} {at}", "T")
        for at in range(EACH)
    ]


@pytest.mark.slow
@pytest.mark.req("R1")
def test_answers_during_swaps_are_whole_and_of_one_generation(tmp_path: Path) -> None:
    answers: list[SearchResponse] = []
    problems: list[BaseException] = []
    done = threading.Event()
    with filled(tmp_path / "home", batch(0)) as opened:
        searcher = opened.searcher
        first = int(searcher.generation)

        def ask(number: int) -> None:
            at = 0
            while not done.is_set():
                at += 1
                try:
                    answers.append(
                        searcher.search(
                            f"heart failure {number} {at}", k=1_000, component_timeout_ms=20_000
                        )
                    )
                except BaseException as problem:
                    problems.append(problem)
                    return

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for number in range(1, ROUNDS + 1):
            opened.store_documents(documents(batch(number)))
            opened.update_index()
            searcher.refresh()
        done.set()
        for thread in threads:
            thread.join(30)
        last = searcher.search("heart failure", k=1_000)
    assert problems == []
    assert len(last.results) == EACH * (ROUNDS + 1)
    for answer in [*answers, last]:
        batches = int(answer.generation) - first + 1
        found = {hit.chunk.doc_id for hit in answer.results}
        assert found == {f"d{one}-{at}" for one in range(batches) for at in range(EACH)}
        assert not answer.degraded
    assert len({answer.generation for answer in answers}) > 1


def test_a_generation_that_cannot_be_opened_leaves_the_old_one_in_place(tmp_path: Path) -> None:
    with filled(tmp_path / "home", batch(0)) as opened:
        searcher = opened.searcher
        opened.store_documents(documents(batch(1)))
        manifest = opened.update_index()
        damaged = next((opened.layout.index / manifest.parts[0].folder).iterdir())
        damaged.write_bytes(b"rubbish")
        assert not searcher.refresh()
        answer = searcher.search("heart failure", k=100)
    assert len(answer.results) == EACH
    assert "a newer generation cannot be opened" in answer.warnings[0]


def test_what_was_deleted_after_indexing_is_left_out_and_counted(tmp_path: Path) -> None:
    with filled(tmp_path / "home", batch(0)) as opened:
        opened.store.delete(["d0-2"])
        answer = opened.search("heart failure", k=100)
    assert "d0-2" not in {hit.chunk.doc_id for hit in answer.results}
    assert answer.warnings == ("left out, since deleted after this generation was indexed: 1",)


@pytest.mark.parametrize("coroutine", [False, True], ids=["thread", "coroutine"])
def test_what_another_process_deleted_or_replaced_is_gone_from_the_next_answer(
    tmp_path: Path, coroutine: bool
) -> None:
    def found(query: str) -> dict[str, str]:
        answer = (
            asyncio.run(searcher.asearch(query, k=100))
            if coroutine
            else searcher.search(query, k=100)
        )
        return {hit.chunk.doc_id: hit.chunk.text for hit in answer.results}

    with filled(tmp_path / "home", batch(0)) as opened, workspace(tmp_path / "home") as other:
        searcher = opened.searcher
        assert len(found("heart failure")) == EACH
        assert searcher.search("heart failure", k=100).cached
        other.delete(["d0-2"])
        assert set(found("heart failure")) == {"d0-0", "d0-1", "d0-3"}
        changed = Chunk("d0-1:chunk_0", "d0-1", "renal failure", "T")
        other.store_documents(documents([changed]))
        other.update_index()
        assert found("heart failure")["d0-1"] == "renal failure"
        assert set(found("renal")) >= {"d0-1"}


def test_a_question_reads_no_manifest_while_nothing_was_written(tmp_path: Path) -> None:
    with filled(tmp_path / "home", batch(0)) as opened:
        whole, looks = opened.snapshot(), []

        def newest() -> str:
            looks.append(1)
            return whole.generation

        stamps = [1]
        source = Source(newest, lambda: whole, lambda: stamps[0])
        searcher = Searcher(source, no_reranker(), defaults=opened.searcher.defaults)
        for _ in range(3):
            searcher.search("heart failure")
        assert not looks
        stamps[0] = 2
        for _ in range(3):
            searcher.search("heart failure")
        assert len(looks) == 1
        searcher.close()


def test_nothing_is_answered_from_memory_while_the_newest_generation_cannot_be_opened(
    tmp_path: Path,
) -> None:
    with filled(tmp_path / "home", batch(0)) as opened:
        searcher = opened.searcher
        assert len(searcher.search("heart failure", k=100).results) == EACH
        opened.store.delete(["d0-2"])
        manifest = opened.update_index(fresh=True)
        damaged = next((opened.layout.index / manifest.parts[0].folder).iterdir())
        damaged.write_bytes(b"rubbish")
        answer = searcher.search("heart failure", k=100)
    assert "d0-2" not in {hit.chunk.doc_id for hit in answer.results}
    assert "a newer generation cannot be opened" in answer.warnings[0]


def test_a_generation_that_went_away_while_nobody_asked(tmp_path: Path) -> None:
    """As on a cluster after two rebuilds: the first question is answered from the newest."""
    with filled(tmp_path / "home", batch(0)) as opened:
        whole = opened.snapshot()
        lost = {name: Faulty(one) for name, one in whole.components.items()}
        old = replace(whole, generation="old", components=lost)
        names = ["old"]
        snapshots = {"old": old, whole.generation: whole}
        source = Source(lambda: names[-1], lambda: snapshots[names[-1]])
        searcher = Searcher(source, no_reranker(), defaults=opened.searcher.defaults)
        for component in lost.values():
            component.fault = "raise"
        for _ in range(limits.BREAKER_FAILURES - 1):  # one more, and a component is left alone
            with pytest.raises(SearchUnavailableError):
                searcher.search("heart failure")
        names.append(whole.generation)
        answer = asyncio.run(searcher.asearch("heart failure"))
        assert (answer.generation, answer.component_errors) == (whole.generation, ())
        assert answer.results
        searcher.close()
