"""What texts does a FHIR bundle hold, resource by resource?

Reads a ``Bundle``, a single resource, or resources line by line (bulk exports). Documents of people
are read (compositions with their sections, attachments of text, reports, notes); so are conditions,
allergies, procedures and medication with the words that name them. Each resource is a document of
its own. Resources that hold no text (patients, encounters, claims) are counted in a note.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.ingest.compose import Composer, tidy
from assay.ingest.facts import distinct, facts, year_of
from assay.ingest.folders import corpus_files
from assay.ingest.json_rows import Row, file_rows
from assay.ingest.pages import READING, parse_page
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.records import Record
from assay.ingest.watch import Watch
from assay.ingest.xml_input import plain
from assay.model.document import Document, MetadataValue
from assay.model.sections import label_of

SUFFIXES = frozenset({".json", ".ndjson", ".jsonl"})
KEY = "resourceType"
CODES = ("code", "vaccineCode", "medicationCodeableConcept", "type")
DATES = (
    "date", "authoredOn", "effectiveDateTime", "recordedDate", "onsetDateTime", "performedDateTime",
    "issued", "occurrenceDateTime", "sent",
)  # fmt: skip
LABELS = {
    "Condition": "conditions", "MedicationRequest": "dosage", "MedicationStatement": "dosage",
    "MedicationAdministration": "dosage", "AdverseEvent": "adverse_events",
    "DiagnosticReport": "results", "Observation": "results",
}  # fmt: skip
READ = frozenset({
    *LABELS, "Composition", "DocumentReference", "AllergyIntolerance", "Procedure", "Immunization",
    "CarePlan", "ClinicalImpression", "Communication", "FamilyMemberHistory", "Consent",
    "QuestionnaireResponse", "ServiceRequest",
})  # fmt: skip
_ID = re.compile(r"[^A-Za-z0-9_.-]+")


def read_fhir(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The resources of a file, or of every JSON file in a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        silent: Counter[str] = Counter()
        with watch.passing():
            for location, row in file_rows(file, watch, "resources"):
                for resource in _resources(row, location):
                    with watch.passing():
                        document = _document(resource, location)
                        if document is None:
                            silent[str(resource.get(KEY))] += 1
                        else:
                            yield ParsedDocument(document, location)
        if silent:
            counts = ", ".join(f"{count:,} {kind:.40}" for kind, count in silent.most_common(8))
            watch.note(f"{file}: resources without text, left out: {counts}")


def _resources(row: Row, location: FileLocation) -> Iterator[Row]:
    """The resource itself, or those of a bundle; contained ones belong to their holder."""
    if row.get(KEY) != "Bundle":
        yield row
        return
    entries = row.get("entry") or []
    if not isinstance(entries, list):
        raise location.format_error("the entries of a bundle are no list")
    for entry in entries:
        inner = entry.get("resource") if isinstance(entry, dict) else None
        if isinstance(inner, dict):
            yield from _resources(inner, location)


def _document(resource: Row, location: FileLocation) -> Document | None:
    kind = resource.get(KEY)
    if not isinstance(kind, str):
        raise location.format_error(f"this is no FHIR resource: it has no {KEY}")
    if kind not in READ:
        return None
    record = Record(resource, location)
    composer = Composer(location)
    named = _name(record)
    label = LABELS.get(kind, "other")
    composer.add(_described(record, named), label)
    for section in record.records("section"):
        _section(section, composer, location)
    for attachment in _attachments(record):
        composer.add(_decoded(attachment, location), label)
    narrative = _narrative(record, location)
    if composer.text in {"", named} and narrative != named:  # else it says the same again
        composer.add(narrative, label)
    if not composer.text.strip():
        return None
    identity = record.text("id") or _identity(record)
    return Document(
        doc_id=location.checked_id(_ID.sub("-", f"{kind}-{identity}" if identity else "") or None),
        text=composer.text,
        title=record.text("title") or record.text("description") or named or kind,
        sections=composer.sections,
        source="fhir",
        profile="text",
        metadata=_metadata(record, kind, named),
    )


def _section(section: Record, composer: Composer, location: FileLocation) -> None:
    heading = section.text("title") or _concept(section.record("code"))
    with composer.under(heading):
        composer.add(_narrative(section, location), label_of(heading) if heading else "other")
        for inner in section.records("section"):
            _section(inner, composer, location)


def _described(record: Record, named: str) -> str:
    """What a resource says outside of its narrative: its name, doses, notes, conclusions."""
    doses = [one.text("text") for one in record.records("dosageInstruction")]
    doses += [one.text("text") for one in record.records("dosage")]
    notes = [one.text("text") for one in record.records("note")]
    reactions = [
        _concept(sign)
        for one in record.records("reaction")
        for sign in one.records("manifestation")
    ]
    value = record.record("valueQuantity")
    amount = f"{value.text('value')} {value.text('unit')}".strip()
    lines = [
        f"{named}: {amount}" if named and amount else named,
        record.text("valueString"),
        *doses,
        ", ".join(filter(None, reactions)),
        record.text("conclusion"),
        record.text("summary"),
        *notes,
    ]
    return tidy("\n".join(dict.fromkeys(filter(None, lines))))


def _name(record: Record) -> str:
    """What a resource is about: the words of its code, else of the medication it points to."""
    named = (_concept(record.record(key)) for key in CODES if _is_object(record, key))
    return next(filter(None, named), "") or record.record("medicationReference").text("display")


def _is_object(record: Record, key: str) -> bool:
    return isinstance(record.value(key), dict)


def _concept(concept: Record) -> str:
    """The words of a coded value: its own, else the first display of a code."""
    displays = (code.text("display") for code in concept.records("coding"))
    return concept.text("text") or next(filter(None, displays), "")


def _narrative(record: Record, location: FileLocation) -> str:
    """The text that a resource or section brings as XHTML, without its markup."""
    div = record.record("text").text("div") if _is_object(record, "text") else ""
    return plain(parse_page(div.encode(), location), READING) if div else ""


def _attachments(record: Record) -> Iterator[Record]:
    for content in record.records("content"):
        yield content.record("attachment")
    yield from record.records("presentedForm")


def _decoded(attachment: Record, location: FileLocation) -> str:
    """The text of an attachment of text or HTML; others are not read."""
    kind, data = attachment.text("contentType"), attachment.text("data")
    if not data or not kind.startswith(("text/", "application/xhtml")):
        return ""
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise location.format_error("an attachment is not base64") from None
    if "html" in kind:
        return plain(parse_page(content, location), READING) if content.strip() else ""
    return tidy(content.decode("utf-8", errors="replace").replace("\0", ""))


def _identity(record: Record) -> str:
    return next((one.text("value") for one in record.records("identifier")), "")


def _metadata(record: Record, kind: str, named: str) -> dict[str, MetadataValue]:
    codes = [
        code.text("code")
        for key in CODES
        if _is_object(record, key)
        for code in record.record(key).records("coding")
    ]
    date = next((text for key in DATES if (text := _date(record.value(key)))), "")
    patient = record.record("subject") or record.record("patient")
    found: dict[str, MetadataValue] = {
        "resource": kind,
        "codes": distinct(codes),
        "patient": patient.text("reference").rpartition("/")[2],
        "published_date": date,
        "year": year_of(date),
    }
    return facts(found, names=(named, *codes))


def _date(value: Any) -> str:
    return value[:10] if isinstance(value, str) and re.match(r"\d{4}", value) else ""
