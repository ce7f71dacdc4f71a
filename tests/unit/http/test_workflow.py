"""Do the seven steps answer what the contract prints, field by field?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.unit.http.conftest import MakeService, assert_problem, client_of
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow


def post(client: TestClient, path: str, body: Any) -> Any:
    response = client.post(f"/api/{path}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.req("W1")
def test_step_1_the_dataset(small: TestClient) -> None:
    dataset: dict[str, Any] = {
        "dataset_id": "interviews_v1",
        "interview_ids": ["interview_001", "interview_002"],
        "test_queries": [
            {
                "query_id": "test_q1",
                "query_text": "What headache symptoms were reported?",
                "relevant_segment_ids": ["uuid-1", "uuid-5", "uuid-12"],
                "speaker_filter": "PATIENT",
            },
            {
                "query_id": "test_q2",
                "query_text": "What questions did the clinician ask about sleep?",
                "relevant_segment_ids": ["uuid-20", "uuid-21"],
                "speaker_filter": "CLINICIAN",
            },
        ],
        "total_queries": 2,
    }
    stored = small.post("/v1/testsets", json=dataset)
    assert stored.status_code == 201, stored.text
    answer = small.get("/api/evaluation/dataset/interviews_v1").json()
    for query, wanted in zip(answer["test_queries"], dataset["test_queries"], strict=True):
        assert {name: query[name] for name in wanted} == wanted
    assert answer["dataset_id"] == "interviews_v1"
    assert answer["total_queries"] == 2


@pytest.mark.req("W1", "W8")
def test_step_1_counts_queries_as_the_run_does(small: TestClient) -> None:
    queries = [
        {"query_id": "a", "query_text": "headache", "relevant_segment_ids": ["uuid-1"]},
        {"query_id": "b", "query_text": "nobody judged this", "relevant_segment_ids": []},
    ]
    body = {"dataset_id": "gaps_v1", "test_queries": queries}
    assert small.post("/v1/testsets", json=body).status_code == 201
    told = small.get("/api/evaluation/dataset/gaps_v1").json()
    assert [query["query_id"] for query in told["test_queries"]] == ["a"]
    made = small.post("/v1/evaluate", json={"dataset_id": "gaps_v1"}).json()
    for counts in (told, made):
        assert (counts["total_queries"], counts["skipped_queries"]) == (2, 1)


@pytest.mark.req("W1", "W6")
def test_step_1_says_what_each_query_is_limited_to(small: TestClient) -> None:
    query = {"query_text": "headache", "relevant_segment_ids": ["d1:chunk_0"]}
    queries = [{**query, "query_id": "q1", "ingestion_mode": "LIVE"}, {**query, "query_id": "q2"}]
    body = {"dataset_id": "mixed", "test_queries": queries}
    assert small.post("/v1/testsets", json=body).status_code == 201
    shown = small.get("/api/evaluation/dataset/mixed").json()["test_queries"]
    assert [one["ingestion_mode"] for one in shown] == ["LIVE", None]


@pytest.mark.parametrize(
    "name", ["..%2f..%2fetc%2fpasswd", "%2e%2e", "nope", "small.yaml", "a" * 5000, "-x"]
)
def test_a_dataset_is_a_name_and_never_a_path(small: TestClient, name: str) -> None:
    response = small.get(f"/api/evaluation/dataset/{name}")
    assert response.status_code in {404, 422}
    assert_problem(response, response.status_code)
    assert "root:" not in response.text


@pytest.mark.req("W2")
def test_step_2_retrieval_in_batches(small: TestClient) -> None:
    body = {
        "queries": [
            {"query_id": "test_q1", "query_text": "headache", "speaker_filter": "ALL", "top_k": 10},
            {"query_id": "test_q2", "query_text": "headache", "speaker_filter": "PATIENT"},
        ],
        "config": {"rerank": False, "search_mode": "hybrid"},
    }
    first, second = post(small, "retrieval/batch", body)
    assert first["query_id"] == "test_q1"
    assert first["retrieved_segment_ids"] == ["d1:chunk_0", "d2:chunk_0"]
    assert first["error"] is None
    assert second["retrieved_segment_ids"] == []  # nobody speaks in these documents


@pytest.mark.req("W2", "R10")
def test_a_batch_says_why_it_is_degraded(make_service: MakeService, home: Path) -> None:
    queries = [{"query_id": "q1", "query_text": "headache"}]
    missing = "ms-marco-minilm-l12-v2"
    with client_of(make_service(home=home, reranker=missing, models=home / "none")) as small:
        (found,) = post(small, "retrieval/batch", {"queries": queries, "config": {"rerank": True}})
        (plain,) = post(small, "retrieval/batch", {"queries": queries})
    assert found["degraded"] is True
    assert found["reranked"] is False
    assert found["reranker_error"]
    assert any("rerank" in line for line in found["warnings"])
    assert (plain["degraded"], plain["reranker_error"], plain["warnings"]) == (False, None, [])


@pytest.mark.req("W3")
def test_step_3_the_metrics_of_one_query(small: TestClient) -> None:
    answer = post(
        small,
        "evaluation/compute_metrics",
        {
            "query_id": "test_q1",
            "retrieved_segment_ids": ["uuid-1", "uuid-3", "uuid-5", "uuid-8", "uuid-12"],
            "relevant_segment_ids": ["uuid-1", "uuid-5", "uuid-12"],
            "k_values": [1, 3, 5, 10],
        },
    )
    printed = {
        "precision_at_1": 1.0,
        "precision_at_3": 0.67,
        "precision_at_5": 0.60,
        "precision_at_10": 0.30,
        "recall_at_1": 0.33,
        "recall_at_3": 0.67,
        "recall_at_5": 1.0,
        "recall_at_10": 1.0,
    }
    assert {name: round(answer["metrics"][name], 2) for name in printed} == printed
    assert answer["query_id"] == "test_q1"
    assert answer["retrieved_relevant"] == 3
    assert answer["total_relevant"] == 3
    assert answer["metrics"]["precision_at_3"] == 0.6667


@pytest.mark.req("W3")
def test_without_ground_truth_metrics_are_null_with_a_reason(small: TestClient) -> None:
    body = {"query_id": "q", "retrieved_segment_ids": ["a"], "relevant_segment_ids": []}
    answer = post(small, "evaluation/compute_metrics", body)
    assert answer["skipped"] is True
    assert set(answer["metrics"].values()) == {None}
    assert answer["reason"]


def row(name: str, precision: float, recall: float, **more: Any) -> dict[str, Any]:
    metrics = {"precision_at_5": precision, "recall_at_5": recall, "average_precision": 0.5}
    return {"query_id": name, "metrics": metrics, **more}


@pytest.mark.req("W4")
def test_step_4_means_over_all_queries(small: TestClient) -> None:
    skipped = {"query_id": "c", "metrics": {"precision_at_5": None}, "skipped": True}
    answer = post(small, "evaluation/aggregate", [row("a", 0.8, 1), row("b", 0.4, 0.0), skipped])
    assert answer["overall_metrics"] == {
        "precision_at_5": 0.6,
        "recall_at_5": 0.5,
        "mean_average_precision": 0.5,
    }
    assert (answer["total_queries"], answer["skipped_queries"]) == (3, 1)


def computed(small: TestClient, name: str, found: str) -> dict[str, Any]:
    """Step 3 for a query with three relevant segments, a, b and c."""
    body = {
        "query_id": name,
        "retrieved_segment_ids": list(found),
        "relevant_segment_ids": ["a", "b", "c"],
        "k_values": [3],
        "speaker_filter": "PATIENT",
    }
    answer: dict[str, Any] = post(small, "evaluation/compute_metrics", body)
    return answer


@pytest.mark.req("W4", "W5")
@pytest.mark.parametrize("segments", [True, False])
def test_means_are_of_unrounded_values(small: TestClient, segments: bool) -> None:
    """One third and one: two thirds on the average, and not .6666."""
    rows = [computed(small, "one", "axy"), computed(small, "two", "abc")]
    assert rows[0]["metrics"]["precision_at_3"] == 0.3333
    for one in rows:
        if not segments:  # a caller may send the metrics alone
            del one["retrieved_segment_ids"], one["relevant_segment_ids"]
    overall = post(small, "evaluation/aggregate", rows)["overall_metrics"]
    assert (overall["precision_at_3"], overall["recall_at_3"]) == (0.6667, 0.6667)
    patient = post(small, "evaluation/speaker_breakdown", rows)["speaker_specific_metrics"]
    assert patient["PATIENT"]["recall_at_3"] == 0.6667
    if segments:
        assert overall["mean_average_precision"] == 0.6667


ROWS = b"query,docid,rating\nheadache,d1,2\nheadache,d2,0\nitch,d2,1\n"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/csv", ROWS),
        ("text/tab-separated-values", ROWS.replace(b",", b"\t")),
        ("application/x-ndjson",
         b'{"query": "headache", "relevant": ["d1"]}\n{"query": "itch", "relevant": ["d2"]}\n'),
    ],
)  # fmt: skip
def test_a_table_of_queries_is_a_test_set(small: TestClient, kind: str, body: bytes) -> None:
    """As the command takes it: Quepid's exports, tables and JSON lines."""
    name = kind.rpartition("/")[2]
    headers = {"content-type": kind}
    stored = small.post(f"/v1/testsets?name={name}", content=body, headers=headers)
    assert (stored.status_code, stored.json()["queries"]) == (201, 2), stored.text
    assert small.get(f"/v1/testsets/{name}").json()["queries"][1]["query_text"] == "itch"
    checked = small.post("/v1/testsets/validate", content=body, headers=headers).json()
    assert (checked["sound"], checked["form"]) == (True, "rows")
    ran = small.post("/v1/evaluate?components=bm25", content=body, headers=headers)
    assert ran.status_code in (200, 202), ran.text


