"""What texts does a FHIR bundle hold, resource by resource?

Reads a ``Bundle``, a single resource, or resources line by line (bulk exports); XML as JSON says it
(``fhir_xml.py``). Documents of people are read (compositions with their sections, attachments of
text, reports, notes); so are conditions, allergies, procedures, answers and medication with the
words that name them. Each resource is a document of its own; one that is refuted, stopped or
entered in error says so. Resources that hold no text (patients, encounters, claims) and attachments
of other kinds are counted in a note.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay.ingest.compose import Composer, tidy
from assay.ingest.facts import distinct, facts, year_of
from assay.ingest.fhir_xml import KEY, xml_resource
from assay.ingest.files import head
from assay.ingest.folders import corpus_files
from assay.ingest.json_rows import Row, file_rows
from assay.ingest.pages import READING, parse_page
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.records import Record
from assay.ingest.watch import Watch
from assay.ingest.xml_input import plain
from assay.model.document import Document, MetadataValue
from assay.model.sections import label_of

SUFFIXES = frozenset({".json", ".ndjson", ".jsonl", ".xml"})
CODES = ("code", "vaccineCode", "medicationCodeableConcept", "medication", "type")
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
    "QuestionnaireResponse", "ServiceRequest", "Goal", "Medication", "Binary", "ResearchStudy",
    "Evidence", "Flag", "DetectedIssue", "RiskAssessment", "NutritionOrder",
})  # fmt: skip
STATES = {
    "status": "status", "verificationStatus": "verification", "clinicalStatus": "clinical_status",
}  # fmt: skip
USUAL = frozenset({
    "active", "completed", "final", "confirmed", "current", "amended", "corrected", "recurrence",
})  # fmt: skip
"""States that need no words: the others change what a resource says."""
UNITS = {"s": "second", "min": "minute", "h": "hour", "d": "day", "wk": "week", "mo": "month",
         "a": "year"}  # fmt: skip
DEEPEST = 20  # questions within questions
_ID = re.compile(r"[^A-Za-z0-9_.-]+")


def read_fhir(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The resources of a file, or of every file in a folder."""
    medicines: dict[str, str] = {}  # names by reference; Medication.ndjson comes before its users
    for file in corpus_files(path, SUFFIXES, watch):
        silent: Counter[str] = Counter()
        unread: Counter[str] = Counter()
        with watch.passing():
            for location, row in _rows(file, watch):
                resources = list(_resources(row, location))
                medicines |= _medicines(resources, location)
                for resource, address in resources:
                    with watch.passing():
                        reading = _Resource(resource, address, location, medicines, unread)
                        document = reading.document()
                        if document is None:
                            silent[str(resource.get(KEY))] += 1
                        else:
                            yield ParsedDocument(document, location)
        for found, what in (
            (silent, "resources without text"),
            (unread, "attachments that are not text, or elsewhere"),
        ):
            if found:
                counts = ", ".join(f"{count:,} {kind:.40}" for kind, count in found.most_common(8))
                watch.note(f"{file}: {what}, left out: {counts}")


def _rows(file: Path, watch: Watch) -> Iterator[tuple[FileLocation, Row]]:
    if head(file).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        yield FileLocation(str(file)), xml_resource(file, watch)
    else:
        yield from file_rows(file, watch, "resources")


def _resources(row: Row, location: FileLocation, address: str = "") -> Iterator[tuple[Row, str]]:
    """The resource itself, or those of a bundle, each with its address there."""
    if row.get(KEY) != "Bundle":
        yield row, address
        return
    entries = row.get("entry") or []
    if not isinstance(entries, list):
        raise location.format_error("the entries of a bundle are no list")
    for entry in entries:
        if isinstance(entry, dict) and isinstance(held := entry.get("resource"), dict):
            at = entry.get("fullUrl")
            yield from _resources(held, location, at if isinstance(at, str) else "")


def _medicines(resources: list[tuple[Row, str]], location: FileLocation) -> dict[str, str]:
    """The names of medication that other resources point to."""
    found: dict[str, str] = {}
    for resource, address in resources:
        if resource.get(KEY) == "Medication":
            name = _name(Record(resource, location))
            found[f"Medication/{resource.get('id')}"] = name
            if address:
                found[address] = name
    return found


