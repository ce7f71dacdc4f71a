"""Do the judgments that ship fit the corpus that ships, by id and by span?"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

import assay
from assay.ingest import read_corpus
from assay.ingest.profiles import profile_named
from assay.model.answers import Expect
from assay.model.document import Chunk, Document
from assay.model.ranking import Result
from assay.model.testset import GoldenQuery, Judgment, QueryType, SpeakerFilter, TestSet
from assay.testsets.load import load_test_set, shipped_folder
from assay.testsets.split import hold_out

CORPUS = Path(str(files("assay") / "data" / "corpus"))
PARTS = ("trials", "labels", "articles", "reviews.jsonl", "interviews")
MEASURES = ["nDCG@10", "Recall@10", "Recall@20", "MRR", "MAP", "Judged@10"]


@cache
def golden() -> TestSet:
    return load_test_set("test_set_v1", folder=shipped_folder())


@cache
def extras() -> TestSet:
    return load_test_set("test_set_v1_extras", folder=shipped_folder())


@cache
def corpus(size: int | None = None) -> dict[str, tuple[Document, tuple[Chunk, ...]]]:
    """The documents and their chunks: as they ship, or cut into pieces of so many tokens."""
    text = profile_named("text")
    profile = "auto" if size is None else replace(text, size=size, overlap=0, join=False)
    pairs = [pair for part in PARTS for pair in read_corpus(CORPUS / part, profile=profile)]
    return {document.doc_id: (document, chunks) for document, chunks in pairs}


@cache
def chunks() -> dict[str, Chunk]:
    return {chunk.chunk_id: chunk for _, cut in corpus().values() for chunk in cut}


def judgments(least: int = 0) -> list[tuple[GoldenQuery, Judgment]]:
    return [
        (query, judgment)
        for query in golden().queries
        for judgment in query.relevant_docs
        if judgment.grade >= least
    ]


def relevant(query: GoldenQuery) -> list[Chunk]:
    return [chunks()[judgment.id] for judgment in query.relevant_docs if judgment.grade > 0]


# The set


@pytest.mark.req("E4")
def test_fifty_queries_of_three_types() -> None:
    assert len(golden().queries) == 50
    assert Counter(query.query_type for query in golden().queries) == {
        QueryType.EXACT_TERM: 20,
        QueryType.PARAPHRASE: 15,
        QueryType.COMPLEX_CLINICAL: 15,
    }
    assert all(query.expect is Expect.EVIDENCE and query.judged for query in golden().queries)
    assert {judgment.grade for _, judgment in judgments()} == {0, 1, 2, 3}
    assert all(query.group for query in golden().queries)


@pytest.mark.req("E4")
def test_every_query_has_a_full_answer_and_a_near_miss() -> None:
    for query in golden().queries:
        grades = Counter(judgment.grade for judgment in query.relevant_docs)
        assert min(grades[3], grades[0]) > 0, query.query_id
        assert len(query.relevant_docs) - grades[0] <= 15, query.query_id


@pytest.mark.req("E13")
def test_the_held_out_part_is_the_draw_of_its_seed() -> None:
    held_out = golden().held_out
    assert held_out is not None
    assert hold_out(golden(), seed=held_out.seed).held_out == held_out
    types = Counter(golden().by_id[query_id].query_type for query_id in held_out.query_ids)
    assert sorted(types.values()) == [3, 3, 4]


def test_every_speaker_and_mode_is_asked_for() -> None:
    assert {query.speaker_filter for query in golden().queries} == set(SpeakerFilter)
    assert {str(query.ingestion_mode) for query in golden().queries} == {"None", "OFFLINE", "LIVE"}


def test_extras_stand_beside_the_fifty() -> None:
    assert Counter(query.expect for query in extras().queries) == {
        Expect.REFUSAL: 6,
        Expect.NOTHING: 4,
    }
    assert not extras().by_id.keys() & golden().by_id.keys()


# The judgments against the corpus


def test_every_judged_id_is_a_chunk_of_the_corpus() -> None:
    for query, judgment in judgments():
        assert judgment.id in chunks(), (query.query_id, judgment)
        assert judgment.owner in (None, chunks()[judgment.id].doc_id), (query.query_id, judgment)


def test_every_span_lies_in_its_chunk_and_is_made_of_whole_sentences() -> None:
    """A text that has moved by one character is noticed: the edges would fall into words."""
    for query, judgment in judgments():
        chunk = chunks()[judgment.id]
        text = corpus()[chunk.doc_id][0].text
        ((start, end),) = judgment.spans
        where = (query.query_id, judgment.id, text[start:end])
        assert any(low <= start < end <= high for low, high in chunk.spans), where
        assert start == 0 or re.search(r"\n$|[.!?:] $", text[:start]), where
        assert end == len(text) or re.match(r"\s", text[end:]), where
        assert text[end - 1] in ".!?" or text[end : end + 1] in ("\n", ""), where


def test_relevant_chunks_pass_the_filters_of_their_query() -> None:
    for query in golden().queries:
        for chunk in relevant(query):
            if query.speaker_filter is not SpeakerFilter.ALL:
                assert chunk.speaker_role.value == query.speaker_filter.value, query.query_id
            assert query.ingestion_mode in (None, chunk.ingestion_mode), query.query_id


@pytest.mark.req("K5")
def test_an_answer_can_hold_what_it_must_and_lack_what_it_must_not() -> None:
    """Each string stands in a relevant passage; each forbidden one only in other documents."""
    asked = [query for query in golden().queries if query.must_contain or query.forbidden]
    assert len(asked) >= 20
    for query in asked:
        texts = [chunk.text for chunk in relevant(query)]
        for wanted in query.must_contain:
            assert any(wanted in text for text in texts), (query.query_id, wanted)
        for unwanted in query.forbidden:
            assert not any(unwanted in text for text in texts), (query.query_id, unwanted)
            everywhere = (chunk.text for chunk in chunks().values())
            assert any(unwanted in text for text in everywhere), (query.query_id, unwanted)


# Ids and spans say the same


def rankings(seed: int) -> dict[str, list[Result]]:
    """Every chunk of the corpus in a random order, the same for ids and spans."""
    results = [
        Result(chunk.chunk_id, doc_id=chunk.doc_id, spans=chunk.spans)
        for chunk in chunks().values()
    ]
    shuffle = random.Random(seed).sample
    return {query.query_id: shuffle(results, len(results)) for query in golden().queries}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_figures_by_span_are_those_by_id(seed: int) -> None:
    run, qrels = rankings(seed), golden().qrels()
    by_id = assay.score(qrels, run, measures=MEASURES)
    by_span = assay.score(qrels, run, measures=MEASURES, match="span")
    for measure in MEASURES:
        assert by_id[measure] == pytest.approx(by_span[measure], abs=1e-12), measure


@pytest.mark.parametrize(("size", "share"), [(400, 0.0), (120, 0.01), (60, 0.04)])
def test_passages_are_found_again_in_chunks_of_another_size(size: int, share: float) -> None:
    """Half of the passage in one chunk is what span matching asks for."""
    lost = [
        (query.query_id, judgment.id)
        for query, judgment in judgments(least=1)
        if not _found_again(judgment, size)
    ]
    assert len(lost) <= share * len(judgments(least=1)), lost


def _found_again(judgment: Judgment, size: int) -> bool:
    ((start, end),) = judgment.spans
    _, cut = corpus(size)[chunks()[judgment.id].doc_id]
    covered = [
        sum(max(0, min(end, high) - max(start, low)) for low, high in chunk.spans) for chunk in cut
    ]
    return 2 * max(covered) >= end - start


def test_queries_stand_in_the_order_of_their_ids() -> None:
    ids = [query.query_id for query in golden().queries]
    assert all(before < after for before, after in pairwise(ids))