def test_a_value_that_was_not_computed_from_the_segments_is_kept(small: TestClient) -> None:
    rows = [computed(small, "one", "axy"), computed(small, "two", "abc")]
    rows[0]["metrics"] |= {"precision_at_3": 0.5, "own_metric": 0.25}
    rows[1]["metrics"] |= {"own_metric": 0.75}
    overall = post(small, "evaluation/aggregate", rows)["overall_metrics"]
    assert (overall["precision_at_3"], overall["own_metric"]) == (0.75, 0.5)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        [row("a", 0.5, 0.5), row("a", 0.5, 0.5)],
        [row("a", 0.5, 0.5), {"query_id": "b", "metrics": {"mrr": 1.0}}],
        [row("a", 1.5, 0.5)],
        [row("a", 0.5, 0.5) | {"extra": 1}],
    ],
    ids=["empty", "object", "twice", "other metrics", "above 1", "unknown field"],
)
def test_what_cannot_be_averaged_is_refused(small: TestClient, body: Any) -> None:
    assert_problem(small.post("/api/evaluation/aggregate", json=body), 422)


@pytest.mark.req("W5")
def test_step_5_by_speaker(small: TestClient) -> None:
    answer = post(
        small,
        "evaluation/speaker_breakdown",
        [
            row("a", 0.8, 1.0, speaker_filter="PATIENT"),
            row("b", 0.4, 0.5, speaker_filter="PATIENT"),
            row("c", 0.2, 0.3, speaker_filter="CLINICIAN"),
            row("d", 0.1, 0.1),
        ],
    )["speaker_specific_metrics"]
    assert list(answer) == ["PATIENT", "CLINICIAN", "ALL"]
    assert answer["PATIENT"]["precision_at_5"] == 0.6
    assert answer["PATIENT"]["num_queries"] == 2
    assert answer["CLINICIAN"]["recall_at_5"] == 0.3


