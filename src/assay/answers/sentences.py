"""Which sentences does a passage have, and under which heading is each?

A sentence is whole: lines that were broken within one are joined, and what the edge of a chunk cut
off is left out. A row of a table is a sentence with the names of its columns. Headings, captions
and titles are no answers, but say what the sentences below them are about. A criterion of a trial
keeps the heading that says whether it includes or excludes, an item of a list the words that lead
to it ("Do not take it if you:"), and a value of a trial's results what
was measured, in which arm, and how. Adverse events are counted by arm, under a number: the arm of
that number is named among the interventions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from assay.analysis.sentence_ends import split_sentences
from assay.evidence.criteria import (
    Side,
    chunk_before,
    is_of_registry,
    side_at_start,
    side_of_heading,
)
from assay.model.document import Chunk, SpeakerRole

_BULLET = re.compile(r"[*•·\u2013-]\s+\S")
_CAPTION = re.compile(r"(?:Table|Figure|Fig\.)\s+\w{1,5}[.:]", re.IGNORECASE)
_NUMBERED = re.compile(r"\d{1,2}\.\d{1,2}(?:\.\d{1,2})?\.?\s+[A-Z]")  # 2.2 Pediatric Patients
_HEADING_CHARS = 60
_WRAPPED = 40  # characters that a line has at least which goes on in the next
_CUT = 80  # characters of a last line that was cut off
_SAYS_SOMETHING = 5  # words of a line that stands alone
_CUT_OFF = "(),;:%"  # no sentence begins so
_TITLE_CASE = 0.6
_ELIGIBILITY = "eligibility"
_MEASURE = "Outcome Measurement"
_ARM = "Arm/Group Title"
_UNIT = "Unit of Measure"
_OF_BLOCK = re.compile(
    rf"(?P<key>{_MEASURE}|{_ARM}|Arm/Group Description|Results \d+|Time frame|{_UNIT}"
    r"|Overall Number of Participants Analyzed):\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_OF_ARM = re.compile(r"(?P<heading>Adverse Events (?P<number>\d+)):\s*", re.IGNORECASE)
_ARMS = re.compile(r"^INTERVENTION (\d+):\s*(.+)", re.MULTILINE)
_OF_PUBLISHER = re.compile(
    r"\bonline version of this article\b|\bavailable to authori[sz]ed users\b"
    r"|\bpre-?publication history\b",
    re.IGNORECASE,
)  # which says nothing of what the article is about
_ENDED = (".", "!", "?", ";", "%", ")")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; ``context`` is its title and heading, ``columns`` the header of its table.

    ``heading`` is the line of the passage that it stands under, where there is one.
    ``following`` is the sentence after it in the same paragraph. ``side`` is what the heading above
    a criterion says of it, ``announced`` that heading. ``lead`` are the words that lead to an item
    of a list. ``paragraph`` is all that it stands in.
    A value of a trial's results has its ``arm``, and what was measured for its columns.
    """

    text: str
    context: str
    columns: str = ""
    following: str = ""
    side: Side | None = None
    announced: str = ""
    paragraph: str = ""
    arm: str = ""
    lead: str = ""
    heading: str = ""


