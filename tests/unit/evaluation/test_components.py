"""What each component brings, and where relevant documents are lost."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from assay.errors import UsageError
from assay.evaluation.components import component_report
from assay.evaluation.match import places_of
from assay.evaluation.tuning import judged
from assay.evaluation.waterfall import Stage, waterfall
from assay.model.document import ChunkPlace
from assay.model.ranking import Match
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.scoring import Scoring
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.search.fuse_again import fuser, lists_of
from assay.search.request import FusionMethod, SearchOptions

TEST_SET = TestSet(
    "small",
    "v1",
    (
        GoldenQuery(
            "q1", "one", relevant_docs=(Judgment("a", 3), Judgment("b", 1), Judgment("no", 0))
        ),
        GoldenQuery("q2", "two", relevant_docs=(Judgment("c", 2),)),
    ),
)
BM25, DENSE = ("a", "x", "y"), ("z", "b", "a")
OUTCOMES = [
    QueryOutcome(
        "q1",
        tuple(RankedResult(one, one) for one in ("a", "z", "x", "b", "y")),
        component_lists={"bm25": BM25, "dense": DENSE},
        component_list_scores={"bm25": (3.0, 2.0, 1.0), "dense": (0.9, 0.8, 0.1)},
        fused=("a", "z", "x", "b", "y"),
        timings_ms={"bm25": 1.5},
    ),
    QueryOutcome(
        "q2",
        (RankedResult("z", "z"),),
        component_lists={"bm25": ("z",), "dense": ("c", "z")},
        component_list_scores={"bm25": (1.0,), "dense": (0.4, 0.3)},
        fused=("z", "c"),
    ),
]
OPTIONS = Scoring(measures="MRR Recall@10")


@pytest.mark.req("E6")
def test_scenario_per_component_evaluation() -> None:
    report = component_report(
        TEST_SET, OUTCOMES, OPTIONS, fuse_again=fuser(SearchOptions(components=("bm25", "dense")))
    )
    assert list(report.results) == ["bm25", "dense", "hybrid"]
    assert report.results["bm25"]["MRR"] == pytest.approx((1 + 0) / 2)
    assert report.results["dense"]["MRR"] == pytest.approx((1 / 2 + 1) / 2)
    assert report.results["hybrid"]["MRR"] == pytest.approx((1 + 0) / 2)
    assert report.results["bm25"].latency.p50 == 1.5
    plain = report.to_dict()["components"]
    assert plain["dense"]["metrics"]["recall_at_10"] == 1.0
    assert plain["dense"]["contribution"] == {
        "relevant": 3,
        "found": 3,
        "unique": 2,  # b and c: only dense found them
        "leave_one_out_loss": {"mrr": 0.25, "recall_at_10": 0.75},
    }
    bm25 = plain["bm25"]["contribution"]
    assert (bm25["found"], bm25["unique"]) == (1, 0)
    # without BM25 the order is dense's own: MRR .75 instead of .75 with both
    assert bm25["leave_one_out_loss"]["mrr"] == pytest.approx((1 + 0.5) / 2 - (0.5 + 1) / 2)


def test_a_run_without_lists_has_no_components() -> None:
    with pytest.raises(UsageError, match="no component lists"):
        component_report(TEST_SET, [QueryOutcome("q1")], OPTIONS)


def test_lists_are_fused_again_as_the_options_say() -> None:
    query, outcome = TEST_SET.queries[0], OUTCOMES[0]
    rrf = fuser(SearchOptions(components=("bm25", "dense")))
    assert rrf(query, outcome, ["bm25", "dense"])[0] == "a"
    assert rrf(query, outcome, ["dense"]) == list(DENSE)
    weighted = SearchOptions(
        components=("bm25", "dense"),
        fusion_method=FusionMethod.WEIGHTED,
        weights={"bm25": 0.0, "dense": 1.0},
    )
    assert fuser(weighted)(query, outcome, ["bm25", "dense"])[:3] == ["z", "b", "a"]
    assert rrf(query, QueryOutcome("q1"), ["bm25"]) == []


def test_lists_without_scores_keep_their_order() -> None:
    bare = QueryOutcome("q", component_lists={"bm25": ("b", "a")})
    assert [hit.chunk_id for hit in lists_of(bare, ["bm25"])["bm25"]] == ["b", "a"]
    scores = [hit.score for hit in lists_of(bare, ["bm25"])["bm25"]]
    assert scores == sorted(scores, reverse=True)


def test_the_waterfall_blames_every_miss_once() -> None:
    judged = tuple(
        Judgment(name, 1) for name in ("top", "gone", "unseen", "low", "pushed", "saved")
    )
    fillers = tuple(f"f{n}" for n in range(10))
    outcome = QueryOutcome(
        "q",
        tuple(RankedResult(one, one) for one in ("top", "saved", *fillers, "pushed", "low")),
        component_lists={"bm25": ("top", "pushed", *fillers, "low", "saved"), "dense": ("low",)},
        fused=("top", "pushed", *fillers, "low", "saved"),
    )
    test_set = TestSet("w", "v1", (GoldenQuery("q", "t", relevant_docs=judged),))
    found = waterfall(test_set, [outcome], present=lambda ids: set(ids) - {"gone"})
    stages = {fate.id: fate.stage for fate in found.fates}
    assert stages == {
        "top": Stage.TOP,
        "gone": Stage.NOT_INDEXED,
        "unseen": Stage.NOT_FOUND,
        "low": Stage.LOST_IN_FUSION,
        "pushed": Stage.LOST_AFTER_FUSION,
        "saved": Stage.TOP,
    }
    low = next(fate for fate in found.fates if fate.id == "low")
    assert (low.best_component, low.best_rank, low.fused_rank, low.final_rank) == (
        "dense", 1, 13, 14,
    )  # fmt: skip
    assert list(found.passed().values()) == [6, 5, 4, 3, 2]
    assert sum(found.counts.values()) == 6
    assert len(found.to_dict()["misses"]) == 4


def test_a_failed_query_is_blamed_on_nothing_else() -> None:
    found = waterfall(TEST_SET, [QueryOutcome("q2", error="down")])
    assert [fate.stage for fate in found.fates] == [Stage.FAILED]


def test_a_judged_document_is_found_by_its_chunks() -> None:
    test_set = TestSet("d", "v1", (GoldenQuery("q", "t", relevant_docs=(Judgment("d1", 1),)),))
    outcome = QueryOutcome("q", (RankedResult("d1:chunk_3", "d1"),))
    assert waterfall(test_set, [outcome]).fates[0].stage is Stage.TOP


def test_documents_are_lost_by_the_rule_of_the_run() -> None:
    judged = (Judgment("d1:chunk_0", 1), Judgment("d2:chunk_0", 1))
    test_set = TestSet("d", "v1", (GoldenQuery("q", "t", relevant_docs=judged),))
    lists = {"bm25": ("d1:chunk_3",), "dense": ("d1:chunk_0",)}
    outcome = QueryOutcome("q", (RankedResult("d1:chunk_3", "d1"),), component_lists=lists)
    present = {"d1:chunk_0", "d2"}
    stages = {
        rule: [
            fate.stage
            for fate in waterfall(
                test_set, [outcome], match=rule, present=lambda ids: present & set(ids)
            ).fates
        ]
        for rule in (Match.EXACT, Match.DOC)
    }
    assert stages[Match.EXACT] == [Stage.LOST_IN_FUSION, Stage.NOT_INDEXED]
    assert stages[Match.DOC] == [Stage.TOP, Stage.NOT_FOUND]
    report = component_report(test_set, [outcome], Scoring(match=Match.DOC))
    assert [report.contributions[name].found for name in lists] == [1, 1]


def one_query(judgment: Judgment) -> TestSet:
    return TestSet("t", "v1", (GoldenQuery("q", "text", relevant_docs=(judgment,)),))


def listing(result: RankedResult, *listed: str) -> QueryOutcome:
    return QueryOutcome(
        "q",
        (result,),
        component_lists={"bm25": listed},
        component_list_scores={"bm25": tuple(float(-at) for at in range(len(listed)))},
        fused=listed,
    )


@pytest.mark.req("E6")
@pytest.mark.parametrize(
    ("judgment", "result", "recall"),
    [
        # a place of the document that the chunk does not show
        (Judgment("D1", 1, ((1000, 1200),)), RankedResult("D1:chunk_0", "D1", 1.0, ((0, 300),)), 0),
        (Judgment("D1", 1, ((100, 200),)), RankedResult("D1:chunk_0", "D1", 1.0, ((0, 300),)), 1),
        # ids that do not name the document
        (Judgment("interview_001", 1), RankedResult("uuid-5", "interview_001", 1.0), 1),
    ],
)
def test_a_component_is_judged_as_the_run_is(
    judgment: Judgment, result: RankedResult, recall: int
) -> None:
    test_set, outcome = one_query(judgment), listing(result, result.chunk_id)
    report = component_report(test_set, [outcome], Scoring(measures="Recall@10"))
    assert {one["Recall@10"] for one in report.results.values()} == {recall}
    assert report.contributions["bm25"].found == recall
    fates = waterfall(test_set, [outcome])
    assert fates.counts[Stage.TOP] == recall
    assert fates.counts[Stage.NOT_FOUND] == 1 - recall
    places = places_of(test_set, [outcome])
    assert len(judged(test_set, {"q": [result.chunk_id]}, places).rows[0]) == recall


@pytest.mark.parametrize("judgment", [Judgment("D1", 1), Judgment("D2", 1, ((1000, 1200),))])
def test_what_is_listed_only_is_looked_up(judgment: Judgment) -> None:
    kept = {
        "uuid-1": ChunkPlace("D1", ((0, 9),)),
        "D2:chunk_0": ChunkPlace("D2", ((0, 300),)),
        "D2:chunk_9": ChunkPlace("D2", ((900, 1200),)),
    }
    asked: list[str] = []

    def look_up(ids: Iterable[str]) -> dict[str, ChunkPlace]:
        asked.extend(ids)
        return {one: kept[one] for one in asked if one in kept}

    test_set = one_query(judgment)
    outcome = listing(RankedResult("x", "x"), "D3:chunk_1", "D2:chunk_0", "uuid-1", "D2:chunk_9")
    report = component_report(test_set, [outcome], Scoring(measures="MRR"), look_up=look_up)
    spanned = ["D2:chunk_0", "D2:chunk_9"] if judgment.spans else []
    assert asked == [*spanned, "uuid-1"], "ids that tell enough are not looked up"
    rank = 4 if judgment.spans else 3
    assert report.results["bm25"]["MRR"] == pytest.approx(1 / rank)
    (fate,) = waterfall(test_set, [outcome], look_up=look_up).fates
    assert (fate.best_rank, fate.fused_rank, fate.final_rank) == (rank, rank, None)
