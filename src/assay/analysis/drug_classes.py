"""Which class is a drug of, and which drugs are of a class?

``data/synonyms/drug_classes.txt`` has the names of classes, each with members and with the stems
of nonproprietary names that mark one (``-vastatin``). Who asks for a class is served by its
members. Of two drugs that are asked for together, the label of one may speak of the other by its
class: Viagra's says "nitrates" to who asks for nitroglycerin. A class never stands for the drug
whose label, dose or effects are in question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from assay.analysis.conditions import stems
from assay.analysis.drugs import (
    class_rules,
    has_stem_of_others,
    listed_names,
    other_names,
    usual_name,
)
from assay.analysis.longest import LongestNames
from assay.analysis.spelling import base

_OTHERS = ("other ", "another ")
_COMPARES = re.compile(
    r"\b(?:compar\w+|differ\w*|instead|better|worse|than|versus|vs|switch\w*|replac\w+)\b",
    re.IGNORECASE,
)

_COMBINES = re.compile(
    r"\b(?:with|together|interact\w*|combin\w+|mix\w*|concomitant\w*|co-?administ\w+)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DrugClass:
    """A class of drugs by its names, the members that are known by name, and their stems."""

    names: tuple[str, ...]
    members: tuple[str, ...]
    stems: tuple[str, ...]

    @property
    def called(self) -> tuple[str, ...]:
        """The names, in the plural as well, which has another stem in acronyms: SSRIs."""
        return tuple(form for name in self.names for form in (name, f"{name}s"))

    @property
    def words(self) -> frozenset[str]:
        """The stems of words any of which stands for the class: all names of its members."""
        return _words(self)

    @property
    def phrases(self) -> tuple[str, ...]:
        """The stems in a row of its names, and of members with several words."""
        several = (name for name in self.members if " " in name)
        return tuple(dict.fromkeys(" ".join(stems(name)) for name in (*self.called, *several)))

    def has(self, drug: str) -> bool:
        """Whether a drug is of this class, by any name of the substance."""
        return any(
            name in self.members or name.endswith(self.stems or "-") for name in other_names(drug)
        )


@lru_cache(maxsize=1_024)
def classes_of(drug: str) -> tuple[DrugClass, ...]:
    """The classes that a drug is of."""
    return tuple(one for one in drug_classes() if one.has(drug))


def classes_in(words: tuple[str, ...]) -> Iterator[tuple[int, int, DrugClass]]:
    """Where stems of a text name a class: from, to, and the class."""
    return _by_name().found_in(words)


def is_class(text: str) -> bool:
    """Whether a text is the name of a class, and nothing else."""
    return stems(text) in _by_name()


def asks_for_both(question: str) -> bool:
    """Whether a question asks what two drugs do together, in so many words."""
    return _COMBINES.search(question) is not None


def classes_of_each(drugs: Sequence[str], question: str) -> Mapping[str, tuple[DrugClass, ...]]:
    """The classes of drugs that are asked for together; who compares them asks for each alone."""
    if len(drugs) < 2 or _COMPARES.search(question):
        return {}
    return {drug: classes_of(drug) for drug in drugs}


def called_beside(drugs: Sequence[str], question: str) -> Mapping[str, tuple[str, ...]]:
    """What the label of one of several drugs may call each of the others: the names of its classes.

    Another member of the label's own class is an *other* one.
    """
    classes = classes_of_each(drugs, question)
    found: dict[str, tuple[str, ...]] = {}
    for drug, own in classes.items():
        shared = {one for other, each in classes.items() if other != drug for one in each}
        found[drug] = tuple(
            f"{before}{name}"
            for one in own
            for name in one.called
            for before in (_OTHERS if one in shared else ("",))
        )
    return found


@cache
def _by_name() -> LongestNames[DrugClass]:
    return LongestNames({stems(name): one for one in drug_classes() for name in one.called})


@cache
def _words(one: DrugClass) -> frozenset[str]:
    names = (name for member in one.members for name in other_names(member) if " " not in name)
    return frozenset(base(name) for name in names if not has_stem_of_others(name))


@cache
def drug_classes() -> tuple[DrugClass, ...]:
    """Every class on the list."""
    usual = [*dict.fromkeys(map(usual_name, listed_names()))]
    found = []
    for names, each in class_rules():
        marks = tuple(one[1:] for one in each if one[0] == "-")
        marked = [name for name in usual if marks and name.endswith(marks)]
        listed = [one for one in each if one[0] != "-"]
        found.append(DrugClass(names, tuple(dict.fromkeys((*listed, *marked))), marks))
    return tuple(found)
