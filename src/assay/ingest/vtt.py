"""Which cues does a WebVTT file hold: who says what, and when?

Lines such as ``title: ...`` below WEBVTT, up to the first blank line, describe the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import TypeAlias

from assay.ingest.fields import clock
from assay.ingest.parsed import FileLocation
from assay.ingest.speakers import role_of
from assay.model.document import SpeakerRole

_ARROW = "-->"
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s([^<>]*)>")
_NAMED = re.compile(r"\s*+-?\s*+([^\W\d_][^:<>]{0,60}?)\s*:\s+(.*)")
_TAG = re.compile(r"<[^<>]*>")
_HEADER_LINE = re.compile(r"([A-Za-z][\w-]*)\s*:\s+(\S.*)")
_BLOCKS_WITHOUT_CUES = ("NOTE", "STYLE", "REGION")

Block: TypeAlias = list[tuple[int, str]]  # lines with their numbers


@dataclass(frozen=True, slots=True)
class Cue:
    """What one voice says in one cue; ``line`` is the line of the cue's times."""

    voice: str
    text: str
    start: float
    end: float
    line: int


def header(content: str, source: str) -> dict[str, str]:
    """The fields of the header: ``{"title": ...}``; other lines are ignored."""
    found: dict[str, str] = {}
    for number, line in _header_block(_blocks(content), source)[1:]:
        if field := _HEADER_LINE.fullmatch(line.strip()):
            key, value = field[1].lower(), field[2]
            if key in found:
                raise FileLocation(source, number).duplicate_error(
                    f"the header names {key:.40} twice"
                )
            found[key] = value
    return found


def cues(content: str, source: str) -> Iterator[Cue]:
    """The cues in order; a cue with several voices is split, each part with the cue's times."""
    blocks = _blocks(content)
    _header_block(blocks, source)
    for block in blocks:
        if block[0][1].split()[0] in _BLOCKS_WITHOUT_CUES:
            continue
        timing = next((at for at, (_, line) in enumerate(block[:2]) if _ARROW in line), None)
        if timing is None:
            raise FileLocation(source, block[0][0]).format_error(
                "a cue without times", hint="start --> end"
            )
        number, line = block[timing]
        start, end = _times(line, FileLocation(source, number))
        body = "\n".join(line for _, line in block[timing + 1 :])
        for voice, text in _voices(body):
            yield Cue(voice, text, start, end, number)


def _header_block(blocks: Iterator[Block], source: str) -> Block:
    first = next(blocks, [])
    if not first or not re.match(r"WEBVTT(?:\s|$)", first[0][1]):
        raise FileLocation(source, 1).format_error("a WebVTT file begins with WEBVTT")
    return first


def _blocks(content: str) -> Iterator[Block]:
    block: Block = []
    for number, line in enumerate(content.split("\n"), 1):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _times(line: str, location: FileLocation) -> tuple[float, float]:
    before, _, after = line.partition(_ARROW)
    start, end = clock(before, location), clock((after.split() or [""])[0], location)
    if end < start:
        raise location.format_error("a cue ends before it starts")
    return start, end


def _named_lines(text: str) -> Iterator[tuple[str, str]]:
    """Text without marked voices, split at lines that start like "Patient: ..."."""
    voice, said = "", ""
    for line in text.split("\n"):
        named = _NAMED.match(line)
        if named and role_of(named[1]) is not SpeakerRole.UNKNOWN:
            yield voice, said
            voice, said = named[1], named[2]
        else:
            said = f"{said}\n{line}"
    yield voice, said


def _voices(body: str) -> Iterator[tuple[str, str]]:
    parts = _VOICE.split(body)
    marked = zip(parts[1::2], parts[2::2], strict=True)
    for voice, text in [*_named_lines(parts[0]), *marked]:
        words = " ".join(unescape(_TAG.sub("", text)).split())
        if words:
            yield " ".join(unescape(voice).split()), words
