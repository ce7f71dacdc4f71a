"""Is a word a name that the field knows, of a drug or of a disease, and may it be misspelt?

``data/synonyms`` lists names of both. Beyond the lists, names of drugs end in stems
(``drugs.py``), and those of most diseases in a few Greek endings.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from assay.analysis import drugs
from assay.analysis.misspelt import TWICE_WRONG_LENGTH, are_opposites, distance, one_mistake
from assay.analysis.spelling import american, folded

_DISEASE = re.compile(
    r"[a-z]{3,}(?:itis|osis|emia|oma|opathy|algia|uria|penia|plegia|paresis|rrhea|rrhagia|megaly"
    r"|ectasis|iasis|phobia|thorax|edema|trophy)"
)
_FURTHER = """
acne anorexia anxiety apnea arrhythmia asthma autism concussion croup delirium depression diabetes
ebola gout hemophilia hemorrhoids herpes hiccups hypothermia impetigo incontinence influenza
insomnia lupus migraine obesity rosacea tinnitus typhoid vitiligo
"""  # which the list has only in longer names
_NO_DISEASES = frozenset(
    ("diagnosis", "diploma", "meiosis", "mitosis", "osmosis", "prognosis", "symbiosis")
)


def is_name(word: str) -> bool:
    """Whether a word names a drug or a disease, or looks like such a name."""
    if drugs.is_drug(word) or is_listed(word):
        return True
    plain = american(folded(word))
    return plain not in _NO_DISEASES and _DISEASE.fullmatch(plain) is not None


def is_listed(word: str) -> bool:
    """Whether a word is on a list of names, so that it cannot be misspelt."""
    plain = folded(word)
    return drugs.is_listed(plain) or plain in _diseases() or american(plain) in _diseases()


def may_be_meant(typed: str, other: str) -> bool:
    """Whether a word, as it is written, may stand for another: alike, and not its opposite.

    Terms are stems, and two words may have similar ones and differ in the rest. Where a known name
    is nearer than the other word, that one is meant, and not the other.
    """
    first, second = american(folded(typed)), american(folded(other))
    away = distance(first, second)
    if away > (2 if len(first) >= TWICE_WRONG_LENGTH else 1) or are_opposites(first, second):
        return False
    return away < 2 or not _rivals(typed, other)


def is_meant(typed: str, other: str) -> bool:
    """Whether nothing else can be meant: one mistake away, as no other known name is."""
    return distance(folded(typed), folded(other)) == 1 and not _rivals(typed, other)


def _rivals(typed: str, other: str) -> frozenset[str]:
    """The known names that one mistake turns into the typed word, but for those of the other."""
    own = {*drugs.other_names(other), american(folded(other))}
    return frozenset(one for one in one_mistake(folded(typed)) if is_listed(one)) - own


@cache
def _diseases() -> frozenset[str]:
    """The names of diseases in one word."""
    text = files("assay").joinpath("data/synonyms/diseases.txt").read_text(encoding="utf-8")
    listed = (
        name
        for line in text.splitlines()
        if not line.startswith("#")
        for name in line.split(" => ")
        if " " not in name
    )
    return frozenset((*listed, *_FURTHER.split()))
