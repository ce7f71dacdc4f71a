"""Which claims does an answer make, and what does each of them cite?

A claim is a sentence that states something. ``[2]`` after it names the answer's second citation,
``[label-1:chunk_2]`` a chunk by its id. Where an answer has no such marks, every sentence rests on
all that the answer cites. A list of references at the end is neither claim nor mark. Brackets with
several numbers are an interval, not citations, where a unit follows, a word such as "range" comes
before, or there are not so many citations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.analysis.sentence_ends import split_sentences
from assay.analysis.spelling import UNITS
from assay.analysis.words import written_words
from assay.model.answers import Answer

_MARK = re.compile(r"\[([^\[\]]{1,200})\]")
_MARKS = r"(?:\s{0,20}\[[^\[\]]{1,200}\]){1,40}+"
_AFTER_THE_END = re.compile(rf"([.!?;:])({_MARKS})")
_BEFORE_ANOTHER = re.compile(rf"{_MARKS}(?=\s+(?:[A-Z(\u201c\"*\u2022]|[^\[\]|]{{1,200}}\|))")
_ENDS = re.compile(r"[.!?;:][\"'\u201d\u2019)]*\s*$")
_LISTED = r"\d{1,4}(?:\s*[,;\u2013-]\s*\d{1,4})*"
_NUMBERS = re.compile(rf"(?:note |\^)?({_LISTED})")
_NUMBERED = re.compile(
    rf"\[\^?({_LISTED})\]|\u3010({_LISTED})(?:\u2020[^\u3010\u3011]{{0,80}})?\u3011"
)
_UNIT_AFTER = re.compile(r"\s*(?:%|([^\W\d_]{1,10})(?![^\W_]))")
_INTERVAL_BEFORE = re.compile(
    r"\b(?:CI|CrI|IQR|range|interval|between)(?: of| was| is|[:,=])*\s*$", re.IGNORECASE
)
_NEAR = 40  # characters before brackets in which a word such as "range" stands
_MEASURED = UNITS | {"percent", "minutes", "hours", "days", "weeks", "months", "years"}
_REFERENCE = re.compile(r"\s*\[\^?(\d{1,4})\]:?\s+\S")
_HEADING = re.compile(r"[\s#*]*(?:references|sources|citations|bibliography)[\s:*]*", re.IGNORECASE)
_LIST_MARK = re.compile(r"^\s*(?:[*•·\u2013-]|\d{1,2}[.)])\s+")
_YES_OR_NO = re.compile(r"(?:yes|no)[,.:;!\u2014-]+\s+(?=[^\W\d_])", re.IGNORECASE)
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
    for written in _body(answer).splitlines():
        for sentence in _sentences(_LIST_MARK.sub("", written)):
            cited, text = _cited(sentence, answer.citations)
            found.append(Claim(text, cited))
    if any(one.citations for one in found):
        return found
    return [Claim(one.text, answer.citations) for one in found]


def has_marks(answer: Answer) -> bool:
    """Whether the text says which sentence cites what."""
    return any(
        mark[1].strip() in answer.citations or _numbers_of(mark, len(answer.citations))
        for mark in _MARK.finditer(_body(answer))
    )


def citing(text: str, ids: Sequence[str], listed: Sequence[int] = ()) -> Answer:
    """The answer whose marks number the passages that it was given, best first.

    Marks become the numbers of its citations, in the order in which it cites them; a number that
    no passage has becomes a citation that resolves to nothing. ``listed`` are cited beside it.
    """
    said = [n for mark in _NUMBERED.finditer(text) for n in _numbers_of(mark, len(ids))]
    cited = _ids([*said, *listed], ids)

    def renumbered(mark: re.Match[str]) -> str:
        meant = _ids(_numbers_of(mark, len(ids)), ids)
        return "".join(f"[{cited.index(one) + 1}]" for one in meant) or mark[0]

    return Answer(_NUMBERED.sub(renumbered, text), cited)


def in_context(question: str, claim: str) -> str:
    """The claim as a judge reads it: a short one, such as "Yes.", after its question.

    A "No," before a whole sentence replies to the question and denies nothing of the sentence.
    """
    short = not _states_something(claim) and not any(map(str.isdigit, claim))
    if short:
        return f"{question} {claim}"
    rest = _YES_OR_NO.sub("", claim, count=1) if _YES_OR_NO.match(claim) else claim
    return f"{rest[:1].upper()}{rest[1:]}" if _states_something(rest) else claim


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
        elif numbers := _numbers_of(mark, len(citations)):
            cited.update(dict.fromkeys(_ids(numbers, citations)))
        else:
            return mark[0]  # brackets of the text itself
        return ""

    text = _MARK.sub(taken, sentence)
    text = re.sub(r"\s+([.!?;:,])", r"\1", " ".join(text.split()))
    return tuple(cited), text


def _body(answer: Answer) -> str:
    """The text without the list of references at its end, if it has one."""
    lines = answer.text.splitlines()
    start, last, blank, entries = len(lines), len(answer.citations) + 1, False, 0
    for at in range(len(lines) - 1, -1, -1):
        if not lines[at].strip():
            blank = True
            continue
        entry = _REFERENCE.match(lines[at])
        if entry is None or not 1 <= int(entry[1]) < last:
            break
        start, last, blank, entries = at, int(entry[1]), False, entries + 1
    else:
        return answer.text  # nothing comes before it
    headed = entries > 0 and _HEADING.fullmatch(lines[at]) is not None
    if headed or (blank and entries > 1):
        return "\n".join(lines[: at if headed else start])
    return answer.text


def _numbers_of(mark: re.Match[str], count: int) -> list[int]:
    """The numbers that a mark cites, of ``count``; none where the text itself has brackets."""
    inside = next(one for one in mark.groups() if one is not None).strip()
    written = _NUMBERS.fullmatch(inside)
    if written is None:
        return []
    found = _numbers(written[1])
    if len(found) == 1:
        return found
    unit = _UNIT_AFTER.match(mark.string, mark.end())
    measured = unit is not None and (unit[1] is None or unit[1].casefold() in _MEASURED)
    named = _INTERVAL_BEFORE.search(mark.string, max(0, mark.start() - _NEAR), mark.start())
    inner = all(1 <= n <= count for n in found)
    return found if inner and not measured and not named else []


def _numbers(inside: str) -> list[int]:
    """The numbers of ``1``, ``1, 3`` or ``2-4``."""
    found: list[int] = []
    for part in re.split(r"[,;]", inside):
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