REPORT = """# Evaluation Report: eval_run_001

**Dataset**: test_set_v1  
**Date**: 2024-03-15  
**Total Queries**: 50

## Overall Metrics

| Metric | Value |
|--------|-------|
| Precision@5 | 0.68 |
| Recall@5 | 0.78 |
| MAP | 0.72 |
| NDCG@10 | 0.81 |

## Speaker-Specific Performance

| Speaker | P@5 | R@5 | Queries |
|---------|-----|-----|---------|
| PATIENT | 0.72 | 0.81 | 25 |
| CLINICIAN | 0.64 | 0.75 | 20 |
| ALL | 0.68 | 0.78 | 5 |

## Insights

- Patient-focused queries perform better (+8% P@5)
"""  # noqa: W291 - two blanks break a line in Markdown


def whole_result() -> dict[str, Any]:
    return {
        "evaluation_id": "eval_run_001",
        "dataset_id": "test_set_v1",
        "overall_metrics": {
            "precision_at_5": 0.68,
            "recall_at_5": 0.78,
            "mean_average_precision": 0.72,
            "ndcg_at_10": 0.81,
        },
        "total_queries": 50,
        "speaker_specific_metrics": {
            "PATIENT": {"precision_at_5": 0.72, "recall_at_5": 0.81, "num_queries": 25},
            "CLINICIAN": {"precision_at_5": 0.64, "recall_at_5": 0.75, "num_queries": 20},
            "ALL": {"precision_at_5": 0.68, "recall_at_5": 0.78, "num_queries": 5},
        },
    }


