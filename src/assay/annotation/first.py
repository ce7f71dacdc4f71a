"""Which test set follows from what one person has judged so far?

Every query with a relevant passage comes in; the others are named as skipped. What nobody has
judged is counted, and the set says who judged it: one person's grades are a beginning, and figures
over them carry a note until a second person has checked a sample.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.annotation.adjudicate import Settled
from assay.annotation.swap import Ready, golden, judgment
from assay.model.annotation import Item, RoundQuery
from assay.model.testset import GoldenQuery


def judged_queries(queries: Sequence[RoundQuery], items: Sequence[Item], settled: Settled) -> Ready:
    """The queries with a relevant passage, and why the others have none."""
    found: list[GoldenQuery] = []
    left_out: dict[str, str] = {}
    for query in queries:
        own = [item for item in items if item.query_id == query.query_id]
        judged = [
            judgment(item, settled.grades[key])
            for item in own
            if (key := item.key) in settled.grades
        ]
        if not any(one.grade > 0 for one in judged):
            waits = any(item.key in settled.open for item in own)
            left_out[query.query_id] = (
                "not judged to the end, and nothing relevant so far"
                if waits
                else "no passage of its pool is relevant"
            )
            continue
        found.append(golden(query, judged))
    return Ready(tuple(found), left_out)
