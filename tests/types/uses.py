"""Right and wrong uses of the public names, for mypy: a wrong use that passes is an idle ignore."""

from __future__ import annotations

from pathlib import Path

import assay
from assay import Client, Workspace


def right(workspace: Workspace, service: Client, queries: assay.TestSet) -> None:
    """Everything here is meant to pass."""
    found: assay.SearchResponse = workspace.search("heart attack", k=3, fusion_method="weighted")
    found = service.search("heart attack", speaker="PATIENT", filter=["year>=2020"])
    found = workspace.search("heart attack", weights={"bm25": 1.0}, components=("bm25",))
    hit: assay.SearchHit = found.results[0]
    why: assay.Why = workspace.why("heart attack", hit.chunk.doc_id, rerank=False)
    answered: assay.Answered = service.answer("what is a heart attack?", k=5)
    made: assay.EvaluationResult = workspace.evaluate(
        "test_set_v1", measures="nDCG@10", rerank=True
    )
    made = service.evaluate(Path("golden.yaml"), name="hybrid", tags=["baseline"])
    made = workspace.evaluate(queries, part="all", use_cache=False)
    made = assay.evaluate(lambda text: ["d1"], queries)
    run: assay.RunInfo | None = made.info
    value: float | None = made["nDCG@10"]
    every: assay.Evaluated = workspace.carry_out(assay.EvaluationRequest(test_set=queries))
    made = every.result
    side: assay.Compared = workspace.compare("baseline", made.name, measures="MRR")
    test: assay.AbTest = service.ab("baseline", statistics=assay.Statistics(alpha=0.01))
    ruling: assay.GateReport = workspace.gate("baseline", limits=["Recall@10=5%"])
    ruling = service.gate(Path("baseline.json"), limits="latency_p95=20%", latency_repeats=3)
    view: assay.RunView = workspace.show("latest", waterfall=True)
    past: assay.History = service.history("test_set_v1", limit=5)
    sets: list[str] = [one.name for one in workspace.test_sets()]
    del why, answered, run, value, side, test, ruling, view, past, sets


def wrong(workspace: Workspace, service: Client) -> None:
    """Nothing here may pass."""
    workspace.search("heart attack", fusin="rrf")  # type: ignore[call-arg]
    workspace.search("heart attack", fusion_method="average")  # type: ignore[arg-type]
    workspace.search("heart attack", k="ten")  # type: ignore[arg-type]
    service.search("heart attack", speaker="NURSE")  # type: ignore[arg-type]
    service.why("heart attack")  # type: ignore[call-arg]
    service.answer("what?", reranker=True)  # type: ignore[arg-type]
    workspace.evaluate("test_set_v1", measure="nDCG@10")  # type: ignore[call-arg]
    workspace.evaluate(assay.EvaluationRequest())  # type: ignore[arg-type]
    workspace.evaluate("test_set_v1", part="half")  # type: ignore[arg-type]
    workspace.gate("baseline", limit=["Recall@10=5%"])  # type: ignore[call-arg]
    workspace.gate(limits=[5])  # type: ignore[list-item]
    service.ab("a", "b", alpha=0.05)  # type: ignore[call-arg]
    service.compare("a", "b").counts  # type: ignore[attr-defined]  # noqa: B018
    assay.find("heart attack")  # type: ignore[attr-defined]