def sentences(chunk: Chunk, others: Sequence[Chunk] = ()) -> list[Sentence]:
    """The sentences of a chunk; none if it has nothing but headings.

    ``others`` may have the chunk before it, in which a list of criteria began.
    """
    spoken = chunk.speaker_role is not SpeakerRole.UNKNOWN or chunk.section_label == "turn"
    lines = _joined(chunk.text.splitlines())
    alone = sum(bool(line) for line in lines) == 1
    found: list[Sentence] = []
    context, heading, columns = chunk.title, "", ""
    side, announced = side_at_start(chunk, others), ""
    values = _take_values(lines, *_measured_before(chunk, others))
    arms = _take_arms(lines, chunk, others)
    leads = _leads(lines, chunk_before(chunk, others))
    for at, line in enumerate(lines):
        if (said := side_of_heading(line)) is not None:
            side, announced = said, ""
        if at in values:
            measure, arm, value = values[at]
            found.append(Sentence(value, context, measure, arm=arm))
        elif "|" in line:
            if _is_header(lines, at):
                columns = line
            else:
                row = Sentence(line, context, columns, side=side, announced=announced)
                found.append(replace(row, heading=heading))
        elif not line:
            continue
        elif not spoken and _is_heading(line, alone=alone) and not _is_criterion(chunk, line, side):
            context, heading, columns = f"{chunk.title} {line}", line, ""
            if said is not None:
                announced = line
        else:
            parts = _whole(line, chunk, lines, at)
            for text, after in zip_longest(parts, parts[1:], fillvalue=""):
                side = side_of_heading(text) or side  # it may be announced within a line
                if is_of_registry(text):
                    side, announced = Side.INCLUSION, ""
                lead = leads[at] if text is parts[0] else ""
                one = Sentence(text, context, "", after, side, announced, line, arms[at], lead)
                found.append(replace(one, heading=heading))
    return found


def _leads(lines: Sequence[str], before: Chunk | None) -> list[str]:
    """The words that lead to the items of lists, by line; a list may begin in the chunk before."""
    earlier = [] if before is None else [*_stripped(before)]
    found, lead = [], ""
    for line in (*earlier, *lines):
        is_item = _BULLET.match(line) is not None
        found.append(lead if is_item else "")
        if line and not is_item:
            lead = _leading(line)
    return found[len(earlier) :]


def _leading(line: str) -> str:
    """What a line says of a list below it: its last sentence, if that goes on, or a heading."""
    if line.endswith(":"):
        return [*split_sentences(line)][-1]
    return line if _is_heading(line, alone=False) else ""


def _take_arms(lines: list[str], chunk: Chunk, others: Sequence[Chunk]) -> list[str]:
    """The arm of a trial in which what a line counts was seen; headings of arms become empty.

    An arm is called by its name where the title has it, and by its heading otherwise. Its events
    may have begun in the chunk before.
    """
    before = chunk_before(chunk, others)
    found, arm = [], ""
    if before is not None and before.section_label == chunk.section_label:
        arm = next(filter(None, reversed(_take_arms([*_stripped(before)], before, others))), "")
    for at, line in enumerate(lines):
        if match := _OF_ARM.fullmatch(line):
            named = _arms_of(chunk, others).get(int(match["number"]), "")
            arm = named if named and named in chunk.title else match["heading"]
            lines[at] = ""
        found.append(arm)
    return found


def _stripped(chunk: Chunk) -> Iterator[str]:
    return map(str.strip, chunk.text.splitlines())


def _arms_of(chunk: Chunk, others: Sequence[Chunk]) -> dict[int, str]:
    """The arms of a trial by number; its title names them where no passage here does."""
    texts = [one.text for one in (chunk, *others) if one.doc_id == chunk.doc_id]
    found = {int(number): name for text in texts for number, name in _ARMS.findall(text)}
    _, _, listed = chunk.title.partition(f"{chunk.doc_id}: ")
    return found or {at: name for at, name in enumerate(listed.split("; "), start=1) if name}


def _measured_before(chunk: Chunk, others: Sequence[Chunk]) -> tuple[str, str]:
    """What was measured, and in which arm, where the chunk before says so."""
    before = chunk_before(chunk, others)
    if before is None:
        return "", ""
    measure, arm = _measured_before(before, others)
    lines = [*_stripped(before)]
    for at, line in enumerate(lines):
        match = _OF_BLOCK.match(line)
        key = match["key"].lower() if match else ""
        if key == _MEASURE.lower():
            following = next(filter(None, lines[at + 1 :]), "")
            measure, arm = (match["rest"] if match else "") or following, ""
        elif key == _ARM.lower():
            arm = line
    return measure, arm


