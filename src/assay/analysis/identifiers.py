"""Which words of a query stand for one document?

Registry numbers, PubMed and PMC ids, DOIs, set ids of labels, and the ids that documents and chunks
have here. They are compared by their letters and digits alone, so that ``PMID: 31234567``,
``doi:10.1000/x`` and ``nct01234567`` are found however they are written. The registries of trials
are those of the WHO's platform; their numbers are also found where a document prints them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from assay.analysis.spelling import folded

_PREFIX = re.compile(
    r"^(?:https?://)?(?:(?:dx\.)?doi\.org/|(?:www\.)?clinicaltrials\.gov/(?:ct2/show/|study/)?"
    r"|pubmed\.ncbi\.nlm\.nih\.gov/)?"
    r"(?:doi|pmid|pmcid|nct id|jprn-|euctr|eudract(?: (?:number|no\.?|nr\.?))?)?[:\s]*",
    re.IGNORECASE,
)
_NOT_ALNUM = re.compile(r"[\W_]+")
_UMIN = re.compile(r"umin(?:ctr)?(?:umin)?c?(?=\d{9}$)")
_RUN = re.compile(r"[^\W\d_]+|\d+")
TRIAL = "trial"
_REGISTRIES = (
    r"(?:NCT|ISRCTN|DRKS)[ :-]{0,2}\d{8}",
    r"ACTRN[ :-]{0,2}\d{14}p?",
    r"(?:EUCTR ?|EudraCT(?: (?:number|no\.?|nr\.?))?[ :]{0,2})?\d{4}-\d{6}-\d{2}(?:-\d{2})?",
    r"(?:JPRN-)?UMIN(?:-CTR)?[ :-]{0,2}(?:UMIN|C)?\d{9}",
    r"(?:JPRN-)?(?:jRCTs?\d{9,10}|JapicCTI-?\d{6}|JMA-IIA\d{5})",
    r"ChiCTR[ :-]{0,2}(?:[A-Z]{2,4}-?)?\d{8,10}",
    r"(?:CTRI|SLCTR)[ :/]{0,2}\d{4}/\d{2,3}(?:/\d{6})?",
    r"(?:NTR[ :-]?|NL-OMON)\d{3,5}",
    r"(?:KCT|PACTR|TCTR|IRCT)[ :]{0,2}\d{7,20}(?:N\d{1,2})?",
    r"RBR-[0-9a-z]{6,8}",
)
_KINDS = {
    TRIAL: "|".join(_REGISTRIES),
    "DOI": r"(?:https?://(?:dx\.)?doi\.org/|doi: ?)?10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;)]",
    "PMC article": r"(?:pmcid: ?)?PMC ?\d{3,9}",
    "PubMed article": r"(?:pmid[: ]{0,2})\d{3,9}",
    "label": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
}
_KNOWN = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(f"(?P<k{at}>{pattern})" for at, pattern in enumerate(_KINDS.values()))
    + r")(?![\w]|[:#]\w)",
    re.IGNORECASE,
)
_OWN = re.compile(r"(?<!\S)(?=\S*[\d_#:-])[A-Za-z0-9][A-Za-z0-9_.:#/-]{2,127}(?<![.,:;])")
_ACRONYM = re.compile(r"(?<![\w-])(?=[\w-]{4,20}(?![\w-]))[A-Z][A-Z0-9]+(?:-[A-Z0-9]+)*(?![\w-])")
_SYSTEM = re.compile(
    r"(?:ATC|CAS|CPT|ICD|ICPC|LOINC|MESH|NDC|SNOMED)(?:-\w+)*", re.IGNORECASE
)  # of codes
MOST = 8


def is_code_system(word: str) -> bool:
    """Whether a word is the name of a system of codes: ICD-10-CM, ATC."""
    return _SYSTEM.fullmatch(word) is not None


class Mention(NamedTuple):
    """A stretch of a query that may stand for a document.

    ``kind`` is empty for what only an id of a document or chunk could be, or an acronym of a study.
    """

    start: int
    end: int
    text: str
    code: str
    kind: str
    acronym: bool


def code_of(text: str) -> str:
    """An identifier as it is compared."""
    code = _NOT_ALNUM.sub("", folded(_PREFIX.sub("", text.strip(), count=1)))
    return _UMIN.sub("umin", code) if code.startswith("umin") else code


def printed(mention: Mention) -> tuple[tuple[str, ...], str]:
    """How documents print the number of a trial: in parts, or as one word."""
    bare = folded(_PREFIX.sub("", mention.text.strip(), count=1))
    if mention.code.startswith("umin"):
        bare = mention.code
    return tuple(_RUN.findall(bare)), mention.code


def codes_of(
    doc_id: str, chunk_id: str, title: str, metadata: Mapping[str, object]
) -> tuple[str, ...]:
    """What a chunk is found by: its ids, those of its document, and the acronym of its study."""
    given = metadata.get("identifiers", ())
    own = given if isinstance(given, tuple | list) else (given,)
    names = [str(metadata.get("acronym", ""))]
    if _ACRONYM.fullmatch(title):
        names.append(title)
    return tuple(
        dict.fromkeys(filter(None, map(code_of, (doc_id, chunk_id, *map(str, own), *names))))
    )


@lru_cache(maxsize=1_024)
def mentions(query: str) -> tuple[Mention, ...]:
    """What may stand for a document, in order; known kinds first claim their place."""
    found = [*known_in(query)]
    for match in _OWN.finditer(query):
        number = match[0].isdigit() and match[0] != query.strip()
        if not number and not _overlaps(match, found):
            found.append(Mention(*match.span(), match[0], code_of(match[0]), "", False))
    for match in _ACRONYM.finditer(query):
        if not _overlaps(match, found):
            found.append(Mention(*match.span(), match[0], code_of(match[0]), "", True))
    return tuple(sorted(one for one in found if one.code)[:MOST])


def known_in(text: str) -> Iterator[Mention]:
    """The identifiers of known kinds in a text."""
    for match in _KNOWN.finditer(text):
        kind = [*_KINDS][int((match.lastgroup or "k0")[1:])]
        yield Mention(*match.span(), match[0], code_of(match[0]), kind, False)


def _overlaps(match: re.Match[str], found: Iterable[Mention]) -> bool:
    return any(one.start < match.end() and match.start() < one.end for one in found)
