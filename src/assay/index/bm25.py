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
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from assay.analysis.query import BODY, FIELDS, FORMS, TITLE, Asked, read
from assay.analysis.words import analyse
from assay.durable import share_file
from assay.errors import CorruptError
from assay.model.document import Chunk, KeyedChunk
from assay.model.query import Filters, Hit, best_hits, filter_values

NAME = "bm25"
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
        positions = "freq" if field == FORMS else "position"
        builder.add_text_field(field, tokenizer_name=PRE_CUT, index_option=positions)
    for field in filter_values(Chunk("", "", "")):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    return builder.build()


def word_fields(chunk: Chunk) -> dict[str, str]:
    """The words of a chunk by field, with blanks between: the same for every engine."""
    title, text = analyse(chunk.title), analyse(chunk.text)
    return {
        BODY: " ".join((*title.terms, *text.terms)),
        TITLE: " ".join(title.terms),
        FORMS: " ".join((*title.forms, *text.forms)),
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
            document = Document(**word_fields(chunk), **filter_values(chunk))
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

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k best chunks; ties at the k-th position are broken by chunk id."""
        asked = read(query)
        if not asked.weights or k < 1:
            return []
        wanted = _query(asked, filters or Filters())
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
        """The number of chunks that have this word, deleted ones included; all for a stop word."""
        found = analyse(word).terms
        if not found:
            return int(self._searcher.num_docs)
        return min(int(self._searcher.doc_freq(BODY, one)) for one in found)


def _searcher(folder: Path) -> Any:
    from tantivy import Index

    index = Index.open(str(folder))
    index.register_tokenizer(PRE_CUT, _splitter())
    index.config_reader("manual", 1)
    index.reload()
    return index.searcher()


def _query(asked: Asked, filters: Filters) -> Any:
    from tantivy import Occur, Query

    wanted = Query.boolean_query(
        [
            (Occur.Should, _weighted(Query.term_query(schema(), field, term, "freq"), weight))
            for (field, term), weight in asked.weights.items()
        ]
    )
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
