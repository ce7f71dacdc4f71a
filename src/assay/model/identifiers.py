"""What in a text obviously names a person, and how does the text read without it?

Careful rather than thorough: addresses, links, telephone and record numbers, dates with a year,
and names after a title. Numbers of papers and trials stay. Whoever publishes queries reads them
first; this only keeps the obvious out.
"""

from __future__ import annotations

import re

_MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_LABELS = (
    "(?:(?:mrn|nhs|ssn|chi|nino|passport|hospital|patient|medical record)"
    "(?: (?:id|no|nr|number|record))?|record (?:id|no|nr|number))[.:#]?"
)
_BORN = r"(?:dob|d\.o\.b\.?|date of birth|birth ?da(?:y|te)|born)(?: on)?"
_DASH = "\u2010-\u2015-"  # the last of a class
_TAIL = rf"(?:[ \u00a0{_DASH}]?\d+)*"
_NAME = r"[A-Z][\w'-]+(?: +[A-Z][\w'-]+)?"
_IDENTIFIERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "email",
        re.compile(
            r"""(?:"[^"\n]{1,64}"|[\w.!#$%&'*+/=?^`{|}~-]{1,64})[@\uff20]"""
            r"(?:\[[\w.:]{2,45}\]|(?:[^\W\d_][\w-]{0,62}|[\w-]{1,63}\.[\w-]{1,63})(?:\.[\w-]{1,63})*)"
        ),
    ),
    ("link", re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)),
    ("number", re.compile(r"\b\d{3}-\d{2}-\d{4}\b")),
    ("number", re.compile(r"\b[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b")),
    ("date", re.compile(rf"\b\d{{1,2}}[./{_DASH}]\d{{1,2}}[./{_DASH}](?:19|20)\d{{2}}\b")),
    ("date", re.compile(rf"\b(?:19|20)\d{{2}}[./{_DASH}]\d{{1,2}}[./{_DASH}]\d{{1,2}}\b")),
    (
        "date",
        re.compile(
            rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)?[ ./{_DASH}]{_MONTH}[.,]?[ ./{_DASH}]"
            r"{1,2}(?:19|20)\d{2}\b"
        ),
    ),
    ("date", re.compile(rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)\d{{2}}\b")),
    ("date", re.compile(rf"\b{_BORN}\W{{0,3}}\d[\d./{_DASH}]{{3,9}}\d\b", re.IGNORECASE)),
    (
        "date",
        re.compile(
            rf"\b{_BORN}\W{{0,3}}\d{{1,2}}(?:st|nd|rd|th)?(?: of)?[ ./{_DASH}]{_MONTH}"
            rf"[., ./{_DASH}]{{1,2}}'?\d\d\b",
            re.IGNORECASE,
        ),
    ),
    (
        "number",
        re.compile(
            rf"\b{_LABELS}(?: is)?\W{{0,3}}(?:(?<!\w)[A-Z] )?[\w-]*\d[\w-]*{_TAIL}", re.IGNORECASE
        ),
    ),
    (
        "number",
        re.compile(
            rf"(?<!\w)\+?\(?\d[\d ()./\u00a0{_DASH}]{{7,}}\d(?: ?(?:x|ext)\.? ?\d{{1,5}})?\b",
            re.IGNORECASE,
        ),
    ),
    ("name", re.compile(rf"\b(?:mr|mrs|ms|miss|dr|prof)\.? +{_NAME}")),
    ("name", re.compile(rf"\b(?:Mr|Mrs|MRS|Ms|Miss|Dr|DR|Prof|PROF)\.? +{_NAME}")),
)
_KEPT = re.compile(r"\b(?:PMC|PMID:?|NCT|DOI:?)\s?[\d./-]+", re.IGNORECASE)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b", re.IGNORECASE)
_HOLDERS = re.compile(r"\[(?:email|link|number|date|name)\]")
SHORTEST_IBAN = 15
KINDS = ("email", "link", "number", "date", "name")


def scrub(text: str) -> str:
    """The text with a word in brackets for whatever names a person."""
    return scrubbed(text)[0]


def scrubbed(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without what names a person, and the kinds of what was taken out."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    masked = _KEPT.sub(keep, text.replace("\x00", " "))
    masked, accounts = _without_accounts(masked)
    taken = ["number"] * accounts
    for kind, pattern in _IDENTIFIERS:
        masked, count = pattern.subn(f"[{kind}]", masked)
        taken += [kind] * count
    whole = re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], masked)
    return whole, tuple(taken)


def _without_accounts(text: str) -> tuple[str, int]:
    """The text without numbers of bank accounts (IBAN), told by their check digits."""
    taken = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal taken
        words = found[0].split(" ")
        for count in range(len(words), 0, -1):  # words that follow may look like more of it
            plain = "".join(words[:count]).upper()
            if len(plain) < SHORTEST_IBAN or not plain.isascii():
                break
            digits = "".join(str(int(one, 36)) for one in plain[4:] + plain[:4])
            if int(digits) % 97 == 1:
                taken += 1
                return " ".join(["[number]", *words[count:]])
        return found[0]

    return _IBAN.sub(replaced, text), taken


def placeholders(text: str) -> tuple[str, ...]:
    """The kinds of identifiers that were taken out of a text earlier."""
    return tuple(found[1:-1] for found in _HOLDERS.findall(text))


def without_placeholders(text: str) -> str:
    """What is left of a text beside the words in brackets."""
    return " ".join(_HOLDERS.sub(" ", text).split())
