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
    from assay.app.answers import Answered
    from assay.app.comparison import AbTest, Compared
    from assay.app.evaluation import Evaluated
    from assay.app.evaluation_request import EvaluationRequest
    from assay.app.python import evaluate, load_test_set
    from assay.app.run_view import RunView
    from assay.app.statistics import Statistics
    from assay.app.workspace import Workspace, open_workspace
    from assay.client import Client
    from assay.errors import AssayError
    from assay.evaluation.answers import score_answers
    from assay.evaluation.decisions import Decisions, classify
    from assay.evaluation.gate import GateReport
    from assay.evaluation.history import History
    from assay.evaluation.leaderboard import Leaderboard, score_many
    from assay.evaluation.result import EvaluationResult
    from assay.evaluation.score import Protocol, score
    from assay.evaluation.scores import Scores
    from assay.evaluation.significance import Comparison, compare
    from assay.evaluation.systems import RetrievalSystem, system
    from assay.hits.qrels import load_qrels
    from assay.measures.answers import AnswerRecord
    from assay.measures.base import Measure
    from assay.measures.parse import parse_measure, parse_measures
    from assay.model.answers import Answer, Expect
    from assay.model.document import Chunk, KeyedChunk
    from assay.model.judgments import Qrels
    from assay.model.query import Component, Filters, Hit, best_hits
    from assay.model.ranking import Match, RankBy, Result, Ties
    from assay.model.runs import RunInfo
    from assay.model.sampling import Sampling
    from assay.model.testset import GoldenQuery, Judgment, TestSet
    from assay.search.changes import SearchChanges
    from assay.search.request import SearchOptions
    from assay.search.response import SearchHit, SearchResponse
    from assay.search.why import Why

    open = open_workspace  # noqa: A001 - reads as assay.open

_HOMES = {
    "AbTest": "app.comparison",
    "Answer": "model.answers",
    "Answered": "app.answers",
    "AnswerRecord": "measures.answers",
    "AssayError": "errors",
    "best_hits": "model.query",
    "Chunk": "model.document",
    "classify": "evaluation.decisions",
    "Client": "client",
    "compare": "evaluation.significance",
    "Compared": "app.comparison",
    "Comparison": "evaluation.significance",
    "Component": "model.query",
    "Decisions": "evaluation.decisions",
    "evaluate": "app.python",
    "Evaluated": "app.evaluation",
    "EvaluationRequest": "app.evaluation",
    "EvaluationResult": "evaluation.result",
    "Expect": "model.answers",
    "Filters": "model.query",
    "GateReport": "evaluation.gate",
    "GoldenQuery": "model.testset",
    "History": "evaluation.history",
    "Hit": "model.query",
    "Judgment": "model.testset",
    "KeyedChunk": "model.document",
    "Leaderboard": "evaluation.leaderboard",
    "load_qrels": "hits.qrels",
    "load_test_set": "app.python",
    "Match": "model.ranking",
    "Measure": "measures.base",
    "open": "app.workspace",
    "parse_measure": "measures.parse",
    "parse_measures": "measures.parse",
    "Protocol": "evaluation.score",
    "Qrels": "model.judgments",
    "RankBy": "model.ranking",
    "Result": "model.ranking",
    "RetrievalSystem": "evaluation.systems",
    "RunInfo": "model.runs",
    "RunView": "app.run_view",
    "Sampling": "model.sampling",
    "score": "evaluation.score",
    "score_answers": "evaluation.answers",
    "score_many": "evaluation.leaderboard",
    "Scores": "evaluation.scores",
    "SearchChanges": "search.changes",
    "SearchHit": "search.response",
    "SearchOptions": "search.request",
    "SearchResponse": "search.response",
    "Statistics": "app.statistics",
    "TestSet": "model.testset",
    "Ties": "model.ranking",
    "Why": "search.why",
    "Workspace": "app.workspace",
    "system": "evaluation.systems",
}
_NAMES_THERE = {"open": "open_workspace"}

# without open: a star import must not hide Python's own
__all__ = [
    "AbTest",
    "Answer",
    "AnswerRecord",
    "Answered",
    "AssayError",
    "Chunk",
    "Client",
    "Compared",
    "Comparison",
    "Component",
    "Decisions",
    "Evaluated",
    "EvaluationRequest",
    "EvaluationResult",
    "Expect",
    "Filters",
    "GateReport",
    "GoldenQuery",
    "History",
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
    "RunInfo",
    "RunView",
    "Sampling",
    "Scores",
    "SearchChanges",
    "SearchHit",
    "SearchOptions",
    "SearchResponse",
    "Statistics",
    "TestSet",
    "Ties",
    "Why",
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
    "score",
    "score_answers",
    "score_many",
    "system",
]


if not TYPE_CHECKING:  # which would take any name for known

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'assay' has no attribute {name!r}")
        try:
            module = importlib.import_module(f"assay.{_HOMES[name]}")
        except ImportError as error:
            from assay.extras import explained

            raise explained(error) or error from None
        value = getattr(module, _NAMES_THERE.get(name, name))
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES})
