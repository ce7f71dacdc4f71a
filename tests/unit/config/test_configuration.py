"""Is the hash of a configuration stable, and does it change exactly when results could?"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from assay.settings import SETTINGS, Settings, configure

if TYPE_CHECKING:
    from pathlib import Path

OTHER_VALUE = {
    "dense_model": "all-minilm-l6-v2",
    "splade_model": "none",
    "home": "elsewhere",
    "measures": "P@5",
    "confidence": 0.9,
    "resamples": 99,
    "seed": 7,
    "ci_method": "percentile",
    "alpha": 0.01,
    "margin": 0.02,
    "database": "postgresql://me:secret@host/name",
    "components": "bm25,dense",
    "fusion": "weighted",
    "rrf_k": 10,
    "weights": "bm25=1,splade=1,dense=2",
    "per_type_weights": "on",
    "normalization": "dbsf",
    "depth": 50,
    "boosts": "off",
    "lexicon": "own.yaml",
    "synonyms": "synonyms.txt",
    "rerank": "on",
    "reranker": "ms-marco-minilm-l12-v2",
    "rerank_timeout_ms": 500,
    "component_timeout_ms": 100,
    "answerer": "my_answers:say",
    "answer_model": "tiny",
    "answer_key_variable": "MY_KEY",
    "answer_seconds": "5",
    "engine": "opensearch",
    "opensearch_url": "http://node:9200",
    "opensearch_prefix": "trials",
    "opensearch_shards": "3",
    "opensearch_replicas": "2",
    "opensearch_refresh": "5s",
    "graph_from": "1000",
    "models": "elsewhere",
    "threads": "1",
    "color": "never",
    "host": "0.0.0.0",
    "port": "1",
    "allowed_hosts": "search.example",
    "search_slots": "3",
    "search_queue": "3",
    "evaluation_slots": "3",
    "rate_limit": "3",
    "request_seconds": "3",
    "shutdown_seconds": "3",
    "query_log": "text",
    "query_log_days": "3",
    "query_log_rows": "3",
    "schedule": "0 3 * * * v1",
    "metrics_textfile": "assay.prom",
    "pushgateway": "localhost:9091",
    "server": "localhost:8321",
}
DEFAULT_JSON = (
    '{"alpha":0.05,"answer_model":"none","answerer":"extractive","boosts":"on","ci_method":"bca","components":"bm25,splade,dense",'
    '"confidence":0.95,"dense_model":"bge-small-en-v1.5","depth":100,"engine":"embedded","fusion":"rrf","graph_from":200000,'
    '"lexicon":"none","margin":0.01,"measures":"nDCG@10 RR@10 Recall@{5,10,20}",'
    '"normalization":"min-max","per_type_weights":"off","rerank":"off",'
    '"reranker":"BAAI/bge-reranker-base","resamples":10000,"rrf_k":60,"seed":42,'
    '"splade_model":"splade-tiny","synonyms":"none","weights":"default"}'
)


@pytest.fixture
def config(tmp_path: Path) -> Settings:
    return configure(environ={}, folder=tmp_path)


def test_the_canonical_json_of_the_defaults(config: Settings) -> None:
    """Stored runs refer to this: a change of the text is a change of every hash."""
    assert config.canonical_json() == DEFAULT_JSON
    assert config.config_hash() == hashlib.sha256(DEFAULT_JSON.encode()).hexdigest()


@pytest.mark.parametrize("name", SETTINGS)
def test_the_hash_covers_what_changes_results(tmp_path: Path, config: Settings, name: str) -> None:
    other = configure({name: OTHER_VALUE[name]}, environ={}, folder=tmp_path)
    changed = other.config_hash() != config.config_hash()
    assert changed is SETTINGS[name].changes_results


def test_the_origin_does_not_count(tmp_path: Path, config: Settings) -> None:
    same = configure({"seed": 42}, environ={}, folder=tmp_path)
    assert same == config
    assert hash(same) == hash(config)
    assert same.origins != config.origins


def test_a_value_has_one_form(tmp_path: Path) -> None:
    written = [
        configure({"alpha": text}, environ={}, folder=tmp_path) for text in ("0.05", "5e-2", ".050")
    ]
    assert len({config.config_hash() for config in written}) == 1


@pytest.mark.parametrize("name", ["lexicon", "synonyms"])
def test_of_a_file_its_content_counts_and_not_its_place(tmp_path: Path, name: str) -> None:
    def hashed(file: str, content: str) -> str:
        (tmp_path / file).write_text(content)
        return configure({name: tmp_path / file}, environ={}, folder=tmp_path).config_hash()

    first = hashed("one.txt", "heart, cardiac")
    assert hashed("other.txt", "heart, cardiac") == first
    assert hashed("one.txt", "heart, coronary") != first


def test_text_outside_ascii_and_broken_bytes_can_be_hashed(tmp_path: Path) -> None:
    config = configure({"measures": "P@5 é \udcff"}, environ={}, folder=tmp_path)
    assert json.loads(config.canonical_json())["measures"] == "P@5 é \udcff"
    assert len(config.config_hash()) == 64


def test_it_cannot_change(config: Settings) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.seed = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        config.origins["seed"] = "x"  # type: ignore[index]


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    flags = {"database": "postgresql://me:se:cret@host:5432/name?a=b@c"}
    config = configure(flags, environ={}, folder=tmp_path)
    assert "cret" in config.database
    assert config.as_dict()["database"] == "postgresql://me:***@host:5432/name?a=b@c"
