"""What kind of section is this, and which clinical question does it answer?

``LABELS`` is the closed vocabulary of ``section_label``; each label may carry an intent hint (one
of ``INTENTS``), by which search boosts sections that match the intent of a query. Labels come from
headings by word patterns, from LOINC codes and ClinicalTrials.gov modules, and for tables from
their captions and header cells (``tables.py``).

LOINC codes are those of the FDA's structured product labels. A code that is not listed, or that
says "unclassified", leaves the decision to the heading and the section above.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

LOOKED_AT = 300  # characters of a heading: anything longer is no heading, and matching takes time
INTENTS = ("ae", "dose", "eligibility", "results", "methods", "indications")


@dataclass(frozen=True, slots=True)
class Label:
    """One word of the vocabulary, its intent hint (or none), and what it stands for."""

    name: str
    intent: str
    help: str


_TABLE = (
    ("abstract", "", "the abstract, structured or not"),
    ("introduction", "", "background, aims, rationale"),
    ("methods", "methods", "design, procedures, statistics"),
    ("results", "results", "what was found"),
    ("discussion", "", "what it means, limitations"),
    ("conclusions", "", "what to take away"),
    ("summary", "", "a registry entry's brief summary, key messages"),
    ("description", "", "a longer description of a study or product"),
    ("conditions", "", "diseases and keywords of a study"),
    ("eligibility", "eligibility", "who may take part: inclusion and exclusion criteria"),
    ("interventions", "", "arms and treatments"),
    ("outcomes", "results", "outcome measures, endpoints, efficacy"),
    ("participant_flow", "", "who started, completed and left"),
    ("baseline", "", "characteristics at the start"),
    ("adverse_events", "ae", "adverse events and reactions, safety, tolerability"),
    ("indications", "indications", "what a drug is for"),
    ("dosage", "dose", "dose and administration"),
    ("dosage_forms", "dose", "dosage forms and strengths"),
    ("contraindications", "", "when a drug must not be used"),
    ("boxed_warning", "", "the boxed warning"),
    ("warnings", "", "warnings and precautions"),
    ("drug_interactions", "", "interactions with drugs and tests"),
    ("specific_populations", "", "pregnancy, children, old age, impairments"),
    ("abuse", "", "abuse and dependence"),
    ("overdosage", "", "overdosage"),
    ("clinical_pharmacology", "", "mechanism, pharmacokinetics, pharmacodynamics"),
    ("nonclinical_toxicology", "", "animal toxicology, carcinogenesis"),
    ("clinical_studies", "results", "the studies behind a label"),
    ("how_supplied", "", "supply, storage and handling"),
    ("ingredients", "", "active and inactive ingredients"),
    ("patient_information", "", "what patients are told"),
    ("package_label", "", "the text of the package"),
    ("turn", "", "one speaker's turn"),
    ("appendix", "", "appendices and supplements"),
    ("back_matter", "", "funding, interests, contributions, abbreviations, references"),
    ("other", "", "anything else"),
)
LABELS: Mapping[str, Label] = {row[0]: Label(*row) for row in _TABLE}

# The first pattern that matches decides, so the narrower ones come first.
_HEADINGS = (
    ("abstract", r"abstracts?\b|synopsis$"),
    ("back_matter", r"competing|conflicts? of interest|disclosure|contribut|acknowledg|funding"
     r"|grant|sponsorship|abbreviation|glossary|pre-?publication|data (availability|sharing)"
     r"|authorship|consent for publication|references$|ethic"),
    ("appendix", r"append|supplement(ary|al)|supporting information|additional file"),
    ("contraindications", r"contra-?indicat|do not use"),
    ("boxed_warning", r"boxed warning|black box"),
    ("drug_interactions", r"(drug|medicine)s? interaction|interactions? with|drug-drug"
     r"|^interactions?$"),
    ("overdosage", r"over-?dos"),
    ("adverse_events", r"adverse|side[- ]effect|toxicit|tolerab|harms$|undesirable effect"
     r"|safety(?! \w*(board|culture|monitor|climate|site))|post-?marketing experience"
     r"|complications$|hypersensitivity reactions$"),
    ("eligibility", r"eligib|(in|ex)clusion criteria|(in|ex)clusion and (in|ex)clusion"
     r"|selection (criteria|of (patient|participant|subject))"
     r"|(patient|participant|subject) selection"),
    ("baseline", r"baseline|demographic|patients?'? characteristics|participant characteristics"),
    ("participant_flow", r"participant flow|(patient|subject|participant)s? disposition"
     r"|flow of participants|follow-up and attrition"),
    ("dosage_forms", r"dosage forms?|strengths?$"),
    ("dosage", r"(?<!\w-)(?<!\bpre )(?<!\bpost )(?<!\bgene )\bdos(e|es|age|ing)\b"
     r"(?!-|[ -](respons|depend|dense|finding|escalat|compensat))"
     r"|administration$|^directions$|how (should|do) i (use|take)"),
    ("indications", r"\bindications?\b|\buses?$|\bpurpose$"),
    ("clinical_studies", r"clinical studies"),
    ("nonclinical_toxicology", r"non-?clinical|carcinogen|mutagen"),
    ("clinical_pharmacology", r"pharmacokinetic|pharmacodynamic|mechanisms? of action"
     r"|clinical pharmacology"),
    ("specific_populations", r"pregnan|lactation|nursing mothers|(p(a)?ediatric|geriatric) use"
     r"|specific populations|(renal|hepatic) impairment"),
    ("abuse", r"abuse|dependence"),
    ("how_supplied", r"how supplied|storage and handling|\bstorage$"),
    ("ingredients", r"ingredients?\b"),
    ("patient_information", r"patient (counsel|information)|information for patients"
     r"|medication guide|questions\?"),
    ("warnings", r"\bwarnings?\b|\bprecautions?\b"),
    ("outcomes", r"outcomes?\b|end-?points?\b|efficacy|effectiveness"),
    ("methods", r"\bmethods?\b|methodology|materials|statistic|study design|trial design|^design"
     r"|\bprocedures?$|randomi[sz]ation|allocation|blinding|masking|sample size|data collection"
     r"|experimental|study setting|study protocol"),
    ("interventions", r"interventions?\b|treatments?$|^arms?\b"
     r"|study (drug|medication|treatment)s?"),
    ("results", r"\bresults?\b|findings|^outcome data"),
    ("conclusions", r"conclusions?\b|concluding|implications"),
    ("discussion", r"discussion|limitations?\b|comment$|interpretation|strengths and"),
    ("introduction", r"introduction|background|^aims?\b|objectives?\b|rationale|hypothes[ie]s"
     r"|^purpose|context$"),
    ("summary", r"summary|key (messages|points)|highlights"),
    ("description", r"description"),
    ("conditions", r"^conditions?$|^keywords$"),
)  # fmt: skip
# Within a section of an article only these count; a baseline visit is still a method.
_BELOW: Mapping[str, frozenset[str]] = {
    "introduction": frozenset({
        "eligibility", "interventions", "outcomes", "adverse_events", "dosage", "methods",
        "clinical_pharmacology",
    }),
    "methods": frozenset({"eligibility", "interventions", "outcomes", "adverse_events", "dosage"}),
    "results": frozenset({
        "outcomes", "adverse_events", "baseline", "participant_flow", "clinical_pharmacology",
    }),
    "discussion": frozenset({"adverse_events", "conclusions"}),
    "conclusions": frozenset(),
    "back_matter": frozenset(),
    "appendix": frozenset({"adverse_events", "eligibility", "dosage"}),
}  # fmt: skip
_PATTERNS = tuple((label, re.compile(pattern, re.IGNORECASE)) for label, pattern in _HEADINGS)
_NUMBER = re.compile(r"^(?:[\dIVX]+(?:\.\d+)*[.):]?|[A-Za-z][.)])\s+")
_WHO = re.compile(
    r"^(study |trial )?(participants?|patients?|subjects?|population)( population)?$",
    re.IGNORECASE,
)
LONGEST_COUNT, LONGEST_HEADING = 200, 80  # characters
_BULLET = re.compile(r"[-*•·–]\s+\S|\d{1,2}[.)]\s+\S")
_COUNT = re.compile(r"\d\s?/\s?\d|\d\s?%|\d\s?\(\d+(?:\.\d+)?\)|\|")
_ELSEWHERE = "[see "  # a list of sections is no list of events
_SERIES = re.compile(r"[^.:]{3,80}: [^.,]+,[^.]+,[^.]+\.?")  # Skin: rash, itching, hives
_DOSE = re.compile(r"\d\s*(?:m?c?g|mcg|µg|μg|ng|mL|IU|units?|mmol|Gy|mg/kg|mg/m)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def label_of(heading: str, parent: str = "") -> str:
    """The label of a section with this heading; an unspecific one takes its parent's label."""
    plain = _NUMBER.sub("", heading[:LOOKED_AT].strip()).strip(" .:")
    if plain:
        # In a methods section, "Participants" tells who was eligible (CONSORT item 4).
        if parent == "methods" and _WHO.match(plain):
            return "eligibility"
        allowed = _BELOW.get(parent, LABELS)
        for label, pattern in _PATTERNS:
            if label in allowed and pattern.search(plain):
                return label
    return parent or "other"


