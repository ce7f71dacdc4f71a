"""Which chunks contain the query's words?

BM25 (Robertson and Zaragoza 2009; k1 1.2, b 0.75) over the postings of every segment
(``index/words.py``), in the fields that ``analysis/query.py`` weighs: ``body`` is title and text
together, ``title`` adds a quarter, ``forms`` are names and codes written as one word. Document
frequencies and average lengths are those of the chunks that exist, whatever was deleted.

    score = sum over terms of  weight * idf * (k1 + 1) * tf / (tf + k1 * (1 - b + b * dl / avgdl))
    idf   = ln(1 + (N - df + 1/2) / (df + 1/2))
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import compiled, limits
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
from assay.errors import CorruptError
from assay.index.columns import Columns
from assay.index.postings import BLOCK_ROWS, REBUILD, Floats, Ordinals, Postings
from assay.index.texts import texts_at
from assay.index.words import Block, Dictionary, Wanted, open_words, write_words
from assay.model.arrays import BoolArray, IntArray
from assay.model.document import Chunk
from assay.model.query import Filters, Hit, best_hits, hits_of

NAME = "bm25"
WORDS = 4  # how words are cut and stored; up to 3 another library kept them
K1, B = 1.2, 0.75
EVERYTHING = Filters()
OUTSIDE = "the index has postings outside of its rows"
IN_TEXT = (BODY, FORMS)  # where a chunk has a term

Allowed = Callable[[Filters], Sequence[BoolArray | None]]


def words_of(chunk: Chunk) -> dict[str, Sequence[str]]:
    """The words of a chunk by field: the same for every engine."""
    title, text = analyse(chunk.title), analyse(chunk.text)
    named = chunk.metadata.get("names", ())
    names = analyse("\n".join(map(str, named)) if isinstance(named, tuple) else str(named))
    return {
        BODY: (*title.terms, *text.terms),
        TITLE: title.terms,
        FORMS: (*title.forms, *text.forms),
        NAMES: (*title.terms, *names.terms),
        IDS: tuple(codes_of(chunk.doc_id, chunk.chunk_id, chunk.title, chunk.metadata)),
    }


def write(folder: Path, chunks: Iterable[Chunk | None]) -> None:
    """Write the words of a segment's rows; None is one that no longer exists."""
    write_words(folder, ({} if chunk is None else words_of(chunk) for chunk in chunks))


@dataclass(frozen=True, slots=True)
class Part:
    """A block of a segment; ``alive`` is None if nothing in it was deleted."""

    block: Block
    segment: int
    keys: IntArray
    chunk_ids: Sequence[str]
    alive: BoolArray | None

    def of(self, masks: Sequence[BoolArray | None]) -> BoolArray | None:
        """The rows of this block in masks over segments."""
        mask = masks[self.segment]
        return None if mask is None else mask[self.block.first : self.block.first + self.block.size]


def parts_of(
    folders: Iterable[Path], segments: Sequence[tuple[Columns, BoolArray | None]]
) -> Iterator[Part]:
    """The blocks of every segment, opened."""
    for number, (folder, (columns, alive)) in enumerate(zip(folders, segments, strict=True)):
        for block in open_words(folder, len(columns.keys)):
            part = slice(block.first, block.first + block.size)
            here = None if alive is None else alive[part]
            whole = here is None or here.all()
            yield Part(
                block, number, columns.keys[part], columns.chunk_ids[part], None if whole else here
            )


