"""Is a word the name of a drug, and which other names has the substance?

Nonproprietary names end in a stem that says what kind of drug it is (WHO, "Stem book"): apixaban,
rosuvastatin, nivolumab. ``data/synonyms`` has trade and foreign names, each with the usual one
(``drugs.txt``, ``drug_names.txt``), and members of classes (``drug_classes.txt``). A drug that is
in none of them is known by the documents about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from assay.analysis.spelling import american, base, folded

_STEMS = """
adol afil alol ampicillin anserin antel antrone apine arabine arixin asone asvir azepam azocine
azolam azole azoline bactam bamate bapentin barbital begron bendan bercept buvir caftor caine
calcet capone catib cavir ceptin ciclib ciclovir ciguat cillin citabine clast clotide codone
conazole coxib curium curonium cycline darone degib denoson dipine domide dopa dronate entan
ercept estradiol estrant farin faxine fenac fenacin fenadine fentanil fibrate floxacin flurane
formin fosfamide fovir fungin fylline gabalin gatran gepant gestrel giline gliclazide gliflozin
glinide glipizide gliptin glitazone glutide grastim grel grelor idone ifene ilide imibe kacin kinra
kiren leucel limus lisib lukast lutamide mab mantine melteon micin morphone mustine mycin natide
nercept nersen nexor nib nidazole olol olone onide oquine orexant orphan orphine oxacin oxetine
oxicam paratide parib parin patide penem peridol peridone phosphamide phylline piprazole pitant
plase platin poetin pramine prazan prazole previr pril prilat profen prost quidar racetam
rafenib relin relix renone reotide resib rinone rubicin sartan semide serin sertib setron
sidomine siran solone stat statin steride stigmine sulfan tacept tadine tansine tapide taxel
tecan tectedin tegravir terol terone thiazide thyroxine tiapine tidine tinib tirizine tomidine
trexate trexed triptan triptyline tropin tropium uracil vaptan vastatin vir vudine xaban zafone
zepine zodone zolamide zomib zosin
"""
_STEM = re.compile(rf"[a-z]{{2,}}(?:{'|'.join(_STEMS.split())})")
_OTHERS = re.compile(
    r"(?:chole|ergo|lano|phyto|sito|stigma)sterol|somatostatin|benzidine|pyridine|histidine"
    r"|guanidine|thermostat|homeostat|rheostat|cryostat|cytidine|uridine|adenosine|aldosterone|ghrelin"
)
_SHORTEST = 6
_SHORT_STEM = 6
_FILES = ("drugs.txt", "drug_names.txt")
_CLASSES = "drug_classes.txt"
_FURTHER = """
caffeine
digitoxin
dobutamine
dopamine
ergotamine
erythropoietin
heparin
insulin
interferon
ketamine
melatonin
mifepristone
propofol
streptokinase
vasopressin
"""
_MEASURED = """
calcium chloride estrogen fluoride folate glucose iron magnesium oxygen phosphate potassium sodium
urea water zinc
"""
_NO_DRUGS = frozenset(_MEASURED.split())  # in most questions


def is_listed(word: str) -> bool:
    """Whether a word is known as the name of a drug, in British spelling as well: oestradiol."""
    return bool(_names_of(folded(word)))


@lru_cache(maxsize=16_384)
def is_drug(word: str) -> bool:
    """Whether a word looks like the name of a drug."""
    if is_listed(word):
        return True
    plain = american(folded(word))
    return (
        len(plain) >= _SHORTEST
        and _STEM.fullmatch(plain) is not None
        and _OTHERS.fullmatch(plain) is None
        and plain not in _names_of_classes()
    )


def is_measured(word: str) -> bool:
    """Whether a word is a substance that is mostly measured, and a drug only where it is given."""
    return folded(word) in _NO_DRUGS


def other_names(word: str) -> tuple[str, ...]:
    """Every name of the substance, this one first."""
    plain = folded(word)
    return (plain, *(name for name in _names_of(plain) if name != plain))


def usual_name(name: str) -> str:
    """The usual one of the names of a substance."""
    return next(iter(_names_of(folded(name))), folded(name))


def listed_names() -> tuple[str, ...]:
    """Every name on the lists, sorted."""
    return tuple(sorted(_aliases()))


def has_stem_of_others(name: str) -> bool:
    """Whether the stem of a trade name may be that of any word: Incidal, incidence."""
    plain = folded(name)
    stem = base(plain)
    return len(stem) <= _SHORT_STEM and len(plain) - len(stem) > 1 and is_listed(plain)


def words_of_name(words: Sequence[str]) -> int:
    """How many words the name of a drug has that begins with the first of these; 0 without one."""
    for length in _lengths().get(folded(words[0]), ()) if words else ():
        if len(words) >= length and is_listed(" ".join(words[:length])):
            return length
    return int(is_drug(words[0])) if words else 0


@lru_cache(maxsize=16_384)
def _names_of(plain: str) -> tuple[str, ...]:
    return _aliases().get(plain) or _aliases().get(american(plain), ())


@cache
def longest_name() -> int:
    """The number of words of the longest name."""
    return max(lengths[0] for lengths in _lengths().values())


@cache
def _lengths() -> Mapping[str, tuple[int, ...]]:
    """The first words of names that have several, with the numbers of their words."""
    found: dict[str, set[int]] = {}
    for name in _aliases():
        first, *others = name.split(" ")
        if others:
            found.setdefault(first, set()).add(len(others) + 1)
    return {first: tuple(sorted(each, reverse=True)) for first, each in found.items()}


@cache
def class_rules() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """The names of every class of drugs, with its members and ``-stems``."""
    text = files("assay").joinpath("data/synonyms", _CLASSES).read_text(encoding="utf-8")
    lines = (line.split(" => ") for line in text.splitlines() if line[0] != "#")
    return tuple(
        (tuple(left.split(", ")), tuple(right.lower().split(", "))) for left, right in lines
    )


@cache
def _names_of_classes() -> frozenset[str]:
    return frozenset(name.lower() for names, _ in class_rules() for name in names)


@cache
def _aliases() -> Mapping[str, tuple[str, ...]]:
    """Every name to all names of its substance, the usual one first."""
    folder = files("assay").joinpath("data/synonyms")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in _FILES]
    groups: dict[str, list[str]] = {}
    usual_of: dict[str, str] = {}
    members = (name for _, each in class_rules() for name in each if name[0] != "-")
    for line in (*"\n".join(texts).splitlines(), *_FURTHER.split(), *members):
        if line and line[0] != "#":
            left, _, right = line.partition(" => ")
            first, *others = [right, left] if right else left.lower().split(", ")
            usual = usual_of.get(first, first)
            groups.setdefault(usual, [usual]).extend((first, *others))
            for name in others:
                usual_of.setdefault(name, usual)
    return {
        name: tuple(dict.fromkeys(each))
        for each in groups.values()
        for name in each
        if name not in _NO_DRUGS
    }
