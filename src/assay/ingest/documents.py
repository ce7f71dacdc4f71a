"""How does a JSON row become a document?

A row has an id (``doc_id``, ``_id`` or ``id``), ``text`` or ``sections``, and may have ``title``,
``source``, ``interview_id``, ``ingestion_mode`` and ``metadata``. A section is either a stretch of
the text (``start``, ``end``) or has its own ``text``. If there is no text, the words of
``table_html`` are used, else the title, as for papers without an abstract.

A row without sections is one section if it has fields of a chunk (``section_label``,
``speaker_role``, ...), or if its metadata names a ``section``, a LOINC code or a ``speaker``, as in
corpora whose rows are parts of trials, labels or interviews. Fields take precedence over metadata.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from assay.ingest import fields
from assay.ingest.compose import Composer
from assay.ingest.facts import completed
from assay.ingest.json_rows import Row
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.speakers import role_of
from assay.ingest.table_html import sanitised
from assay.ingest.tables import table_text
from assay.ingest.watch import Watch
from assay.ingest.xml_input import ElementRules, check_depth, one_line, plain
from assay.ingest.xml_tables import is_within_table, xml_table
from assay.ingest.xml_tree import Element, etree
from assay.model.document import Document, Section, SpeakerRole
from assay.model.sections import LABELS, LOINC, intent_of, label_of

SECTION_NAMES = (
    "section_label", "intent_hint", "is_table", "table_html", "speaker_role", "start_time",
    "end_time",
)  # fmt: skip
TRIAL_ID = re.compile(r"NCT\d{8}")


def document_entry(row: Row, location: FileLocation, watch: Watch, source: str) -> ParsedDocument:
    """The document that one row describes."""
    doc_id = fields.doc_id(row, location)
    title = fields.title(row, location, watch)
    text, sections = _content(row, doc_id, location)
    if title and not text.strip():
        watch.note_once(
            f"{location.file}: documents with a title and no text use the title as their text"
        )
        text = " ".join(
            fields.string(row, ("title",), location).split()
        )  # the whole title: it is only shortened where it is stored
        sections = _whole_section(row, text, location)
    document = Document(
        doc_id=doc_id,
        text=text,
        title=title,
        sections=sections,
        source=_source(row, location) or source,
        profile="registry" if TRIAL_ID.match(doc_id) else "text",
        interview_id=fields.short(row, ("interview_id",), location),
        ingestion_mode=fields.ingestion_mode(row, location),
        metadata=completed(fields.metadata(row.get("metadata"), location, watch), doc_id),
    )
    return ParsedDocument(document, location)


def _source(row: Row, location: FileLocation) -> str:
    own = fields.short(row, ("source",), location)
    metadata = row.get("metadata")
    if own or not isinstance(metadata, dict) or not isinstance(metadata.get("source"), str):
        return own
    return fields.short(metadata, ("source",), location)


def _content(row: Row, doc_id: str, location: FileLocation) -> tuple[str, tuple[Section, ...]]:
    given = row.get("sections")
    if given is None or given == []:
        text = text_of(row, location)
        return text, _whole_section(row, text, location)
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise location.format_error(f"sections of {doc_id} is a list of objects")
    if row.get("text") is not None:
        text = fields.string(row, ("text",), location)
        return text, _stretches(given, text, location)
    composer = Composer(location)
    for item in given:
        body = text_of(item, location).strip()
        if body:
            composer.append(body, _section(item, location))
    return composer.text, composer.sections


def _whole_section(row: Row, text: str, location: FileLocation) -> tuple[Section, ...]:
    """The whole row as a section, if its own fields or its metadata describe one."""
    about = _from_metadata(row.get("metadata"), len(text))
    if any(row.get(name) is not None for name in SECTION_NAMES):
        about = _own_section(row, about, location)
    elif not about.label and about.speaker_role is SpeakerRole.UNKNOWN:
        return ()
    return (
        replace(
            about,
            intent_hint=about.intent_hint or intent_of(about.label, text, is_table=about.is_table),
        ),
    )


def _from_metadata(metadata: object, end: int) -> Section:
    known = metadata if isinstance(metadata, dict) else {}
    heading, speaker = (
        value if isinstance(value := known.get(name), str) else ""
        for name in ("section", "speaker")
    )
    label = LOINC.get(str(known.get("loinc"))) or (label_of(heading) if heading else "")
    return Section(0, end, label, heading, speaker_role=role_of(speaker))


def _own_section(row: Row, about: Section, location: FileLocation) -> Section:
    """The section as the row's own fields describe it; ``about`` holds the defaults."""
    named = fields.short(row, ("section_label",), location)
    html = fields.string(row, ("table_html",), location)
    role = fields.speaker_role(row, location)
    return replace(
        about,
        label=_label(named) or about.label,
        heading=named or about.heading,
        intent_hint=fields.short(row, ("intent_hint",), location),
        is_table=fields.flag(row, "is_table", location) or bool(html),
        table_html=sanitised(html, location) if html else "",
        speaker_role=about.speaker_role if role is SpeakerRole.UNKNOWN else role,
        start_time=fields.seconds(row, ("start_time",), location),
        end_time=fields.seconds(row, ("end_time",), location),
    )


