"""Are vectors and scores of a service asked for with care? Against a real server."""

from __future__ import annotations

import json
from email.utils import formatdate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import limits, posting
from assay.encode.cache import VectorCache
from assay.encode.corpus import encode_dense
from assay.encode.encoders import open_dense, open_reranker, open_sparse
from assay.encode.service import ServiceDense, ServiceReranker, read_address
from assay.encode.shelf import Shelf
from assay.errors import LimitError, ModelServiceError, UsageError
from assay.testing.encoders import HashingDense
from tests.unit.encode.model_service import ModelService, fails, says
from tests.unit.scripted_service import Reply

TEXTS = [f"aspirin text {at}" for at in range(150)]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "FIRST_WAIT", 0.01)


def dense(server: ModelService, kind: str = "openai", more: str = "#small") -> ServiceDense:
    return ServiceDense(read_address(f"http+{kind}:{server.url}{more}"))


def reranker(server: ModelService, kind: str = "cohere", more: str = "#rank") -> ServiceReranker:
    return ServiceReranker(read_address(f"http+{kind}:{server.url}{more}"))


@pytest.mark.parametrize(("kind", "path"), [("openai", "/embeddings"), ("tei", "/embed")])
def test_vectors_come_in_batches_and_in_order(kind: str, path: str) -> None:
    with ModelService() as server:
        encoder = dense(server, kind)
        rows = encoder.encode(TEXTS, "passage")
        assert encoder.dimension == 64
    np.testing.assert_allclose(rows, HashingDense().encode(TEXTS, "passage"), atol=1e-6)
    sizes = [len(body.get("input", body.get("inputs", []))) for _, _, body in server.requests]
    assert sizes == ([64, 64, 22] if kind == "openai" else [32, 32, 32, 32, 22])
    assert {one for one, _, _ in server.requests} == {path}
    assert encoder.usage.tokens == (3 * len(TEXTS) if kind == "openai" else 5 * len(sizes))
    assert (encoder.usage.requests, encoder.usage.texts) == (len(sizes), len(TEXTS))


def test_a_service_that_takes_fewer_texts_gets_fewer() -> None:
    class Small(ModelService):
        """As Text Embeddings Inference refuses a batch."""

        def usual(self, body: dict[str, Any]) -> Reply:
            texts = body.get("inputs", body.get("texts", []))
            if len(texts) <= 4:
                return super().usual(body)
            said = f"batch size {len(texts)} > maximum allowed batch size 4"
            return Reply(422, {}, json.dumps({"error": said, "error_type": "Validation"}).encode())

    texts = [f"text {number}" for number in range(21)]
    with Small() as service, ModelService() as large:
        few, many = (dense(one, "tei", "") for one in (service, large))
        assert np.array_equal(few.encode(texts, "passage"), many.encode(texts, "passage"))
        assert few.batch == 3
        assert few.usage.texts == 21
        scores = reranker(service, "tei", "").score("text 7", texts)
        assert [at for at, score in enumerate(scores) if score == 2] == [7]


def test_what_the_address_sets_is_sent() -> None:
    with ModelService(dimension=16) as server:
        options = "#a/small?dimensions=16&query_prefix=q:%20&passage_prefix=p:%20&batch=2&price=2"
        encoder = dense(server, more=options)
        encoder.encode(["x y", "z", "w"], "passage")
        encoder.encode(["x"], "query")
    bodies = [body for _, _, body in server.requests]
    assert [body["input"] for body in bodies] == [["p: x y", "p: z"], ["p: w"], ["q: x"]]
    assert all((body["model"], body["dimensions"]) == ("a/small", 16) for body in bodies)
    assert encoder.usage.cost == pytest.approx(2e-6 * encoder.usage.tokens)
    assert "cost" in str(encoder.usage)


def test_the_key_comes_from_a_variable_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    with ModelService(fails(400)) as server:
        name = f"http+openai:{server.url}#small"
        encoder = open_dense(name, Shelf(), key_variable="MY_KEY")
        with pytest.raises(ModelServiceError) as caught:
            encoder.encode(["x"], "query")
        open_dense(name, Shelf()).encode(["x"], "query")
    assert server.requests[0][1]["Authorization"] == "Bearer secret"
    assert "Authorization" not in server.requests[1][1]
    assert "secret" not in f"{caught.value}{encoder.model_id}{encoder!r}"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(status: int) -> None:
    with ModelService(fails(status), fails(status, "0"), fails(status, formatdate(0))) as server:
        assert len(dense(server).encode(["x"], "passage")) == 1
    assert len(server.requests) == 4


