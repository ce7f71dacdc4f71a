"""Which phrases indicate which intent, and which sections answer it?

The shipped list is ``data/intents.yaml``; its header explains the format. A user's own file is
merged into it: phrases are added, changed, or removed with a confidence of 0; a new intent needs a
base and sections or hints. General words, which name no subject (``search/subject.py``), are added.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import NoReturn

from assay import limits
from assay.digests import digest_of
from assay.errors import FormatError
from assay.model.names import words
from assay.model.sections import INTENTS, LABELS
from assay.search.boost.compound import Joints
from assay.search.boost.words import COUNTS, STAR, Phrases
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode, load_yaml

_KEYS = ("base", "sections", "hints", "phrases")
BAR = "|"
LONG = 8  # letters of a word that is known in spite of one mistake
MOST_ALTERNATIVES = 300  # phrases of a line
_RESERVED = ("tabular", "none")


@dataclass(frozen=True, slots=True)
class Intent:
    """One clinical intent: how strong it is, and what it boosts.

    Of a drug's own label, what is in the first of the sections comes before the others.
    """

    name: str
    base: float
    sections: tuple[str, ...]
    hints: frozenset[str]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All intents and the phrases that indicate them."""

    tables: Phrases
    phrases: Phrases
    intents: Mapping[str, Intent]
    general: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()  # long words that state an intent, as they are written

    def intent_words(self, query: str, text: tuple[str, ...]) -> set[int]:
        """The positions of the words of a query that state an intent; ``text`` are its words."""
        is_part = self.joints(query).is_part
        return self.tables.covered(text, is_part) | self.phrases.covered(text, is_part)

    def joints(self, query: str) -> Joints:
        """How the words of a query are joined."""
        return Joints(query, self.general, self._asks)

    def _asks(self, word: str) -> bool:
        return bool(self.tables.covered((word,)) or self.phrases.covered((word,)))

    @property
    def digest(self) -> str:
        """The same for lexicons that boost the same."""
        intents = [
            [one.name, one.base, [*one.sections], sorted(one.hints)]
            for one in sorted(self.intents.values(), key=lambda one: one.name)
        ]
        return digest_of([self.tables.rows(), self.phrases.rows(), intents])


@dataclass
class _Draft:
    """An intent while files are merged."""

    base: float = 0.0
    sections: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    phrases: dict[str, float] = field(default_factory=dict)


@lru_cache(maxsize=1)
def default_lexicon() -> Lexicon:
    """The shipped list alone."""
    return load_lexicon()


def load_lexicon(own: Path | None = None) -> Lexicon:
    """The shipped list, merged with a user's own file."""
    shipped = Path(str(files("assay") / "data" / "intents.yaml"))
    reader = _Reader()
    for path in (shipped,) if own is None else (shipped, own):
        reader.read(path)
    return reader.lexicon()


def _long_words(spoken: Iterable[tuple[str, str, float]]) -> frozenset[str]:
    """The words of phrases that count, in the plural as well, which one mistake cannot confuse."""
    single = {
        word
        for _, phrase, confidence in spoken
        if confidence >= COUNTS
        for word in phrase.lower().split()
        if word.isalpha() and len(word) >= LONG
    }
    return frozenset((*single, *(f"{word}s" for word in single)))