@lru_cache(maxsize=4096)
def section_of(label: str) -> str:
    """The section that a label stands for, ours or an author's: what filters and boosts go by.

    "Eligibility Criteria" is ``eligibility``. A label that says nothing to us stands for itself,
    in whatever case it is written.
    """
    if label in LABELS:
        return label
    plain = " ".join(label.replace("_", " ").split())
    found = label_of(plain)
    return plain.casefold() if found == "other" else found


def intent_of(label: str, text: str = "", *, is_table: bool = False) -> str:
    """The intent hint of a section with this label and text.

    Treatments that state a dose answer questions about dose. Of adverse events only tables and
    lists have the hint, which lifts them like a table; prose is lifted by its label.
    """
    if label == "interventions" and _DOSE.search(text):
        return "dose"
    if label == "adverse_events" and not is_table and not is_list(text):
        return ""
    known = LABELS.get(label)
    return known.intent if known else ""


def is_list(text: str) -> bool:
    """Are most of these words entries of a list?

    An entry is a line with a bullet, with a count (``Rash 3/50``), or with things in a row
    (``Skin: rash, itching, hives``). What introduces a list does not count, nor do headings: short
    lines that are no sentence.
    """
    entries = others = 0
    for line in text.split("\n"):
        words = line.strip()
        if _ELSEWHERE in words and len(words) <= LONGEST_COUNT:
            continue
        if _is_entry(words):
            entries += len(words)
        elif (len(words) > LONGEST_HEADING and not words.endswith(":")) or words.endswith("."):
            others += len(words)
    return entries > others


