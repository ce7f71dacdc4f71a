"""Is BM25 what its formula says, whatever was deleted, and however rows were cut into blocks?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import compiled
from assay.analysis.query import BODY, FIELDS, FORMS, IDS, TITLE
from assay.analysis.words import analyse
from assay.errors import CorruptError
from assay.index import words
from assay.index.bm25 import K1, B, Bm25
from assay.index.postings import Floats, Postings
from assay.index.words import LENGTHS, Block, Wanted, open_words, write_words
from assay.index.writer import Encoders, update
from assay.model.document import Chunk, KeyedChunk
from assay.model.query import Filters
from tests.conftest import without_compiled
from tests.unit.index.helpers import Memory, opened

pytestmark = pytest.mark.usefixtures("loops")

VOCABULARY = ("heart", "renal", "dose", "kidney", "liver", "brain", "migraine", "asthma")
texts = st.lists(st.sampled_from(VOCABULARY), max_size=60).map(" ".join)
WORDS_ALONE = Encoders()


def chunk(key: int, text: str, title: str = "") -> KeyedChunk:
    return KeyedChunk(key, Chunk(f"c{key}", f"d{key}", text, title))


def index(folder: Path, *changes: Sequence[KeyedChunk], gone: Sequence[int] = ()) -> Bm25:
    memory = Memory()
    for rows in changes:
        memory.change(rows)
        update(folder, memory, WORDS_ALONE)
    if gone:
        memory.change((), gone)
        update(folder, memory, WORDS_ALONE)
    found = opened(folder).words
    assert found is not None
    return found


def expected(rows: Sequence[tuple[str, Sequence[str]]], asked: str) -> dict[str, float]:
    """BM25 of one field by the formula, with lengths as they are rounded."""
    average = sum(len(have) for _, have in rows) / len(rows)
    df = sum(asked in have for _, have in rows)
    idf = math.log(1 + (len(rows) - df + 0.5) / (df + 0.5))
    found = {}
    for name, have in rows:
        tf = have.count(asked)
        length = max(one for one in LENGTHS.tolist() if one <= len(have))
        if tf:
            value = tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))
            found[name] = idf * value
    return found


def one_field(rows: Sequence[Sequence[str]], folder: Path, field: str = BODY) -> Block:
    folder.mkdir()
    write_words(folder, ({field: have} for have in rows))
    (block,) = open_words(folder, len(rows))
    return block


def scored(block: Block, values: Floats, wanted: Wanted, factors: Floats) -> dict[int, float]:
    """Every row that has one of the terms, and its score."""
    postings = Postings([block.postings(values)])
    every = postings.best(wanted.fields, block.find(wanted)[None], factors, [None], block.size)
    return {
        row: score
        for found in every
        for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True)
    }


@given(st.lists(texts, min_size=1, max_size=12), st.data())
def test_scores_follow_the_formula_and_forget_what_was_deleted(
    tmp_path_factory: pytest.TempPathFactory, given_texts: list[str], data: st.DataObject
) -> None:
    rows = [chunk(key, text) for key, text in enumerate(given_texts, start=1)]
    gone = data.draw(st.sets(st.sampled_from(range(1, len(rows) + 1)), max_size=len(rows) - 1))
    cut = data.draw(st.integers(0, len(rows)))
    changes = [part for part in (rows[:cut], rows[cut:]) if part]
    component = index(tmp_path_factory.mktemp("index"), *changes, gone=sorted(gone))
    alive = [row for row in rows if row.key not in gone]
    for word in VOCABULARY[:3]:
        wanted = expected([(row.chunk.chunk_id, row.chunk.text.split()) for row in alive], word)
        found = {hit.chunk_id: hit.score for hit in component.search(f"{word}", 99)}
        assert found == pytest.approx(wanted, rel=1e-5)
        assert component.counts([word]) == {word: len(wanted)}


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=9), min_size=1, max_size=8),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
)
def test_a_phrase_is_where_its_words_follow_each_other(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], phrase: list[str]
) -> None:
    block = one_field(rows, tmp_path_factory.mktemp("words") / "w")
    found = block.phrase(block.find(Wanted((BODY, one) for one in phrase)).tolist())
    there = [
        row for row, have in enumerate(rows) if f" {' '.join(phrase)} " in f" {' '.join(have)} "
    ]
    assert found.tolist() == there


@given(st.lists(st.text("abcdé", max_size=4), max_size=30), st.text("abcdé", max_size=3))
def test_words_are_found_and_listed_by_their_beginning(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], start: str
) -> None:
    block = one_field([names, names[:3]], tmp_path_factory.mktemp("words") / "w", FORMS)
    listed = dict(block.beginning(FORMS, start, None))
    assert listed == {
        name: 1 + (name in names[:3]) for name in sorted({*names}) if name.startswith(start)
    }
    assert [*listed] == sorted(listed)
    wanted = Wanted([*((FORMS, name) for name in names), (FORMS, "elsewhere"), (IDS, "a")])
    found = block.find(wanted)
    assert (found[-2:] == -1).all()
    assert block.frequency(found, None).tolist()[:-2] == [1 + (one in names[:3]) for one in names]


def test_both_ways_give_the_same_scores_to_the_last_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    rows = [rng.choice(VOCABULARY, rng.integers(0, 300)).tolist() for _ in range(500)]
    block = one_field(rows, tmp_path / "w")
    values = block.values(np.full(len(FIELDS), 150.0), K1, B)
    wanted = Wanted([(BODY, word) for word in (*VOCABULARY, "absent")])
    factors = rng.random(len(wanted), dtype=np.float32)
    here = scored(block, values, wanted, factors)
    without_compiled(monkeypatch)
    assert compiled.library() is None
    assert scored(block, values, wanted, factors) == here


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_blocks_change_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    every = [chunk(key, " ".join(VOCABULARY[: key % 8 + 1]), "renal dose") for key in range(1, 30)]
    whole = index(tmp_path / "whole", every, gone=[3, 4])
    monkeypatch.setattr(words, "BLOCK_ROWS", rows)
    blocks = index(tmp_path / "blocks", every, gone=[3, 4])
    for query in ("heart", "liver brain", '"heart renal"', "asthma -heart", "title:dose kidney"):
        assert blocks.search(query, 99) == whole.search(query, 99)
        assert blocks.search(query, 4, Filters(doc_id=("d1", "d8", "d16"))) == whole.search(
            query, 4, Filters(doc_id=("d1", "d8", "d16"))
        )
    keys = [1, 3, 8, 29]
    assert blocks.terms("liver heart", keys) == whole.terms("liver heart", keys)
    assert blocks.holding('"heart renal"', keys) == whole.holding('"heart renal"', keys) == {1, 29}
    assert blocks.similar("hart") == whole.similar("hart")
    assert blocks.identified("d8", 3) == whole.identified("d8", 3)


def test_which_chunks_have_which_terms_is_told_alike_in_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(VOCABULARY, rng.integers(0, 6))) for _ in range(200)]
    monkeypatch.setattr(words, "BLOCK_ROWS", 64)
    component = index(tmp_path, [chunk(3 * at, text) for at, text in enumerate(texts)])
    asked = rng.integers(0, 610, 60)
    terms = [term for word in (*VOCABULARY, "absent") for term in analyse(word).terms]
    here = component.present(terms, asked)
    assert here.tolist() == [
        [key % 3 == 0 and key < 600 and word in texts[key // 3].split() for key in asked.tolist()]
        for word in (*VOCABULARY, "absent")
    ]
    without_compiled(monkeypatch)
    assert (component.present(terms, asked) == here).all()


def test_terms_and_forms_are_present_in_titles_and_texts(tmp_path: Path) -> None:
    component = index(tmp_path, [chunk(1, "heart renal", "IL-6"), chunk(2, "liver"), chunk(3, "")])
    keys = np.array([3, 1, 2, 99])
    assert component.present(["il6", "heart", "liver"], keys).tolist() == [
        [False, True, False, False],
        [False, True, False, False],
        [False, False, True, False],
    ]


def test_shares_of_terms_sum_to_the_score(tmp_path: Path) -> None:
    component = index(tmp_path, [chunk(1, "heart renal heart", "renal"), chunk(2, "liver heart")])
    for hit in component.search("heart renal liver", 9):
        shares = component.terms("heart renal liver", [hit.key])[hit.key]
        assert sum(shares.values()) == pytest.approx(hit.score, rel=1e-6)


def test_what_was_deleted_is_no_longer_suggested(tmp_path: Path) -> None:
    rows = [chunk(1, "metformin"), chunk(2, "aspirin")]
    assert index(tmp_path / "a", rows).similar("metfornin") == ("metformin", 1)
    assert index(tmp_path / "b", rows, gone=[1]).similar("metfornin") is None


def test_long_texts_keep_their_positions(tmp_path: Path) -> None:
    rows = [["a"] * 70_000 + ["b", "c"], ["c", "b"]]
    block = one_field(rows, tmp_path / "w", TITLE)
    find = block.find(Wanted([(TITLE, "b"), (TITLE, "c")])).tolist()
    assert block.phrase(find).tolist() == [0]


def test_more_pairs_than_two_bytes_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where counts and lengths differ too much for two bytes, they take four."""
    rows = [["a"] * 3 + ["b"], ["a", "b", "b"]]
    plain = one_field(rows, tmp_path / "plain")
    monkeypatch.setattr(words, "_FLAGS", 1)
    monkeypatch.setattr(words, "NARROW_CODES", 1)
    wide = one_field(rows, tmp_path / "wide")
    wanted = Wanted([(BODY, "a"), (BODY, "b")])
    factors = np.array([1.5, 0.5], dtype=np.float32)
    found = []
    for block in (plain, wide):
        values = block.values(np.full(len(FIELDS), 3.5), K1, B)
        found.append(scored(block, values, wanted, factors))
    assert found[0] == found[1]


