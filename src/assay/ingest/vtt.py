"""Which cues does a WebVTT file hold: who says what, from when to when?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from assay.ingest.entry import Place
from assay.ingest.fields import clock

_ARROW = "-->"
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s([^<>]*)>")
_TAG = re.compile(r"<[^<>]*>")
_BLOCKS_WITHOUT_CUES = ("NOTE", "STYLE", "REGION")


@dataclass(frozen=True, slots=True)
class Cue:
    """What one voice says in one cue; ``line`` is where the cue's times stand."""

    voice: str
    text: str
    start: float
    end: float
    line: int


def cues(content: str, source: str) -> Iterator[Cue]:
    """The cues in order; one with several voices comes in parts, each with the cue's times."""
    blocks = _blocks(content)
    first = next(blocks, [])
    if not first or not re.match(r"WEBVTT(?:\s|$)", first[0][1]):
        raise Place(source, 1).bad("a WebVTT file begins with WEBVTT")
    for block in blocks:
        if block[0][1].split()[0] in _BLOCKS_WITHOUT_CUES:
            continue
        timing = next((at for at, (_, line) in enumerate(block[:2]) if _ARROW in line), None)
        if timing is None:
            raise Place(source, block[0][0]).bad("a cue without its times", hint="start --> end")
        number, line = block[timing]
        start, end = _times(line, Place(source, number))
        body = "\n".join(line for _, line in block[timing + 1 :])
        for voice, text in _voices(body):
            yield Cue(voice, text, start, end, number)


def _blocks(content: str) -> Iterator[list[tuple[int, str]]]:
    block: list[tuple[int, str]] = []
    for number, line in enumerate(content.split("\n"), 1):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _times(line: str, place: Place) -> tuple[float, float]:
    before, _, after = line.partition(_ARROW)
    start, end = clock(before, place), clock((after.split() or [""])[0], place)
    if end < start:
        raise place.bad("a cue ends before it starts")
    return start, end


def _voices(body: str) -> Iterator[tuple[str, str]]:
    parts = _VOICE.split(body)
    for voice, text in [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]:
        words = " ".join(unescape(_TAG.sub("", text)).split())
        if words:
            yield " ".join(unescape(voice).split()), words