def _label(named: str) -> str:
    return named if named in LABELS or not named else label_of(named)


def _stretches(given: list[Row], text: str, location: FileLocation) -> tuple[Section, ...]:
    sections: list[Section] = []
    at = 0
    for item in given:
        match item.get("start"), item.get("end"):
            case int(start), int(end) if at <= start <= end <= len(text):
                at = end
            case start, end:
                raise location.format_error(
                    f"a section from {start!r:.20} to {end!r:.20} does not fit",
                    hint="sections must be in order, within the text, and must not overlap",
                )
        section = _section(item, location)
        hint = section.intent_hint or intent_of(
            section.label, text[start:end], is_table=section.is_table
        )
        sections.append(_placed(section, start, end, hint))
    return tuple(sections)


def _placed(section: Section, start: int, end: int, hint: str) -> Section:
    return Section(start, end, section.label, section.heading, hint, section.is_table,
                   section.table_html)  # fmt: skip


def _section(item: dict[str, Any], location: FileLocation) -> Section:
    heading = fields.short(item, ("heading", "title"), location)
    label = fields.short(item, ("label", "section_label"), location)
    html = fields.string(item, ("table_html",), location)
    known = label if label in LABELS else label_of(label or heading)
    return Section(
        0,
        0,
        label=known,
        heading=heading or label,
        intent_hint=fields.short(item, ("intent_hint",), location),
        is_table=bool(html) or item.get("is_table") is True,
        table_html=sanitised(html, location) if html else "",
    )


READING = ElementRules(blocks=frozenset({"br", "caption", "table", "td", "th", "tr"}))
BESIDE = replace(READING, skip=frozenset({"table"}))
# elements that a browser puts on their own line and sanitising removes
_BLOCKS = re.compile(r"</?(?:p|div|li|ul|ol|dl|dt|dd|h[1-6]|pre|blockquote)\b[^>]*>", re.IGNORECASE)


def text_of(row: Row, location: FileLocation) -> str:
    """The row's ``text``, or the words of its ``table_html`` if it has none."""
    text = fields.string(row, ("text",), location)
    return (
        text if text.strip() else _of_table(fields.string(row, ("table_html",), location), location)
    )


def _of_table(html: str, location: FileLocation) -> str:
    harmless = sanitised(_BLOCKS.sub("<br>", html), location)
    if not harmless:
        return ""
    root = etree.fromstring(harmless, etree.HTMLParser(no_network=True))
    check_depth(root, location)
    outer = (table for table in root.iter("table") if not is_within_table(table))
    parts = (*(_table(table, location) for table in outer), plain(root, BESIDE))
    return "\n".join(filter(None, parts))


def _table(table: Element, location: FileLocation) -> str:
    caption = one_line(table.find("caption"), READING)
    return table_text(xml_table(table, READING, location, caption=caption), location)
