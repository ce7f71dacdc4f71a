"""What is a corpus of any size, with the statistics of a real one, made of?

Every passage has one of 400 topics. Half of its words, terms and direction come from the topic, so
that words that belong together come together, as in real texts; independent words would make
every pruning look good. Frequencies are those of ``index_data.py``. A passage is made from its
number alone: any part of the corpus can be made again, in any process, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.model.document import Chunk, Document
from assay.model.vectors import SparseVector
from bench.index_data import (
    DIMENSION,
    QUERY_BIAS,
    QUERY_TERMS,
    VOCABULARY,
    _term_ids,
    _term_shares,
    _word,
)

SEED = 23
TOPICS = 400
WORDS, PASSAGE_WORDS, QUERY_WORDS, TOPIC_WORDS = 150_000, 80, 8, 2_000
BLOCK = 4_096
SECTIONS = ("methods", "results", "adverse_events", "eligibility")  # a filter of a quarter
SOURCES = 100  # and one of a hundredth
WARM_UP, ASKED = 20, 300
QUERIES = WARM_UP + 2 * ASKED  # every one is asked once: none is answered from memory
DENSE_MODEL, SPARSE_MODEL = "made-dense", "made-terms"
FIRST_QUERY = 1 << 40  # numbers from here on are questions


class Corpus:
    """The passages and questions; what they share is made once."""

    @cached_property
    def _words(self) -> NDArray[Any]:
        return np.array([_word(number) for number in range(WORDS)], dtype=object)

    @cached_property
    def _word_chances(self) -> NDArray[np.float64]:
        return _shares(1 / (np.arange(WORDS) + 8.0))

    @cached_property
    def _topic_chances(self) -> NDArray[np.float64]:
        return _shares(np.arange(1.0, TOPICS + 1) ** -0.5)

    @cached_property
    def _draws(self) -> NDArray[np.float64]:
        """How often each term is drawn for a passage, on average, so that its share comes out."""
        return -np.log1p(-_term_shares())

    @cached_property
    def _leaning(self) -> NDArray[np.float32]:
        """How much more often each topic has each term."""
        noise = np.random.default_rng(SEED).standard_normal((TOPICS, len(self._draws)))
        return np.exp(1.5 * noise - 1.5**2 / 2).astype(np.float32)

    @cached_property
    def _centres(self) -> NDArray[np.float64]:
        return np.random.default_rng(7).standard_normal((TOPICS, DIMENSION)) * _deviation()

    def _topics(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        found: NDArray[np.int64] = np.searchsorted(self._topic_chances, rng.random(count))
        return found

    def texts(self, block: int, count: int = BLOCK, words: int = PASSAGE_WORDS) -> list[str]:
        """The words of passages; a question's are rarer, as people ask for what is particular."""
        rng = _rng(block, 1)
        topic = self._topics(_rng(block, 0), count)[:, np.newaxis]
        drawn = np.searchsorted(self._word_chances, rng.random((count, words)))
        if block >= FIRST_QUERY:
            drawn = (50 * (WORDS / 50) ** rng.random((count, words))).astype(np.int64) - 1
        own = (topic * 7_919 + drawn % TOPIC_WORDS * 61) % WORDS
        chosen = np.where(rng.random((count, words)) < 0.5, own, drawn)
        return [" ".join(row) for row in self._words[chosen].tolist()]

    def dense(self, block: int, count: int = BLOCK) -> NDArray[np.float32]:
        """Unit vectors."""
        rng, topic = _rng(block, 2), self._topics(_rng(block, 0), count)
        own = rng.standard_normal((count, DIMENSION)) * _deviation()
        vectors = np.sqrt(0.5) * (self._centres[topic] + own)
        vectors[:, 0] += 1.25
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.ascontiguousarray(vectors, dtype=np.float32)

    def sparse(self, block: int, count: int = BLOCK) -> list[SparseVector]:
        """Terms and weights of passages."""
        rng, topics = _rng(block, 3), self._topics(_rng(block, 0), count)
        ids = _term_ids()
        found: list[SparseVector] = [SparseVector(ids[:0], np.zeros(0, np.float32))] * count
        for topic in np.unique(topics).tolist():
            rows = np.flatnonzero(topics == topic)
            chances = np.cumsum(self._draws * (1 + self._leaning[topic]) / 2)
            many = rng.poisson(chances[-1], len(rows))
            drawn = np.searchsorted(chances / chances[-1], rng.random(int(many.sum())))
            for row, mine in zip(rows, np.split(drawn, np.cumsum(many)[:-1]), strict=True):
                found[row] = _weighted(rng, np.unique(ids[mine]))
        return found

    def sparse_queries(self) -> list[SparseVector]:
        """Terms and weights of questions."""
        rng, topics = _rng(FIRST_QUERY, 3), self._topics(_rng(FIRST_QUERY, 0), QUERIES)
        ids, shares = _term_ids(), _term_shares() ** QUERY_BIAS
        found = []
        for topic in topics.tolist():
            chances = shares * (1 + self._leaning[topic]) / 2
            chances /= chances.sum()
            chosen = rng.choice(len(ids), QUERY_TERMS, replace=False, p=chances)
            found.append(_weighted(rng, np.sort(ids[chosen])))
        return found

    def questions(self) -> list[str]:
        """What is asked for in words."""
        return self.texts(FIRST_QUERY, QUERIES, QUERY_WORDS)

    def documents(self, start: int, end: int) -> Iterator[tuple[Document, tuple[Chunk, ...]]]:
        """Passages from one number to another, one a document; each begins with its number."""
        for block in range(start // BLOCK, -(-end // BLOCK)):
            for number, words in enumerate(self.texts(block), block * BLOCK):
                if start <= number < end:
                    name, text = f"p{number}", f"p{number} {words}"
                    chunk = Chunk(
                        f"{name}:0",
                        name,
                        text,
                        section_label=SECTIONS[number % len(SECTIONS)],
                        source=f"g{number // 7 % SOURCES}",
                    )
                    yield Document(name, text), (chunk,)


class Given:
    """Looks up what models would make of passages, by the number that each begins with."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def dense(self, texts: list[str]) -> NDArray[np.float32]:
        """One vector a passage."""
        numbers = np.array([_number(text) for text in texts], dtype=np.int64)
        found = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for block in np.unique(numbers // BLOCK).tolist():
            here = np.flatnonzero(numbers // BLOCK == block)
            found[here] = self._corpus.dense(block)[numbers[here] % BLOCK]
        return found

    def sparse(self, texts: list[str]) -> list[SparseVector]:
        """Terms and weights of each passage."""
        numbers = [_number(text) for text in texts]
        made: dict[int, Sequence[SparseVector]] = {}
        found = []
        for number in numbers:
            block, at = divmod(number, BLOCK)
            if block not in made:
                made = {block: self._corpus.sparse(block)}  # passages come in order
            found.append(made[block][at])
        return found

    def encoders(self) -> Any:
        """The same, for a writer of indexes."""
        from assay.index.writer import Encoders

        return Encoders(self.dense, self.sparse, DENSE_MODEL, SPARSE_MODEL, VOCABULARY)


class Asked:
    """Looks up what models would make of questions."""

    dimension, vocabulary = DIMENSION, VOCABULARY

    def __init__(self, model_id: str, questions: Sequence[str], vectors: Iterable[Any]) -> None:
        self.model_id = model_id
        self._vectors = dict(zip(questions, vectors, strict=True))

    def encode(self, texts: list[str], kind: str) -> Any:
        """The vectors of questions."""
        found = [self._vectors[text] for text in texts]
        return np.stack(found) if self.model_id == DENSE_MODEL else found


def _shares(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.cumsum(chances) / chances.sum()
    return found


def _number(text: str) -> int:
    return int(text.split(maxsplit=1)[0][1:])


def _rng(block: int, part: int) -> np.random.Generator:
    return np.random.default_rng([SEED, block, part])


def _deviation() -> NDArray[np.float64]:
    found = (np.arange(DIMENSION) + 6.0) ** -0.65
    return found / np.linalg.norm(found)


def _weighted(rng: np.random.Generator, terms: NDArray[np.int32]) -> SparseVector:
    weights = rng.gamma(1.5, 0.45, len(terms)).astype(np.float32) + np.float32(0.02)
    return SparseVector(terms, weights)
