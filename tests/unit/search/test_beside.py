"""What stands side by side in a passage is found, whatever the other components make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from assay.model.document import Chunk, ChunkLabels
from assay.model.query import Hit
from assay.model.testset import QueryType
from assay.search.beside import FIRST_TEN, RULE, keep_words_together
from assay.search.boost import Boosted, apply_boosts, default_lexicon
from assay.search.boost.apply import Traits
from assay.search.fusion import fuse
from assay.search.request import SearchOptions
from assay.search.snapshot import Snapshot
from assay.search.texts import Texts
from tests.unit.search.corpus import filled

NOTE = "Erythema was seen in twelve persons, and a nodule in two of them."
RARE = "Of the others, one had erythema nodosum, for which a cause was not found."


def ranked(
    texts: Mapping[int, str], order: Sequence[int], by_words: Sequence[int], query: str
) -> Sequence[Boosted]:
    """The order after the step; ``order`` is that of a component which does not know the words."""

    def hits(keys: Sequence[int]) -> tuple[Hit, ...]:
        return tuple(Hit(key, f"c{key}", 1.0 - at / 100) for at, key in enumerate(keys))

    lists = {"bm25": hits(by_words), "dense": hits(order), "splade": hits(order)}
    options = SearchOptions(components=("bm25", "dense", "splade"))
    fused = fuse(lists, options, QueryType.PARAPHRASE)
    none: dict[int, Traits] = {}
    pool = apply_boosts(fused, none.__getitem__, (), default_lexicon())
    chunks = {key: Chunk(f"c{key}", f"d{key}", text) for key, text in texts.items()}
    labels = dict.fromkeys(texts, ChunkLabels("", "", False, " "))
    index = Snapshot(
        "g1",
        components={},
        chunks=lambda keys: {key: chunks[key] for key in keys},
        labels=lambda keys: labels,
        find=lambda name: (),
    )
    return keep_words_together(pool, query, lists["bm25"], Texts(index, labels))


TEXTS = {**dict.fromkeys(range(30), NOTE), 30: RARE}


def test_the_only_passage_with_the_words_side_by_side_comes_first() -> None:
    found = ranked(TEXTS, range(30), [30, 1, 2], "erythema nodosum")
    assert [one.fused.key for one in found[:2]] == [30, 1]
    (boost,) = found[0].boosts
    assert (boost.rule, boost.applied) == (RULE, True)
    assert boost.reason == "the first place is for what has the words side by side"
    assert found[0].fused.score * boost.factor == pytest.approx(found[0].score)
    assert found[0].score >= found[1].score


def test_of_a_query_that_asks_for_more_it_stays_in_the_first_ten() -> None:
    found = ranked(TEXTS, range(30), [1, 2, 30], "what is the cause of erythema nodosum")
    assert [one.fused.key for one in found].index(30) == FIRST_TEN - 1
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[FIRST_TEN - 1].boosts[0].reason == (
        "the first ten have what has the words side by side"
    )


@pytest.mark.parametrize(
    "query",
    [
        "erythema",  # a word alone
        "erythema persons",  # which no passage has side by side
        "erythema nodosum cause others person found",  # a description
    ],
)
def test_otherwise_nothing_moves(query: str) -> None:
    found = ranked(TEXTS, range(30), [1, 30, 2], query)
    assert all(not one.boosts for one in found)


def test_where_the_first_has_the_words_or_many_do_the_order_stays() -> None:
    first = ranked({**TEXTS, 1: RARE}, range(1, 30), [30, 1, 2], "erythema nodosum")
    assert first[0].fused.key == 1
    many = {**TEXTS, **dict.fromkeys((3, 4, 5), RARE)}
    kept = ranked(many, range(30), [30, 3, 4, 5, 1], "erythema nodosum")
    assert kept[0].fused.key != 30
    assert 30 in [one.fused.key for one in kept[:FIRST_TEN]]


@pytest.mark.parametrize(
    "query", ["erythema nodosum", "nodosum erythema", "sacral agenesis", "pyoderma gangrenosum"]
)
def test_nothing_is_never_said_of_words_that_stand_side_by_side(tmp_path: Path, query: str) -> None:
    """The documents mention each of them once, among exclusions of a trial of something else."""
    one, two = sorted(query.split(), reverse=query.startswith("nodosum"))
    rows = [
        Chunk(
            f"NCT{at:08}:chunk_{part}",
            f"NCT{at:08}",
            text,
            "Nivolumab in melanoma",
            section_label="eligibility",
        )
        for at in range(6)
        for part, text in enumerate(
            [
                f"Excluded were those with {query} of any grade." if at == 5 else "Adults only.",
                f"A history of {two} is allowed {at}.",
                f"A history of {one} is allowed {at}.",
                "Consent was given.",
            ]
        )
    ]
    with filled(tmp_path / "home", rows) as workspace:
        response = workspace.search(query)
        assert (response.nothing_about, response.withheld) == ("", 0)
        assert response.results[0].chunk.chunk_id == "NCT00000005:chunk_0"
