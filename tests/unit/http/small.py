"""A small corpus and a test set, enough to tell right answers from wrong ones."""

from __future__ import annotations

from typing import Any

DOCUMENTS: list[dict[str, Any]] = [
    {"doc_id": "d1", "title": "Aspirin", "text": "Aspirin eases headache and lowers fever."},
    {"doc_id": "d2", "title": "Migraine", "text": "Triptans end a migraine headache quickly."},
    {"doc_id": "d3", "title": "Statins", "text": "Statins lower cholesterol in the blood."},
    {"doc_id": "d4", "title": "Insulin", "text": "Insulin lowers blood sugar in diabetes."},
    {"doc_id": "d5", "title": "Metformin", "text": "Metformin is the first drug in diabetes."},
]
TEST_SET: dict[str, Any] = {
    "name": "small",
    "version": "v1",
    "queries": [
        {
            "query_id": "q1",
            "query_text": "headache",
            "query_type": "exact_term",
            "relevant_docs": [
                {"doc_id": "d1:chunk_0", "grade": 3},
                {"doc_id": "d2:chunk_0", "grade": 2},
            ],
        },
        {
            "query_id": "q2",
            "query_text": "diabetes drug",
            "query_type": "paraphrase",
            "relevant_docs": [{"doc_id": "d5:chunk_0", "grade": 3}],
        },
        {
            "query_id": "q3",
            "query_text": "cholesterol",
            "query_type": "complex_clinical",
            "relevant_docs": [{"doc_id": "d3:chunk_0", "grade": 1}],
        },
    ],
}
