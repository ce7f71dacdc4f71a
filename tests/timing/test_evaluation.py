"""Is the time that a retrieval takes measured?"""

from __future__ import annotations

import time

import assay
from assay.model.testset import GoldenQuery, Judgment, TestSet


def test_latency_is_measured() -> None:
    def slow(text: str) -> list[str]:
        time.sleep(0.002)
        return [f"document of {text}"]

    queries = tuple(
        GoldenQuery(f"q{n}", f"question {n}", relevant_docs=(Judgment(f"d{n}", 1),))
        for n in range(5)
    )
    measured = assay.evaluate(slow, TestSet("five", "v1", queries)).latency
    assert measured.n == 5
    assert measured.p50 is not None
    assert measured.p95 is not None
    assert 2.0 <= measured.p50 <= measured.p95
