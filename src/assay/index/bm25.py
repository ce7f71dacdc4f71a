"""Which chunks contain the query's words?

BM25 (k1 1.2, b 0.75) by tantivy over two fields: ``body`` is title and text together, ``title``
adds a quarter. Words are lower-cased, folded to ASCII, stripped of English stop words and stemmed
(Snowball). A query is a bag of such words; nothing in it is syntax.

A generation is a folder of its own. The next one starts as hard links to it (or copies, on a file
system without links), since tantivy never changes a segment's files, and adds and deletes from
there: statistics stay global, and readers of the old folder are not affected. Deleted chunks count
in document frequencies until the index is compacted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from assay import limits
from assay.cache import Cache
from assay.durable import share_file
from assay.errors import CorruptError
from assay.model.arrays import IntArray
from assay.model.document import Chunk, KeyedChunk
from assay.model.query import Filters, Hit, best_hits, filter_values

NAME = "bm25"
ANALYZER = "english"
FIELDS = {"body": 1.0, "title": 0.25}  # measured: see design/006
MAX_WORD = 60
HEAP_BYTES = 128 << 20


@cache
def analyzer() -> Any:
    """The analyzer that turns text into words, for indexing and searching."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.remove_long(MAX_WORD))
        .filter(Filter.lowercase())
        .filter(Filter.ascii_fold())
        .filter(Filter.stopword("english"))
        .filter(Filter.stemmer("english"))
        .build()
    )


@cache
def schema() -> Any:
    """The schema: ``key`` identifies the chunk; filter fields are indexed unanalysed."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_integer_field("key", indexed=True, fast=True)
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name=ANALYZER, index_option="freq")
    for field in filter_values(Chunk("", "", "")):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    return builder.build()


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
    index.register_tokenizer(ANALYZER, analyzer())
    writer = index.writer(HEAP_BYTES, 1)
    for key in dead:
        writer.delete_documents_by_term("key", key)
    for batch in batches:
        for row in batch:
            chunk = row.chunk
            body = f"{chunk.title}\n{chunk.text}"
            document = Document(body=body, title=chunk.title, **filter_values(chunk))
            document.add_integer("key", row.key)
            writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    for lock in folder.glob("*.lock"):
        lock.unlink()


class Bm25:
    """The component over one generation's folder."""

    name = NAME

    def __init__(self, folder: Path, chunk_ids: dict[int, str]) -> None:
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
        words = Counter(analyzer().analyze(query[: limits.MAX_QUERY_CHARS]))
        if not words or k < 1:
            return []
        wanted = _query(words, filters or Filters())
        limit = k + 16
        while True:
            found = self._searcher.search(wanted, limit, count=False).hits
            settled = len(found) < limit or found[-1][0] < found[k - 1][0]
            if settled or limit >= self._searcher.num_docs:
                break
            limit *= 4
        keys = self._searcher.fast_field_values("key", [address for _, address in found])
        ids = self._chunk_ids
        hits = (Hit(key, ids[key], score) for (score, _), key in zip(found, keys, strict=True))
        return best_hits(hits, k)

    def frequency(self, word: str) -> int:
        """The number of chunks that have this word, deleted ones included."""
        known = self._frequency.get(word)
        if known is None:
            known = self._counted(word)
            self._frequency.put(word, known)
        return known

    def _counted(self, word: str) -> int:
        found = analyzer().analyze(word)
        if not found:  # a stop word
            return limits.MAX_CHUNKS_OF_WORD + int(self._searcher.num_docs)
        return min(int(self._searcher.doc_freq("body", one)) for one in found)

    def having(self, word: str) -> IntArray | None:
        """The keys of the chunks that have this word, in order; None where too many do.

        The last few answers are remembered.
        """
        if self.frequency(word) > limits.MAX_CHUNKS_OF_WORD:
            return None
        known = self._having.get(word)
        if known is None:
            known = self._look_up(word)
            self._having.put(word, known)
        return known

    def _look_up(self, word: str) -> IntArray:
        from tantivy import Occur, Query

        parts = [
            (Occur.Must, Query.term_query(schema(), "body", one, "basic"))
            for one in analyzer().analyze(word)
        ]
        wanted = Query.const_score_query(Query.boolean_query(parts), 1.0)
        found = self._searcher.search(wanted, max(1, self._searcher.num_docs), count=False).hits
        keys = self._searcher.fast_field_values("key", [address for _, address in found])
        return np.sort(np.array(keys, dtype=np.int64))


def _searcher(folder: Path) -> Any:
    from tantivy import Index

    index = Index.open(str(folder))
    index.register_tokenizer(ANALYZER, analyzer())
    index.config_reader("manual", 1)
    index.reload()
    return index.searcher()


def _query(words: Counter[str], filters: Filters) -> Any:
    from tantivy import Occur, Query

    every = [
        (Occur.Should, _weighted(Query.term_query(schema(), field, word, "freq"), count * boost))
        for word, count in words.items()
        for field, boost in FIELDS.items()
    ]
    wanted = Query.boolean_query(every)
    active = filters.active()
    if not active:
        return wanted
    musts = [
        (
            Occur.Must,
            Query.const_score_query(Query.term_set_query(schema(), field, list(values)), 0.0),
        )
        for field, values in active.items()
    ]
    return Query.boolean_query([(Occur.Must, wanted), *musts])


def _weighted(query: Any, weight: float) -> Any:
    from tantivy import Query

    return query if weight == 1.0 else Query.boost_query(query, weight)