@dataclass(slots=True)
class _Resource:
    """One resource with its address, and the names of medication that it may point to."""

    row: Row
    address: str
    location: FileLocation
    medicines: Mapping[str, str]
    unread: Counter[str]

    def document(self) -> Document | None:
        """The resource as a document; None where it holds no text."""
        kind = self.row.get(KEY)
        if not isinstance(kind, str):
            raise self.location.format_error(f"this is no FHIR resource: it has no {KEY}")
        if kind not in READ:
            return None
        record = Record(self.row, self.location)
        composer = Composer(self.location)
        named = _name(record) or self._medicine(record)
        label = LABELS.get(kind, "other")
        composer.add(_described(record, named), label)
        for section in record.records("section"):
            _section(section, composer, self.location)
        for attachment in _attachments(record):
            composer.add(self._decoded(attachment), label)
        narrative = _narrative(record, self.location)
        if composer.text in {"", named} and narrative != named:  # else it says the same again
            composer.add(narrative, label)
        if not composer.text.strip():
            return None
        states = _states(record)
        if words := ", ".join(one for one in states.values() if one not in USUAL):
            composer.add(f"Status: {words}", label)
        identity = record.text("id") or _identity(record) or self.address.rpartition(":")[2]
        if not identity:
            identity = blake2b(composer.text.encode(), digest_size=5).hexdigest()
        title = record.text("title") or _words_of(record, "description") or named or kind
        return Document(
            doc_id=self.location.checked_id(_ID.sub("-", f"{kind}-{identity}")),
            text=composer.text,
            title=title,
            sections=composer.sections,
            source="fhir",
            profile="text",
            metadata=_metadata(record, kind, named, states),
        )

    def _medicine(self, record: Record) -> str:
        """The name of the medication that is pointed to, within the resource or beside it."""
        pointer = record.record("medicationReference")
        if not pointer and _is_object(record, "medication"):
            pointer = record.record("medication").record("reference")
        place = pointer.text("reference")
        for inner in record.records("contained"):
            if place == f"#{inner.text('id')}":
                return _name(inner)
        return pointer.text("display") or self.medicines.get(place, "")

    def _decoded(self, attachment: Record) -> str:
        """The text of an attachment of text or HTML; others are counted."""
        kind, data = attachment.text("contentType"), attachment.text("data")
        if not kind.startswith(("text/", "application/xhtml")) or not data:
            if kind or attachment.text("url"):
                self.unread[kind or "elsewhere"] += 1
            return ""
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise self.location.format_error("an attachment is not base64") from None
        if "html" in kind:
            return plain(parse_page(content, self.location), READING) if content.strip() else ""
        return tidy(content.decode("utf-8", errors="replace").replace("\0", ""))


def _section(section: Record, composer: Composer, location: FileLocation) -> None:
    heading = section.text("title") or _concept(section.record("code"))
    with composer.under(heading):
        composer.add(_narrative(section, location), label_of(heading) if heading else "other")
        for inner in section.records("section"):
            _section(inner, composer, location)


def _described(record: Record, named: str) -> str:
    """What a resource says outside of its narrative: name, values, doses, notes, answers."""
    kind, value = record.text(KEY), _valued(record)
    lines = [
        f"{named}: {value}" if named and value else named or value,
        *(_line(one) for one in record.records("component")),
        *(_dose(one) for name in ("dosageInstruction", "dosage") for one in _objects(record, name)),
        ", ".join(filter(None, map(_reaction, record.records("reaction")))),
        _reasons(record),
        *(_answers(record.records("item")) if kind == "QuestionnaireResponse" else ()),
        *(one.text("contentString") for one in record.records("payload")),
        *(_family(record) if kind == "FamilyMemberHistory" else ()),
        record.text("conclusion"),
        record.text("summary"),
        "" if kind == "DocumentReference" else _words_of(record, "description"),  # its title
        *(one.text("text") for one in record.records("note")),
    ]
    return tidy("\n".join(dict.fromkeys(filter(None, lines))))


def _words_of(record: Record, key: str) -> str:
    """A field that is a text in some resources and a coded value in others."""
    return _concept(record.record(key)) if _is_object(record, key) else record.text(key)


def _objects(record: Record, key: str) -> list[Record]:
    """Objects of a field that holds one in some resources and a list in others."""
    return [record.record(key)] if _is_object(record, key) else record.records(key)


def _quantity(value: Record) -> str:
    return f"{value.text('comparator')}{value.text('value')} {value.text('unit')}".strip()


def _valued(record: Record) -> str:
    """The value of an observation or answer, and how it was interpreted."""
    found = [
        _quantity(record.record("valueQuantity")),
        _concept(record.record("valueCodeableConcept")),
        record.record("valueCoding").text("display"),
        *(
            record.text(key)
            for key in ("valueString", "valueInteger", "valueDecimal", "valueDate", "valueBoolean")
        ),
    ]
    value = ", ".join(filter(None, found))
    said = ", ".join(filter(None, map(_concept, record.records("interpretation"))))
    return f"{value} ({said})" if value and said else value


def _line(component: Record) -> str:
    return ": ".join(filter(None, (_concept(component.record("code")), _valued(component))))


