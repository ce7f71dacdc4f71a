"""Do the real models say what they said, exactly and in any company?"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from assay.encode.canonical import CANONICAL, QUESTION, SENTENCE, answer, differences
from assay.encode.encoders import open_dense, open_reranker
from assay.encode.runtime import start
from assay.encode.shelf import Shelf
from assay.encode.splade import OnnxSplade
from tests.conftest import REAL

dense = cache(open_dense)
rerank = cache(open_reranker)

TOPICS = ("aspirin and stroke", "insulin", "a trial of statins in older adults", "fever", "pain")
TEXTS = [
    f"{topic}. {'The risk was lower in the treated group. ' * (at % 6)}"
    for at, topic in enumerate(TOPICS * 3)
]


@pytest.mark.parametrize("name", REAL)
def test_the_canonical_answer(real_shelf: Shelf, name: str) -> None:
    said = answer(name, real_shelf)
    assert differences(name, said) == []
    assert said.numbers == pytest.approx(CANONICAL[name].numbers, abs=CANONICAL[name].tolerance)


def test_the_heaviest_terms_in_words(real_shelf: Shelf) -> None:
    encoder = OnnxSplade(start(real_shelf.require("splade-tiny"), "splade"))
    words = [encoder.terms()[term] for term in CANONICAL["splade-tiny"].terms]
    assert words[:6] == ["##rin", "low", "second", "##pi", "heart", "attack"]
    assert words[6:] == ["dose", "risk", "lowers", "risks"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bge-small-en-v1.5", "all-minilm-l6-v2"])
def test_a_dense_vector_depends_on_its_text_alone(real_shelf: Shelf, name: str) -> None:
    """Bit for bit, whatever the batch and the number of threads: 8-bit models need care here."""
    encoder = dense(name, real_shelf, threads=2)
    together = encoder.encode(TEXTS, "passage")
    one_thread = open_dense(name, real_shelf, threads=1)
    parts = [one_thread.encode(TEXTS[at : at + 7], "passage") for at in range(0, len(TEXTS), 7)]
    np.testing.assert_array_equal(np.vstack(parts), together)
    np.testing.assert_array_equal(one_thread.encode(TEXTS[10:11], "passage")[0], together[10])


def test_a_sparse_vector_depends_on_its_text_alone(real_shelf: Shelf) -> None:
    running = start(real_shelf.require("splade-tiny"), "splade")
    together = OnnxSplade(running, 2).encode(TEXTS, "passage")
    for at in (0, 10, 14):
        alone = OnnxSplade(running, 1).encode([TEXTS[at]], "passage")[0]
        np.testing.assert_array_equal(alone.terms, together[at].terms)
        np.testing.assert_array_equal(alone.weights, together[at].weights)


def test_a_score_depends_on_its_pair_alone(real_shelf: Shelf) -> None:
    reranker = rerank("ms-marco-minilm-l12-v2", real_shelf, threads=2)
    scores = reranker.score(QUESTION, TEXTS[:10])
    alone = [reranker.score(QUESTION, [text])[0] for text in TEXTS[:10]]
    np.testing.assert_array_equal(scores, np.array(alone))


@pytest.mark.slow
def test_care_with_8_bit_products_changes_no_number(
    real_shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a processor that needs no care; on others both ways are the careful one."""
    name = "ms-marco-minilm-l12-v2"
    wanted = rerank(name, real_shelf, threads=2).score(QUESTION, TEXTS[:4])
    monkeypatch.setattr("assay.encode.runtime.has_exact_products", lambda: False)
    careful = open_reranker(name, real_shelf).score(QUESTION, TEXTS[:4])
    np.testing.assert_array_equal(careful, wanted)


def test_meaning_shows_in_the_numbers(real_shelf: Shelf) -> None:
    other = "The Eiffel Tower is in Paris."
    for name in ("bge-small-en-v1.5", "all-minilm-l6-v2"):
        encoder = dense(name, real_shelf, threads=2)
        near, far = encoder.encode([SENTENCE, other], "passage") @ encoder.encode(
            [QUESTION], "query"
        ).reshape(-1)
        assert near > far + 0.2
    reranker = rerank("ms-marco-minilm-l12-v2", real_shelf, threads=2)
    near, far = reranker.score(QUESTION, [SENTENCE, other])
    assert near > 5 > 0 > far


def test_the_query_prefix_counts_for_queries_only(real_shelf: Shelf) -> None:
    encoder = dense("bge-small-en-v1.5", real_shelf, threads=2)
    query, passage = (encoder.encode(["fever"], kind)[0] for kind in ("query", "passage"))
    prefix = "Represent this sentence for searching relevant passages: "
    np.testing.assert_array_equal(query, encoder.encode([f"{prefix}fever"], "passage")[0])
    assert not np.array_equal(query, passage)


def test_agreement_with_sentence_transformers(real_shelf: Shelf, shared_data: Path) -> None:
    """Scores of a published run of all-MiniLM-L6-v2, made by its own library, to six decimals."""
    name = "all-minilm-l6-v2-fp32"
    if not any((root / name).is_dir() for _, root in real_shelf.places()):
        pytest.skip(f"assay models pull {name} fetches it (84 MB)")
    folder = shared_data / "scifact"
    with gzip.open(
        shared_data / "precomputed_runs/scifact/all-MiniLM-L6-v2.top100.trec.gz", "rt"
    ) as lines:
        run = [line.split() for line in lines]
    run = [row for row in run if row[0] == "1" and int(row[3]) <= 12]
    texts = dict(_texts(folder / "corpus.jsonl.gz"))
    query = dict(_texts(folder / "queries.jsonl.gz"))["1"]
    encoder = open_dense(name, real_shelf)
    rows = encoder.encode([texts[row[2]] for row in run], "passage")
    scores = rows @ encoder.encode([query], "query")[0]
    np.testing.assert_allclose(scores, [float(row[4]) for row in run], atol=2e-6)


def _texts(path: Path) -> list[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(row["_id"], f"{row.get('title', '')} {row['text']}".strip()) for row in rows]