@pytest.mark.req("W7")
def test_step_6_the_report(small: TestClient) -> None:
    response = small.post("/api/evaluation/report", json={**whole_result(), "date": "2024-03-15"})
    assert response.headers["content-type"].startswith("text/markdown")
    assert response.text.startswith(REPORT)
    assert "- Overall system meets target of P@5 > 0.65 ✓\n" in response.text


@pytest.mark.req("W7")
@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ({"precision_at_5": 0.68}, "meets target of P@5 >= 0.68 ✓"),
        ({"precision_at_5": 0.6801}, "misses target of P@5 >= 0.6801 ✗"),
        (["P@5>0.68"], "misses target of P@5 > 0.68 ✗"),
        (["P@5 >= 0.68"], "meets target of P@5 >= 0.68 ✓"),
        (["P@5=0.68"], "meets target of P@5 >= 0.68 ✓"),
        (["P@5>=68%"], "meets target of P@5 >= 0.68 ✓"),
    ],
)
def test_a_target_means_the_same_as_on_the_command_line(
    small: TestClient, targets: Any, said: str
) -> None:
    response = small.post("/api/evaluation/report", json={**whole_result(), "targets": targets})
    assert f"- Overall system {said}\n" in response.text


@pytest.mark.req("W7")
def test_a_target_without_a_value_is_said_to_be_unchecked(small: TestClient) -> None:
    response = small.post("/api/evaluation/report", json={**whole_result(), "targets": ["P@7>0.5"]})
    assert "- Target of P@7 > 0.5 is not checked: P@7 has no value\n" in response.text


@pytest.mark.req("W7")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.6543, "meets target of P@5 > 0.65 ✓ (it is 0.6543)"),
        (0.6499, "misses target of P@5 > 0.65 ✗"),
        (0.66, "meets target of P@5 > 0.65 ✓"),
    ],
)
def test_a_sentence_never_contradicts_the_two_decimals_of_the_table(
    small: TestClient, value: float, said: str
) -> None:
    body = whole_result()
    body["overall_metrics"]["precision_at_5"] = value
    response = small.post("/api/evaluation/report", json={**body, "targets": ["P@5>0.65"]})
    assert f"- Overall system {said}\n" in response.text


@pytest.mark.req("W7")
def test_step_6_speaks_of_what_differs_most(small: TestClient) -> None:
    speakers = {
        "PATIENT": {"precision_at_1": 0.5, "recall_at_3": 1.0, "num_queries": 4},
        "CLINICIAN": {"precision_at_1": 0.55, "recall_at_3": 0.6071, "num_queries": 4},
    }
    body = {**whole_result(), "speaker_specific_metrics": speakers}
    text = small.post("/api/evaluation/report", json=body).text
    better = [line for line in text.splitlines() if "perform better" in line]
    assert better == [
        "- Patient-focused queries perform better (+39% R@3)",
        "- Clinician-focused queries perform better (+5% P@1)",
    ]
    few = {**speakers, "CLINICIAN": {**speakers["CLINICIAN"], "num_queries": 2}}
    body = {**whole_result(), "speaker_specific_metrics": few}
    text = small.post("/api/evaluation/report", json=body).text
    assert "perform" not in text.split("## Insights")[1]
    assert (
        "- By speaker, groups of fewer than 3 queries are not compared: Clinician (2 queries)"
        in text
    )
    same = dict.fromkeys(speakers, speakers["PATIENT"])
    body = {**whole_result(), "speaker_specific_metrics": same}
    assert "perform alike" in small.post("/api/evaluation/report", json=body).text
    assert_problem(
        small.post("/api/evaluation/report", json={**whole_result(), "targets": ["P@5<1"]}), 400
    )


