"""Which components has the user brought, and how do they become part of a search?

The setting ``own_components`` names a factory for each, as ``module:factory``. It is called with
the chunks of the index and returns a ``Component`` (``model/query.py``): once when an index is
opened, and again for every new generation. ``assay.testing.component`` checks the contract. The
code is the user's own: whatever it does wrong costs its own list, and the answer names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

from assay.errors import AssayError, UsageError
from assay.model.document import Chunk, KeyedChunk
from assay.model.query import Component, ExplainsTerms, Filters, Hit, blocking
from assay.search.checked import BrokenContractError
from assay.user_code import load_function

PAGE = 500


class IndexedChunks(Sequence[KeyedChunk]):
    """The chunks of one generation in the order of their keys; texts are read as they are asked."""

    def __init__(
        self,
        chunk_ids: Mapping[int, str],
        fetch: Callable[[Sequence[int]], Mapping[int, Chunk]],
    ) -> None:
        self.chunk_ids = chunk_ids
        self.fetch = fetch

    @cached_property
    def _keys(self) -> list[int]:
        return sorted(self.chunk_ids)

    def __len__(self) -> int:
        return len(self.chunk_ids)

    def __iter__(self) -> Iterator[KeyedChunk]:
        for start in range(0, len(self._keys), PAGE):
            yield from self._read(self._keys[start : start + PAGE])

    @overload
    def __getitem__(self, at: int) -> KeyedChunk: ...
    @overload
    def __getitem__(self, at: slice) -> list[KeyedChunk]: ...
    def __getitem__(self, at: int | slice) -> KeyedChunk | list[KeyedChunk]:
        if isinstance(at, slice):
            return self._read(self._keys[at])
        return self._read([self._keys[at]])[0]

    def _read(self, keys: Sequence[int]) -> list[KeyedChunk]:
        chunks = self.fetch(keys)
        return [KeyedChunk(key, chunks[key]) for key in keys]


@dataclass(frozen=True, slots=True)
class OwnComponent:
    """A component by its name; ``digest`` identifies its code and is None where nobody knows it.

    ``factory`` is None where the code cannot be loaded; ``problem`` says why.
    """

    name: str
    spec: str
    factory: Callable[[Sequence[KeyedChunk]], Component] | None
    digest: str | None
    problem: str = ""

    def build(self, chunks: IndexedChunks) -> Component:
        """The component over these chunks; an error says what is wrong with its code."""
        if self.factory is None:
            raise UsageError(self.problem)
        try:
            made: Any = self.factory(chunks)
        except (Exception, SystemExit) as problem:  # the user's code
            said = f"{type(problem).__name__}: {problem!s:.300}"
            raise UsageError(f"{self.spec} cannot build it: {said}") from problem
        if not callable(getattr(made, "search", None)):
            raise UsageError(f"{self.spec} returned {type(made).__name__}, which has no search")
        explains = isinstance(made, ExplainsTerms)
        return (_Explaining if explains else _Guarded)(self.name, made, chunks)


def load_components(specs: Mapping[str, str]) -> dict[str, OwnComponent]:
    """The components that the setting names; one that cannot be loaded says so when it is asked."""
    return {name: _loaded(name, spec) for name, spec in sorted(specs.items())}


def _loaded(name: str, spec: str) -> OwnComponent:
    try:
        found = load_function(spec)
    except AssayError as problem:
        return OwnComponent(name, spec, None, None, problem.message)
    return OwnComponent(name, spec, found.function, found.digest)


class _Guarded:
    """A component whose hits are looked at before anybody trusts them."""

    def __init__(self, name: str, component: Any, chunks: IndexedChunks) -> None:
        self.name = name
        self._component = component
        self._chunks = chunks

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The hits of the component, if each is a chunk of this index that passes the filters."""
        found = self._component.search(query, k, filters or Filters())
        if not isinstance(found, Sequence) or isinstance(found, str | bytes):
            raise BrokenContractError(f"search returned {type(found).__name__}, not a list of hits")
        hits = [_hit(one) for one in found]
        unknown = [hit for hit in hits if self._chunks.chunk_ids.get(hit.key) != hit.chunk_id]
        if unknown:
            key, chunk_id, _ = unknown[0]
            raise BrokenContractError(f"no chunk {chunk_id!r:.80} has the key {key!r:.40} here")
        if filters is not None and filters != Filters():
            self._check(hits, filters)
        return hits

    def _check(self, hits: Sequence[Hit], filters: Filters) -> None:
        chunks = self._chunks.fetch([hit.key for hit in hits])
        for key, chunk_id, _ in hits:
            if reasons := blocking(chunks[key], filters):
                raise BrokenContractError(f"{chunk_id} does not pass the filters: {reasons[0]}")


class _Explaining(_Guarded):
    """One that can also say which terms gave a score."""

    def terms(self, query: str, keys: Sequence[int]) -> Mapping[int, Mapping[str, float]]:
        """What each term of the query adds to the score of each chunk."""
        found = self._component.terms(query, keys)
        return {
            int(key): {str(term): float(share) for term, share in terms.items()}
            for key, terms in found.items()
        }


def _hit(found: Any) -> Hit:
    """A hit with plain numbers, whatever library they come from."""
    try:
        key, chunk_id, score = found
        return Hit(int(key), str(chunk_id), float(score))
    except (TypeError, ValueError):
        raise BrokenContractError(f"{found!r:.80} is not a Hit(key, chunk_id, score)") from None
