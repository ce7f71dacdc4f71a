"""What is known of a document beside its text, under which names and in which types?

These names are the same for every reader, so that one filter fits all of them (docs, "Use your own
corpus"). Lists are tuples of text, ``year``, ``version`` and ``enrollment`` whole numbers, dates
ISO 8601 as exactly as they are known: ``2019``, ``2019-03`` or ``2019-03-25``.

``names`` is what the document is about or is called: drugs, conditions, interventions, keywords,
an acronym, and its identifiers. ``identifiers`` are the codes that stand for it alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from assay import limits
from assay.model.document import MetadataValue

NAMES = "names"
IDENTIFIERS = "identifiers"
# where rows of JSON give the same facts
NAMING_KEYS = (
    *("drug", "drugs", "drug_name", "drug_names", "brands", "brand", "brand_name", "generics"),
    *("generic", "generic_name", "condition", "conditions", "intervention", "interventions"),
    *("acronym", "keywords", "mesh", "mesh_terms"),
)
IDENTIFYING_KEYS = (
    *("nct_id", "nct", "nct_number", "pmid", "pmcid", "pmc", "doi", "set_id", "spl_set_id"),
    *("icd", "icd10", "icd_code", "icd_codes", "atc", "atc_code", "atc_codes", "ndc"),
)
_NOT_NAMES = re.compile(r"[^a-z0-9]+")
_WITHIN_ID = re.compile(r"(?<![A-Za-z0-9])(?:NCT\d{8}|PMC\d{3,9}|PMID:?\d{3,9})(?![A-Za-z0-9])")


@lru_cache(4096)
def plain_name(name: str) -> str:
    """The name of a field without case, blanks and signs: ``NCT Number`` is ``nct_number``."""
    return _NOT_NAMES.sub("", name.lower())


_NAMING, _IDENTIFYING = (
    tuple((key, plain_name(key)) for key in keys) for keys in (NAMING_KEYS, IDENTIFYING_KEYS)
)


def facts(
    found: Mapping[str, MetadataValue],
    *,
    names: Iterable[str] = (),
    identifiers: Iterable[str] = (),
) -> dict[str, MetadataValue]:
    """The metadata of a document: what is empty is left out, names and identifiers come last."""
    codes = distinct(identifiers)
    known = {NAMES: distinct((*names, *codes)), IDENTIFIERS: codes}
    return {key: value for key, value in {**found, **known}.items() if value not in ("", ())}


def completed(given: dict[str, MetadataValue], doc_id: str) -> dict[str, MetadataValue]:
    """Metadata of a row with the names and identifiers that its other entries and its id give.

    What the row calls ``names`` and ``identifiers`` itself is kept and added to. A year is a
    number, also where it is written as text.
    """
    plain: dict[str, tuple[str, ...]] = {}
    for key, value in given.items():
        texts = tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)
        plain[plain_name(key)] = (*plain.get(plain_name(key), ()), *texts)
    codes = distinct((
        *plain.get(IDENTIFIERS, ()),
        *(_prefixed(key, text) for key, name in _IDENTIFYING for text in plain.get(name, ())),
        *_WITHIN_ID.findall(doc_id),
    ))  # fmt: skip
    own = (*plain.get(NAMES, ()), *(text for _, name in _NAMING for text in plain.get(name, ())))
    rest = {key: value for key, value in given.items() if key not in {NAMES, IDENTIFIERS}}
    year = rest.get("year")
    if isinstance(year, str) and re.fullmatch(r"[12]\d{3}", year.strip()):
        rest["year"] = int(year)
    known = {NAMES: distinct((*own, *codes)), IDENTIFIERS: codes}
    return rest | {key: value for key, value in known.items() if value}


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts on one line each, without empty ones and without repeating any in another case."""
    first: dict[str, str] = {}
    for text in texts:
        tidy = " ".join(text.split())
        if tidy:
            first.setdefault(tidy.casefold(), tidy)
    return tuple(first.values())


def size(value: MetadataValue) -> int:
    """How many characters a value takes."""
    return sum(len(str(one)) + 2 for one in value) if isinstance(value, tuple) else len(str(value))


def bounded(value: MetadataValue) -> MetadataValue | None:
    """The value within its limit: of a list what fits, and None where nothing does."""
    if size(value) <= limits.MAX_METADATA_CHARS:
        return value
    if not isinstance(value, tuple):
        return None
    kept: list[str | int | float | bool] = []
    left = limits.MAX_METADATA_CHARS
    for one in value:
        left -= len(str(one)) + 2
        if left >= 0:
            kept.append(one)
    return tuple(kept) or None


def whole_number(text: str) -> int | str:
    """The number that is written here, else the text itself."""
    return int(text) if re.fullmatch(r"\d{1,15}", text) else text


def year_of(date: str) -> int | str:
    """The year of an ISO date; empty where there is none."""
    return int(date[:4]) if re.match(r"[12]\d{3}", date) else ""


def _prefixed(key: str, text: str) -> str:
    """``PMC123`` for the 123 of a ``pmcid``; other codes as they are."""
    return f"PMC{text}" if key in {"pmcid", "pmc"} and text.isdecimal() else text
