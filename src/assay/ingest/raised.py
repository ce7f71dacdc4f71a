"""What do raised characters stand for: a power, a note, or a reference to the literature?

10<sup>9</sup>/L and kg/m<sup>2</sup> are figures; 5<sup>12</sup> is a 5 with a footnote, as are
25 mg<sup>a</sup> and 200<sup>*</sup>, and study<sup>1,2</sup> a citation. As text a power is
written ``10^9``, a note ``5 [note 12]`` in a cell and ``[12]`` in running text, so that neither is
read as part of a number.
"""

from __future__ import annotations

import re

NOTES = frozenset({"fn", "table-fn"})
NUMBERS = re.compile(r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*")
_LENGTH = re.compile(r"(?:^|[^A-Za-z])(?:[numckdµμ]?m|ft|in|s|sec)$")
_SYMBOL = re.compile(r"(?:^|[^A-Za-zΑ-ω])[RrIχΧXxTtFfQηωσρzZnNd]$")
_TEN = re.compile(r"(?<![\d.,])10$")
_NUCLIDE = re.compile(
    r"(?:Ac|Ar|As|At|Ba|Be|Bi|Br|Ca|Cd|Ce|Cl|Co|Cr|Cs|Cu|Er|Fe|Ga|Gd|Ge|He|Hg|Ho|In|Ir|Kr|Li|Lu|Mg|Mn"
    r"|Mo|Na|Nb|Ni|Pa|Pb|Pd|Pt|Ra|Rb|Re|Rn|Ru|Sc|Se|Si|Sm|Sn|Sr|Tb|Tc|Te|Th|Ti|Tl|Xe|Yb|Zn|Zr"
    r"|[BCFHIKNOPSUVYW])(?![a-z])"
)
_RAISED = re.compile(r"[-+−–]?\w{1,4}[-+−]?(?:[,–-]\w{1,3})*|[*†‡§¶]+")
_NOTE = re.compile(r"[a-z](?:[,;]\s?[a-z])*|[*†‡§¶#]+")
_EXPONENT = re.compile(r"[nmxyzkijpqrt]")
_BASE = re.compile(r"(?:^|[^A-Za-zΑ-ω])[A-Za-z]$|[\d)\]]$")
_WORD_END = re.compile(r"[A-Za-z]$")
_PLAIN_RAISED = re.compile(r"(?:st|nd|rd|th|TM|SM|o)$", re.IGNORECASE)
_ATTACHED = re.compile(r"[\w)\]%”’\"'®™][.,;:]?$")
_LIST = re.compile(r"[\[(][\d\s,;–-]*$")  # an open bracket with numbers only
_PLACE = re.compile(
    r"\b(?:tables?|fig(?:ure)?s?\.?|append(?:ix|ices)|files?|sections?|eq(?:uation)?s?\.?|box(?:es)?"
    r"|schemes?|refs?\.?|references?|steps?|notes?|panels?|S)$",
    re.IGNORECASE,
)
_IN_ROW = re.compile(r"\d[,;]$")


def raised(text: str, before: str, after: str, *, note: bool = False, cell: bool = False) -> str:
    """How raised text reads between what stands before and after it.

    ``note`` says that it points to a note; ``cell``, that it stands in a table.
    """
    if NUMBERS.fullmatch(text) and (note or not _is_figure(text, before, after)):
        return mark(text, after, cell=cell or note)
    if is_note(text) and (note or not _is_power(text, before, after)):
        return mark(text, after, cell=cell or note)
    if _RAISED.fullmatch(text) and not _PLAIN_RAISED.match(text):
        return f"^{text}"
    return text


def is_note(text: str) -> bool:
    """Can this be the mark of a note: small letters, stars, daggers?"""
    return _NOTE.fullmatch(text) is not None and not _PLAIN_RAISED.match(text)


def mark(text: str, after: str, *, cell: bool) -> str:
    """A note or citation in brackets."""
    named = f"[note {text}]" if cell else f"[{text}]"
    return f" {named} " if after[:1].isalnum() else f" {named}"


def is_attached(before: str) -> bool:
    """Does what follows stand directly at a word, where its digits would be read as part of it?"""
    return bool(_ATTACHED.search(before)) and not (is_listed(before) or _PLACE.search(before))


def is_listed(before: str) -> bool:
    """Is a list of numbers in brackets open here, as in ``[1,``?"""
    return bool(_LIST.search(before))


def is_in_row(before: str) -> bool:
    """Does a number and a comma stand here, as in ``Figures 1,``?"""
    return bool(_IN_ROW.search(before))


def _is_figure(text: str, before: str, after: str) -> bool:
    if text.isdigit() and _TEN.search(before):
        return True
    if text in {"2", "3", "4"} and (_LENGTH.search(before) or _SYMBOL.search(before)):
        return True
    return not is_attached(before) and bool(_NUCLIDE.match(after))


def _is_power(text: str, before: str, after: str) -> bool:
    """Is a letter an exponent (2^n), or a part of a name (McDonald, 99m of technetium)?"""
    if not text.isalpha():
        return False
    inside = bool(_WORD_END.search(before)) and after[:1].isalpha()
    return inside or bool(_EXPONENT.fullmatch(text) and _BASE.search(before))
