"""Can everything that was judged be found at all?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from assay.evaluation.match import Rule, document_id
from assay.model.testset import GoldenQuery
from assay.plural import share_of

SHOWN = 3


def absence(
    queries: Sequence[GoldenQuery],
    present: Callable[[Collection[str]], Collection[str]],
    rule: Rule = Rule.EXACT,
) -> str | None:
    """A sentence where relevant ids are not in the index: they count as not found.

    ``present`` says which of many ids are there. Where results are matched by document, a chunk
    that is gone is no loss as long as its document is there.
    """
    names = {
        one.id: (one.id,) if rule is Rule.EXACT else (one.id, one.doc_id or document_id(one.id))
        for query in queries
        for one in query.relevant_docs
        if one.grade > 0
    }
    there = present({name for group in names.values() for name in group})
    gone = sorted(name for name, group in names.items() if not any(one in there for one in group))
    if not gone:
        return None
    share = share_of(len(gone), len(names), "judged id", "is")
    more = ", ..." if len(gone) > SHOWN else ""
    return f"{share} not in the index and cannot be found: {', '.join(gone[:SHOWN])}{more}"
