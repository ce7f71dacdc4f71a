"""Which spellings of one word are the same word?

Capitals, accents and compatibility forms are folded, British spelling becomes American, and units
of measure get one name. Both sides of a search are folded alike, so a rule that goes a little too
far ("exercise" becomes "exercize") loses nothing. The stem comes last, by Snowball.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

from assay import extras


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _set(
    "a an and are as at be but by for if in into is it no not of on or such that the their then"
    " there these they this to was will with"
)
GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "ζ": "zeta",
    "η": "eta",
    "θ": "theta",
    "ι": "iota",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "ν": "nu",
    "ξ": "xi",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "ς": "sigma",
    "τ": "tau",
    "υ": "upsilon",
    "φ": "phi",
    "χ": "chi",
    "ψ": "psi",
    "ω": "omega",
}
SHORT_GREEK = {"alpha": "a", "beta": "b", "gamma": "g", "delta": "d", "kappa": "k"}
"""Greek letters that people also write as a Latin one: TNFa, NFkB."""
UNITS = _set(
    "mg g kg mcg ug ng pg ml l dl ul mmol mol umol nmol pmol iu miu mu meq mmhg cm mm um nm m2 kcal"
    " kj hz khz gy cgy mci mbq mw ppm bpm"
)
UNIT_NAMES = {
    "ug": "mcg",
    "microgram": "mcg",
    "micrograms": "mcg",
    "milligram": "mg",
    "milligrams": "mg",
    "kilogram": "kg",
    "kilograms": "kg",
    "nanogram": "ng",
    "nanograms": "ng",
    "milliliter": "ml",
    "milliliters": "ml",
    "microliter": "ul",
    "microliters": "ul",
    "micromol": "umol",
    "micromole": "umol",
    "micromoles": "umol",
    "millimole": "mmol",
    "millimoles": "mmol",
}
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
MARKS = str.maketrans("™℠®©", "    ")
"""The signs of trade marks and copyright, which NFKC makes letters of, as blanks."""
_OUR = (
    "tumour|colour|behaviour|labour|favour|flavour|humour|odour|vapour|rumour|harbour|neighbour"
    "|honour|vigour|rigour|armour|endeavour|savour"
)
_RULES = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(?<=.)ae(?=[a-z])|^ae(?!r)(?=[a-z]{3})", "e"),  # haemorrhage, aetiology; not aerobic
        (r"^oe(?=[a-z]{3})|oe(?=dem|soph|strogen|stradiol)", "e"),
        (r"(?<=rrh)oe|(?<=pn)oe|(?<=f)oe(?=t)|(?<=c)oe(?=l)|(?<=am)oe(?=b)|(?<=hom)oe(?=o)", "e"),
        (r"is(?=(?:e|ed|es|ing|er|ers|ation|ations|ational)$)(?<=[a-z]{5})", "iz"),
        (r"(?<=[a-z])ys(?=(?:e|ed|ing|er|ers)$)(?<=[a-z]{5})", "yz"),
        (r"(?<=cent)red$", "ered"),
        (r"(?<=cent)re(?=s?$)|(?<=[lm][ie]t)re(?=s?$)|(?<=tit)re(?=s?$)", "er"),
        (r"(?<=fib)re(?=s?$)|(?<=theat)re(?=s?$)|(?<=goit)re(?=s?$)|(?<=calib)re(?=s?$)", "er"),
        (r"([aeiouy][^aeiouy]+[aeo]l)l(?=(?:ed|ing|er|ers)$)", r"\1"),  # labelled, signalling
        (r"sulph", "sulf"),
        (r"leuco", "leuko"),
        (r"log(?:ue)(?=s?$)", "log"),
        (r"^programme(?=s?$)", "program"),
        (r"^ageing$", "aging"),
        (r"^enrolment", "enrollment"),
        (r"^manoeuv(?:re|er)", "maneuver"),
        (r"^aluminium$", "aluminum"),
        (r"^grey(?=(?:s|ish)?$)", "gray"),
        (r"^licence", "license"),
        (r"^defence", "defense"),
        (r"^practis(?=e|ing)", "practic"),
        (r"^mould", "mold"),
        (r"^judgement", "judgment"),
    )
)
_COLOUR = re.compile(rf"({_OUR.replace('our', 'o')})ur")
_BRITISH = re.compile(
    r"ae|oe|our|is[eia]|ys[ei]|re|ll(?:ed|ing|er)|sulph|leuco|logue|programme|ageing|enrolment"
    r"|aluminium|grey|licence|defence|practis|mould|judgement"
)
_ANY_RULE = re.compile("|".join(one.pattern for one in (_COLOUR, *(rule for rule, _ in _RULES))))


class _WithoutAccents(dict[int, int | None]):
    """Every character by its number; accents and invisible ones are left out."""

    def __missing__(self, code: int) -> int | None:
        kept = unicodedata.category(chr(code)) not in ("Mn", "Cf")
        found = self[code] = code if kept else None
        return found


_WITHOUT_ACCENTS = _WithoutAccents()


@cache
def _stemmer() -> Any:
    extras.require("Stemmer")
    import Stemmer

    # without a memory of its own, which threads could spoil: callers remember words
    return Stemmer.Stemmer("english", 0)


def stem(word: str) -> str:
    """The stem of a folded word; what holds a digit is its own."""
    if not word.isalpha():
        return word
    found: str = _stemmer().stemWord(word)
    return found


def folded(text: str) -> str:
    """Text without capitals, accents and compatibility forms."""
    lower = text.lower()
    if lower.isascii():
        return lower
    unmarked = lower.translate(MARKS)
    plain = unicodedata.normalize("NFKC", unmarked).lower().translate(_LETTERS)
    if plain.isascii():
        return plain
    return unicodedata.normalize("NFD", plain).translate(_WITHOUT_ACCENTS)


@lru_cache(maxsize=65_536)
def american(word: str) -> str:
    """A folded word in American spelling, and a unit by its usual name."""
    if len(word) > 4 and _BRITISH.search(word) and _ANY_RULE.search(word):
        word = _COLOUR.sub(r"\1r", word)
        for rule, new in _RULES:
            word = rule.sub(new, word)
    return UNIT_NAMES.get(word, word)


@lru_cache(maxsize=65_536)
def base(word: str) -> str:
    """The term that stands for every spelling of a word; "" for a stop word."""
    plain = folded(word)
    return "" if plain in STOP_WORDS else stem(american(plain))
