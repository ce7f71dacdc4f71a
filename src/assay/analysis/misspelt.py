"""Which known word was probably meant by one that no document has?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

LEAST_LENGTH = 5
TWICE_WRONG_LENGTH = 7  # from this length on, two mistakes are forgiven
SAME_START = 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_OPPOSITES = tuple(
    tuple(line.split())
    for line in """
hypo hyper
pre post peri
ante anti
intra inter extra
endo ecto exo epi
ab ad
macro micro
mono multi
supra sub super
""".strip().splitlines()
)


def nearest(
    term: str,
    counts: Callable[[Sequence[str]], Mapping[str, int]],
    starting: Callable[[str], Iterable[tuple[str, int]]],
) -> str | None:
    """The most frequent term that one mistake turns into this one, else the nearest by two.

    The first letter is seldom wrong, and must be the same.

    ``counts`` says how many chunks have each term, ``starting`` lists the terms with a prefix.
    """
    if len(term) < LEAST_LENGTH or not (term.isascii() and term.isalpha()):
        return None
    # most mistakes leave the first half as it is, and listing its terms is faster than counting
    half = term[: max(SAME_START, len(term) // 2)]
    listed = dict(starting(half))
    others = [term[0] + ending for ending in dict.fromkeys(one_mistake(term[1:]))]
    counted = counts([other for other in others if not other.startswith(half)])
    best, most = None, 0
    for other in others:
        found = listed.get(other, 0) or counted.get(other, 0)
        if found > most:
            best, most = other, found
    if best is not None or len(term) < TWICE_WRONG_LENGTH:
        return best
    close = (
        (distance(term, other), -found, other)
        for other, found in starting(term[:SAME_START])
        if abs(len(other) - len(term)) <= 2 and other.isalpha()
    )
    return min((one for one in close if one[0] <= 2), default=(0, 0, None))[2]


def are_opposites(first: str, second: str) -> bool:
    """Whether two words begin with different ones of a group that excludes each other."""
    for group in _OPPOSITES:
        begin = [
            max((one for one in group if word.startswith(one)), key=len, default="")
            for word in (first, second)
        ]
        if all(begin) and begin[0] != begin[1]:
            return True
    return False


def one_mistake(word: str) -> Iterator[str]:
    """Everything that one mistake makes of a word."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in _LETTERS:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]


def distance(first: str, second: str) -> int:
    """How many letters are added, lost, changed or swapped with a neighbour."""
    last: list[int] = []
    before: list[int] = []
    row = [*range(len(second) + 1)]
    for at, letter in enumerate(first, start=1):
        before, last, row = last, row, [at]
        for to, other in enumerate(second, start=1):
            cost = min(last[to] + 1, row[to - 1] + 1, last[to - 1] + (letter != other))
            if before and to > 1 and letter == second[to - 2] and first[at - 2] == other:
                cost = min(cost, before[to - 2] + 1)
            row.append(cost)
    return int(row[-1])