def test_postings_beyond_the_end_are_refused(tmp_path: Path) -> None:
    rows = [["a"], ["b"]]
    one_field(rows, tmp_path / "w")
    path = tmp_path / "w" / "words-0.rows.npy"
    np.save(path, np.load(path) + np.uint16(9))
    (block,) = open_words(tmp_path / "w", 2)
    wanted = Wanted([(BODY, "a")])
    values = block.values(np.ones(len(FIELDS)), K1, B)
    with pytest.raises((CorruptError, IndexError)):
        scored(block, values, wanted, np.ones(1, dtype=np.float32))
    with pytest.raises(CorruptError, match="other rows"):
        open_words(tmp_path / "w", 3)


def test_which_chunks_have_a_word_is_told_of_any_of_them(tmp_path: Path) -> None:
    """In any order, of several segments, also as a part of a name or a name written together."""
    texts = ["IL-6 rises", "heart failure", "il6 falls", "", "failure of care", "interleukin 6"]
    rows = [chunk(at * 10 + 1, text) for at, text in enumerate(texts)]
    found = index(tmp_path, rows[:2], rows[2:], gone=[rows[4].key])
    keys = [51, 999, 1, 21, 11, -3]
    for word, having in (
        ("failure", {11}), ("IL-6", {1}), ("IL6", {1, 21, 51}), ("hearts", {11}), ("absent", set()),
    ):  # fmt: skip
        told = found.among(word, np.array(keys))
        assert {key for key, has in zip(keys, told, strict=True) if has} == having, word
    assert not len(found.among("failure", np.array([], dtype=np.int64)))