class Bm25:
    """The component over the blocks of one generation."""

    name = NAME

    def __init__(self, parts: Sequence[Part], allowed: Allowed) -> None:
        """Over these blocks; ``allowed`` are the rows of each segment that pass a filter."""
        self._parts = parts
        self._allowed = allowed
        alive = (one.block.size if one.alive is None else int(one.alive.sum()) for one in parts)
        self._size = sum(alive)
        totals = np.zeros(len(FIELDS), dtype=np.int64)
        for one in parts:
            totals += one.block.totals(one.alive)
        averages = np.maximum(totals, 1) / max(1, self._size)
        self._values = [one.block.values(averages, K1, B) for one in parts]
        self._dictionary = Dictionary([one.block for one in parts])
        self._postings = Postings(
            [one.block.postings(values) for one, values in zip(parts, self._values, strict=True)]
        )
        self._frequency: Cache[str, int] = Cache(limits.MAX_CACHED_FREQUENCIES)
        self._counts: Cache[str, int] = Cache(limits.MAX_CACHED_FREQUENCIES)
        self._places: Cache[tuple[str, ...], Ordinals] = Cache(limits.MAX_CACHED_FREQUENCIES)

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k best chunks; ties at the k-th position are broken by chunk id."""
        asked = self._asked(query)
        if not asked.weights or k < 1:
            return []
        wanted = Wanted(asked.weights)
        places = self._dictionary.find(wanted)
        factors = self._factors(wanted, places, [*asked.weights.values()])
        allowed = self._allowed(filters or EVERYTHING)
        masks = [
            _both(one.of(allowed), meeting)
            for one, meeting in zip(self._parts, self._meeting(asked), strict=True)
        ]
        hits: list[Hit] = []
        for found in self._postings.best(wanted.fields, places, factors, masks, k):
            one = self._parts[found.block]
            ids = texts_at(one.chunk_ids, found.rows)
            hits += hits_of(one.keys[found.rows].tolist(), ids, found.scores.tolist())
        return best_hits(hits, k)

    def search_many(
        self, queries: Sequence[str], k: int, filters: Filters | None = None
    ) -> list[list[Hit]]:
        """The same for each query."""
        return [self.search(query, k, filters) for query in queries]

    def _factors(self, wanted: Wanted, places: Ordinals, weights: Sequence[float]) -> Floats:
        """What a term of these weights counts before its value in a row."""
        df = self._counted(wanted, places)
        idf = np.log1p((self._size - df + 0.5) / (df + 0.5))
        found: Floats = (np.array(weights) * idf * (K1 + 1)).astype(np.float32)
        return found

    def _counted(self, wanted: Wanted, places: Ordinals) -> IntArray:
        """The number of chunks that have each term."""
        df = np.zeros(len(wanted), dtype=np.int64)
        library = compiled.library()
        if library is not None and all(one.alive is None for one in self._parts):
            if library.assay_count_terms(
                self._held.ctypes.data, len(self._parts), places.ctypes.data, len(wanted),
                df.ctypes.data,
            ):  # fmt: skip
                raise CorruptError(OUTSIDE, hint=REBUILD)
            return df
        for one, found in zip(self._parts, places, strict=True):
            df += one.block.frequency(found, one.alive)
        return df

    def terms(self, query: str, keys: Sequence[int]) -> dict[int, dict[str, float]]:
        """What each term of the query adds to the score of each chunk; they sum to the score."""
        found: dict[int, dict[str, float]] = {key: {} for key in keys}
        weights = self._asked(query).weights
        wanted = Wanted(weights)
        places = self._dictionary.find(wanted)
        factors = self._factors(wanted, places, [*weights.values()]).tolist()
        for one, ordinals, values in zip(self._parts, places, self._values, strict=True):
            for row in np.flatnonzero(np.isin(one.keys, [*keys])).tolist():
                shares = found[int(one.keys[row])]
                for (_, term), field, ordinal, factor in zip(
                    wanted.terms, wanted.fields, ordinals.tolist(), factors, strict=True
                ):
                    if share := one.block.share(ordinal, row, values[field]):
                        shares[term] = shares.get(term, 0.0) + share * factor
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
        asked = self._asked(query)
        found: set[int] = set()
        for one, meeting in zip(self._parts, self._meeting(asked), strict=True):
            mask = _alive(one, np.isin(one.keys, [*keys]))
            if meeting is not None:
                mask &= meeting
            found.update(one.keys[mask].tolist())
        return found

    def exact(self, query: str) -> list[int]:
        """The chunks with every code and number of the query; none where too many have them."""
        codes = read(query).codes
        if not codes:
            return []
        found = self._keys([[code] for code in codes])
        return [] if len(found) > most_exact(self._size) else found.tolist()

    def identified(self, code: str, k: int) -> list[int]:
        """The first k chunks that this identifier stands for."""
        keys: list[int] = self._keys([[Clause((code,), (), code, IDS)]]).tolist()
        return keys[:k]

    def counts(self, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks have each term, also as a part of a name."""
        return self._counts.all_of(terms, partial(self._most, (BODY, FORMS, IDS)))

    def _most(self, fields: Sequence[str], terms: Sequence[str]) -> dict[str, int]:
        """How many chunks have each term in the field where most have it."""
        wanted = Wanted((field, term) for term in terms for field in fields)
        df = self._counted(wanted, self._dictionary.find(wanted))
        most = df.reshape(len(terms), len(fields)).max(axis=1, initial=0)
        return dict(zip(terms, most.tolist(), strict=True))

    def similar(self, term: str) -> tuple[str, int] | None:
        """The term that is most like one that no chunk has, and a chunk that has it."""
        best = nearest(term, partial(self._most, (BODY,)), partial(self._beginning, BODY))
        if best is None:
            return None
        keys = self._keys([[Clause((best,), (), best)]])
        return (best, int(keys[0])) if len(keys) else None

    def _beginning(self, field: str, start: str) -> Iterable[tuple[str, int]]:
        found: defaultdict[str, int] = defaultdict(int)
        for one in self._parts:
            for term, count in one.block.beginning(field, start, one.alive):
                found[term] += count
        return found.items()

    def _asked(self, query: str) -> Asked:
        """The query without conditions that nothing meets."""
        asked = read(query)
        if not asked.must:
            return asked
        return asked._replace(must=tuple(filter(self._somewhere, asked.must)))

    def _somewhere(self, group: Sequence[Clause]) -> bool:
        return any(map(len, self._rows_of(group, enough=1)))

    def _keys(self, groups: Sequence[Sequence[Clause]]) -> IntArray:
        """The keys of chunks that have one clause of each group, ascending."""
        found = [np.zeros(0, dtype=np.int64)]
        both = partial(np.intersect1d, assume_unique=True)
        for one, each in zip(
            self._parts, zip(*map(self._rows_of, groups), strict=True), strict=True
        ):
            if len(rows := reduce(both, each)):
                found.append(one.keys[rows])
        return np.sort(np.concatenate(found))

    def _meeting(self, asked: Asked) -> list[BoolArray | None]:
        """The rows of each block with what must be there, and without what must not; None: all."""
        masks: list[BoolArray | None] = [None] * len(self._parts)
        for group in asked.must:
            masks = [*map(_both, masks, self._any_of(group))]
        if asked.must_not:
            masks = [
                _both(mask, ~rows)
                for mask, rows in zip(masks, self._any_of(asked.must_not), strict=True)
            ]
        return masks

    def _any_of(self, group: Sequence[Clause]) -> Iterator[BoolArray]:
        """Whether each row that is alive has one of the clauses, for each block."""
        for one, rows in zip(self._parts, self._rows_of(group), strict=True):
            mask = np.zeros(one.block.size, dtype=np.bool_)
            mask[rows] = True
            yield mask

    def _rows_of(self, group: Sequence[Clause], enough: int = BLOCK_ROWS) -> Iterator[NDArray[Any]]:
        """The rows alive of each block that have one of the clauses, or enough of them.

        A clause is words that stand together, or a form of them.
        """
        places = [self._ordinals(clause) for clause in group]
        for at, one in enumerate(self._parts):
            most = enough if one.alive is None else one.block.size
            found = [one.block.phrase(terms[at], most) for terms, _ in places]
            found += [one.block.rows(form) for _, forms in places for form in forms[at]]
            some = [rows for rows in found if len(rows)]
            rows = np.unique(np.concatenate(some)) if len(some) > 1 else (*some, found[0])[0]
            yield rows if one.alive is None else rows[one.alive[rows]]

    def _ordinals(self, clause: Clause) -> tuple[list[list[int]], list[list[int]]]:
        """The numbers of a clause's words in each block, and those of its forms."""
        forms = clause.forms if clause.field == BODY else ()
        every = [(clause.field, term) for term in clause.terms]
        every += [(field, form) for form in forms for field in (FORMS, BODY)]
        found, count = self._dictionary.find(Wanted(every)).tolist(), len(clause.terms)
        return [one[:count] for one in found], [one[count:] for one in found]

    def frequency(self, word: str) -> int:
        """The number of chunks that have this word."""
        known = self._frequency.get(word)
        if known is None:
            known = frequency_of(word, self.counts, self._size)
            self._frequency.put(word, known)
        return known

    def among(self, word: str, keys: IntArray) -> BoolArray:
        """Which of the chunks with these keys have this word; all where too many chunks do."""
        (found,) = self.among_each((word,), keys)
        return found

    def among_each(self, words: Sequence[str], keys: IntArray) -> list[BoolArray]:
        """``among`` for each of many words."""
        cuts = [
            () if self.frequency(word) > limits.MAX_CHUNKS_OF_WORD else analyse(word).terms
            for word in words
        ]
        places = {term: at for at, term in enumerate(dict.fromkeys(chain.from_iterable(cuts)))}
        having = self.present([*places], keys)
        lines = ([having[places[term]] for term in cut] for cut in cuts)
        whole = np.ones(len(keys), dtype=np.bool_)
        return [reduce(np.logical_and, each, whole) for each in lines]

    def present(self, terms: Sequence[str], keys: IntArray) -> BoolArray:
        """Which of the chunks with these keys have each term or form: a line for each."""
        places = self._places.get(wanted := tuple(terms))
        if places is None:
            every = Wanted((field, term) for field in IN_TEXT for term in wanted)
            places = self._dictionary.find(every)
            self._places.put(wanted, places)
        keys = np.ascontiguousarray(keys, dtype=np.int64)
        found = np.empty((len(terms), len(keys)), dtype=np.bool_)
        library = compiled.library()
        if library is None:
            self._find_present(places, keys, found)
        elif library.assay_have_terms(
            self._held.ctypes.data, len(self._parts), places.ctypes.data, len(terms), len(IN_TEXT),
            keys.ctypes.data, len(keys), found.ctypes.data,
        ):  # fmt: skip
            raise CorruptError(OUTSIDE, hint=REBUILD)
        return found

    @cached_property
    def _held(self) -> IntArray:
        """The keys and postings of every block, as the compiled code sees them."""
        rows = ((one.keys.ctypes.data, len(one.keys), *one.block.posted) for one in self._parts)
        return np.array([*rows], dtype=np.int64)

    def _find_present(self, places: Ordinals, keys: IntArray, found: BoolArray) -> None:
        """The same without compiled code."""
        found[:] = False
        for one, ordinals in zip(self._parts, places, strict=True):
            at = np.searchsorted(one.keys[:-1], keys)
            here = np.flatnonzero(one.keys[at] == keys)
            having = one.block.having(ordinals, at[here])
            found[:, here] |= having.reshape(len(IN_TEXT), len(found), -1).any(axis=0)


def frequency_of(word: str, counts: Callable[[Sequence[str]], Mapping[str, int]], size: int) -> int:
    """The number of chunks, of ``size``, that have a word: of its terms, the rarest decides."""
    terms = analyse(word).terms
    if not terms:  # a stop word
        return limits.MAX_CHUNKS_OF_WORD + size
    return min(counts(terms).values())


def clauses_of(word: str) -> list[Clause]:
    """What a chunk must have to have a word: each of its terms, also as a name."""
    return [Clause((term,), (term,), term) for term in analyse(word).terms]


def _alive(part: Part, rows: BoolArray) -> BoolArray:
    return rows if part.alive is None else rows & part.alive


def _both(first: BoolArray | None, second: BoolArray | None) -> BoolArray | None:
    if first is None or second is None:
        return second if first is None else first
    return first & second
