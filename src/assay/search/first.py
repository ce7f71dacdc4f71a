"""Is the first result about what the query names, where no section is asked for?

"Hypertension first line" names hypertension; "first line" says what is wanted of it. A passage on
the first-line therapy of diabetes has two words of three, and may win by them. So where a query
has a few words, some of which name its subject (``evidence/terms.py`` tells them from words that
ask), and the first candidate has none of these, in its text or in the names of its document, the
first place is for the best of those near the top that have all of them. The account says so: the
rule ``subject``, with the factor by which its score grew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from assay.evidence.terms import Term, lacking, subject_terms
from assay.search.boost import SUBJECT_RULE, Boosted, Reordered
from assay.search.response import Boost

NEAR_THE_TOP = 10  # places in which a passage about the subject is looked for
BRIEF = 5  # words of a query; longer ones describe their subject, and passages use other words


def place_subject_first(
    pool: Sequence[Boosted],
    query: str,
    texts: Callable[[Sequence[int]], Mapping[int, str]],
) -> Sequence[Boosted]:
    """The pool, with a passage that has what the query names in the first place."""
    terms = subject_terms(query) if len(query.split()) <= BRIEF else ()
    if not terms or not pool:
        return pool
    first = pool[0]
    if len(_lacking(terms, texts([first.fused.key]), first)) < len(terms):
        return pool
    near = [*pool[:NEAR_THE_TOP]]
    read = texts([one.fused.key for one in near])
    best = next((at for at, one in enumerate(near) if not _lacking(terms, read, one)), 0)
    if not best:
        return pool
    raised = _raised(near.pop(best), first.score, terms)
    return Reordered([raised, *near], pool)


def _lacking(terms: Sequence[Term], texts: Mapping[int, str], one: Boosted) -> Sequence[Term]:
    return lacking(terms, texts.get(one.fused.key, ""))


def _raised(one: Boosted, score: float, terms: Sequence[Term]) -> Boosted:
    named = ", ".join(term.text for term in terms)
    factor = score / one.fused.score if one.fused.score else 1.0
    reason = f"the first place is for what has {named}"
    lift = Boost(SUBJECT_RULE, SUBJECT_RULE, 1.0, factor, named, applied=True, reason=reason)
    others = tuple(replace(boost, applied=False) for boost in one.boosts)
    return one._replace(score=score, boosts=(lift, *others))