def test_the_wait_that_is_asked_for_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("assay.posting.time.sleep", waits.append)
    with ModelService(fails(429, "7"), fails(503)) as server:
        dense(server).encode(["x"], "passage")
    assert waits == [7.0, 0.02]


def test_a_wait_beyond_the_deadline_ends_it_at_once() -> None:
    with (
        ModelService(fails(429, "3600")) as server,
        pytest.raises(ModelServiceError, match=r"asks to wait 3600 s\): HTTP 429"),
    ):
        dense(server).encode(["x"], "query")
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "hint"), [(401, "variable"), (404, "/embeddings"), (400, "")])
def test_what_will_not_pass_is_told_at_once(status: int, hint: str) -> None:
    with (
        ModelService(fails(status)) as server,
        pytest.raises(ModelServiceError, match=f"HTTP {status}") as caught,
    ):
        dense(server).encode(["x"], "passage")
    assert hint in (caught.value.hint or "")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [401, 429])
def test_a_key_that_a_service_repeats_is_not_shown(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + 40 * "secret"
    monkeypatch.setenv("THE_KEY", key)
    body = f"Incorrect API key provided: {key}. You can find yours elsewhere."
    with ModelService(*[Reply(status, {}, body.encode())] * 9) as server:
        encoder = ServiceDense(read_address(f"http+openai:{server.url}#small"), "THE_KEY")
        with pytest.raises(ModelServiceError) as caught:
            encoder.encode(["x"], "query")
    assert "secret" not in str(caught.value)
    assert "provided: ***. You can find yours" in str(caught.value)


def test_nobody_there() -> None:
    encoder = ServiceDense(read_address("http+tei:http://127.0.0.1:1"))
    with pytest.raises(ModelServiceError, match="ConnectError"):
        encoder.encode(["x"], "query")


@pytest.mark.parametrize(
    "text",
    [
        "<html>",
        "[]",
        "{}",
        '{"data": []}',
        '{"data": [{"index": 0}]}',
        '{"data": [{"index": 1, "embedding": [1.0]}]}',
        '{"data": [{"index": 0, "embedding": "AAAA"}]}',
        '{"data": [{"index": 0, "embedding": []}]}',
        '{"data": [{"index": 0, "embedding": [0.0, 0.0]}]}',
        '{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}',
        '{"data": [{"index": [], "embedding": [1.0]}]}',
        "[" * 100_000,
    ],
)
def test_a_reply_of_another_form_is_refused(text: str) -> None:
    with ModelService(says(text)) as server, pytest.raises(ModelServiceError):
        dense(server).encode(["x"], "passage")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"data": [{"index": 0, "embedding": [1.0]}]}', "1 entry for 2 texts"),
        ('{"data": [{"embedding": null}, {"embedding": null}]}', "no list of numbers"),
        ('{"data": [{"index": 0}, {"index": 1}]}', "an entry without embedding"),
        (
            '{"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}',
            "not numbered from 0 to 1",
        ),
        ("<html>", "no JSON"),
    ],
)
def test_what_is_wrong_with_a_reply_is_said(text: str, said: str) -> None:
    with ModelService(says(text)) as server, pytest.raises(ModelServiceError, match=said):
        dense(server).encode(["x", "y"], "passage")


def test_entries_without_numbers_are_taken_as_they_come() -> None:
    text = '{"data": [{"embedding": [1.0, 0.0]}, {"embedding": [0.0, 1.0]}]}'
    with ModelService(says(text)) as server:
        assert dense(server).encode(["x", "y"], "passage").tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_an_endless_reply_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SERVICE_REPLY_BYTES", 50)
    with ModelService() as server, pytest.raises(ModelServiceError, match="more than"):
        dense(server).encode(["x"], "passage")


def test_another_dimension_is_an_error_and_says_what_to_do() -> None:
    with ModelService() as server:
        encoder = dense(server)
        encoder.encode(["x"], "passage")
        server.dimension = 8
        with pytest.raises(ModelServiceError, match="8 numbers, not 64") as caught:
            encoder.encode(["y"], "query")
    assert "reencode" in (caught.value.hint or "")


