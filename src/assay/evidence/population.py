"""For whom is a statement, and is that whom the question is about?

A dose under the heading "Pediatric patients" or "Renal impairment" is not the dose, unless they are
asked for. An age in a question must lie in the ages of a statement that names some.
"""

from __future__ import annotations

import re

from assay.analysis.asked import ages_asked, people_in

_GROUPS = {
    "renal impairment": (
        r"\b(?:renal(?:ly)?|kidney|dialysis|ha?emodialysis|crcl|egfr|creatinine clearance)\b"
    ),
    "hepatic impairment": r"\b(?:hepatic(?:ally)?|liver|cirrho\w+|child[- ]pugh)\b",
    "the elderly": r"\b(?:geriatrics?|elderly|older (?:adults?|patients|people)|aged)\b",
}
_STATED = r"\s+(?:disease|dysfunction|failure|function|impair\w+|insufficiency|patients?|people)\b"
_SEXES = {
    "women": r"\b(?:wom[ae]n|females?|girls?|mothers?|pregnan\w+|(?:post|pre)menopausal)\b",
    "men": r"\b(?:m[ae]n|males?|boys?|fathers?)\b",
}
_ASKED_SEX = re.compile(r"\b(?:in|for)\s+(?:\w+\s+)?(women|females|men|males)\b", re.IGNORECASE)
_ANIMALS = re.compile(
    r"\b(?:rats?|mice|mouse|dogs?|rabbits?|monkeys?|hamsters?|guinea pigs?|animals?|nonclinical"
    r"|mating|carcinogenesis|in vitro)\b",
    re.IGNORECASE,
)
_SPEAKS_OF = {name: re.compile(said, re.IGNORECASE) for name, said in _GROUPS.items()}
_GROUP_ASKED = re.compile(rf"(?:{'|'.join(_GROUPS.values())})(?:{_STATED})?", re.IGNORECASE)
_OF_SEX = {name: re.compile(said, re.IGNORECASE) for name, said in _SEXES.items()}
_AGED = re.compile(r"\bage(?:d)?\s+(\d{1,3})\b", re.IGNORECASE)
_YOUNGER = re.compile(
    r"\b(?:under|below|less than|younger than|<)\s*(?:the age of\s+)?(\d{1,3})\s*(?:years?|yrs?)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?<!\d)(\d{1,3})\s*(?:years?\s*)?(?:-|\u2013|to|through|and)\s*"
    r"(under\s+|less than\s+|<\s*)?(\d{1,3})[- ]*(?:years?|yrs?)",
    re.IGNORECASE,
)
_OLDER = re.compile(
    r"(?<!\d)(\d{1,3})\s*(?:years?|yrs?)(?: of age| old)?\s*(?:and|or)\s*(?:older|over|above|up)",
    re.IGNORECASE,
)
_OLDEST = 150.0


def groups_in(text: str) -> frozenset[str]:
    """The groups of people of whom a text speaks: children, pregnancy, renal impairment."""
    return people_in(text) | {name for name, said in _SPEAKS_OF.items() if said.search(text)}


def without_groups(question: str) -> str:
    """A question without the groups of people that ``groups_in`` finds in it."""
    return _GROUP_ASKED.sub(" ", question)


def is_of_other_sex(question: str, text: str) -> bool:
    """Whether a question is about women or men, and a text speaks only of the others."""
    asked = _ASKED_SEX.search(question)
    if asked is None:
        return False
    own = "women" if asked[1].casefold() in {"women", "females"} else "men"
    spoken = {name for name, said in _OF_SEX.items() if said.search(text)}
    return bool(spoken) and own not in spoken


def is_of_animals(text: str) -> bool:
    """Whether a text speaks of animals or of the laboratory."""
    return _ANIMALS.search(text) is not None


def age_asked(question: str) -> int | None:
    """The age in years that a question gives."""
    ages = ages_asked(question) or [int(age) for age in _AGED.findall(question)]
    return ages[0] if ages else None


def ages_in(text: str) -> list[tuple[float, float]]:
    """The ages that a text names, from and to but without the latter."""
    found = [
        (float(low), float(high) if under else float(high) + 1)
        for low, under, high in _BETWEEN.findall(text)
    ]
    rest = _BETWEEN.sub(" ", text)
    found += [(0.0, float(high)) for high in _YOUNGER.findall(rest)]
    found += [(float(low), _OLDEST) for low in _OLDER.findall(rest)]
    return found


def covers(text: str, age: int) -> bool | None:
    """Whether a text speaks of people of an age; None if it names no ages."""
    ages = ages_in(text)
    return any(low <= age < high for low, high in ages) if ages else None
