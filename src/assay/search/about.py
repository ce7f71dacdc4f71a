"""Which candidates have nothing of the drug, disease or people that the query names?

Where documents are called by what a query names, a passage that has nothing of it, in the names of
its document or in any of its passages near the top, comes after theirs. It found its way by the
other words of the query: bupivacaine "after breast surgery" is not lidocaine. Where no section is
asked for, a passage that only mentions it in passing (``evidence/together.py``) comes after them,
too: the interactions of another drug say little about HIV. Others keep their places, and so do
documents of the drug or study where a condition is named as well. Where no document is called by a
drug, those count that have it near the top and are about no other: who asks for the cough of
lisinopril is not served by a cough syrup. The account says so: the rule ``another_subject``, with
the factor by which the score was lowered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from assay.analysis.asked import Kind, Name, is_compound, names_asked
from assay.analysis.conditions import conditions_in, stems
from assay.analysis.drugs import is_drug
from assay.analysis.names import is_name
from assay.evidence.attributes import AMOUNT
from assay.evidence.terms import Term, is_class_of_drugs, is_sort, units
from assay.evidence.together import is_in_passing
from assay.model.document import ChunkLabels
from assay.model.names import words
from assay.search.boost import Boosted, Reordered, keys_of
from assay.search.exact import is_lifted
from assay.search.response import Boost
from assay.search.subject import is_of_product
from assay.search.texts import Named, Texts

RULE = "another_subject"
LOOKED_AT = 30  # candidates that are read
NEAR_THE_TOP = 10  # places in which a passage that has a drug counts like one that is about it
HEADING = 60  # characters
BRIEF = 9  # words of a query beside amounts; a longer one describes much, and not all need be there


def lower_others(
    pool: Sequence[Boosted],
    query: str,
    labels: Mapping[int, ChunkLabels],
    texts: Texts,
    *,
    detected: bool = False,
) -> Sequence[Boosted]:
    """The pool, with candidates that have nothing of a name after those that are called by it.

    ``detected`` says that a section is asked for.
    """
    groups = _groups(query) if len(AMOUNT.sub(" ", query).split()) <= BRIEF else ()
    if not groups:
        return pool
    deep = _called_below(pool, groups, labels)
    best = [*pool[:LOOKED_AT], *deep]
    documents = _Documents(best, labels, texts)
    given = [name for name in names_asked(query) if name.kind is not Kind.PEOPLE]
    of_names = documents.called(given)  # of a drug or a study, before any condition
    changed = False
    for group in groups:
        called, until = documents.called(group), len(best)
        is_of_drugs = any(map(_is_of_drugs, group))
        # the condition of a drug or study may be told in passing
        is_asked = detected or (bool(given) and not is_of_drugs)
        if not called and is_of_drugs:
            called, until = documents.speaking(group, best[:NEAR_THE_TOP]), NEAR_THE_TOP
            is_asked = False
        places = (at for at, one in enumerate(best[:until]) if documents.of(one) in called)
        last = max(places, default=-1)
        above = [
            one
            for one in best[: last + 1]
            if documents.of(one) not in called | of_names and not (detected and is_lifted(one))
        ]
        others = documents.others(group, above, detected=is_asked)
        if others:
            best = _after(best, last, others, group)
            changed = True
    if not changed:
        return pool
    if not deep:
        return Reordered(best, pool)
    moved = {one.fused.key for one in deep}
    return [*best, *(one for one in pool[LOOKED_AT:] if one.fused.key not in moved)]


def _called_below(
    pool: Sequence[Boosted], groups: Sequence[Sequence[Named]], labels: Mapping[int, ChunkLabels]
) -> list[Boosted]:
    """The first candidates of documents that are called by a drug, where none is near the top.

    Models that do not know a name outvote the words: who looks for filgrastim wants Neupogen.
    """
    drugs = next((group for group in groups if any(map(_is_of_drugs, group))), ())
    if not drugs:
        return []

    @cache
    def is_called(names: str) -> bool:
        return any(each.is_in(names) for each in drugs)

    called = (at for at, key in enumerate(keys_of(pool)) if is_called(labels[key].names))
    first = [*islice(called, NEAR_THE_TOP)]
    return [pool[at] for at in first] if first and first[0] >= LOOKED_AT else []


def _groups(query: str) -> list[list[Named]]:
    """The drugs of a query, its people and its diseases."""
    names = names_asked(query)
    named = units(query)
    groups: list[list[Named]] = [
        [name for name in names if _is_drug_name(name)],
        [name for name in names if name.kind is Kind.PEOPLE],
        [unit for unit in named if unit.is_specific or (unit.phrases and not is_sort(unit.text))],
    ]
    groups[0] = groups[0] or [unit for unit in named if is_class_of_drugs(unit)]
    return [group for group in groups if group]


class _Documents:
    """The documents of the best candidates, by what they are called."""

    def __init__(
        self,
        best: Sequence[Boosted],
        labels: Mapping[int, ChunkLabels],
        texts: Texts,
    ) -> None:
        self._labels = labels
        self._texts = texts
        self._keys: dict[str, list[int]] = {}
        for one in best:
            self._keys.setdefault(self.of(one), []).append(one.fused.key)

    def of(self, one: Boosted) -> str:
        """The names of a candidate's document."""
        return self._labels[one.fused.key].names

    def called(self, group: Sequence[Named]) -> set[str]:
        """The documents whose names have anything of a group."""
        written = [f" {' '.join(words(one.text))} " for one in group]  # as names are: renova ckd
        return {
            names
            for names in self._keys
            if any(text in names for text in written) or any(one.is_in(names) for one in group)
        }

    def speaking(self, group: Sequence[Named], near: Sequence[Boosted]) -> set[str]:
        """The documents that have anything of a group near the top, and are about no other drug.

        Of a class of drugs, the label of any may speak.
        """
        having = self._texts.having(group, [one.fused.key for one in near])
        speaking = (one for one in near if one.fused.key in having)
        return {
            self.of(one)
            for one in speaking
            if not _is_drug_name(group[0]) or not _is_of_another(self.of(one), group)
        }

    def others(
        self, group: Sequence[Named], above: Sequence[Boosted], *, detected: bool
    ) -> set[int]:
        """The candidates of those above that have nothing of a group, or only mention it."""
        found: set[int] = set()
        for names in {self.of(one) for one in above}:
            keys = self._keys[names]
            having = self._texts.having(group, keys)
            if not having:
                found.update(keys)
            elif not detected and _is_of_another(names, group):
                read = self._texts(keys)
                found.update(
                    key
                    for key in keys
                    if key not in having
                    or (self._mentions(key) and not _is_headed(read.get(key, ""), group))
                )
        return found.intersection(one.fused.key for one in above)

    def _mentions(self, key: int) -> bool:
        """Whether a candidate is of a section that names things which its document is not about."""
        return is_in_passing(self._labels[key].section_label)


