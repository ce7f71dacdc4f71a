"""Which other words mean the same?

The file has one rule per line, in the format of Solr and Elasticsearch: ``heart attack, myocardial
infarction, mi`` (each adds the others) or ``tumour => tumor, neoplasm`` (left adds right). ``#``
starts a comment. Words are compared in lower case, without accents, and names with digits without
their hyphens (IL-6, IL6). In the rules that come with assay, a short abbreviation in capitals
stands only for one in capitals: "AS" is a disease, and "as" is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

from assay import limits
from assay.analysis.asked import Kind, names_asked
from assay.analysis.conditions import stems
from assay.analysis.drug_classes import asks_for_both, classes_in, classes_of_each
from assay.analysis.drugs import other_names
from assay.analysis.spelling import folded
from assay.cache import Cache
from assay.digests import digest_of
from assay.errors import FormatError, UsageError
from assay.plain_file import read_plain
from assay.search.request import BUILT_IN_SYNONYMS, NO_SYNONYMS

WRITTEN = ("abbreviations.txt", "drug_names.txt")  # rules
OTHER_NAMES = ("drugs.txt", "diseases.txt")
SHORT = 5  # letters of an abbreviation that may also be a word
NAMES_ALONE = 3  # words of a query that may be nothing but two drugs
ALIKE = 5  # letters at the beginning of a name in two languages
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_Key = tuple[str, ...]


class Synonyms:
    """Rules; the keys of ``capitals`` hold for what is written in capitals.

    Where two abbreviations differ in capitals only (EGFR, eGFR), ``exact`` has what each means.

    What ``gentle`` rules add counts less than what was written.
    """

    def __init__(
        self,
        rules: dict[_Key, tuple[str, ...]],
        capitals: frozenset[_Key] = frozenset(),
        exact: Mapping[str, tuple[str, ...]] | None = None,
        *,
        gentle: bool = False,
    ) -> None:
        self.gentle = gentle
        self._exact = exact or {}
        self._rules = rules
        self._capitals = capitals
        self._others: Cache[str, tuple[str, ...]] = Cache(limits.MAX_CACHED_NAMES)
        lengths: dict[str, set[int]] = {}
        for key in rules:
            lengths.setdefault(key[0], set()).add(len(key))
        self._lengths = {word: sorted(those, reverse=True) for word, those in lengths.items()}

    def __len__(self) -> int:
        return len(self._rules)

    @property
    def digest(self) -> str:
        """The same for rules that add the same words to every query."""
        return digest_of([*sorted(self._rules.items()), *sorted(self._capitals)])

    def expansions(self, text: str) -> tuple[str, ...]:
        """What the rules add to a query; of phrases that start together, the longest counts."""
        written = [*_written(text)]
        words = [word for word, _ in written]
        added: dict[str, None] = {}
        at = 0
        while at < len(words):
            for length in self._lengths.get(words[at], ()):
                key = tuple(words[at : at + length])
                found = self._exact.get(written[at][1]) if length == 1 else None
                found = found or self._rules.get(key)
                if found is not None and (key not in self._capitals or written[at][1].isupper()):
                    added |= dict.fromkeys(found)
                    at += length - 1
                    break
            at += 1
        return _unsaid(added, text)

    def others(self, text: str) -> tuple[str, ...]:
        """What may stand for a name; of a drug, the rules that ship know every name."""
        found = self._others.get(text)
        if found is None:
            known = (*other_names(text)[1:], *_members(text)) if self.gentle else ()
            found = tuple(dict.fromkeys((*self.expansions(text), *known)))[: limits.MAX_SYNONYMS]
            self._others.put(text, found)
        return found

    def classes(self, text: str) -> tuple[str, ...]:
        """The classes of drugs that are asked for together, where the rules are those that ship."""
        is_asked = self.gentle and (asks_for_both(text) or len(text.split()) <= NAMES_ALONE)
        each = classes_of_each(_drugs(text), text).values() if is_asked else ()
        return _unsaid((name for classes in each for one in classes for name in one.names), text)

    def names(self, text: str) -> tuple[str, ...]:
        """Other names of drugs, and members of classes, where the rules are those that ship.

        Of names that begin alike, as those of other languages do, the first counts.
        """
        if not self.gentle:
            return ()
        known = (name for drug in _drugs(text) for name in _distinct(other_names(drug)))
        return _unsaid((*known, *_members(text)), text)


def _drugs(text: str) -> list[str]:
    return [one.text for one in names_asked(text) if one.kind in (Kind.DRUG, Kind.NAME)]


def _unsaid(names: Iterable[str], text: str) -> tuple[str, ...]:
    """The names that a text does not have, each once."""
    said = f" {' '.join(_key(text))} "
    new = (name for name in dict.fromkeys(names) if f" {' '.join(_key(name))} " not in said)
    return tuple(islice(new, limits.MAX_SYNONYMS))


def _members(text: str) -> tuple[str, ...]:
    """The other names of the classes of drugs that a text names, and their members."""
    found = (one for _, _, one in classes_in(stems(text)))
    return tuple(name for one in found for name in (*one.names, *one.members))


def _distinct(names: Sequence[str]) -> Iterator[str]:
    """The names without those that begin as one before them."""
    beginnings: set[str] = set()
    for name in names:
        if name[:ALIKE] not in beginnings:
            yield name
        beginnings.add(name[:ALIKE])


@cache
def built_in() -> Synonyms:
    """The rules that come with assay; ``data/synonyms/SOURCES.md`` says where they are from."""
    folder = files("assay") / "data" / "synonyms"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in (*WRITTEN, *OTHER_NAMES)}
    rules = (line for name in WRITTEN for line in texts[name].split("\n"))
    own = _synonyms([(line, "") for line in rules], capitals=True)
    # thousands of lines that are folded already: reading them as rules would take long
    pairs = (line.split(" => ") for name in OTHER_NAMES for line in texts[name].split("\n")[1:-1])
    others = {tuple(name.split(" ")): (usual,) for name, usual in pairs}
    return Synonyms({**others, **own._rules}, own._capitals, own._exact, gentle=True)


@lru_cache(maxsize=256)
def rules_of(text: str) -> Synonyms | None:
    """The rules that a request brings; None for ``none``, assay's own for ``built-in``."""
    if text == NO_SYNONYMS:
        return None
    if text == BUILT_IN_SYNONYMS:
        return built_in()
    try:
        return _synonyms([(line, "synonym_rules") for line in text.split(";")], capitals=False)
    except FormatError as problem:
        raise UsageError(str(problem), hint="such as: mi, heart attack") from None