def _dose(dose: Record) -> str:
    """How medication is taken, in the words of the prescriber or from its parts."""
    if text := dose.text("text"):
        return text
    amounts = [_quantity(one.record("doseQuantity")) for one in dose.records("doseAndRate")]
    amounts.append(_quantity(dose.record("dose")))
    repeat = dose.record("timing").record("repeat")
    often = ""
    if repeat.text("frequency") and (unit := UNITS.get(repeat.text("periodUnit"))):
        period = repeat.text("period")
        every = unit if period in {"", "1", "1.0"} else f"{period} {unit}s"
        times = repeat.text("frequency")
        often = f"{times} time{'' if times == '1' else 's'} every {every}"
    needed = "as needed" if dose.text("asNeededBoolean") == "true" else ""
    return ", ".join(filter(None, (*amounts, often, _concept(dose.record("route")), needed)))


def _reasons(record: Record) -> str:
    """Why something was ordered or done."""
    keys = [key for key in ("reasonCode", "reason") if not isinstance(record.value(key), str)]
    coded = [one for key in keys for one in _objects(record, key)]
    said = ", ".join(dict.fromkeys(filter(None, map(_concept, coded))))
    return f"Reason: {said}" if said else ""


def _reaction(reaction: Record) -> str:
    signs = ", ".join(filter(None, map(_concept, reaction.records("manifestation"))))
    severity = reaction.text("severity")
    return f"{signs} ({severity})" if signs and severity else signs


def _answers(items: list[Record], depth: int = 0) -> Iterator[str]:
    """The questions and answers of a form."""
    for item in items if depth < DEEPEST else ():
        said = [_valued(answer) for answer in item.records("answer")]
        if words := ": ".join(filter(None, (item.text("text"), ", ".join(filter(None, said))))):
            yield words
        yield from _answers(item.records("item"), depth + 1)
        for answer in item.records("answer"):
            yield from _answers(answer.records("item"), depth + 1)


def _family(record: Record) -> Iterator[str]:
    whose = _concept(record.record("relationship"))
    for condition in record.records("condition"):
        yield ": ".join(filter(None, (whose, _concept(condition.record("code")))))


def _states(record: Record) -> dict[str, str]:
    """Whether it holds: of text, or of a coded value."""
    found: dict[str, str] = {}
    for key, name in STATES.items():
        if _is_object(record, key):
            codes = (code.text("code") for code in record.record(key).records("coding"))
            found[name] = next(filter(None, codes), "") or record.record(key).text("text")
        else:
            found[name] = record.text(key)
    return {name: text for name, text in found.items() if text}


def _name(record: Record) -> str:
    """What a resource is about: the words of its code."""
    named = (_concept(record.record(key)) for key in CODES if _is_object(record, key))
    return next(filter(None, named), "")


def _is_object(record: Record, key: str) -> bool:
    return isinstance(record.value(key), dict)


def _concept(concept: Record) -> str:
    """The words of a coded value: its own, else the first display of a code.

    Where a reference may stand instead, release 5 has one of the two inside.
    """
    if _is_object(concept, "reference"):
        return concept.record("reference").text("display")
    displays = (code.text("display") for code in _codings(concept))
    return _inner(concept).text("text") or next(filter(None, displays), "")


def _codings(concept: Record) -> list[Record]:
    return _inner(concept).records("coding")


def _inner(concept: Record) -> Record:
    return concept.record("concept") if _is_object(concept, "concept") else concept


def _narrative(record: Record, location: FileLocation) -> str:
    """The text that a resource or section brings as XHTML, without its markup."""
    div = record.record("text").text("div") if _is_object(record, "text") else ""
    return plain(parse_page(div.encode(), location), READING) if div else ""


def _attachments(record: Record) -> Iterator[Record]:
    for content in record.records("content"):
        yield content.record("attachment")
    yield from record.records("presentedForm")
    if record.text(KEY) == "Binary":
        yield record


def _identity(record: Record) -> str:
    return next((one.text("value") for one in _objects(record, "identifier")), "")


def _metadata(
    record: Record, kind: str, named: str, states: Mapping[str, str]
) -> dict[str, MetadataValue]:
    codes = [
        code.text("code")
        for key in CODES
        if _is_object(record, key)
        for code in _codings(record.record(key))
    ]
    date = next((text for key in DATES if (text := _date(record.value(key)))), "")
    patient = record.record("subject") or record.record("patient")
    found: dict[str, MetadataValue] = {
        "resource": kind,
        "codes": distinct(codes),
        "patient": patient.text("reference").rpartition("/")[2],
        "published_date": date,
        "year": year_of(date),
        "severity": _words_of(record, "severity"),
        "criticality": record.text("criticality"),
        **states,
    }
    return facts(found, names=(named, *codes))


def _date(value: Any) -> str:
    return value[:10] if isinstance(value, str) and re.match(r"\d{4}", value) else ""