def _is_headed(text: str, group: Sequence[Named]) -> bool:
    """Whether a short line of a passage, as headings are, has anything of a group."""
    lines = (line for line in text.splitlines()[2:] if len(line) <= HEADING)
    return any(one.is_in(line) for line in lines for one in group)


def _is_of_drugs(one: Named) -> bool:
    return _is_drug_name(one) or (isinstance(one, Term) and is_class_of_drugs(one))


def _is_drug_name(one: Named) -> bool:
    """Whether it is the name of a drug, or the code of a compound: AZD9496."""
    if not isinstance(one, Name):
        return False
    return one.kind is Kind.DRUG or (one.kind is Kind.NAME and one.text[-1:].isdigit())


def _is_of_another(names: str, group: Sequence[Named]) -> bool:
    """Whether a document is called by another drug or disease; it is not by one of the group."""
    if is_of_product(names):
        return True
    each = names.split()
    if any(map(_is_of_drugs, group)):
        return any(is_drug(word) or is_compound(word) for word in each)
    if any(isinstance(one, Term) for one in group):
        return any(map(is_name, each)) or any(conditions_in(stems(names)))
    return False


def _after(
    best: Sequence[Boosted], last: int, others: set[int], group: Sequence[Named]
) -> list[Boosted]:
    """The candidates, with the others after the last that is called by the name."""
    level, named = best[last].score, ", ".join(one.text for one in group)
    lowered = [_lowered(one, level, named) for one in best[:last] if one.fused.key in others]
    kept = [one for one in best[: last + 1] if one.fused.key not in others]
    return [*kept, *lowered, *best[last + 1 :]]


def _lowered(one: Boosted, level: float, named: str) -> Boosted:
    score = min(one.score, level)
    factor = score / one.fused.score if one.fused.score else 1.0
    reason = f"below what is about {named}: has nothing of it"
    lowered = Boost(RULE, RULE, 1.0, factor, named, applied=True, reason=reason)
    others = tuple(replace(boost, applied=False) for boost in one.boosts)
    return one._replace(score=score, boosts=(lowered, *others))