class _Reader:
    """Merges files."""

    def __init__(self) -> None:
        self._tables: dict[str, float] = {}
        self._drafts: dict[str, _Draft] = {}
        self._general: set[str] = set()
        self._forms: dict[tuple[int, str], str] = {}  # phrases by where they go and folded form
        self._source = ""

    def read(self, path: Path) -> None:
        """Merge one file."""
        self._source = str(path)
        root = load_yaml(path, max_bytes=limits.MAX_CONFIG_BYTES)
        if root is None:
            return
        for key, value in self._mapping(root, "the file").entries:
            if key.text == "tables":
                self._phrases(self._tables, value)
            elif key.text == "intents":
                for name, body in self._mapping(value, "intents").entries:
                    self._intent(name, body)
            elif key.text == "general":
                self._words(value)
            else:
                self._refuse(key, f"there is no {key.text!r:.40} here", "tables, intents, general")

    def lexicon(self) -> Lexicon:
        """The merged lexicon."""
        intents = {
            name: Intent(name, draft.base, draft.sections, frozenset(draft.hints))
            for name, draft in self._drafts.items()
        }
        spoken = [
            (name, phrase, confidence)
            for name, draft in self._drafts.items()
            for phrase, confidence in draft.phrases.items()
        ]
        tables = [("", phrase, confidence) for phrase, confidence in self._tables.items()]
        return Lexicon(
            Phrases(tables), Phrases(spoken), intents, frozenset(self._general), _long_words(spoken)
        )

    def _intent(self, name: ScalarNode, body: Node) -> None:
        if name.text in _RESERVED or not name.text.isidentifier():
            self._refuse(
                name, f"an intent cannot be called {name.text!r:.40}", "as in adverse_events"
            )
        draft = self._drafts.setdefault(name.text, _Draft())
        for key, value in self._mapping(body, name.text).entries:
            if key.text == "base":
                draft.base = self._number(value, "base", 1.0, limits.MAX_BOOST)
            elif key.text == "sections":
                draft.sections = self._names(value, LABELS)
            elif key.text == "hints":
                draft.hints = self._names(value, (*INTENTS, *self._drafts))
            elif key.text == "phrases":
                self._phrases(draft.phrases, value)
            else:
                self._refuse(
                    key, f"an intent has no {key.text!r:.40}", f"known: {', '.join(_KEYS)}"
                )
        if not draft.base or not (draft.sections or draft.hints):
            self._refuse(name, f"the intent {name.text} lacks a base, or sections and hints")

    def _phrases(self, into: dict[str, float], node: Node) -> None:
        for phrase, value in self._mapping(node, "phrases").entries:
            confidence = self._number(value, phrase.text, 0.0, 1.0)
            for text in self._alternatives(phrase):
                if not words(text.partition(STAR)[0]):
                    self._refuse(phrase, f"the phrase {text!r:.40} holds no word")
                # by its folded form, so that "Side-effect" changes "side effects"
                form = " ".join(words(text))
                into.pop(self._forms.pop((id(into), form), ""), None)
                if confidence:
                    into[text] = confidence
                    self._forms[id(into), form] = text

    def _alternatives(self, phrase: ScalarNode) -> Iterator[str]:
        """The phrase with each of the words that bars stand between."""
        parts = [word.split(BAR) for word in phrase.text.split()]
        if math.prod(map(len, parts)) > MOST_ALTERNATIVES:
            self._refuse(phrase, f"the phrase {phrase.text!r:.40} stands for too many phrases")
        return map(" ".join, product(*parts))

    def _words(self, node: Node) -> None:
        for line in node.items if isinstance(node, SequenceNode) else (node,):
            if not isinstance(line, ScalarNode):
                self._refuse(line, "words are wanted", "as in general: [of, the]")
            self._general.update(words(line.text))

    def _names(self, node: Node, known: Mapping[str, object] | tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(node, SequenceNode):
            self._refuse(node, "a list is wanted", "as in [methods, results]")
        names = []
        for item in node.items:
            if not isinstance(item, ScalarNode) or item.text not in known:
                self._refuse(item, "this is not a name we know", f"known: {', '.join(known)}")
            names.append(item.text)
        return tuple(dict.fromkeys(names))

    def _number(self, node: Node, what: str, low: float, high: float) -> float:
        text = node.text if isinstance(node, ScalarNode) else ""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            self._refuse(node, f"{what:.60}: {text!r:.40} is not from {low:g} to {high:g}")
        return value

    def _mapping(self, node: Node, what: str) -> MappingNode:
        if not isinstance(node, MappingNode):
            self._refuse(node, f"{what} must hold names and values", "as in data/intents.yaml")
        return node

    def _refuse(self, node: Node, message: str, hint: str | None = None) -> NoReturn:
        raise FormatError(message, source=self._source, line=node.line, hint=hint)
