"""Assay: hybrid biomedical search, and the evaluation platform that proves it.

>>> import assay
>>> scores = assay.score({"q1": {"d1": 3, "d2": 1}}, {"q1": {"d1": 2.0, "d9": 1.0}}, "nDCG@10 MRR")
>>> scores["MRR"]
1.0

Names are imported when they are first used, so that ``import assay`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from assay.version import __version__

if TYPE_CHECKING:
    from assay.app.evaluation import EvaluationRequest
    from assay.app.python import evaluate, load_test_set
    from assay.app.workspace import Workspace, open_workspace
    from assay.errors import AssayError
    from assay.evaluation.answers import score_answers
    from assay.evaluation.decisions import Decisions, classify
    from assay.evaluation.leaderboard import Leaderboard, score_many
    from assay.evaluation.result import EvaluationResult
    from assay.evaluation.score import Protocol, score
    from assay.evaluation.scores import Scores
    from assay.evaluation.significance import Comparison, compare
    from assay.evaluation.systems import RetrievalSystem, system
    from assay.hits.qrels import load_qrels
    from assay.hits.qrels import load_qrels as qrels
    from assay.measures.answers import AnswerRecord
    from assay.measures.base import Measure
    from assay.measures.parse import parse_measure, parse_measures
    from assay.model.answers import Answer, Expect
    from assay.model.document import Chunk, KeyedChunk
    from assay.model.judgments import Qrels
    from assay.model.query import Component, Filters, Hit, best_hits
    from assay.model.ranking import Match, RankBy, Result, Ties
    from assay.model.sampling import Sampling
    from assay.model.testset import GoldenQuery, Judgment, TestSet
    from assay.search.request import SearchOptions
    from assay.search.response import SearchHit, SearchResponse

    open = open_workspace  # noqa: A001 - reads as assay.open

_HOMES = {
    "Answer": "model.answers",
    "AnswerRecord": "measures.answers",
    "AssayError": "errors",
    "Chunk": "model.document",
    "Comparison": "evaluation.significance",
    "Component": "model.query",
    "Decisions": "evaluation.decisions",
    "EvaluationRequest": "app.evaluation",
    "EvaluationResult": "evaluation.result",
    "Expect": "model.answers",
    "GoldenQuery": "model.testset",
    "Hit": "model.query",
    "Judgment": "model.testset",
    "KeyedChunk": "model.document",
    "Match": "model.ranking",
    "Measure": "measures.base",
    "Protocol": "evaluation.score",
    "Filters": "model.query",
    "Qrels": "model.judgments",
    "RankBy": "model.ranking",
    "Result": "model.ranking",
    "RetrievalSystem": "evaluation.systems",
    "Sampling": "model.sampling",
    "Scores": "evaluation.scores",
    "TestSet": "model.testset",
    "Ties": "model.ranking",
    "best_hits": "model.query",
    "classify": "evaluation.decisions",
    "compare": "evaluation.significance",
    "evaluate": "app.python",
    "load_qrels": "hits.qrels",
    "Leaderboard": "evaluation.leaderboard",
    "open": "app.workspace",
    "load_test_set": "app.python",
    "parse_measure": "measures.parse",
    "parse_measures": "measures.parse",
    "qrels": "hits.qrels",
    "score": "evaluation.score",
    "score_answers": "evaluation.answers",
    "score_many": "evaluation.leaderboard",
    "SearchHit": "search.response",
    "SearchOptions": "search.request",
    "SearchResponse": "search.response",
    "Workspace": "app.workspace",
    "system": "evaluation.systems",
}
_NAMES_THERE = {"open": "open_workspace", "qrels": "load_qrels"}

# without open: a star import must not hide Python's own
__all__ = [
    "Answer",
    "AnswerRecord",
    "AssayError",
    "Chunk",
    "Comparison",
    "Component",
    "Decisions",
    "EvaluationRequest",
    "EvaluationResult",
    "Expect",
    "Filters",
    "GoldenQuery",
    "Hit",
    "Judgment",
    "KeyedChunk",
    "Leaderboard",
    "Match",
    "Measure",
    "Protocol",
    "Qrels",
    "RankBy",
    "Result",
    "RetrievalSystem",
    "Sampling",
    "Scores",
    "SearchHit",
    "SearchOptions",
    "SearchResponse",
    "TestSet",
    "Ties",
    "Workspace",
    "__version__",
    "best_hits",
    "classify",
    "compare",
    "evaluate",
    "load_qrels",
    "load_test_set",
    "parse_measure",
    "parse_measures",
    "qrels",
    "score",
    "score_answers",
    "score_many",
    "system",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    module = importlib.import_module(f"assay.{_HOMES[name]}")
    value = getattr(module, _NAMES_THERE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES})
