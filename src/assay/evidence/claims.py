"""Which claims does an answer make, and what does each of them cite?

A claim is a sentence that states something. ``[2]`` after it names the answer's second citation,
``[label-1:chunk_2]`` a chunk by its id. Where an answer has no such marks, every sentence rests on
all that the answer cites.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.analysis.sentence_ends import split_sentences
from assay.analysis.words import written_words
from assay.model.answers import Answer

_MARK = re.compile(r"\[([^\[\]]{1,200})\]")
_MARKS = r"(?:\s*\[[^\[\]]{1,200}\])+"
_AFTER_THE_END = re.compile(rf"([.!?;:])({_MARKS})")
_NUMBERS = re.compile(r"(?:note )?\d{1,4}(?:\s*[,;\u2013-]\s*\d{1,4})*")
_LIST_MARK = re.compile(r"^\s*(?:[*•·\u2013-]|\d{1,2}[.)])\s+")
_LEAST_WORDS = 3
_WIDEST = 50  # sources of a range such as [2-4]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer without its marks, and the citations that it has."""

    text: str
    citations: tuple[str, ...] = ()


def claims_of(answer: Answer) -> list[Claim]:
    """The claims of an answer, in order; a refusal makes none."""
    return [one for one in sentences_of(answer) if _states_something(one.text)]


def sentences_of(answer: Answer) -> list[Claim]:
    """Every sentence of an answer, also those too short to state anything."""
    if not answer.grounded:
        return []
    found: list[Claim] = []
    for written in answer.text.splitlines():
        line = _AFTER_THE_END.sub(r"\2\1", _LIST_MARK.sub("", written))
        for sentence in split_sentences(line):
            cited, text = _cited(sentence, answer.citations)
            found.append(Claim(text, cited))
    if any(one.citations for one in found):
        return found
    return [Claim(one.text, answer.citations) for one in found]


def statements_of(text: str) -> list[str]:
    """The sentences of a text that state something."""
    return [claim.text for claim in claims_of(Answer(text))]


def _states_something(text: str) -> bool:
    return not text.endswith(("?", ":")) and len(written_words(text)) >= _LEAST_WORDS


def _cited(sentence: str, citations: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """What a sentence cites, and the sentence without the marks."""
    cited: dict[str, None] = {}

    def taken(mark: re.Match[str]) -> str:
        inside = mark[1].strip()
        if inside in citations:
            cited[inside] = None
        elif _NUMBERS.fullmatch(inside):
            cited.update(dict.fromkeys(_named(inside, citations)))
        else:
            return mark[0]  # brackets of the text itself
        return ""

    text = _MARK.sub(taken, sentence)
    text = re.sub(r"\s+([.!?;:,])", r"\1", " ".join(text.split()))
    return tuple(cited), text


def _named(inside: str, citations: Sequence[str]) -> list[str]:
    """The citations of ``1``, ``1, 3`` or ``2-4``; a number that means none stays one."""
    found: list[str] = []
    for part in re.split(r"[,;]", inside.removeprefix("note ")):
        first, _, last = part.replace("\u2013", "-").partition("-")
        low = int(first)
        high = int(last) if last.strip() else low
        numbers = range(low, high + 1) if low <= high <= low + _WIDEST else (low, high)
        found += [citations[n - 1] if 1 <= n <= len(citations) else f"[{n}]" for n in numbers]
    return found
