"""Is every bad input answered with an error that names the field, and never with a crash?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from assay.app.workspace import Workspace
from assay.errors import InputError, LimitError, UsageError
from assay.search.request import SearchOptions
from tests.unit.search.corpus import filled


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("bad") / "home") as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("", InputError),
        (" \t\n\u3000\x07", InputError),
        ("x" * (1 << 20), LimitError),
        ("heart\x00failure", InputError),
        ("heart \ud800 failure", InputError),
        (7, InputError),
        (None, InputError),
    ],
)
def test_queries_that_are_none(here: Workspace, query: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="query:"):
        here.search(query)


@pytest.mark.parametrize(
    "query",
    [
        "💊🫀 heart",
        "(a+)+$ heart [",
        "((((((((((a|a)*)*)*)*)*",
        'AND OR NOT "unclosed title:x^2 +[a TO b] \\ *?~',
        "%s %(x)s {0} ${jndi}",
        "'; DROP TABLE chunks; --",
        "قلب שלום heart",
        "ﬁbrosis ＨＥＡＲＴ x²",
        "heart\u2028failure\u0085dose",
        "e" + "\u0301" * 2000,
        "the of and",
        "a" * 8_192,
    ],
)
def test_odd_queries_are_answered(here: Workspace, query: str) -> None:
    answer = here.search(query)
    assert not answer.degraded
    json.dumps(answer.to_dict(), allow_nan=False).encode()


def test_look_alikes_and_capitals_ask_the_same(here: Workspace) -> None:
    plain = here.search("heart failure")
    for query in ("HEART failure", "ｈｅａｒｔ　failure", " heart\tfailure\n"):
        assert [hit.chunk for hit in here.search(query).results] == [
            hit.chunk for hit in plain.results
        ]


@pytest.mark.parametrize(
    "options",
    [
        {"k": -1},
        {"k": 0},
        {"k": 10**9},
        {"k": 2.0},
        {"k": True},
        {"k": "10"},
        {"offset": -1},
        {"offset": 10**9},
        {"depth": 0},
        {"depth": 10**7},
        {"components": ""},
        {"components": []},
        {"components": "bm25,bm25"},
        {"components": "xyz"},
        {"components": [f"c{at}" for at in range(1_000)]},
        {"components": 7},
        {"components": "BM25"},
        {"fusion_method": "RFF"},
        {"fusion_method": None},
        {"rrf_k": -1},
        {"rrf_k": 0},
        {"rrf_k": 10**18},
        {"rrf_k": 1.5},
        {"weights": {"bm25": 0.5, "dense": 0.5}},
        {"weights": {"bm25": 0, "splade": 0, "dense": 0}},
        {"weights": {"bm25": -1, "splade": 1, "dense": 1}},
        {"weights": {"bm25": 1, "splade": 1, "dense": 1, "magic": 1}},
        {"weights": {"bm25": math.nan, "splade": 1, "dense": 1}},
        {"weights": {"bm25": math.inf, "splade": 1, "dense": 1}},
        {"weights": {"bm25": "nan", "splade": 1, "dense": 1}},
        {"weights": [0.3, 0.3, 0.4]},
        {"normalization": "softmax"},
        {"query_type": "sonnet"},
        {"query_intent": "poetry"},
        {"query_intent": ["tabular"]},
        {"reranker": 5},
        {"rerank": "yes"},
        {"boosts": 1},
        {"rerank_depth": 0},
        {"component_timeout_ms": 0},
        {"component_timeout_ms": math.nan},
        {"component_timeout_ms": 10**9},
        {"rerank_timeout_ms": -5},
        {"filters": {"speaker_role": "ALIEN"}},
        {"filters": {"ingestion_mode": "SOMETIMES"}},
        {"filters": {"colour": "red"}},
        {"filter": "year=>2020"},
        {"filters": "PATIENT"},
        {"tau": 1},
    ],
    ids=lambda options: json.dumps(options, default=str)[:40],
)
def test_options_that_cannot_be(here: Workspace, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        here.search("heart", **options)
    (name,) = options
    shown = {"filters": ("filter", "speaker", "ingestion_mode")}.get(name, (name,))
    assert any(part in caught.value.message for part in shown)
    assert len(caught.value.message) < 250


def test_an_unknown_intent_is_refused_where_nothing_is_boosted(here: Workspace) -> None:
    with pytest.raises(UsageError, match="there is no intent 'phase2'"):
        here.search("heart", query_intent="phase2", boosts=False)


def test_options_given_as_text_are_what_they_say(here: Workspace) -> None:
    plain = SearchOptions(
        fusion_method="rrf",  # type: ignore[arg-type]
        components="bm25,dense",  # type: ignore[arg-type]
        query_type="paraphrase",  # type: ignore[arg-type]
    )
    answer = here.search("heart failure", plain)
    assert answer.fusion_metadata["method"] == "rrf"
    assert answer.results[0].score == answer.results[0].fused < 0.04, "ranks, not scores"
    assert answer.components_used == ("bm25", "dense")
    with pytest.raises(UsageError, match="fusion_method"):
        here.search("heart failure", SearchOptions(fusion_method="rff"))  # type: ignore[arg-type]
