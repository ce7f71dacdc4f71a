"""Where is a document split into chunks?

Sections are chunked one by one (short neighbours of the same kind may share a chunk). Text that
fits is one chunk; longer text is split into windows: as few as the size allows and about equally
long. Each split is at the sentence end nearest to the equal share, else at the last blank that
fits, and within a word only if the word alone is longer than half a window. Windows overlap by
whole sentences, else by whole words, never by more than allowed.

A table is one chunk if it fits. A longer one is split between rows, and every part after the first
starts with the table's head (``tables.py``) as a span of its own, so that a chunk's text is still
exactly what its spans cover; the markup stays with the first part.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from assay.ingest import tokens
from assay.ingest.profiles import Profile
from assay.ingest.tables import HEAD_END
from assay.model.document import BELOW, Chunk, Document, Section, chunk_of
from assay.model.judgments import Span
from assay.model.sections import intent_of


@dataclass(frozen=True, slots=True)
class _Joined:
    """Text that is split as one: a section, or neighbours that share a chunk."""

    section: Section
    tokens: int


def chunk_document(document: Document, profile: Profile) -> tuple[Chunk, ...]:
    """The chunks of a document, numbered from 0 in the order of its text."""
    sections = _with_gaps(document)
    version = profile.chunker_version
    chunks: list[Chunk] = []
    for joined in _stretches(document.text, sections, profile):
        parts = list(_cut(document.text, joined, profile))
        for part, spans in enumerate(parts):
            chunk_id = f"{document.doc_id}:chunk_{len(chunks)}"
            chunks.append(_chunk(document, joined, spans, part, chunk_id=chunk_id, version=version))
        if len(parts) > 1:
            chunks[-len(parts) :] = _with_own_hints(chunks[-len(parts) :], document, joined.section)
    return tuple(chunks)


def _with_own_hints(chunks: list[Chunk], document: Document, section: Section) -> list[Chunk]:
    """The chunks of one section, each with the hint that its own text earns.

    A hint that the section did not get from its text stays with all of them.
    """
    text = document.text[section.start : section.end]
    if intent_of(section.label, text, is_table=section.is_table) != section.intent_hint:
        return chunks
    hints = [intent_of(one.section_label, one.text, is_table=one.is_table) for one in chunks]
    return [replace(one, intent_hint=hint) for one, hint in zip(chunks, hints, strict=True)]


def _with_gaps(document: Document) -> list[Section]:
    """The sections, plus unlabelled sections for text that none of them covers."""
    found: list[Section] = []
    at = 0
    for section in document.sections:
        if document.text[at : section.start].strip():
            found.append(Section(at, section.start))
        found.append(section)
        at = section.end
    if document.text[at:].strip():
        found.append(Section(at, len(document.text)))
    return found


def _stretches(text: str, sections: list[Section], profile: Profile) -> Iterator[_Joined]:
    held: _Joined | None = None
    for section in sections:
        length = tokens.count(text[section.start : section.end])
        if not length:
            continue
        new = _Joined(section, length)
        joined = _join(held, new, profile) if held is not None else None
        if held is not None and joined is None:
            yield held
        held = joined or new
    if held is not None:
        yield held


def _join(one: _Joined, other: _Joined, profile: Profile) -> _Joined | None:
    """Both as one, if the profile lets them share a chunk."""
    first, second = one.section, other.section
    if profile.unit == "document":
        label = first.label if first.label == second.label else ""
        hint = first.intent_hint if first.intent_hint == second.intent_hint else ""
        about = _both_pages(first.metadata, second.metadata)
        pages = {"page": about["page"]} if "page" in about else {}
        merged = Section(first.start, second.end, label, intent_hint=hint, metadata=pages)
        return _Joined(merged, one.tokens + other.tokens)
    if not profile.join or one.tokens + other.tokens > profile.size:
        return None
    same = (
        first.label == second.label
        and first.intent_hint == second.intent_hint
        and not (first.is_table or second.is_table)
        and first.speaker_role == second.speaker_role
        and (profile.unit != "turn" or first.heading == second.heading)
    )
    heading = _shared(first.heading, second.heading)
    about = _both_pages(first.metadata, second.metadata)
    merged = replace(
        first, end=second.end, end_time=second.end_time, heading=heading, metadata=about
    )
    return _Joined(merged, one.tokens + other.tokens) if same else None


def _both_pages(one: Mapping[str, str], other: Mapping[str, str]) -> Mapping[str, str]:
    """What is known of the first, with the pages of both: ``1-3``."""
    first, last = one.get("page"), other.get("page")
    if not first or not last or first == last:
        return one
    return {**one, "page": f"{first.partition('-')[0]}-{last.rpartition('-')[2]}"}


def _shared(one: str, other: str) -> str:
    """The headings above both: ``Methods`` of ``Methods > Design`` and ``Methods > Blinding``."""
    if one == other:
        return one
    pairs = zip(one.split(BELOW), other.split(BELOW), strict=False)
    return BELOW.join(first for first, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _cut(text: str, joined: _Joined, profile: Profile) -> Iterator[tuple[Span, ...]]:
    """The spans of each chunk of a section, or of sections that share chunks."""
    section = joined.section
    if joined.tokens <= profile.size:
        yield (trimmed(text, section.start, section.end),)
    elif section.is_table:
        yield from _cut_table(text, section, profile)
    else:
        at = tokens.starts(text, section.start, section.end)
        breaks = tokens.sentence_starts(text, at, section.end)
        stretch = Stretch(text, section.end, at, breaks)
        yield from ((span,) for span in windows(stretch, profile.size, profile.overlap))


def _cut_table(text: str, section: Section, profile: Profile) -> Iterator[tuple[Span, ...]]:
    found = text.find(HEAD_END, section.start, section.end)
    body = section.start if found < 0 else found + len(HEAD_END)
    head_tokens = tokens.count(text[section.start : body])
    # A head that fills a chunk leaves no room for rows: then only the first part has it.
    repeats = 0 < head_tokens <= profile.size // 3
    start, size = (body, profile.size - head_tokens) if repeats else (section.start, profile.size)
    at = tokens.starts(text, start, section.end)
    stretch = Stretch(text, section.end, at, tokens.line_starts(text, at))
    for part, span in enumerate(windows(stretch, size, 0)):
        if not repeats:
            yield (span,)
        elif part == 0:
            yield (trimmed(text, section.start, span[1]),)
        else:
            yield ((section.start, body), span)


def _chunk(
    document: Document,
    joined: _Joined,
    spans: tuple[Span, ...],
    part: int,
    *,
    chunk_id: str,
    version: str,
) -> Chunk:
    section = joined.section
    details = dict(section.metadata)
    if section.heading and section.heading != details.get("speaker"):
        details["heading"] = section.heading
    if section.is_table and part:
        details["table_part"] = str(part)
    return chunk_of(
        document,
        section,
        spans,
        chunk_id=chunk_id,
        chunker_version=version,
        table_html="" if part else section.table_html,
        metadata={**document.metadata, **details} if details else document.metadata,
    )


@dataclass(frozen=True, slots=True)
class Stretch:
    """``text`` up to ``end``: where its tokens begin, and which of them start a sentence or row."""

    text: str
    end: int
    at: list[int]
    breaks: list[int]


def windows(stretch: Stretch, size: int, overlap: int) -> Iterator[Span]:
    """Spans of up to ``size`` tokens that cover the text; ``2 * overlap < size``."""
    first, total = 0, len(stretch.at)
    while total - first > size:
        last = _last(stretch, first, size, overlap)
        yield trimmed(stretch.text, stretch.at[first], stretch.at[last])
        first = _next_first(stretch, last, overlap)
    if first < total:
        yield trimmed(stretch.text, stretch.at[first], stretch.end)


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without the blanks at its ends."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _last(stretch: Stretch, first: int, size: int, overlap: int) -> int:
    """The token before which a window that begins at ``first`` ends.

    It is more than half the size away, so that every window holds something new beyond its overlap
    with the last one.
    """
    left = len(stretch.at) - first
    parts = -(-(left - overlap) // (size - overlap))
    share = first + -(-(left + (parts - 1) * overlap) // parts)
    low, high = first + size // 2 + 1, first + size
    breaks = stretch.breaks
    near = breaks[bisect_left(breaks, low) : bisect_right(breaks, high)]
    if near:
        return min(near, key=lambda index: (abs(index - share), index))
    for index in range(high, low - 1, -1):
        if tokens.begins_word(stretch.text, stretch.at[index]):
            return index
    return high


def _next_first(stretch: Stretch, last: int, overlap: int) -> int:
    """The token that the next window begins with: ``last``, or one up to ``overlap`` before it."""
    if not overlap:
        return last
    location = bisect_left(stretch.breaks, last - overlap)
    if location < len(stretch.breaks) and stretch.breaks[location] < last:
        return stretch.breaks[location]
    for index in range(last - overlap, last):
        if tokens.begins_word(stretch.text, stretch.at[index]):
            return index
    return last
