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
from tests.unit.search.corpus import documents, filled
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


def test_a_coroutine_sees_a_new_generation_soon(tmp_path: Path) -> None:
    with filled(tmp_path / "home", batch(0)) as opened:
        searcher = opened.searcher
        before = searcher.generation
        opened.store_documents(documents(batch(1)))
        opened.update_index()
        searcher._looked -= 10
        searcher.search("heart failure")
        deadline = threading.Event()
        for _ in range(200):
            if searcher.generation != before:
                break
            deadline.wait(0.05)
        assert searcher.generation != before


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
