"""Where do words in a row make a name? Of names that begin together, the longest counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


class LongestNames(Generic[V]):
    """Names of one word or several, each with what it stands for."""

    def __init__(self, names: Mapping[tuple[str, ...], V]) -> None:
        self._names = names
        lengths: dict[str, set[int]] = {}
        for name in names:
            lengths.setdefault(name[0], set()).add(len(name))
        self._lengths = {word: sorted(each, reverse=True) for word, each in lengths.items()}

    def __contains__(self, words: tuple[str, ...]) -> bool:
        return words in self._names

    def found_in(self, words: tuple[str, ...]) -> Iterator[tuple[int, int, V]]:
        """The names among these words, none inside another: from, to, and what it stands for."""
        after = 0
        for at, word in enumerate(words):
            for length in self._lengths.get(word, ()) if at >= after else ():
                found = self._names.get(words[at : at + length])
                if found is not None and at + length <= len(words):
                    after = at + length
                    yield at, after, found
                    break
