"""Who said what in an interview, turn by turn?

Four forms are read: dialogues (``{"_id", "turns": [{"speaker", "text"}]}``), segments (in an
interview's ``segments``, or one per row with an ``interview_id``), WebVTT files, and plain text
whose lines begin with their speakers (``Doctor: ...``). Judgments
refer to segments by their ids, so segments with ids are kept as ready-made chunks; everything else
goes through the chunker. The speaker's original label is kept in the metadata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from assay import limits
from assay.ingest import fields
from assay.ingest.compose import Composer
from assay.ingest.files import head, whole
from assay.ingest.folders import corpus_files, id_of, suffix
from assay.ingest.json_rows import Row, file_rows
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.ready_made import GIVEN, chunks_of_sections
from assay.ingest.speakers import Said, role_of, turns_of
from assay.ingest.vtt import cues, header
from assay.ingest.watch import Watch
from assay.model.document import Document, IngestionMode, MetadataValue, Section
from assay.plural import counted

SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".vtt"})
SPOKEN = frozenset({".txt", ".text"})  # where such a file is named; in folders text.py finds them
INTERVIEW_NAMES = ("interview_id", *fields.DOC_ID_NAMES)
SEGMENT_NAMES = ("segment_id", "uuid", "id", "_id")
SPEAKER_NAMES = ("speaker_role", "speaker", "role")
TEXT_NAMES = ("text", "transcript")
RAW_NAMES = ("raw_speaker", "speaker_label", "speaker", "speaker_role", "role")
START_NAMES = ("start_time", "start", "start_seconds")
END_NAMES = ("end_time", "end", "end_seconds")
LISTS = ("turns", "segments")
SHARED_NAMES = frozenset({"interview_id", "ingestion_mode", "source", "title"})
# The note of a dialogue is a summary written afterwards: nobody said it.
LEFT_OUT = frozenset({"note", "metadata"})

Times: TypeAlias = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn or segment, checked; ``segment_id`` is empty if it has none."""

    section: Section
    text: str
    segment_id: str