@pytest.mark.req("W8", "W10")
def test_step_7_saved_once(small: TestClient) -> None:
    first = post(small, "evaluation/save", whole_result())
    assert first["evaluation_id"] == "eval_run_001"
    assert (first["status"], first["kind"]) == ("saved", "figures")
    assert first["timestamp"].endswith("Z")
    assert post(small, "evaluation/save", whole_result()) == first
    other = {**whole_result(), "total_queries": 51}
    assert_problem(small.post("/api/evaluation/save", json=other), 409, "conflict")
    run = small.get("/v1/runs/eval_run_001").json()
    assert run["aggregate"]["metrics"]["precision_at_5"] == 0.68
    assert small.get("/v1/runs").json()["total"] == 1


@pytest.mark.req("W8", "W11")
def test_a_result_is_dated_as_it_says(small: TestClient) -> None:
    body = {**whole_result(), "timestamp": "2024-03-15T17:00:00+01:00"}
    assert post(small, "evaluation/save", body)["timestamp"] == "2024-03-15T16:00:00Z"
    assert small.get("/v1/runs/eval_run_001").json()["created_at"] == "2024-03-15T16:00:00Z"


@pytest.mark.parametrize("moment", ["banana", "", "2024-13-01", "15.03.2024", "2999-01-01"])
def test_what_is_no_moment_is_refused(small: TestClient, moment: str) -> None:
    body = {**whole_result(), "timestamp": moment}
    problem = assert_problem(small.post("/api/evaluation/save", json=body), 400, "usage")
    assert problem["detail"].startswith("timestamp: ")
    assert small.get("/v1/runs").json()["total"] == 0


@pytest.mark.req("W8")
def test_figures_without_rankings_can_be_shown_and_not_computed_with(small: TestClient) -> None:
    evaluated = small.post("/v1/evaluate", json=TEST_SET).json()["run_id"]
    post(small, "evaluation/save", whole_result())
    assert small.get("/v1/runs/latest").json()["run_id"] == evaluated, "figures are no run"
    shown = small.get("/v1/runs/eval_run_001/scores").json()
    assert shown["figures_only"] is True
    assert shown["metrics"]["recall_at_5"] == 0.78
    page = small.get("/runs/eval_run_001", headers={"accept": "text/html"}).text
    assert "FIGURES ONLY" in page
    assert "0.680" in page
    for path, body in (
        ("/v1/compare", {"a": evaluated, "b": "eval_run_001"}),
        ("/v1/gate", {"baseline": "eval_run_001", "current": evaluated}),
        ("/v1/ab", {"a": "eval_run_001", "b": evaluated}),
    ):
        problem = assert_problem(small.post(path, json=body), 400, "usage")
        assert "holds saved figures without rankings" in problem["detail"]
    for path in ("report", "trec", "export", "queries/q1", "scores?measures=MRR"):
        assert_problem(small.get(f"/v1/runs/eval_run_001/{path}"), 400, "usage")


SPOKEN: dict[str, Any] = {
    "dataset_id": "spoken",
    "test_queries": [
        {
            "query_id": name,
            "query_text": "headache",
            "relevant_segment_ids": ["d1:chunk_0"],
            "speaker_filter": speaker,
        }
        for name, speaker in (("a", "ALL"), ("p", "PATIENT"), ("c", "CLINICIAN"))
    ],
}


@pytest.mark.req("W6")
@pytest.mark.parametrize(
    ("speaker_modes", "parameters", "part", "queries"),
    [
        (["ALL", "PATIENT", "CLINICIAN"], "", "all", 3),
        (None, "", "all", 3),
        (["ALL"], "", "overall", 3),
        (["PATIENT"], "", "patient", 1),
        (["CLINICIAN", "PATIENT"], "", "patient + clinician", 2),
        (None, "?mode=clinician", "clinician", 1),
        (None, "?speaker_filter=ALL&speaker_filter=PATIENT", "all + patient", 2),
    ],
)
def test_a_run_is_stored_under_the_part_that_was_asked(
    small: TestClient,
    speaker_modes: list[str] | None,
    parameters: str,
    part: str,
    queries: int,
) -> None:
    assert small.post("/v1/testsets", json=SPOKEN).status_code == 201
    body = {"dataset_id": "spoken", "speaker_modes": speaker_modes}
    answer = small.post(f"/v1/evaluate{parameters}", json=body)
    assert answer.status_code == 200, answer.text
    run = small.get(f"/v1/runs/{answer.json()['run_id']}").json()
    assert (run["part"], run["queries"]) == (part, queries)