def read_synonyms(path: Path) -> Synonyms:
    """The rules of a file; the error for a bad line gives its number."""
    data = read_plain(path, limits.MAX_SYNONYM_BYTES, hint="see the setting synonyms")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError("this is not UTF-8 text", source=str(path)) from None
    return _synonyms([(line, str(path)) for line in text.split("\n")], capitals=False)


def _synonyms(lines: Iterable[tuple[str, str]], *, capitals: bool) -> Synonyms:
    """The rules of lines that come from somewhere."""
    rules: dict[_Key, dict[str, None]] = {}
    typed: dict[_Key, dict[str, tuple[str, ...]]] = {}
    only: set[_Key] = set()
    number, before = 0, ""
    for line, source in lines:
        number, before = (number + 1, before) if source == before else (1, source)
        rule = line.partition("#")[0].strip()
        if rule:
            for phrase, targets in _pairs(rule, source, number):
                key = tuple(_key(phrase))
                rules.setdefault(key, {}).update(dict.fromkeys(targets))
                typed.setdefault(key, {})[phrase] = tuple(targets)
                if capitals and phrase.isupper() and phrase.isalpha() and len(phrase) <= SHORT:
                    only.add(key)
    alike = (phrases for phrases in typed.values() if capitals and len(phrases) > 1)
    exact = {phrase: targets for phrases in alike for phrase, targets in phrases.items()}
    each = {key: tuple(targets) for key, targets in rules.items()}
    return Synonyms(each, frozenset(only - {tuple(_key(one)) for one in exact}), exact)


def _pairs(rule: str, source: str, line: int) -> list[tuple[str, list[str]]]:
    left, arrow, right = rule.partition("=>")
    given, brought = _phrases(left), _phrases(right) if arrow else _phrases(left)
    if not given or not brought or (not arrow and len(given) < 2):
        raise FormatError(
            "a rule is 'a, b, c' or 'a => b, c'", source=source, line=line, hint="# is a comment"
        )
    return [
        (phrase, [other.lower() for other in brought if _key(other) != _key(phrase)])
        for phrase in given
    ]


def _phrases(text: str) -> list[str]:
    every = (" ".join(part.split()) for part in text.split(","))
    return [phrase for phrase in every if _key(phrase)]


def _key(text: str) -> list[str]:
    return [word for word, _ in _written(text)]


def _written(text: str) -> Iterator[tuple[str, str]]:
    """The words of a text as they are compared, each with how it is written."""
    for match in _WORD.finditer(text):
        for part in _compared(match[0]):
            yield part, match[0]


@lru_cache(maxsize=limits.MAX_CACHED_FREQUENCIES)
def _compared(written: str) -> tuple[str, ...]:
    """A word as it is compared; a name with a digit is one word, any other is split at hyphens."""
    word = folded(written)
    if any(map(str.isdigit, word)):
        return (word.replace("-", ""),)
    return tuple(word.split("-"))
