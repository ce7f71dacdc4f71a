"""What do citations say that PubMed saved as text: its format "PubMed", files that end in .nbib?

A field is a tag of up to four letters, a hyphen and a value, which goes on in lines that begin with
six blanks. A record begins with its PMID.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from assay.ingest.compose import Composer
from assay.ingest.facts import distinct, facts, year_of
from assay.ingest.fields import decoded
from assay.ingest.files import lines
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.watch import Watch
from assay.model.document import Document
from assay.model.values import iso_date

SUFFIXES = frozenset({".nbib"})
MAGIC = b"PMID- "
_FIELD = re.compile(r"([A-Z]{2,4}) *- (.*)")
_ID = re.compile(r"(\S+) \[(\w+)\]")
_DATE = re.compile(r"([12]\d{3})(?:[ -]([A-Za-z]{3}))?(?: (\d{1,2})\b)?")
_Record: TypeAlias = Mapping[str, list[str]]


def read_records(file: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The citations of a file, one by one."""
    for location, record in _records(file, watch):
        with watch.passing():
            yield ParsedDocument(_citation(record, location), location, revises=True)


def qualified(heading: str, qualifiers: Sequence[str]) -> Iterator[str]:
    """A heading of MeSH, and that with each qualifier: ``Asthma``, ``Asthma/drug therapy``."""
    yield heading
    yield from (f"{heading}/{one}" for one in qualifiers)


def _records(file: Path, watch: Watch) -> Iterator[tuple[FileLocation, _Record]]:
    at = FileLocation(str(file), 1)
    record: dict[str, list[str]] = {}
    values: list[str] = []
    for line in lines(file, watch):
        here = FileLocation(str(file), line.number)
        with watch.passing():
            text = decoded(line.data, here).rstrip()
            if field := _FIELD.fullmatch(text):
                if field[1] == "PMID":
                    if record:
                        yield at, record
                    at, record = here, {}
                values = record.setdefault(field[1], [])
                values.append(field[2])
            elif values and text.startswith("      "):
                values[-1] += f" {text.strip()}"
            elif text:
                raise here.format_error(
                    f"{text:.40} is not a field",
                    hint="save the citations again, in PubMed's format",
                )
    if record:
        yield at, record


def _citation(record: _Record, location: FileLocation) -> Document:
    pmid = _first(record, "PMID")
    ids = {"pmid": pmid, "pmcid": _first(record, "PMC"), "doi": _doi(record)}
    mesh = [one.replace("*", "").split("/") for one in record.get("MH", ())]
    headings = distinct(heading for heading, *_ in mesh)
    chemicals = distinct(re.sub(r"^\S+ \((.*)\)$", r"\1", one) for one in record.get("RN", ()))
    keywords = distinct(one.replace("*", "") for one in record.get("OT", ()))
    date = _DATE.match(_first(record, "DP") or _first(record, "DEP"))
    published = iso_date(*(part or "" for part in date.groups())) if date else ""
    composer = Composer(location)
    composer.add(_first(record, "AB", "OAB"), "abstract")
    return Document(
        doc_id=location.checked_id(pmid),
        text=composer.text,
        title=_first(record, "TI", "TT", "BTI"),
        sections=composer.sections,
        source="medline",
        profile="citation",
        metadata=facts(
            {
                **ids,
                "journal": _first(record, "JT", "TA"),
                "year": year_of(published),
                "published_date": published,
                "authors": distinct((*record.get("AU", ()), *record.get("CN", ()))),
                "publication_types": distinct(record.get("PT", ())),
                "language": _first(record, "LA"),
                "mesh": distinct(
                    name
                    for heading, *qualifiers in mesh
                    for name in qualified(heading, tuple(qualifiers))
                ),
                "chemicals": chemicals,
                "keywords": keywords,
            },
            names=(*headings, *chemicals, *keywords),
            identifiers=ids.values(),
        ),
    )


def _first(record: _Record, *tags: str) -> str:
    values = (value for tag in tags for value in record.get(tag, ()))
    return " ".join(next(values, "").split())


def _doi(record: _Record) -> str:
    found = (_ID.fullmatch(one) for one in (*record.get("LID", ()), *record.get("AID", ())))
    return next((one[1] for one in found if one and one[2] == "doi"), "")