@pytest.mark.req("W6")
def test_a_part_without_queries_is_refused_at_once(small: TestClient) -> None:
    only = {**SPOKEN, "dataset_id": "mute", "test_queries": SPOKEN["test_queries"][:1]}
    assert small.post("/v1/testsets", json=only).status_code == 201
    body = {"dataset_id": "mute", "speaker_modes": ["PATIENT", "CLINICIAN"]}
    answer = small.post("/v1/evaluate", json=body, headers={"Prefer": "respond-async"})
    assert "no query for patient + clinician" in assert_problem(answer, 422)["detail"]


@pytest.mark.req("W1", "W2", "W3", "W4", "W5", "W7", "W8")
def test_the_steps_fit_together(small: TestClient) -> None:
    small.post("/v1/testsets", json=TEST_SET)
    dataset = small.get("/api/evaluation/dataset/small").json()
    queries = dataset["test_queries"]
    found = post(
        small,
        "retrieval/batch",
        {
            "queries": [
                {k: q[k] for k in ("query_id", "query_text", "speaker_filter")} for q in queries
            ]
        },
    )
    rows = [
        post(
            small,
            "evaluation/compute_metrics",
            {
                "query_id": query["query_id"],
                "retrieved_segment_ids": result["retrieved_segment_ids"],
                "relevant_segment_ids": query["relevant_segment_ids"],
                "speaker_filter": query["speaker_filter"],
            },
        )
        for query, result in zip(queries, found, strict=True)
    ]
    overall = post(small, "evaluation/aggregate", rows)
    speakers = post(small, "evaluation/speaker_breakdown", rows)
    result = {"evaluation_id": "e1", "dataset_id": "small", **overall, **speakers}
    assert "# Evaluation Report: e1" in small.post("/api/evaluation/report", json=result).text
    saved = post(small, "evaluation/save", {**result, "per_query": rows})
    assert (saved["status"], saved["kind"]) == ("saved", "run")
    evaluated = small.post("/v1/evaluate?measures=P@5 Recall@5 MAP", json=TEST_SET).json()
    for name in ("precision_at_5", "recall_at_5", "mean_average_precision"):
        assert overall["overall_metrics"][name] == evaluated["metrics"][name]
    compared = small.post("/v1/compare", json={"a": "e1", "b": evaluated["run_id"]}).json()
    assert compared["counts"] == {"Win": 0, "Loss": 0, "Draw": 3, "Regression": 0}
    assert small.post("/v1/gate", json={"baseline": "e1", "current": "e1"}).json()["exit_code"] == 0


def rankings(**found: list[str]) -> list[dict[str, Any]]:
    """Rows of step 3 for queries that all look for ``right`` and ``too``."""
    return [
        {
            "query_id": name,
            "metrics": {},
            "retrieved_segment_ids": ids,
            "relevant_segment_ids": ["right", "too"],
        }
        for name, ids in found.items()
    ]


def with_rankings(rows: list[dict[str, Any]], **metrics: float) -> dict[str, Any]:
    return {
        "evaluation_id": "mine",
        "dataset_id": "elsewhere",
        "timestamp": "2024-03-15T16:00:00Z",
        "overall_metrics": metrics,
        "total_queries": len(rows),
        "per_query": rows,
    }


@pytest.mark.req("W8")
def test_a_saved_evaluation_of_a_dataset_elsewhere_is_a_run(small: TestClient) -> None:
    rows = rankings(a=["right", "x"], b=["x", "too", "right"])
    rows.append({"query_id": "c", "metrics": {}, "skipped": True,
                 "retrieved_segment_ids": ["x"], "relevant_segment_ids": []})  # fmt: skip
    body = with_rankings(rows, precision_at_1=0.5, recall_at_3=0.75)
    assert post(small, "evaluation/save", body)["kind"] == "run"
    scores = small.get("/v1/runs/mine/scores").json()
    assert (scores["metrics"]["precision_at_1"], scores["metrics"]["recall_at_3"]) == (0.5, 0.75)
    assert scores["skipped_queries"] == 1
    assert small.get("/v1/runs/mine").json()["created_at"] == "2024-03-15T16:00:00Z"
    assert small.get("/v1/runs/latest").json()["run_id"] == "mine"
    newer = small.post("/v1/evaluate", json=TEST_SET).json()["run_id"]
    post(small, "evaluation/save", {**body, "evaluation_id": "older", "timestamp": "2023-01-01"})
    assert small.get("/v1/runs/latest").json()["run_id"] == newer
    assert small.get("/v1/runs/latest~2").json()["run_id"] == "older"


