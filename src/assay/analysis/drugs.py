"""Is a word the name of a drug, and which other names has the substance?

Nonproprietary names end in a stem that says what kind of drug it is (WHO, "Stem book"): apixaban,
rosuvastatin, nivolumab. ``data/drugs.txt`` has names without such an ending, and names that mean
the same substance. A drug that is in neither is known by the documents about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from assay.analysis.spelling import folded

_STEMS = (
    "afil|ampicillin|anserin|antel|apine|arabine|asone|azepam|azolam|azole|barbital|bactam|bercept"
    "|bendan|capone|caine|cavir|ceptin|ciclib|ciclovir|cillin|citabine|clast|codone|conazole|coxib"
    "|curium|curonium|cycline|degib|denoson|dipine|dopa|dronate|ercept|farin|fenac|fenacin"
    "|fentanil|fibrate|floxacin|formin|fovir|fungin|gatran|gepant|gestrel|giline|gliflozin|gliptin"
    "|glitazone|glutide|grastim|grel|grelor|idone|imibe|kacin|kinra|lutamide|lisib|limus|lukast|mab"
    "|mantine|micin|morphone|mustine|mycin|nidazole|nercept|olol|olone|onide|oquine|orphan|oxacin"
    "|oxetine|oxicam|parib|parin|penem|peridol|peridone|piprazole|pitant|plase|platin|poetin"
    "|pramine|prazole|pril|prilat|profen|prost|quidar|racetam|rafenib|relin|relix|renone|rubicin"
    "|sartan|semide|setron|solone|sidomine|statin|steride|stigmine|tacept|tadine|taxel|tecan|tectedin|tomidine|tegravir"
    "|terol|terone|thiazide|tiapine|tidine|tinib|nib|tirizine|trexate|trexed|triptan|triptyline"
    "|tropium|uracil|vaptan|vastatin|vir|vudine|xaban|zafone|zolamide|zomib|zosin"
)
_STEM = re.compile(rf"[a-z]{{2,}}(?:{_STEMS})")
_OTHERS = re.compile(
    r"(?:chole|ergo|lano|phyto|sito|stigma)sterol|somatostatin|benzidine|pyridine|histidine"
    r"|guanidine|cytidine|uridine|adenosine|aldosterone|ghrelin"
)
_SHORTEST = 6


def is_drug(word: str) -> bool:
    """Whether a word looks like the name of a drug."""
    plain = folded(word)
    if plain in _aliases():
        return True
    return (
        len(plain) >= _SHORTEST
        and _STEM.fullmatch(plain) is not None
        and _OTHERS.fullmatch(plain) is None
    )


def other_names(word: str) -> tuple[str, ...]:
    """Every name of the substance, this one first."""
    plain = folded(word)
    return (plain, *(name for name in _aliases().get(plain, ()) if name != plain))


@cache
def _aliases() -> Mapping[str, tuple[str, ...]]:
    text = files("assay").joinpath("data/drugs.txt").read_text(encoding="utf-8")
    lines = [tuple(line.split()) for line in text.splitlines() if line and line[0] != "#"]
    return {name: line for line in lines for name in line}