def _take_values(
    lines: list[str], measure: str = "", arm: str = ""
) -> dict[int, tuple[str, str, str]]:
    """The values of a trial's results, by line: what was measured, the arm, how with the value.

    Lines that go into the value above them become empty. The chunk before may have the measure.
    """
    found: dict[int, tuple[str, str, str]] = {}
    before, key, value = "", "", -1
    for at, line in enumerate(lines):
        match = _OF_BLOCK.match(line)
        if match is None:
            if key == _MEASURE.lower() and line and not measure:
                measure = line
            elif value >= 0 and line:  # one of several values
                found[value] = (measure, arm, f"{found[value][2]} {line}")
                lines[at] = ""
            before = line or before
            continue
        key, value = match["key"].lower(), -1
        if key == _MEASURE.lower():
            measure, arm = match["rest"], ""
        elif key == _ARM.lower():
            arm = line
        elif key == _UNIT.lower() and arm:
            value = at
            found[at] = (measure, arm, " ".join(f"{before} {line}".split()))
        before = ""
    return found


def _joined(lines: Sequence[str]) -> list[str]:
    """Stripped lines; one that goes on in the next is joined with it."""
    joined: list[str] = []
    for line in map(str.strip, lines):
        before = joined[-1] if joined else ""
        goes_on = (
            len(before) >= _WRAPPED
            and line[:1].islower()
            and not before.endswith((*_ENDED, ":"))
            and "|" not in before + line
        )
        if goes_on:
            joined[-1] = f"{before} {line}"
        else:
            joined.append(line)
    return joined


def _is_header(lines: Sequence[str], at: int) -> bool:
    """Whether a row names the columns of those below it."""
    if at and "|" in lines[at - 1]:
        return False
    below = [line for line in lines[at + 1 : at + 3] if line]
    if not below or "|" not in below[0]:
        return False
    if not lines[at + 1]:
        return True
    return not _has_digit(lines[at]) and _has_digit(below[0])


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _is_heading(line: str, *, alone: bool) -> bool:
    """Whether a line only says what follows; one that is all of a chunk may be a short sentence."""
    if _CAPTION.match(line) or (_NUMBERED.match(line) and not line.endswith((".", ";"))):
        return True
    if _BULLET.match(line) or line.endswith(_ENDED):
        return line.endswith("?") and not alone  # What are the treatments?
    if len(line) >= _HEADING_CHARS:
        return _is_titled(line)
    if line.endswith(":"):
        return True
    _, _, rest = line.partition(" ")  # "5.1 Hyperkalemia" is one; "5 of 12 fell" is not
    if ": " in line or _has_digit(rest):
        return False
    return not (alone and len(line.split()) >= _SAYS_SOMETHING and not _is_titled(line))


def _is_criterion(chunk: Chunk, line: str, side: Side | None) -> bool:
    """Whether a short line is one of the criteria of a trial, and leads to none."""
    return (
        chunk.section_label == _ELIGIBILITY
        and side is not None
        and side_of_heading(line) is None
        and not line.endswith((":", "?"))
        and not line.startswith("#")
        and not line.isupper()
    )


def _is_titled(line: str) -> bool:
    words = [word for word in line.split() if len(word) > 3]
    capital = sum(word[0].isupper() for word in words)
    return ". " not in line and ": " not in line and capital > _TITLE_CASE * len(words)


def _whole(line: str, chunk: Chunk, lines: Sequence[str], at: int) -> list[str]:
    """The sentences of a line, without what an edge of the chunk cut off or the publisher says."""
    parts = [*split_sentences(line)]
    inside = chunk.spans and chunk.spans[0][0] > 0
    if len(parts) > 1 and at == 0 and inside and (parts[0][0].islower() or parts[0][0] in _CUT_OFF):
        parts = parts[1:]
    last = not any(lines[at + 1 :])
    if len(parts) > 1 and last and len(line) >= _CUT and parts[-1][-1].isalnum():
        parts = parts[:-1]
    return [part for part in parts if not _OF_PUBLISHER.search(part)]