@pytest.mark.req("W8")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"overall_metrics": {"precision_at_1": 0.9}}, "precision_at_1 is 0.9, and the rankings"),
        ({"total_queries": 50}, "total_queries is 50, and per_query has 1"),
        ({"per_query": [*rankings(a=["x"]), {"query_id": "b", "metrics": {}}], "total_queries": 2},
         "b has no retrieved_segment_ids"),
        ({"per_query": rankings(a=["x"]) * 2, "total_queries": 2}, "a appears twice"),
        ({"dataset_id": "small"}, "small has no query a"),
        ({"per_query": [{"query_id": "a", "metrics": {}, "retrieved_segment_ids": ["x"]}]},
         "a has no relevant_segment_ids"),
    ],
    ids=["figures", "total", "some rankings", "twice", "other queries", "no truth"],
)  # fmt: skip
def test_a_saved_run_that_contradicts_itself_is_refused(
    small: TestClient, change: dict[str, Any], said: str
) -> None:
    small.post("/v1/testsets", json=TEST_SET)
    body = {**with_rankings(rankings(a=["right"]), precision_at_1=1.0), **change}
    problem = assert_problem(small.post("/api/evaluation/save", json=body), 422)
    assert said in problem["detail"]
    assert small.get("/v1/runs").json()["total"] == 0


@pytest.mark.req("W2")
def test_step_1_counts_the_queries_that_it_does_not_list(small: TestClient) -> None:
    dataset = {
        "dataset_id": "unjudged",
        "interview_ids": [],
        "test_queries": [
            {"query_id": "a", "query_text": "one", "relevant_segment_ids": ["x"]},
            {"query_id": "b", "query_text": "two", "relevant_segment_ids": []},
        ],
        "total_queries": 2,
    }
    assert small.post("/v1/testsets", json=dataset).status_code == 201
    found = small.get("/api/evaluation/dataset/unjudged").json()
    assert [one["query_id"] for one in found["test_queries"]] == ["a"]
    assert (found["total_queries"], found["skipped_queries"]) == (2, 1)


@pytest.mark.req("W7")
def test_the_report_of_step_6_counts_the_skipped_in_the_total(small: TestClient) -> None:
    rows = [*rows_of(precision_at_5=[0.2, 0.4]), SKIPPED]
    overall = post(small, "evaluation/aggregate", rows)
    text = small.post(
        "/api/evaluation/report", json={"evaluation_id": "e", "dataset_id": "d", **overall}
    ).text
    assert "**Total Queries**: 3, of which 1 skipped" in text


@pytest.mark.req("W4")
def test_a_segment_that_comes_twice_keeps_its_rank_in_step_3_and_in_the_run(
    small: TestClient,
) -> None:
    asked = {
        "query_id": "a",
        "retrieved_segment_ids": ["x", "x", "right"],
        "relevant_segment_ids": ["right"],
        "k_values": [2, 3],
    }
    row = post(small, "evaluation/compute_metrics", asked)
    assert (row["metrics"]["recall_at_2"], row["metrics"]["recall_at_3"]) == (0.0, 1.0)
    overall = post(small, "evaluation/aggregate", [row])["overall_metrics"]
    post(small, "evaluation/save", {**with_rankings([row]), "overall_metrics": overall})
    scores = small.get("/v1/runs/mine/scores").json()
    assert scores["metrics"]["recall_at_2"] == 0.0
    assert "1 result of 1 of 1 query repeats an earlier one" in str(scores["warnings"])


def rows_of(**columns: list[float | None]) -> list[dict[str, Any]]:
    """Rows of step 3 without rankings, a query for each value of a column."""
    (count,) = {len(values) for values in columns.values()}
    return [
        {
            "query_id": f"q{at}",
            "metrics": {name: values[at] for name, values in columns.items()},
            "total_relevant": 3,
            "speaker_filter": "PATIENT" if at % 2 else "CLINICIAN",
        }
        for at in range(count)
    ]


