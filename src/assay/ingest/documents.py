"""How does a JSON row become a document?

A row has an id (``doc_id``, ``_id`` or ``id``), ``text`` or ``sections``, and may have ``title``,
``source``, ``interview_id``, ``ingestion_mode`` and ``metadata``. A section is either a stretch of
the text (``start``, ``end``) or brings its own ``text``. Where there is none, the words of
``table_html`` take its place, else the title, as for papers of which a collection has no abstract.

A row without sections is one section where it has fields of a chunk (``section_label``,
``speaker_role``, ...), or where its metadata names a ``section``, a LOINC code or a ``speaker``, as
in corpora whose rows are parts of trials, labels or interviews. What the fields leave open, the
metadata says.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from assay.ingest import fields
from assay.ingest.compose import Composer
from assay.ingest.entry import Entry, Place
from assay.ingest.html_tables import text_of
from assay.ingest.json_rows import Row
from assay.ingest.section_codes import LOINC
from assay.ingest.sections import LABELS, intent_of, label_of
from assay.ingest.speakers import role_of
from assay.ingest.table_html import sanitised
from assay.ingest.watch import Watch
from assay.model.document import Document, Section, SpeakerRole

SECTION_NAMES = (
    "section_label", "intent_hint", "is_table", "table_html", "speaker_role", "start_time",
    "end_time",
)  # fmt: skip
TRIAL_ID = re.compile(r"NCT\d{8}")


def document_entry(row: Row, place: Place, watch: Watch, source: str) -> Entry:
    """The document that one row describes."""
    doc_id = fields.doc_id(row, place)
    title = fields.title(row, place, watch)
    text, sections = _content(row, doc_id, place)
    if title and not text.strip():
        watch.note_once(f"{place.source}: what has a title and no text has the title as its text")
        text = " ".join(fields.string(row, ("title",), place).split())  # whole, it has no cap here
        sections = _whole_section(row, text, place)
    document = Document(
        doc_id=doc_id,
        text=text,
        title=title,
        sections=sections,
        source=_source(row, place) or source,
        profile="registry" if TRIAL_ID.match(doc_id) else "text",
        interview_id=fields.short(row, ("interview_id",), place),
        ingestion_mode=fields.ingestion_mode(row, place),
        metadata=fields.metadata(row.get("metadata"), place, watch),
    )
    return Entry(document, place)


def _source(row: Row, place: Place) -> str:
    own = fields.short(row, ("source",), place)
    metadata = row.get("metadata")
    if own or not isinstance(metadata, dict) or not isinstance(metadata.get("source"), str):
        return own
    return fields.short(metadata, ("source",), place)


def _content(row: Row, doc_id: str, place: Place) -> tuple[str, tuple[Section, ...]]:
    given = row.get("sections")
    if given is None or given == []:
        text = text_of(row, place)
        return text, _whole_section(row, text, place)
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise place.bad(f"sections of {doc_id} is a list of objects")
    if row.get("text") is not None:
        text = fields.string(row, ("text",), place)
        return text, _stretches(given, text, place)
    composer = Composer(place)
    for item in given:
        body = text_of(item, place).strip()
        if body:
            composer.append(body, _section(item, place))
    return composer.text, composer.sections


def _whole_section(row: Row, text: str, place: Place) -> tuple[Section, ...]:
    """The whole row as a section, where its own fields or its metadata describe one."""
    about = _from_metadata(row.get("metadata"), len(text))
    if any(row.get(name) is not None for name in SECTION_NAMES):
        about = _own_section(row, about, place)
    elif not about.label and about.speaker_role is SpeakerRole.UNKNOWN:
        return ()
    return (replace(about, intent_hint=about.intent_hint or intent_of(about.label, text)),)


def _from_metadata(metadata: object, end: int) -> Section:
    known = metadata if isinstance(metadata, dict) else {}
    heading, speaker = (
        value if isinstance(value := known.get(name), str) else ""
        for name in ("section", "speaker")
    )
    label = LOINC.get(str(known.get("loinc"))) or (label_of(heading) if heading else "")
    return Section(0, end, label, heading, speaker_role=role_of(speaker))


def _own_section(row: Row, about: Section, place: Place) -> Section:
    """The section as the row's own fields describe it; ``about`` is what they leave open."""
    named = fields.short(row, ("section_label",), place)
    html = fields.string(row, ("table_html",), place)
    role = fields.speaker_role(row, place)
    return replace(
        about,
        label=_label(named) or about.label,
        heading=named or about.heading,
        intent_hint=fields.short(row, ("intent_hint",), place),
        is_table=fields.flag(row, "is_table", place) or bool(html),
        table_html=sanitised(html, place) if html else "",
        speaker_role=about.speaker_role if role is SpeakerRole.UNKNOWN else role,
        start_time=fields.seconds(row, ("start_time",), place),
        end_time=fields.seconds(row, ("end_time",), place),
    )


def _label(named: str) -> str:
    return named if named in LABELS or not named else label_of(named)


def _stretches(given: list[Row], text: str, place: Place) -> tuple[Section, ...]:
    sections: list[Section] = []
    at = 0
    for item in given:
        match item.get("start"), item.get("end"):
            case int(start), int(end) if at <= start <= end <= len(text):
                at = end
            case start, end:
                raise place.bad(
                    f"a section from {start!r:.20} to {end!r:.20} does not fit",
                    hint="sections stand in order within the text and do not overlap",
                )
        section = _section(item, place)
        hint = section.intent_hint or intent_of(section.label, text[start:end])
        sections.append(_placed(section, start, end, hint))
    return tuple(sections)


def _placed(section: Section, start: int, end: int, hint: str) -> Section:
    return Section(start, end, section.label, section.heading, hint, section.is_table,
                   section.table_html)  # fmt: skip


def _section(item: dict[str, Any], place: Place) -> Section:
    heading = fields.short(item, ("heading", "title"), place)
    label = fields.short(item, ("label", "section_label"), place)
    html = fields.string(item, ("table_html",), place)
    known = label if label in LABELS else label_of(label or heading)
    return Section(
        0,
        0,
        label=known,
        heading=heading or label,
        intent_hint=fields.short(item, ("intent_hint",), place),
        is_table=bool(html) or item.get("is_table") is True,
        table_html=sanitised(html, place) if html else "",
    )