def read_transcript(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The interviews of a JSON or WebVTT file, or of every such file in a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            if head(file, 6) == b"WEBVTT" or suffix(file) == ".vtt":
                yield _vtt_entry(file, id_of(file, path, watch), watch)
            elif suffix(file) in SPOKEN:
                yield _text_entry(file, id_of(file, path, watch), watch)
            else:
                yield from _json_entries(file, watch)


def _json_entries(file: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The interviews of a JSON file; turns without words are counted in a note."""
    silent = 0
    for about, turns, location in _interviews(file, watch):
        with watch.passing():
            rows = turns or _turn_rows(about, location)
            entry = _interview(about, rows, location, watch)
            silent += len(rows) - len(entry.document.sections)
            yield entry
    if silent:
        watch.note(f"{file}: {counted(silent, 'turn')} without words left out")


def _interviews(
    file: Path, watch: Watch
) -> Iterator[tuple[Row, list[tuple[FileLocation, Row]], FileLocation]]:
    """For each interview: its own fields, its segments if they are rows, and where it begins."""
    seen: dict[str, FileLocation] = {}
    for flat, group in groupby(_with_interview(file, watch), key=itemgetter(0)):
        if flat is None:
            yield from ((row, [], location) for _, location, row in group)
            continue
        rows = [(location, row) for _, location, row in group]
        with watch.passing():
            yield _shared(flat, rows, seen), rows, rows[0][0]


def _with_interview(file: Path, watch: Watch) -> Iterator[tuple[str | None, FileLocation, Row]]:
    """The rows with the interview that each belongs to; None where a row is a whole one."""
    for location, row in file_rows(file, watch, "interviews"):
        with watch.passing():
            yield _flat_interview(row, location), location, row


def _shared(flat: str, rows: list[tuple[FileLocation, Row]], seen: dict[str, FileLocation]) -> Row:
    """What the segments of an interview say about it."""
    location, first = rows[0]
    if flat in seen:
        raise location.duplicate_error(
            f"segments of {flat:.80} are not together: the others begin at {seen[flat]}",
            hint="sort the rows by interview_id",
        )
    seen[flat] = location
    return {key: value for key, value in first.items() if key in SHARED_NAMES}


def _flat_interview(row: Row, location: FileLocation) -> str | None:
    """The interview that a segment row belongs to; None for a row that is a whole interview."""
    if any(isinstance(row.get(name), list) for name in LISTS):
        return None
    if "interview_id" not in row:
        raise location.format_error(
            "neither turns nor an interview_id",
            hint="a row is an interview with turns or segments, or a segment with interview_id",
        )
    return str(row["interview_id"])


def _turn_rows(row: Row, location: FileLocation) -> list[tuple[FileLocation, Row]]:
    turns = next(row[name] for name in LISTS if isinstance(row.get(name), list))
    for turn in turns:
        if not isinstance(turn, dict):
            raise location.format_error(f"a turn is an object, not {type(turn).__name__}")
    return [(location, turn) for turn in turns]


def _interview(
    about: Row, rows: list[tuple[FileLocation, Row]], location: FileLocation, watch: Watch
) -> ParsedDocument:
    turns = [
        _turn(row, where, number, own_ids="turns" not in about)
        for number, (where, row) in enumerate(rows)
    ]
    return _entry(_about(about, rows, location, watch), turns, location)


def _about(
    about: Row, rows: list[tuple[FileLocation, Row]], location: FileLocation, watch: Watch
) -> Document:
    """The document for an interview's own fields, without its turns."""
    doc_id = location.checked_id(fields.first_of(about, INTERVIEW_NAMES))
    return Document(
        doc_id=doc_id,
        text="",
        title=fields.title(about, location, watch),
        source=fields.short(about, ("source",), location) or "transcript",
        profile="transcript",
        interview_id=doc_id,
        ingestion_mode=_mode([(location, about), *rows], doc_id, location),
        metadata=_metadata(about, location, watch),
    )


def _metadata(about: Row, location: FileLocation, watch: Watch) -> dict[str, MetadataValue]:
    known = {*INTERVIEW_NAMES, *LISTS, *SHARED_NAMES, *LEFT_OUT}
    rest = {key: value for key, value in about.items() if key not in known}
    return {
        **fields.metadata(rest, location, watch),
        **fields.metadata(about.get("metadata"), location, watch),
    }


def _mode(
    rows: list[tuple[FileLocation, Row]], doc_id: str, location: FileLocation
) -> IngestionMode:
    """The ingestion mode of the interview or its segments, which must agree."""
    modes: set[IngestionMode] = set()
    for where, row in rows:
        if (value := row.get("ingestion_mode")) is not None:
            try:
                modes.add(IngestionMode(str(value).upper()))
            except ValueError:
                raise where.format_error(
                    f"ingestion_mode {value!r:.40} is neither OFFLINE nor LIVE"
                ) from None
    if len(modes) > 1:
        raise location.format_error(f"interview {doc_id} is both OFFLINE and LIVE")
    return next(iter(modes), IngestionMode.OFFLINE)


def _turn(row: Row, location: FileLocation, number: int, *, own_ids: bool) -> Turn:
    if not any(name in row for name in TEXT_NAMES):
        raise location.format_error(
            f"turn {number} has no text", hint="put what was said into text or transcript"
        )
    said = (fields.string(row, (name,), location).strip() for name in TEXT_NAMES)
    text = next(filter(None, said), "")
    start = fields.seconds(row, START_NAMES, location)
    end = fields.seconds(row, END_NAMES, location)
    if start is not None and end is not None and end < start:
        raise location.format_error("a turn ends before it starts")
    own = fields.first_of(row, SEGMENT_NAMES) if own_ids else None
    return _made_turn(
        text,
        voice=fields.short(row, RAW_NAMES, location),
        role=fields.short(row, SPEAKER_NAMES, location),
        times=(start, end),
        number=row["i"] if isinstance(row.get("i"), int) else number,
        segment_id="" if own is None else location.checked_id(own, "segment id"),
    )


def _made_turn(
    text: str, *, voice: str, role: str, times: Times, number: int, segment_id: str = ""
) -> Turn:
    section = Section(
        0,
        0,
        label="turn",
        heading=voice,
        speaker_role=role_of(role),
        start_time=times[0],
        end_time=times[1],
        metadata={"turn": str(number)} | ({"speaker": voice} if voice else {}),
    )
    return Turn(section, text, segment_id)


def _entry(document: Document, turns: list[Turn], location: FileLocation) -> ParsedDocument:
    """The document with the turns as its text, and turns with ids as chunks, too."""
    composer = Composer(location, gap="\n")
    said = [turn for turn in turns if turn.text]
    for turn in said:
        composer.append(turn.text, turn.section)
    document = replace(document, text=composer.text, sections=composer.sections)
    ids = [turn.segment_id for turn in said if turn.segment_id]
    if not ids:
        return ParsedDocument(document, location)
    if len(ids) < len(said):
        raise location.format_error(
            f"interview {document.doc_id}: some segments have ids and some do not"
        )
    if len(set(ids)) < len(ids):
        ((repeated, _),) = Counter(ids).most_common(1)
        raise location.duplicate_error(
            f"interview {document.doc_id}: the segment {repeated} appears twice"
        )
    document = replace(document, profile=GIVEN)
    return ParsedDocument(document, location, chunks_of_sections(document, ids))


def _vtt_entry(file: Path, name: str, watch: Watch) -> ParsedDocument:
    location = FileLocation(str(file), 1)
    content = fields.decoded(whole(file, watch, limits.MAX_TEXT_FILE_BYTES), location)
    about: Row = {"interview_id": name, **header(content, str(file))}
    turns = [
        _made_turn(
            cue.text, voice=cue.voice, role=cue.voice, times=(cue.start, cue.end), number=number
        )
        for number, cue in enumerate(cues(content, str(file)))
    ]
    # a cue is only what fits on a screen, so consecutive cues of one speaker belong together
    document = replace(_about(about, [], location, watch), profile="transcript-joined")
    return _entry(document, turns, location)


def spoken_entry(
    name: str, turns: Sequence[Said], location: FileLocation, watch: Watch
) -> ParsedDocument:
    """The interview in a plain text, turn by turn."""
    said = [
        _made_turn(
            turn.words,
            voice=turn.voice,
            role=turn.voice,
            times=(fields.clock(turn.time, location) if turn.time else None, None),
            number=number,
        )
        for number, turn in enumerate(turns)
    ]
    return _entry(_about({"interview_id": name}, [], location, watch), said, location)


def _text_entry(file: Path, name: str, watch: Watch) -> ParsedDocument:
    location = FileLocation(str(file), 1)
    content = fields.decoded(whole(file, watch, limits.MAX_TEXT_FILE_BYTES), location)
    turns = turns_of(content)
    if not turns:
        raise location.format_error(
            "no turns in this text", hint="begin each with its speaker: Doctor: ..."
        )
    return spoken_entry(name, turns, location, watch)