SKIPPED = {"query_id": "none", "metrics": {"precision_at_5": None}, "skipped": True}


@pytest.mark.req("W8")
@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        (rows_of(precision_at_5=[0.2, 0.4]), {"overall_metrics": {"precision_at_5": 0.9}},
         "overall_metrics: precision_at_5 is 0.9, and the mean over per_query is 0.3"),
        (rows_of(precision_at_5=[0.2, 0.4]), {"overall_metrics": {"precision_at_5": 0.32}},
         "precision_at_5 is 0.32, and the mean over per_query is 0.3"),
        (rows_of(ndcg_at_10=[0.6131, 0.3]), {"overall_metrics": {"ndcg_at_10": 0.4571}},
         "ndcg_at_10 is 0.4571, and the mean over per_query is 0.4566"),
        (rows_of(average_precision=[1.0, 0.5]),
         {"overall_metrics": {"mean_average_precision": 0.5}},
         "mean_average_precision is 0.5, and the mean over per_query is 0.75"),
        (rows_of(precision_at_5=[None, None]), {"overall_metrics": {"precision_at_5": 0.4}},
         "precision_at_5 is 0.4, and no row of per_query has a value"),
        ([SKIPPED], {"overall_metrics": {"precision_at_5": 0.4}},
         "precision_at_5 is 0.4, and every query of per_query is skipped"),
        ([*rows_of(precision_at_5=[0.2, 0.4]), SKIPPED],
         {"overall_metrics": {"precision_at_5": 0.2}},
         "precision_at_5 is 0.2, and the mean over per_query is 0.3"),
        (rows_of(precision_at_5=[0.2, 0.4]), {"skipped_queries": 1},
         "skipped_queries is 1, and per_query has 0 skipped"),
        (rows_of(precision_at_5=[0.2, 0.4]),
         {"speaker_specific_metrics": {"PATIENT": {"precision_at_5": 0.2}}},
         "speaker_specific_metrics.PATIENT: precision_at_5 is 0.2, and the mean over per_query"),
        (rows_of(precision_at_5=[0.2, 0.4]),
         {"speaker_specific_metrics": {"PATIENT": {"num_queries": 7}}},
         "speaker_specific_metrics.PATIENT: num_queries is 7, and per_query has 1"),
    ],
)  # fmt: skip
def test_figures_that_contradict_their_rows_are_refused(
    small: TestClient, rows: list[dict[str, Any]], more: dict[str, Any], said: str
) -> None:
    body = {**with_rankings(rows), **more}
    problem = assert_problem(small.post("/api/evaluation/save", json=body), 422)
    assert said in problem["detail"]
    assert small.get("/v1/runs").json()["total"] == 0


@pytest.mark.req("W8")
@pytest.mark.parametrize(
    ("rows", "figures"),
    [
        (rows_of(recall_at_3=[0.67, 0.33, 0.67]), {"recall_at_3": 0.5556}),  # 5 of 9
        (rows_of(recall_at_3=[0.67, 0.33, 0.67]), {"recall_at_3": 0.56}),
        (rows_of(ndcg_at_10=[0.6131, 0.3001]), {"ndcg_at_10": 0.46}),
        (rows_of(ndcg_at_10=[0.6131, 0.3001]), {"ndcg_at_10": 0.4566}),
        (rows_of(precision_at_5=[0.2, 0.4]), {"auroc": 0.9, "mrr": 0.7, "recall_at_5": None}),
        (rows_of(own=[0.2, 0.4]), {"own": 0.9}),  # who knows what it is
        ([{"query_id": "a", "metrics": {}}], {"precision_at_5": 0.7}),
    ],
)
def test_figures_that_are_rounded_or_no_means_are_kept(
    small: TestClient, rows: list[dict[str, Any]], figures: dict[str, float]
) -> None:
    body = {**with_rankings(rows), "overall_metrics": figures}
    assert post(small, "evaluation/save", body)["kind"] == "figures"


def test_other_judgments_than_the_dataset_has_are_refused(small: TestClient) -> None:
    small.post("/v1/testsets", json=TEST_SET)
    (row,) = rankings(q1=["right"])
    body = {**with_rankings([row]), "dataset_id": "small"}
    problem = assert_problem(small.post("/api/evaluation/save", json=body), 422)
    assert "the relevant_segment_ids of q1 are not those of small" in problem["detail"]
