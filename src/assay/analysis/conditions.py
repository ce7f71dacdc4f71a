"""Which other names has a condition: is T2DM what the question calls type 2 diabetes mellitus?

The names come from ``data/synonyms``: the abbreviations, and the diseases each with the usual name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain

from assay.analysis.longest import LongestNames
from assay.analysis.spelling import base
from assay.analysis.words import Lines

_WORD = re.compile(r"[^\W_]+")
_SHORT = 5  # letters of an abbreviation that may be another's
_CHANGES = {
    "low": ("drops", "falls", "goes down", "is low", "is too low", "too low"),
    "high": ("goes up", "rises", "is high", "is too high", "too high"),
}  # low blood pressure: blood pressure falls


def stems(text: str) -> tuple[str, ...]:
    """The words of a text in order, in the form in which spellings of one word are the same."""
    return tuple(filter(None, map(base, _WORD.findall(text))))


@lru_cache(maxsize=16_384)
def stems_of_word(word: str) -> tuple[str, ...]:
    """Those of one word as it is written; words recur more than texts do."""
    return stems(word)


@lru_cache(maxsize=4_096)
def stems_of(text: str) -> tuple[str, ...]:
    """The same; those of recent texts are remembered."""
    if isinstance(text, Lines):
        return tuple(chain.from_iterable(map(stems_of, text.parts)))
    return stems(text)


@lru_cache(maxsize=4_096)
def stems_in_a_row(text: str) -> str:
    """The stems of a text as one text, a blank around each."""
    return f" {' '.join(stems_of(text))} "


def conditions_in(words: tuple[str, ...]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where stems of a text name a condition: from, to, and its other names as stems in a row."""
    return _groups().found_in(words)


def diseases_in(text: str) -> dict[str, tuple[str, ...]]:
    """The diseases that a text names, as it writes them, each with all names, the usual first."""
    placed = [(match, stem) for match in _WORD.finditer(text) for stem in stems_of_word(match[0])]
    named = _diseases().found_in(tuple(stem for _, stem in placed))
    return {
        text[placed[start][0].start() : placed[end - 1][0].end()]: names
        for start, end, names in named
    }


@cache
def short_names() -> frozenset[str]:
    """The stems of abbreviations that may also be words or mean something else: ms, cf, pe."""
    return frozenset(
        base(name)
        for names in _abbreviated()
        for name in names
        if name.isupper() and name.isalpha() and len(name) <= _SHORT
    )


@cache
def abbreviations() -> Mapping[str, tuple[str, ...]]:
    """Every abbreviation, with all names of what it stands for."""
    return {name: names for names in _abbreviated() for name in names if " " not in name}


def names_in(text: str) -> dict[str, tuple[str, ...]]:
    """The names of a text that have others on the list, as they are written, with all of these."""
    low, found = f" {text.lower()} ", dict[str, tuple[str, ...]]()
    for names in _abbreviated():
        for name in names:
            if name.lower() in low:
                exact = (
                    name if name.isupper() and len(name) <= _SHORT else f"(?i:{re.escape(name)})"
                )
                if match := re.search(rf"(?<![^\W_]){exact}(?![^\W_])", text):
                    found[match[0]] = names
    return found


def is_named_in(names: Sequence[str], text: str) -> bool:
    """Whether a text has one of the names."""
    row = f" {' '.join(stems(text))} "
    return any(f" {' '.join(stems(name))} " in row for name in names)


@lru_cache(maxsize=1_024)
def in_medical_words(text: str) -> str:
    """A text with the names of the field for what it says in everyday words: too few platelets."""
    return _said_every_day().sub(lambda match: _everyday()[match[1].lower()], text)


@lru_cache(maxsize=1_024)
def in_words_for_models(text: str) -> str:
    """A text in the words of the field, kinds of drugs and infections as well: blood thinner."""
    return _said_of_kinds().sub(lambda match: _kinds()[match[1].lower()], in_medical_words(text))


def everyday_names(name: str) -> tuple[str, ...]:
    """What people say for a name of the field, in several words."""
    return tuple(one for one in abbreviations().get(name, ()) if one in _everyday())


@cache
def _said_every_day() -> re.Pattern[str]:
    return _any_of(_everyday())


@cache
def _said_of_kinds() -> re.Pattern[str]:
    return _any_of(_kinds())


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Any of these phrases, in the plural as well."""
    each = "|".join(map(re.escape, phrases))
    return re.compile(rf"(?<![^\W_])({each})s?(?![^\W_])", re.IGNORECASE)


@cache
def _kinds() -> Mapping[str, str]:
    """Everyday words that add one of the field and are no name of it: blood thinner."""
    rules = (line.partition("#")[0].partition("=>") for line in _lines())
    return {
        said.strip(): adds.strip() for said, arrow, adds in rules if arrow and " " in said.strip()
    }


@cache
def _everyday() -> Mapping[str, str]:
    """Everyday words, the longest first, each with the name of one word that means the same."""
    found = {
        name: names[-1]
        for names in _abbreviated()
        for name in names[:-1]
        if " " in name and name.islower() and names[-1].isalpha() and names[-1].islower()
    }
    for name, term in [*found.items()]:
        degree, _, measured = name.partition(" ")
        found |= {f"{measured} {verb}": term for verb in _CHANGES.get(degree, ())}
    return dict(sorted(found.items(), key=lambda one: -len(one[0])))


@cache
def _lines() -> tuple[str, ...]:
    folder = files("assay") / "data" / "synonyms"
    return tuple((folder / "abbreviations.txt").read_text(encoding="utf-8").splitlines())


@cache
def _abbreviated() -> tuple[tuple[str, ...], ...]:
    """The lines of the list of abbreviations, each the names of one thing."""
    lines = (line.partition("#")[0].split(",") for line in _lines())
    every = (tuple(name.strip() for name in line if name.strip()) for line in lines)
    return tuple(names for names in every if len(names) > 1)


@cache
def _listed() -> Mapping[str, tuple[str, ...]]:
    """The usual name of every disease to all of its names, the usual one first."""
    folder = files("assay") / "data" / "synonyms"
    groups: dict[str, list[str]] = {}
    for line in (folder / "diseases.txt").read_text(encoding="utf-8").splitlines():
        name, arrow, usual = line.partition(" => ")
        if arrow:
            groups.setdefault(usual, [usual]).append(name)
    return {usual: tuple(names) for usual, names in groups.items()}


@cache
def _diseases() -> LongestNames[tuple[str, ...]]:
    """The stems of every name of a disease on the list to all of its names."""
    every = ((stems(name), names) for names in _listed().values() for name in names)
    return LongestNames({key: names for key, names in every if key})


@cache
def _groups() -> LongestNames[tuple[str, ...]]:
    """The stems of every name to all names of that condition."""
    groups = {usual: dict.fromkeys(names) for usual, names in _listed().items()}
    for names in _abbreviated():
        groups.setdefault(names[-1], {}).update(dict.fromkeys(names))
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for group in groups.values():
        keys = [stems(name) for name in group]
        forms = dict.fromkeys(" ".join(key) for key in keys)
        for key in keys:
            if key:
                found.setdefault(key, {}).update(forms)
    return LongestNames({key: tuple(forms) for key, forms in found.items()})
