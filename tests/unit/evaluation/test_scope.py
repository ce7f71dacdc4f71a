"""Is it decided once which queries a run is scored over, and does each part count its own?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.evaluation.parts import Mode, Split, part_of
from assay.evaluation.scope import Scope, total_text
from assay.model.answers import Expect
from assay.model.testset import GoldenQuery, Judgment, SpeakerFilter, TestSet
from assay.testsets.join import join
from assay.testsets.load import ReadOptions, parse_test_set
from assay.testsets.write import as_plain, as_yaml

SPEAKERS = ("ALL", "PATIENT", "CLINICIAN")


def query(at: int, **more: Any) -> dict[str, Any]:
    judged = [{"doc_id": f"d{at}", "grade": 1}]
    return {
        "query_id": f"q{at}",
        "query_text": f"question {at}",
        "speaker_filter": SPEAKERS[at % 3],
        "relevant_docs": judged,
        **more,
    }


CONTENT = {
    "name": "parts",
    "version": "v1",
    "held_out": {"seed": 1, "query_ids": ["q1", "q2", "q6"]},
    "queries": [
        query(at, **({"relevant_docs": []} if at in (5, 6) else {})) for at in range(1, 13)
    ],
}
"""Twelve queries: q5 (of clinicians) and q6 (held out, of everyone) have no ground truth."""


def read(content: Any = CONTENT) -> TestSet:
    return parse_test_set(json.dumps(content).encode(), options=ReadOptions(lenient=True)).sound()


@pytest.mark.req("W1")
def test_a_run_is_scored_over_every_query_with_ground_truth() -> None:
    queries = (
        GoldenQuery("found", "a", relevant_docs=(Judgment("d", 1),)),
        GoldenQuery("lost", "b", relevant_docs=(Judgment("d", 1),)),
        GoldenQuery("refused", "c", expect=Expect.REFUSAL),
        GoldenQuery("unjudged", "d"),
    )
    scope = Scope(TestSet("s", "v1", queries, skipped=("dropped",)), {"found"})
    assert [one.query_id for one in scope.queries] == ["found", "lost", "refused"]
    assert scope.unasked == ("lost", "refused")
    assert scope.skipped == ("dropped", "unjudged")
    assert scope.counts == {"total_queries": 5, "skipped_queries": 2, "unasked_queries": 2}
    assert scope.incomplete == (
        "INCOMPLETE: 1 of 3 queries was asked; what was not asked counts as having no results"
    )
    whole = Scope(scope.test_set, {"found", "lost", "refused"})
    assert (whole.incomplete, whole.reach) == (None, "3 of 3 queries were asked")
    assert total_text(5, 2) == "5, of which 2 skipped (no ground truth)"
    assert total_text(5, 0, "query") == "5 queries"


@pytest.mark.req("W1", "E13")
@pytest.mark.parametrize(
    "travelled",
    [
        lambda found: found,
        lambda found: parse_test_set(as_yaml(found).encode()).sound(),
        lambda found: read(as_plain(found)),
    ],
    ids=["file", "yaml", "sent"],
)
def test_a_part_counts_its_own_skipped_queries(travelled: Any) -> None:
    whole = travelled(read())
    parts = {
        "all": part_of(whole, Split.ALL),
        "evaluation": part_of(whole),
        "holdout": part_of(whole, Split.HOLDOUT),
        "patient": part_of(whole, Split.ALL, Mode.PATIENT),
        "clinician": part_of(whole, Split.ALL, speakers=[SpeakerFilter.CLINICIAN]),
    }
    assert {name: part.test_set.skipped for name, part in parts.items()} == {
        "all": ("q5", "q6"),
        "evaluation": ("q5",),
        "holdout": ("q6",),
        "patient": (),
        "clinician": ("q5",),
    }
    totals = {name: Scope(part.test_set, ()).total for name, part in parts.items()}
    assert totals == {"all": 12, "evaluation": 9, "holdout": 3, "patient": 4, "clinician": 4}


def test_joined_sets_count_the_skipped_queries_of_each() -> None:
    other = {**CONTENT, "name": "other", "held_out": None}
    other["queries"] = [query(at) for at in (20, 21)] + [query(22, relevant_docs=[])]
    both = join([read(), read({k: v for k, v in other.items() if v is not None})])
    assert part_of(both, Split.HOLDOUT).test_set.skipped == ("q6",)
    assert part_of(both, Split.ALL, Mode.PATIENT).test_set.skipped == ("q22",)
