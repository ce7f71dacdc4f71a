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

_STEMS = """
adol afil alol ampicillin anserin antel apine arabine asone asvir azepam azocine azolam
azole azoline bactam bamate bapentin barbital begron bendan bercept buvir caftor caine
calcet capone cavir ceptin ciclib ciclovir ciguat cillin citabine clast clotide codone
conazole coxib curium curonium cycline darone degib denoson dipine domide dopa dronate entan
ercept farin faxine fenac fenacin fenadine fentanil fibrate floxacin formin fosfamide fovir
fungin fylline gabalin gatran gepant gestrel giline gliclazide gliflozin glinide glipizide
gliptin glitazone glutide grastim grel grelor idone ilide imibe kacin kinra leucel limus
lisib lukast lutamide mab mantine micin morphone mustine mycin natide nercept nib nidazole
olol olone onide oquine orphan orphine oxacin oxetine oxicam paratide parib parin patide
penem peridol peridone phosphamide phylline piprazole pitant plase platin poetin pramine
prazan prazole previr pril prilat profen prost quidar racetam rafenib relin relix renone
reotide rinone nersen rubicin sartan semide serin sertib setron sidomine siran solone stat
statin steride stigmine sulfan tacept tadine tapide taxel tecan tectedin tegravir terol
terone thiazide thyroxine tiapine tidine tinib tirizine tomidine trexate trexed triptan
triptyline tropin tropium uracil vaptan vastatin vir vudine xaban zafone zepine zodone
zolamide zomib zosin
"""
_STEM = re.compile(rf"[a-z]{{2,}}(?:{'|'.join(_STEMS.split())})")
_OTHERS = re.compile(
    r"(?:chole|ergo|lano|phyto|sito|stigma)sterol|somatostatin|benzidine|pyridine|histidine"
    r"|guanidine|thermostat|homeostat|rheostat|cryostat|cytidine|uridine|adenosine|aldosterone|ghrelin"
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
