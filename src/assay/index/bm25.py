"""Which chunks contain the query's words?

BM25 (k1 1.2, b 0.75) by tantivy over three fields: ``body`` is title and text together, ``title``
adds a quarter, ``forms`` are names and codes written as one word (``analysis/words.py``). The words
are cut before tantivy sees them, so that every engine has the same ones.

A generation is a folder of its own. The next one starts as hard links to it (or copies, on a file
system without links), since tantivy never changes a segment's files, and adds and deletes from
there: statistics stay global, and readers of the old folder are not affected. Deleted chunks count
in document frequencies until the index is compacted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from assay import limits
from assay.analysis.identifiers import codes_of
from assay.analysis.misspelt import nearest
from assay.analysis.query import (
    BODY,
    FIELDS,
    FORMS,
    IDS,
    NAMES,
    TITLE,
    Asked,
    Clause,
    most_exact,
    read,
)
from assay.analysis.words import analyse
from assay.cache import Cache
from assay.durable import share_file
from assay.errors import CorruptError
from assay.model.arrays import BoolArray, IntArray
from assay.model.conditions import Condition, terms_of
from assay.model.document import Chunk, KeyedChunk
from assay.model.query import Filters, Hit, best_hits, filter_values

NAME = "bm25"
WORDS = 3  # how words are cut and stored; 1 was tantivy's own way, 2 had no facts
FACTS = "facts"
PRE_CUT = "words"
HEAP_BYTES = 128 << 20


@cache
def _splitter() -> Any:
    """Texts arrive as words with blanks between."""
    from tantivy import TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.whitespace()).build()


@cache
def schema() -> Any:
    """The schema: ``key`` identifies the chunk; filter fields are indexed unanalysed."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_integer_field("key", indexed=True, fast=True)
    for field in FIELDS:
        kept = "freq" if field in (FORMS, IDS) else "position"
        builder.add_text_field(field, tokenizer_name=PRE_CUT, index_option=kept)
    for field in filter_values(Chunk("", "", "")):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(FACTS, tokenizer_name="raw", index_option="basic")
    return builder.build()


def word_fields(chunk: Chunk) -> dict[str, str]:
    """The words of a chunk by field, with blanks between: the same for every engine."""
    title, text = analyse(chunk.title), analyse(chunk.text)
    named = chunk.metadata.get("names", ())
    names = analyse("\n".join(map(str, named)) if isinstance(named, tuple) else str(named))
    codes = codes_of(chunk.doc_id, chunk.chunk_id, chunk.title, chunk.metadata)
    return {
        BODY: " ".join((*title.terms, *text.terms)),
        TITLE: " ".join(title.terms),
        FORMS: " ".join((*title.forms, *text.forms)),
        NAMES: " ".join((*title.terms, *names.terms)),
        IDS: " ".join(codes),
    }


def write(
    folder: Path,
    base: Path | None,
    batches: Iterable[Sequence[KeyedChunk]],
    dead: Sequence[int] = (),
) -> None:
    """Fill ``folder`` with the content of ``base``, minus the dead keys, plus the chunks."""
    from tantivy import Document, Index

    folder.mkdir(parents=True)
    if base is not None:
        for path in base.iterdir():
            if not path.name.endswith(".lock"):
                share_file(path, folder / path.name)
    index = Index(schema(), path=str(folder))
    index.register_tokenizer(PRE_CUT, _splitter())
    writer = index.writer(HEAP_BYTES, 1)
    for key in dead:
        writer.delete_documents_by_term("key", key)
    for batch in batches:
        for row in batch:
            chunk = row.chunk
            facts = terms_of(chunk.metadata)
            document = Document(**word_fields(chunk), **filter_values(chunk), **{FACTS: facts})
            document.add_integer("key", row.key)
            writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    for lock in folder.glob("*.lock"):
        lock.unlink()