def _is_entry(words: str) -> bool:
    if _BULLET.match(words) or _SERIES.fullmatch(words):
        return True
    return len(words) <= LONGEST_COUNT and not words.endswith(".") and bool(_COUNT.search(words))


_LOINC = {
    "adverse_events": "34084-4 90374-0 90375-7",
    "indications": "34067-9 55105-1",
    "dosage": "34068-7",
    "dosage_forms": "43678-2",
    "contraindications": "34070-3 50570-1",
    "boxed_warning": "34066-1",
    "warnings": "34071-1 34072-9 42232-9 43685-7 50565-1 50566-9 50567-7 50568-5 50569-3 54433-8",
    "drug_interactions": "34073-7 34074-5",
    "specific_populations": "34077-8 34078-6 34079-4 34080-2 34081-0 34082-8 42228-7 43684-0"
    " 53414-9 77290-5 77291-3",
    "abuse": "34085-1 34086-9 34087-7 42227-9",
    "overdosage": "34088-5",
    "description": "34089-3",
    "clinical_pharmacology": "34090-1 43679-0 43681-6 43682-4 49489-8 66106-4",
    "nonclinical_toxicology": "34083-6 34091-9 43680-8",
    "clinical_studies": "34092-7",
    "how_supplied": "34069-5 44425-7",
    "ingredients": "51727-6 55106-9",
    "patient_information": "34076-0 38056-8 42230-3 42231-1 53413-1 59845-8 68498-5 88436-1",
    "package_label": "51945-4",
    "back_matter": "34093-5 43683-2",
}
LOINC: Mapping[str, str] = {
    code: label for label, codes in _LOINC.items() for code in codes.split()
}

CTGOV_MODULES: Mapping[str, str] = {
    "descriptionModule": "summary",
    "designModule": "methods",
    "armsInterventionsModule": "interventions",
    "outcomesModule": "outcomes",
    "eligibilityModule": "eligibility",
    "participantFlowModule": "participant_flow",
    "baselineCharacteristicsModule": "baseline",
    "outcomeMeasuresModule": "outcomes",
    "adverseEventsModule": "adverse_events",
    "moreInfoModule": "discussion",
}
