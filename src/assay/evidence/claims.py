"""Which claims does an answer make, and what does each of them cite?

A claim is a sentence that states something. ``[2]`` after it names the answer's second citation,
``[label-1:chunk_2]`` a chunk by its id. Where an answer has no such marks, every sentence rests on
all that the answer cites.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.analysis.sentence_ends import split_sentences
from assay.analysis.words import written_words
from assay.model.answers import Answer

_MARK = re.compile(r"\[([^\[\]]{1,200})\]")
_MARKS = r"(?:\s*\[[^\[\]]{1,200}\])+"
_AFTER_THE_END = re.compile(rf"([.!?;:])({_MARKS})")
_BEFORE_ANOTHER = re.compile(rf"{_MARKS}(?=\s+(?:[A-Z(\u201c\"*\u2022]|[^\[\]|]{{1,200}}\|))")
_ENDS = re.compile(r"[.!?;:][\"'\u201d\u2019)]*\s*$")
_NUMBERS = re.compile(r"(?:note )?\d{1,4}(?:\s*[,;\u2013-]\s*\d{1,4})*")
_NUMBERED = re.compile(r"\[(\d{1,4}(?:\s*[,;\u2013-]\s*\d{1,4})*)\]")
_LIST_MARK = re.compile(r"^\s*(?:[*•·\u2013-]|\d{1,2}[.)])\s+")
_LEAST_WORDS = 3
_WIDEST = 50  # sources of a range such as [2-4]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer without its marks, and the citations that it has."""

    text: str
    citations: tuple[str, ...] = ()


def claims_of(answer: Answer) -> list[Claim]:
    """The claims of an answer, in order; a refusal makes none.

    Where no sentence is long enough to be one, as in "10 mg.", every sentence with a word is.
    """
    every = sentences_of(answer)
    found = [one for one in every if _states_something(one.text)]
    return found or [one for one in every if _says_anything(one.text)]


def sentences_of(answer: Answer) -> list[Claim]:
    """Every sentence of an answer, also those too short to state anything."""
    if not answer.grounded:
        return []
    found: list[Claim] = []
    for written in answer.text.splitlines():
        for sentence in _sentences(_LIST_MARK.sub("", written)):
            cited, text = _cited(sentence, answer.citations)
            found.append(Claim(text, cited))
    if any(one.citations for one in found):
        return found
    return [Claim(one.text, answer.citations) for one in found]


def has_marks(answer: Answer) -> bool:
    """Whether the text says which sentence cites what."""
    return any(
        inside in answer.citations or _NUMBERS.fullmatch(inside)
        for inside in (mark[1].strip() for mark in _MARK.finditer(answer.text))
    )


def citing(text: str, ids: Sequence[str], listed: Sequence[int] = ()) -> Answer:
    """The answer whose marks number the passages that it was given, best first.

    Marks become the numbers of its citations, in the order in which it cites them; a number that
    no passage has becomes a citation that resolves to nothing. ``listed`` are cited beside it.
    """
    said = [n for found in _NUMBERED.finditer(text) for n in _numbers(found[1])]
    cited = _ids([*said, *listed], ids)

    def renumbered(found: re.Match[str]) -> str:
        return "".join(f"[{cited.index(one) + 1}]" for one in _ids(_numbers(found[1]), ids))

    return Answer(_NUMBERED.sub(renumbered, text), cited)


def in_context(question: str, claim: str) -> str:
    """The claim as a judge reads it: a short one, such as "Yes.", after its question."""
    short = not _states_something(claim) and not any(map(str.isdigit, claim))
    return f"{question} {claim}" if short else claim


def statements_of(text: str) -> list[str]:
    """The sentences of a text that state something."""
    return [claim.text for claim in claims_of(Answer(text))]


def _sentences(line: str) -> Iterator[str]:
    """The sentences of a line, each with the marks behind it.

    What is quoted without a full stop, such as a row of a table, ends with its marks.
    """
    start = 0
    for marks in _BEFORE_ANOTHER.finditer(line):
        part = line[start : marks.end()]
        if not _ENDS.search(part[: marks.start() - start]):
            yield from split_sentences(_AFTER_THE_END.sub(r"\2\1", part))
            start = marks.end()
    yield from split_sentences(_AFTER_THE_END.sub(r"\2\1", line[start:]))


def _states_something(text: str) -> bool:
    return not text.endswith(("?", ":")) and len(written_words(text)) >= _LEAST_WORDS


def _says_anything(text: str) -> bool:
    return not text.endswith("?") and any(map(str.isalnum, text))


def _cited(sentence: str, citations: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """What a sentence cites, and the sentence without the marks."""
    cited: dict[str, None] = {}

    def taken(mark: re.Match[str]) -> str:
        inside = mark[1].strip()
        if inside in citations:
            cited[inside] = None
        elif _NUMBERS.fullmatch(inside):
            cited.update(dict.fromkeys(_ids(_numbers(inside), citations)))
        else:
            return mark[0]  # brackets of the text itself
        return ""

    text = _MARK.sub(taken, sentence)
    text = re.sub(r"\s+([.!?;:,])", r"\1", " ".join(text.split()))
    return tuple(cited), text


def _numbers(inside: str) -> list[int]:
    """The numbers of ``1``, ``1, 3`` or ``2-4``."""
    found: list[int] = []
    for part in re.split(r"[,;]", inside.removeprefix("note ")):
        first, dash, last = part.replace("\u2013", "-").partition("-")
        if not dash:
            found.append(int(first))
        elif int(first) <= int(last) <= int(first) + _WIDEST:
            found += range(int(first), int(last) + 1)
        else:
            found += [int(first), int(last)]
    return found


def _ids(numbers: Sequence[int], ids: Sequence[str]) -> tuple[str, ...]:
    """What the numbers mean, each once; one that means nothing stays a number in brackets."""
    named = (ids[n - 1] if 1 <= n <= len(ids) else f"[{n}]" for n in numbers)
    return tuple(dict.fromkeys(named))