class Bm25:
    """The component over one generation's folder."""

    name = NAME

    def __init__(
        self,
        folder: Path,
        chunk_ids: dict[int, str],
        terms: Callable[[Condition], Sequence[str]] = lambda condition: (),
    ) -> None:
        """Open it; ``terms`` are the facts that a condition names."""
        self._terms = terms
        try:
            self._searcher = _searcher(folder)
        except ValueError as problem:  # tantivy raises this for any file it cannot read
            writable = os.access(folder, os.W_OK)
            hint = "assay index rebuild" if writable else "make it writable: a lock is kept in it"
            raise CorruptError(f"{folder} cannot be opened: {problem}", hint=hint) from None
        self._chunk_ids = chunk_ids
        self._having: Cache[str, IntArray] = Cache(limits.MAX_CACHED_WORDS)
        self._frequency: Cache[str, int] = Cache(limits.MAX_CACHED_FREQUENCIES)

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k best chunks; ties at the k-th position are broken by chunk id."""
        asked = self._asked(query)
        if not asked.weights or k < 1:
            return []
        wanted = _query(asked, filters or Filters(), self._terms)
        limit = k + 16
        while True:
            found = self._searcher.search(wanted, limit, count=False).hits
            settled = len(found) < limit or found[-1][0] < found[k - 1][0]
            if settled or limit >= self._searcher.num_docs:
                break
            limit *= 4
        keys = self._keys(found)
        ids = self._chunk_ids
        hits = (Hit(key, ids[key], score) for (score, _), key in zip(found, keys, strict=True))
        return best_hits(hits, k)

    def terms(self, query: str, keys: Sequence[int]) -> dict[int, dict[str, float]]:
        """What each term of the query adds to the score of each chunk; they sum to the score."""
        from tantivy import Occur, Query

        found: dict[int, dict[str, float]] = {key: {} for key in keys}
        among = Query.const_score_query(Query.term_set_query(schema(), "key", [*keys]), 0.0)
        for (field, term), weight in self._asked(query).weights.items():
            one = _weighted(Query.term_query(schema(), field, term, "freq"), weight)
            wanted = Query.boolean_query([(Occur.Must, one), (Occur.Must, among)])
            hits = self._searcher.search(wanted, max(1, len(keys)), count=False).hits
            for (score, _), key in zip(hits, self._keys(hits), strict=True):
                found[key][term] = found[key].get(term, 0.0) + score
        return found

    def nowhere(self, query: str) -> tuple[str, ...]:
        """What the query says must be there and no chunk has; it is not insisted on."""
        return tuple(
            clause.text
            for group in read(query).must
            if not self._somewhere(group)
            for clause in group
        )

    def holding(self, query: str, keys: Sequence[int]) -> set[int]:
        """Those of the chunks that have what the query says must be there."""
        from tantivy import Occur, Query

        among = Query.term_set_query(schema(), "key", [*keys])
        wanted = Query.boolean_query([(Occur.Must, among), *_conditions(self._asked(query))])
        return {*self._keys(self._searcher.search(wanted, max(1, len(keys)), count=False).hits)}

    def exact(self, query: str) -> list[int]:
        """The chunks with every code and number of the query; none where too many have them."""
        from tantivy import Occur, Query

        codes = read(query).codes
        if not codes:
            return []
        wanted = Query.boolean_query([(Occur.Must, _clause(one)) for one in codes])
        most = most_exact(self._searcher.num_docs)
        found = self._searcher.search(wanted, most + 1, count=False).hits
        return [] if len(found) > most else self._keys(found)

    def identified(self, code: str, k: int) -> list[int]:
        """The first k chunks that this identifier stands for."""
        from tantivy import Query

        wanted = Query.term_query(schema(), IDS, code, "freq")
        return sorted(self._keys(self._searcher.search(wanted, k, count=False).hits))

    def counts(self, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks have each term, also as a part of a name; deleted ones included."""
        count = self._searcher.doc_freq
        return {
            term: max(count(BODY, term), count(FORMS, term), count(IDS, term)) for term in terms
        }

    def similar(self, term: str) -> tuple[str, int] | None:
        """The term that is most like one that no chunk has, and a chunk that has it."""
        from tantivy import Query

        count = partial(self._searcher.doc_freq, BODY)
        best = nearest(term, count, lambda start: self._searcher.terms_with_prefix(BODY, start))
        if best is None:
            return None
        wanted = Query.term_query(schema(), BODY, best, "freq")
        keys = self._keys(self._searcher.search(wanted, 1, count=False).hits)
        return (best, keys[0]) if keys else None

    def _asked(self, query: str) -> Asked:
        """The query without conditions that nothing meets."""
        asked = read(query)
        if not asked.must:
            return asked
        return asked._replace(must=tuple(filter(self._somewhere, asked.must)))

    def _somewhere(self, group: Sequence[Clause]) -> bool:
        return bool(self._searcher.search(_any_of(group), 1, count=False).hits)

    def _keys(self, found: Sequence[tuple[float, Any]]) -> list[int]:
        keys: list[int] = self._searcher.fast_field_values("key", [where for _, where in found])
        return keys

    def frequency(self, word: str) -> int:
        """The number of chunks that have this word, deleted ones included."""
        known = self._frequency.get(word)
        if known is None:
            known = frequency_of(word, self.counts, self._searcher.num_docs)
            self._frequency.put(word, known)
        return known

    def among(self, word: str, keys: IntArray) -> BoolArray:
        """Which of the chunks with these keys have this word; all where too many chunks do.

        The chunks of the last few words are remembered.
        """
        if self.frequency(word) > limits.MAX_CHUNKS_OF_WORD:
            return np.ones(len(keys), dtype=np.bool_)
        those = self._having.get(word)
        if those is None:
            those = self._look_up(word)
            self._having.put(word, those)
        if not len(those):
            return np.zeros(len(keys), dtype=np.bool_)
        found: BoolArray = those.take(np.searchsorted(those, keys), mode="clip") == keys
        return found

    def _look_up(self, word: str) -> IntArray:
        from tantivy import Occur, Query

        parts = [(Occur.Must, _clause(one)) for one in clauses_of(word)]
        wanted = Query.const_score_query(Query.boolean_query(parts), 1.0)
        found = self._searcher.search(wanted, max(1, self._searcher.num_docs), count=False).hits
        keys = self._searcher.fast_field_values("key", [address for _, address in found])
        return np.sort(np.array(keys, dtype=np.int64))


