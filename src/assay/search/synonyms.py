"""Which other words mean the same?

The file has one rule per line, in the format of Solr and Elasticsearch: ``heart attack, myocardial
infarction, mi`` (each adds the others) or ``tumour => tumor, neoplasm`` (left adds right). ``#``
starts a comment. Words are compared after NFKC and in lower case.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from assay import limits
from assay.digests import digest_of
from assay.errors import FormatError, LimitError, MissingFileError

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


class Synonyms:
    """The rules of one file."""

    def __init__(self, rules: dict[tuple[str, ...], tuple[str, ...]]) -> None:
        self._rules = rules
        self._longest = max(map(len, rules), default=0)

    def __len__(self) -> int:
        return len(self._rules)

    @property
    def digest(self) -> str:
        """The same for rules that add the same words to every query."""
        return digest_of(sorted(self._rules.items()))

    def expansions(self, text: str) -> tuple[str, ...]:
        """What the rules add to a query; of phrases that start together, the longest counts."""
        words = _WORD.findall(text)
        added: dict[str, None] = {}
        at = 0
        while at < len(words):
            for length in range(min(self._longest, len(words) - at), 0, -1):
                found = self._rules.get(tuple(words[at : at + length]))
                if found is not None:
                    added |= dict.fromkeys(found)
                    at += length - 1
                    break
            at += 1
        said = f" {' '.join(words)} "
        return tuple(word for word in added if f" {word} " not in said)[: limits.MAX_SYNONYMS]


def read_synonyms(path: Path) -> Synonyms:
    """The rules of a file; the error for a bad line gives its number."""
    try:
        size = path.stat().st_size
        if size > limits.MAX_SYNONYM_BYTES:
            raise LimitError(f"{path}: {size:,} bytes, and {limits.MAX_SYNONYM_BYTES:,} may be")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise MissingFileError(
            f"{path}: {error.strerror}", hint="see the setting synonyms"
        ) from None
    except UnicodeDecodeError:
        raise FormatError("this is not UTF-8 text", source=str(path)) from None
    rules: dict[tuple[str, ...], dict[str, None]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        rule = line.partition("#")[0].strip()
        if rule:
            for source, targets in _pairs(rule, str(path), number):
                rules.setdefault(source, {}).update(dict.fromkeys(targets))
    return Synonyms({source: tuple(targets) for source, targets in rules.items()})


def _pairs(rule: str, source: str, line: int) -> list[tuple[tuple[str, ...], list[str]]]:
    left, arrow, right = rule.partition("=>")
    given, brought = _phrases(left), _phrases(right) if arrow else _phrases(left)
    if not given or not brought or (not arrow and len(given) < 2):
        raise FormatError(
            "a rule is 'a, b, c' or 'a => b, c'", source=source, line=line, hint="# is a comment"
        )
    return [
        (tuple(words), [" ".join(other) for other in brought if other != words]) for words in given
    ]


def _phrases(text: str) -> list[list[str]]:
    every = (_WORD.findall(unicodedata.normalize("NFKC", part).lower()) for part in text.split(","))
    return [words for words in every if words]
