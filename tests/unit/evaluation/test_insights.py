"""Which sentences follow from figures of groups, and of groups that are too small?"""

from __future__ import annotations

import pytest

from assay.evaluation.insights import GroupMeans, insights


def group(name: str, value: float, queries: int) -> GroupMeans:
    return GroupMeans(name, {"P@1": value}, queries)


@pytest.mark.req("W7")
def test_groups_of_too_few_queries_are_named_and_not_compared() -> None:
    few = [group("PATIENT", 1.0, 2), group("CLINICIAN", 0.5, 1), group("(none)", 0.0, 1)]
    (said,) = insights({}, {"speaker": few})
    assert said.text == (
        "By speaker, groups of fewer than 3 queries are not compared: "
        "PATIENT (2 queries), CLINICIAN (1 query)"
    )
    enough = [group("PATIENT", 1.0, 3), group("CLINICIAN", 0.5, 3), group("ALL", 0.0, 2)]
    gap, left_out = insights({}, {"speaker": enough})
    assert "best for PATIENT" in gap.text
    assert left_out.text.endswith("not compared: ALL (2 queries)")
    assert insights({}, {"speaker": [group("ALL", 0.0, 2)]}) == ()  # there is nothing to compare