def test_queries_are_asked_once_and_passages_kept_by_their_text(tmp_path: Path) -> None:
    with ModelService() as server:
        encoder = dense(server)
        first = encoder.encode(["heart", "heart", "risk"], "query")
        again = encoder.encode(["risk", "heart"], "query")
        np.testing.assert_array_equal(again[::-1], first[1:])
        assert [body["input"] for _, _, body in server.requests] == [["heart", "risk"]]
        assert encoder.usage.known == 2
        with VectorCache(tmp_path, encoder.model_id) as cache:
            encode_dense(encoder, ["one", "two"], cache)
            later = dense(server)
            assert later.dimension == 64
            encode_dense(later, ["two", "three", "one"], cache)
    asked = [body["input"] for _, _, body in server.requests]
    assert (asked[1], asked[-1]) == (["one", "two"], ["three"])


def test_the_id_tells_models_and_options_apart_but_no_batches() -> None:
    names = [
        "http+openai:http://h/v1#a",
        "http+openai:http://h/v1#b",
        "http+openai:http://g/v1#a",
        "http+openai:http://h/v1#a?dimensions=8",
        "http+openai:http://h/v1#a?query_prefix=q",
        "http+tei:http://h/v1#a",
    ]
    ids = [read_address(name).identity() for name in names]
    assert len(set(ids)) == len(ids)
    same = ("", "?batch=3&price=1", "?price=0.02", "?dimensions=0")
    assert {read_address(f"{names[0]}{end}").identity() for end in same} == {ids[0]}


@pytest.mark.parametrize(
    "name",
    [
        "http+openai:",
        "http+openai:ftp://x#a",
        "http+openai:http://h/v1",
        "http+cohere:http://h/v1",
        "http+other:http://h/v1#a",
        "http+tei:http://user:pw@h",
        "http+tei:http://h?key=x",
        "http+tei:http://[::1",
        "http+tei:http://h:99999999",
        "http+openai:http://h/v1#a?colour=red",
        "http+openai:http://h/v1#a?batch=2&batch=3",
        "http+openai:http://h/v1#a?dimensions=x",
        "http+openai:http://h/v1#a?dimensions=-1",
    ],
)
def test_addresses_that_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        read_address(name)


def test_each_service_for_what_it_gives() -> None:
    with pytest.raises(UsageError, match="scores, not vectors"):
        open_dense("http+cohere:http://h/v2#a", Shelf())
    with pytest.raises(UsageError, match="vectors, not scores"):
        open_reranker("http+openai:http://h/v1#a", Shelf())
    with pytest.raises(UsageError, match="is an address"):
        open_sparse("http+tei:http://h", Shelf())


@pytest.mark.parametrize("kind", ["cohere", "tei"])
def test_scores_come_in_the_order_of_the_passages(kind: str) -> None:
    passages = ["aspirin", "heart attack of the heart", "nothing", "aspirin heart"] * 30
    with ModelService() as server:
        model = reranker(server, kind)
        scores = model.score("aspirin heart attack", passages)
        assert scores.tolist() == [1.0, 2.0, 0.0, 2.0] * 30
        again = model.score("aspirin heart attack", ["aspirin", "new"])
        assert again.tolist() == [1.0, 0.0]
    bodies = [body for _, _, body in server.requests]
    sizes = [len(body.get("documents", body.get("texts", []))) for body in bodies]
    assert sizes == [4, 1]  # equal pairs are asked once
    assert all(path == "/rerank" for path, _, _ in server.requests)
    assert model.score("x", []).shape == (0,)


def test_reranking_stops_when_told_and_has_limits() -> None:
    with ModelService() as server:
        model = reranker(server, more="#rank?batch=2")
        asked: list[int] = []

        def stop() -> bool:
            asked.append(1)
            return len(asked) > 2

        with pytest.raises(TimeoutError):
            model.score("a", [str(at) for at in range(10)], stop=stop)
        assert len(server.requests) == 2
        with pytest.raises(LimitError):
            model.score("a", [""] * (limits.MAX_RERANK_PASSAGES + 1))


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"results": [{"index": 0}]}',
        '{"results": [{"index": 3, "relevance_score": 1}]}',
        '{"results": [{"index": 0, "relevance_score": NaN}]}',
        '{"results": [{"index": 0, "relevance_score": "high"}]}',
        '{"results": 5}',
    ],
)
def test_scores_of_another_form_are_refused(text: str) -> None:
    with ModelService(says(text)) as server, pytest.raises(ModelServiceError):
        reranker(server).score("a", ["b"])