def frequency_of(word: str, counts: Callable[[Sequence[str]], Mapping[str, int]], size: int) -> int:
    """The number of chunks, of ``size``, that have a word: of its terms, the rarest decides."""
    terms = analyse(word).terms
    if not terms:  # a stop word
        return limits.MAX_CHUNKS_OF_WORD + size
    return min(counts(terms).values())


def clauses_of(word: str) -> list[Clause]:
    """What a chunk must have to have a word: each of its terms, also as a name."""
    return [Clause((term,), (term,), term) for term in analyse(word).terms]


def _searcher(folder: Path) -> Any:
    from tantivy import Index

    index = Index.open(str(folder))
    index.register_tokenizer(PRE_CUT, _splitter())
    index.config_reader("manual", 1)
    index.reload()
    return index.searcher()


def _query(asked: Asked, filters: Filters, terms: Callable[[Condition], Sequence[str]]) -> Any:
    from tantivy import Occur, Query

    wanted = Query.boolean_query(
        [
            (Occur.Should, _weighted(Query.term_query(schema(), field, term, "freq"), weight))
            for (field, term), weight in asked.weights.items()
        ]
    )
    limits = [*_conditions(asked)]
    limits += [
        (
            Occur.Must,
            Query.const_score_query(Query.term_set_query(schema(), field, list(values)), 0.0),
        )
        for field, values in filters.active().items()
    ]
    for condition in filters.metadata:
        having = Query.term_set_query(schema(), FACTS, [*terms(condition)])
        occur = Occur.MustNot if condition.negated else Occur.Must
        limits.append((occur, Query.const_score_query(having, 0.0)))
    return Query.boolean_query([(Occur.Must, wanted), *limits]) if limits else wanted


def _conditions(asked: Asked) -> Iterator[tuple[Any, Any]]:
    """What a chunk must have, and must not."""
    from tantivy import Occur, Query

    for group in asked.must:
        yield Occur.Must, Query.const_score_query(_any_of(group), 0.0)
    for clause in asked.must_not:
        yield Occur.MustNot, _clause(clause)


def _any_of(group: Sequence[Clause]) -> Any:
    from tantivy import Occur, Query

    return Query.boolean_query([(Occur.Should, _clause(clause)) for clause in group])


def _clause(clause: Clause) -> Any:
    """Words that stand together, or a form that they have."""
    from tantivy import Occur, Query

    if len(clause.terms) == 1:
        found = Query.term_query(schema(), clause.field, clause.terms[0], "freq")
    else:
        found = Query.phrase_query(schema(), clause.field, [*clause.terms])
    if not clause.forms or clause.field != BODY:
        return found
    forms = [
        (Occur.Should, Query.term_query(schema(), field, form, "freq"))
        for form in clause.forms
        for field in (FORMS, BODY)
    ]
    return Query.boolean_query([(Occur.Should, found), *forms])


def _weighted(query: Any, weight: float) -> Any:
    from tantivy import Query

    return query if weight == 1.0 else Query.boost_query(query, weight)
