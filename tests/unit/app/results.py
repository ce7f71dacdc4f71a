"""A workspace with two runs, whose texts try to be markup: for tests of what Python is given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.app.workspace import Workspace
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet
from assay.settings import configure

HOSTILE = "<script>alert(1)</script>"
SETTINGS: Mapping[str, Any] = {
    "dense_model": "none",
    "splade_model": "none",
    "resamples": 200,
    "component_timeout_ms": 20_000,
}
DOCUMENTS = [
    {"doc_id": "d1", "title": f"Aspirin {HOSTILE}", "text": f"Aspirin eases headache. {HOSTILE}"},
    {"doc_id": "d2", "title": "Migraine", "text": "Triptans end a migraine headache quickly."},
    {"doc_id": "d3", "title": "Statins", "text": "Statins lower cholesterol in the blood."},
    {"doc_id": "d4", "title": "Insulin", "text": "Insulin lowers blood sugar in diabetes."},
    {"doc_id": "d5", "title": "Metformin", "text": "Metformin is the first drug in diabetes."},
]
QUERIES = (
    ("q1", "headache", QueryType.EXACT_TERM, ("d1", "d2")),
    ("q2", "diabetes drug", QueryType.PARAPHRASE, ("d5",)),
    ("q3", "cholesterol", QueryType.EXACT_TERM, ("d3",)),
    ("q4", f"blood sugar {HOSTILE}", QueryType.PARAPHRASE, ("d4",)),
)
GOLDEN = TestSet(
    f"golden {HOSTILE}",
    "v1",
    tuple(
        GoldenQuery(name, text, kind, relevant_docs=tuple(Judgment(one, 2) for one in documents))
        for name, text, kind, documents in QUERIES
    ),
)


def opened(home: Path, **settings: Any) -> Workspace:
    """The workspace in a folder, searched by words only."""
    return Workspace(configure({"home": home, **SETTINGS, **settings}, environ={}, folder=home))


def evaluated(home: Path) -> Workspace:
    """The workspace with its documents and two runs: "wide", tagged baseline, and "narrow"."""
    workspace = opened(home)
    workspace.add(DOCUMENTS)
    workspace.evaluate(GOLDEN, name="wide", tags=["baseline"])
    workspace.evaluate(GOLDEN, name="narrow", depth=1)
    return workspace
