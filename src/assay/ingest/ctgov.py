"""What do trials registered at ClinicalTrials.gov say, module by module?

Reads the study records of API version 2: one study per file, a folder of them, JSON lines, an
array, or pages of ``{"studies": [...]}``; and the XML that the registry gave before. Contacts and
locations are left out. Results are in ``ctgov_results.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from assay.ingest.compose import Composer, tidy
from assay.ingest.ctgov_results import add_results
from assay.ingest.ctgov_xml import ROOT, study_row
from assay.ingest.facts import distinct, facts, whole_number, year_of
from assay.ingest.folders import corpus_files, suffix
from assay.ingest.json_rows import Row, file_rows
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.records import Record
from assay.ingest.watch import Watch
from assay.ingest.xml_input import local_line, read_xml
from assay.model.document import Document, MetadataValue
from assay.model.sections import CTGOV_MODULES

XML = ".xml"
SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", XML})
OLD_BREAKS = re.compile(r"^~|~~|:~")
ESCAPED = re.compile(r"\\([\\<>\[\]~^*_#-])")  # the registry escapes Markdown syntax


def read_ctgov(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The studies of a file, or of every JSON and XML file in a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            older = suffix(file) == XML
            rows = _older_rows(file, watch) if older else file_rows(file, watch, "studies")
            for location, row in rows:
                with watch.passing():
                    yield ParsedDocument(_study(row, location, watch), location)


def _older_rows(file: Path, watch: Watch) -> Iterator[tuple[FileLocation, Row]]:
    """The study of an XML file; its root is that, or holds several."""
    root = read_xml(file, watch)
    for study in root.iter(ROOT):
        yield FileLocation(str(file), local_line(study)), study_row(study)


def _study(row: Row, location: FileLocation, watch: Watch) -> Document:
    if "protocolSection" not in row:
        raise location.format_error(
            "this is not a study record: it has no protocolSection",
            hint="fetch studies from version 2 of the registry's API, as JSON",
        )
    protocol = Record(row, location).record("protocolSection")
    names = protocol.record("identificationModule")
    composer = Composer(location)
    _description(protocol, composer)
    _methods(protocol.record("designModule").record("designInfo"), composer)
    _arms(protocol.record("armsInterventionsModule"), composer)
    _outcomes(protocol.record("outcomesModule"), composer)
    _eligibility(protocol.record("eligibilityModule"), composer)
    add_results(Record(row, location).record("resultsSection"), composer, location, watch)
    return Document(
        doc_id=location.checked_id(names.text("nctId") or None),
        text=composer.text,
        title=_title(names),
        sections=composer.sections,
        source="ctgov",
        profile="registry",
        metadata=_metadata(Record(row, location)),
    )


def _title(names: Record) -> str:
    """The brief title, followed by the acronym by which people know the study."""
    title, acronym = names.text("briefTitle") or names.text("officialTitle"), names.text("acronym")
    return title if not acronym or acronym.lower() in title.lower() else f"{title} ({acronym})"


def _label(module: str) -> str:
    return CTGOV_MODULES[module]


def _description(protocol: Record, composer: Composer) -> None:
    """The summary with conditions and design, which are only a few words each."""
    description = protocol.record("descriptionModule")
    lines = [
        protocol.record("identificationModule").text("officialTitle"),
        prose(description.text("briefSummary")),
        _named("Why it was stopped", prose(protocol.record("statusModule").text("whyStopped"))),
        *_conditions(protocol.record("conditionsModule")),
        *_design(protocol.record("designModule")),
    ]
    with composer.under("Brief summary"):
        composer.add(_joined(lines), _label("descriptionModule"))
    with composer.under("Detailed description"):
        composer.add(prose(description.text("detailedDescription")), "description")


def _conditions(conditions: Record) -> list[str]:
    return [
        _named("Conditions", "; ".join(conditions.texts("conditions"))),
        _named("Keywords", "; ".join(conditions.texts("keywords"))),
    ]


def _design(design: Record) -> list[str]:
    info = design.record("designInfo")
    return [
        _named("Study type", words(design.text("studyType"))),
        _named("Phase", ", ".join(_phase(phase) for phase in design.texts("phases"))),
        _named("Allocation", words(info.text("allocation"))),
        _named("Intervention model", words(info.text("interventionModel"))),
        _named("Observational model", words(info.text("observationalModel"))),
        _named("Time perspective", words(info.text("timePerspective"))),
        _named("Purpose", words(info.text("primaryPurpose"))),
        _named("Masking", words(info.record("maskingInfo").text("masking"))),
        _named("Enrollment", design.record("enrollmentInfo").text("count")),
    ]


def _methods(info: Record, composer: Composer) -> None:
    lines = [
        prose(info.text("interventionModelDescription")),
        prose(info.record("maskingInfo").text("maskingDescription")),
    ]
    with composer.under("Study design"):
        composer.add(_joined(lines), _label("designModule"))


def _arms(module: Record, composer: Composer) -> None:
    arms = [
        _joined([
            f"{words(arm.text('type'))}: {arm.text('label')}".removeprefix(": "),
            prose(arm.text("description")),
            _named("Interventions", "; ".join(arm.texts("interventionNames"))),
        ])
        for arm in module.records("armGroups")
    ]  # fmt: skip
    given = [
        _joined([
            f"{words(item.text('type'))}: {item.text('name')}".removeprefix(": "),
            prose(item.text("description")),
            _named("Other names", "; ".join(item.texts("otherNames"))),
        ])
        for item in module.records("interventions")
    ]  # fmt: skip
    with composer.under("Arms and interventions"):
        composer.add(_joined([*arms, *given]), _label("armsInterventionsModule"))


def _outcomes(module: Record, composer: Composer) -> None:
    for field, heading in (
        ("primaryOutcomes", "Primary outcomes"),
        ("secondaryOutcomes", "Secondary outcomes"),
        ("otherOutcomes", "Other outcomes"),
    ):
        lines = [
            _joined([
                item.text("measure"),
                prose(item.text("description")),
                _named("Time frame", item.text("timeFrame")),
            ])
            for item in module.records(field)
        ]  # fmt: skip
        with composer.under(heading):
            composer.add(_joined(lines), _label("outcomesModule"))


def _eligibility(module: Record, composer: Composer) -> None:
    ages = (module.text("minimumAge") or "any", module.text("maximumAge") or "any")
    lines = [
        prose(module.text("eligibilityCriteria")),
        _named("Sex", words(module.text("sex"))),
        f"Age: {ages[0]} to {ages[1]}" if ages != ("any", "any") else "",
        _named("Healthy volunteers", {"true": "yes", "false": "no"}.get(
            module.text("healthyVolunteers"), "")),
        _named("Study population", prose(module.text("studyPopulation"))),
    ]  # fmt: skip
    with composer.under("Eligibility criteria"):
        composer.add(_joined(lines), _label("eligibilityModule"))


def _metadata(row: Record) -> dict[str, MetadataValue]:
    protocol = row.record("protocolSection")
    naming, status = protocol.record("identificationModule"), protocol.record("statusModule")
    design, conditions = protocol.record("designModule"), protocol.record("conditionsModule")
    given = protocol.record("armsInterventionsModule").records("interventions")
    started = status.record("startDateStruct").text("date")
    nct_id, acronym = naming.text("nctId"), naming.text("acronym")
    interventions = distinct(item.text("name") for item in given)
    mesh = _mesh(row.record("derivedSection"))
    found: dict[str, MetadataValue] = {
        "nct_id": nct_id,
        "acronym": acronym,
        "status": status.text("overallStatus"),
        "phase": distinct(design.texts("phases")),
        "study_type": design.text("studyType"),
        "sponsor": protocol.record("sponsorCollaboratorsModule").record("leadSponsor").text("name"),
        "conditions": distinct(conditions.texts("conditions")),
        "interventions": interventions,
        "keywords": distinct(conditions.texts("keywords")),
        "mesh": mesh,
        "enrollment": whole_number(design.record("enrollmentInfo").text("count")),
        "year": year_of(started),
        "start_date": started,
        "completion_date": status.record("completionDateStruct").text("date"),
        "update_date": status.record("lastUpdatePostDateStruct").text("date"),
    }
    other_names = (name for item in given for name in item.texts("otherNames"))
    secondary = (item.text("id") for item in naming.records("secondaryIdInfos"))
    return facts(
        found,
        names=(
            acronym, *conditions.texts("conditions"), *interventions, *other_names,
            *conditions.texts("keywords"), *mesh,
        ),
        identifiers=(nct_id, naming.record("orgStudyIdInfo").text("id"), *secondary),
    )  # fmt: skip


def _mesh(derived: Record) -> tuple[str, ...]:
    """The headings under which the registry files a study."""
    return distinct(
        item.text("term")
        for module in ("conditionBrowseModule", "interventionBrowseModule")
        for item in derived.record(module).records("meshes")
    )


def prose(text: str) -> str:
    """Text as people read it: without Markdown's backslashes, in tidy lines.

    Older records have ``~`` for a line break.
    """
    if "\n" not in text and OLD_BREAKS.search(text):
        text = text.replace("~", "\n")
    return tidy(ESCAPED.sub(r"\1", text))


def words(constant: str) -> str:
    """``ACTIVE_NOT_RECRUITING`` as ``Active not recruiting``."""
    return constant.replace("_", " ").capitalize() if constant.isupper() else constant


def _phase(constant: str) -> str:
    """``PHASE3`` as ``3``, ``EARLY_PHASE1`` as ``Early 1``, ``NA`` as ``not applicable``."""
    plain = constant.replace("PHASE", "").replace("_", " ").capitalize()
    return "not applicable" if constant == "NA" else plain


def _named(name: str, value: str) -> str:
    return f"{name}: {value}" if value else ""


def _joined(lines: list[str]) -> str:
    return "\n".join(filter(None, lines))
