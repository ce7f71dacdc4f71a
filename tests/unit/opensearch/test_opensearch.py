"""What can be told of the cluster's adapter without a cluster."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import numpy as np
import pytest

from assay import limits
from assay.errors import ConfigError, EngineError
from assay.model.conditions import read_condition
from assay.model.document import Chunk, KeyedChunk, SpeakerRole
from assay.model.query import Filters, Hit, PartialAnswerError
from assay.opensearch import bulk as loading
from assay.opensearch.bulk import delete_chunks
from assay.opensearch.cluster import Cluster, Current, Shape
from assay.opensearch.components import Bm25, Dense, filter_clauses, inner_product
from assay.opensearch.facts import PAGE, ClusterFacts
from assay.opensearch.mapping import index_body, rounded, row_of
from assay.opensearch.transport import Credentials, NoNodeError, Transport
from tests.unit.index.helpers import DENSE, ENCODERS, Memory

NOBODY = "http://127.0.0.1:9"  # the discard port: nothing listens


class Answers(BaseHTTPRequestHandler):
    """Says what it was told to say, one answer after the other, and remembers what came."""

    script: list[tuple[int, bytes]]
    seen: list[tuple[str, bytes, str | None]]

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append((self.path, body, self.headers.get("Authorization")))
        status, answer = self.script.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    protocol_version = "HTTP/1.1"
    do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def transport(node: str) -> Iterator[Transport]:
    with closing(Transport(node)) as opened:
        yield opened


@pytest.fixture
def node() -> Iterator[str]:
    Answers.script, Answers.seen = [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("urls", "says"),
    [
        ("none", "names no node"),
        ("", "names no node"),
        ("http://", "names no node"),
        ("http://node:port", "names no node"),
        ("http://node:9200 ftp://node", "names no node"),
        ("http://me:secret@node:9200", "credential"),
    ],
)
def test_a_setting_that_names_no_node(urls: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        Transport(urls)
    assert "secret" not in str(caught.value)


def test_a_node_that_is_gone_is_passed_over(node: str) -> None:
    transport = Transport(f"{NOBODY} {node}, {NOBODY}")
    for _ in range(4):
        Answers.script.append((200, b'{"ok": true}'))
        assert transport.ask("GET", "/") == {"ok": True}
    transport.close()


def test_no_node_at_all_and_refusals(node: str) -> None:
    transport = Transport(NOBODY)
    with pytest.raises(EngineError, match="no node of OpenSearch can be reached"):
        transport.ask("GET", "/")
    transport.close()
    transport = Transport(node)
    Answers.script += [(400, b'{"error": {"type": "bad", "reason": "no such field"}}'), (404, b"")]
    with pytest.raises(EngineError, match="400 bad: no such field"):
        transport.ask("POST", "/x/_search?a=b", {})
    assert transport.ask("GET", "/_alias/x", missing=True) == {}
    transport.close()


def test_credentials_are_sent(node: str) -> None:
    transport = Transport(node, Credentials(user="me", password="secret"))
    Answers.script.append((200, b"{}"))
    transport.ask("GET", "/")
    transport.close()
    assert Answers.seen[0][2] == "Basic bWU6c2VjcmV0"


def test_nodes_that_would_get_credentials_unencrypted_are_known() -> None:
    urls = "http://search-1:9200 https://search-2:9200 http://localhost:9200 http://[::1]:9200"
    transport = Transport(urls, Credentials(api_key="secret"))
    assert transport.exposed == ["http://search-1:9200"]
    assert Transport(urls).exposed == []


def test_a_busy_cluster_is_asked_again(node: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("assay.opensearch.transport.FIRST_PAUSE_SECONDS", 0.01)
    Answers.script += [
        (429, b"{}"),
        (200, b'{"items": [{"delete": {"status": 200}}, {"delete": {"status": 429}}]}'),
        (200, b'{"items": [{"delete": {"status": 404}}]}'),
    ]
    transport = Transport(node)
    delete_chunks(transport, "i", [1, 2])
    sent = [body.count(b"\n") for _, body, _ in Answers.seen]
    assert sent == [2, 2, 1]
    Answers.script.append(
        (200, b'{"items": [{"delete": {"status": 400, "error": {"reason": "x"}}}]}')
    )
    with pytest.raises(EngineError, match="refused chunk 3: x"):
        delete_chunks(transport, "i", [3])
    transport.close()


def test_a_node_that_hangs_is_asked_last_for_a_while(node: str) -> None:
    with socket.socket() as hung:
        hung.bind(("127.0.0.1", 0))
        hung.listen()
        transport = Transport(f"http://127.0.0.1:{hung.getsockname()[1]} {node}")
        Answers.script += [(200, b"{}")] * 6
        late = 0
        for _ in range(6):
            try:
                transport.ask("GET", "/", timeout=0.1)
            except EngineError as problem:
                late += "did not answer in time" in problem.message
        transport.close()
    assert late == 1


def test_a_load_waits_for_a_cluster_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.opensearch.transport.FIRST_PAUSE_SECONDS", 0.01)
    transport = Transport(NOBODY)
    answers = [NoNodeError("away"), NoNodeError("away"), (200, {"items": []})]

    def answer(*_: object) -> object:
        one = answers.pop(0)
        if isinstance(one, Exception):
            raise one
        return one

    monkeypatch.setattr(transport, "_any_node", answer)
    assert transport.bulk(b"") == {"items": []}
    monkeypatch.setattr("assay.opensearch.transport.PATIENCE_SECONDS", 0.0)
    answers.append(NoNodeError("away"))
    with pytest.raises(EngineError, match="away"):
        transport.bulk(b"")


def test_a_part_of_the_shards_is_no_whole_answer(node: str) -> None:
    hit = {"sort": [2.5, "d:1", 7]}
    full = {"total": 3, "successful": 3, "failed": 0}
    broken = {
        "total": 3,
        "successful": 2,
        "failed": 1,
        "failures": [{"reason": {"reason": "disk full"}}],
    }
    away = {"total": 3, "successful": 1, "failed": 0}  # as the cluster says of lost shards
    answers = [
        {"_shards": full, "hits": {"hits": [hit]}},
        {"_shards": broken, "hits": {"hits": [hit]}},
        {"_shards": away},
        {"_shards": full, "timed_out": True, "hits": {"hits": [hit]}},
    ]
    Answers.script += [(200, json.dumps(answer).encode()) for answer in answers]
    transport = Transport(node)
    bm25 = Bm25(transport, "i")
    assert bm25.search("words", 3) == [Hit(7, "d:1", 2.5)]
    for says, found in (
        ("1 of 3 shards did not answer: disk full", 1),
        ("2 of 3 shards did not answer: they have no live copy", 0),
        ("the cluster stopped early", 1),
    ):
        with pytest.raises(PartialAnswerError, match=says) as caught:
            bm25.search("words", 3)
        assert len(caught.value.hits) == found
    transport.close()


def test_as_much_is_asked_for_as_the_cluster_gives(node: str) -> None:
    """Where a document is looked for that nobody found, ten thousand places are looked at."""
    answer = json.dumps({"_shards": {"total": 1, "successful": 1}}).encode()
    Answers.script += [(200, answer)] * 4
    transport = Transport(node)
    for k in (5, limits.WHY_DEPTH):
        Bm25(transport, "i").search("words", k)
        Dense(transport, "i", DENSE).search("words", k)
    transport.close()
    sent = [json.loads(body) for _, body, _ in Answers.seen]
    assert [one["size"] for one in sent] == [5, 5, limits.WHY_DEPTH, limits.WHY_DEPTH]
    assert [one["query"]["knn"]["dense"]["k"] for one in sent[1::2]] == [100, limits.WHY_DEPTH]


def test_the_size_of_an_index_that_is_not_there(node: str) -> None:
    """It is none, and not that of all others on the cluster."""
    health = {"cluster_name": "c", "status": "green", "number_of_nodes": 1, "unassigned_shards": 0}
    version = {"version": {"number": "2.19.1"}}
    Answers.script += [(200, json.dumps(one).encode()) for one in (health, version)]
    transport = Transport(node)
    card = Cluster(transport, Shape()).card(Current())
    transport.close()
    assert (card["bytes"], card["indexed_rows"]) == ({"primaries": 0}, 0)


def test_what_others_made_is_left_alone(node: str) -> None:
    """Somebody else's index has the name that ours would get."""
    foreign = json.dumps({"assay-000001": {"mappings": {"properties": {}}}}).encode()
    Answers.script += [(404, b"{}"), (200, foreign), (200, foreign)]
    transport = Transport(node)
    with pytest.raises(EngineError, match="assay-000001 was not made by assay"):
        Cluster(transport, Shape()).update(Memory(), ENCODERS, DENSE.dimension)
    transport.close()
    assert len(Answers.seen) == 3, "nothing was deleted"


def test_nodes_that_are_too_old_or_lack_the_plugin_are_named(node: str) -> None:
    knn = {"name": "opensearch-knn", "classname": "org.opensearch.knn.plugin.KNNPlugin"}
    nodes = {
        "x": {"name": "good", "version": "2.19.1", "plugins": [knn]},
        "y": {"name": "old", "version": "2.9.0", "plugins": [knn]},
        "z": {"name": "bare", "version": "3.0.0", "plugins": []},
    }
    Answers.script.append((200, json.dumps({"nodes": nodes}).encode()))
    transport = Transport(node)
    found = Cluster(transport, Shape()).unfit()
    transport.close()
    assert [what for what, _ in found] == [
        "node old has OpenSearch 2.9.0",
        "node bare lacks the plugin opensearch-knn",
    ]


def test_secrets_are_never_told(node: str) -> None:
    transport = Transport(f"{NOBODY} {node}", Credentials(api_key="very-secret"))
    Answers.script.append((401, b'{"error": "no"}'))
    with pytest.raises(EngineError) as caught:
        transport.ask("GET", "/")
    transport.close()
    assert Answers.seen[0][2] == "ApiKey very-secret"
    assert "very-secret" not in f"{caught.value} {transport!r} {vars(transport)!r}"


@pytest.mark.parametrize("key", ["very-secret\n", "very-secret\r\n"])
def test_a_key_from_a_file_ends_with_its_line(node: str, key: str) -> None:
    transport = Transport(node, Credentials(api_key=key))
    Answers.script.append((200, b"{}"))
    transport.ask("GET", "/")
    transport.close()
    assert Answers.seen[0][2] == "ApiKey very-secret"


@pytest.mark.parametrize("key", ["very-secret\nX: y", "very-s€cret", "very\0secret"])
def test_a_key_that_is_none_is_refused_and_not_told(key: str) -> None:
    with pytest.raises(ConfigError, match="ASSAY_OPENSEARCH_API_KEY") as caught:
        Transport(NOBODY, Credentials(api_key=key))
    assert "very" not in str(caught.value)


def test_a_password_without_a_user_is_refused() -> None:
    with pytest.raises(ConfigError, match="ASSAY_OPENSEARCH_USER is not"):
        Transport(NOBODY, Credentials(password="secret"))


def test_errors_say_which_node_and_what_to_do(node: str) -> None:
    transport = Transport(NOBODY)
    with pytest.raises(EngineError, match=r"http://127\.0\.0\.1:9: ConnectionRefused.*refused"):
        transport.ask("GET", "/")
    transport = Transport(node)
    Answers.script.append((401, b"Unauthorized"))
    with pytest.raises(EngineError, match="401") as caught:
        transport.ask("GET", "/")
    transport.close()
    assert "ASSAY_OPENSEARCH_USER" in str(caught.value.hint)


def test_scores_are_inner_products_again() -> None:
    for product in (-0.9, -0.1, 0.0, 0.3, 1.0):
        lucene = 1 + product if product >= 0 else 1 / (1 - product)
        assert inner_product(lucene) == pytest.approx(product)


def test_filters_become_clauses() -> None:
    facts = ClusterFacts(Transport(NOBODY), "i")  # not asked where nothing is said of metadata
    assert filter_clauses(None, facts) == []
    chosen = Filters(speaker_role=(SpeakerRole.PATIENT,), is_table=False)
    assert filter_clauses(chosen, facts) == [
        {"terms": {"speaker_role": ["PATIENT"]}},
        {"terms": {"is_table": ["False"]}},
    ]


def _said(*terms: str) -> tuple[int, bytes]:
    buckets = [{"key": {"fact": term}, "doc_count": 1} for term in terms]
    whole = {"total": 1, "successful": 1}
    answer = {"_shards": whole, "aggregations": {"facts": {"buckets": buckets}}}
    return 200, json.dumps(answer).encode()


def test_conditions_become_the_terms_that_they_name(transport: Transport) -> None:
    facts = ClusterFacts(transport, "i")
    Answers.script = [
        _said("year=2018", "year=2020", "year=2023", "zone=1"),
        _said("phase=NA", "phase=PHASE3", "year=2018"),
    ]
    texts = ("year>=2020", "phase=Phase 3", "year!=2018..2019", "year<1990")
    chosen = Filters(source=("s",), metadata=tuple(map(read_condition, texts)))
    assert filter_clauses(chosen, facts) == [
        {"terms": {"source": ["s"]}},
        {"terms": {"facts": ["year=2020", "year=2023"]}},
        {"terms": {"facts": ["phase=PHASE3"]}},
        {"bool": {"must_not": [{"terms": {"facts": ["year=2018"]}}]}},
        {"terms": {"facts": []}},
    ]
    path, body, _ = Answers.seen[0]
    assert path.startswith("/i/_search")
    assert json.loads(body)["aggs"]["facts"]["composite"]["after"] == {"fact": "year="}
    assert len(Answers.seen) == 2, "the values of a field are asked for once"


def test_values_of_a_field_come_in_pages(transport: Transport) -> None:
    facts = ClusterFacts(transport, "i")
    many = [f"n={at:05}" for at in range(PAGE + 2)]
    Answers.script = [_said(*many[:PAGE]), _said(*many[PAGE:], "o=1")]
    assert facts.values("n") == [term[2:] for term in many]
    _, body, _ = Answers.seen[1]
    assert json.loads(body)["aggs"]["facts"]["composite"]["after"] == {"fact": many[PAGE - 1]}


def test_values_of_a_part_of_the_shards_are_not_taken_for_all(transport: Transport) -> None:
    half = {"total": 2, "successful": 1}
    answer = {"_shards": half, "aggregations": {"facts": {"buckets": []}}}
    Answers.script = [(200, json.dumps(answer).encode())]
    with pytest.raises(EngineError, match="a part of the shards"):
        ClusterFacts(transport, "i").values("year")


def test_the_fields_that_documents_have(transport: Transport) -> None:
    buckets = [{"key": "year", "doc_count": 3}, {"key": "phase", "doc_count": 1}]
    whole = {"total": 1, "successful": 1}
    answer = {"_shards": whole, "aggregations": {"facts": {"buckets": buckets}}}
    Answers.script = [(200, json.dumps(answer).encode())]
    facts = ClusterFacts(transport, "i")
    assert facts.fields() == facts.fields() == ["phase", "year"]


def test_a_chunk_brings_its_metadata_as_terms() -> None:
    metadata: dict[str, Any] = {
        "year": 2020,
        "phase": ("PHASE2", "PHASE3"),
        "open": True,
        "note": "x" * 300,
    }
    row = row_of(KeyedChunk(1, Chunk("c", "d", "text", metadata=metadata)), None, None)
    assert row["facts"] == ["year=2020", "phase=PHASE2", "phase=PHASE3", "open=true"]
    assert row["fact_fields"] == ["year", "phase", "open"]


def test_an_index_without_vectors_needs_no_plugin() -> None:
    body = index_body(shards=1, replicas=0, refresh="1s", dimension=0, meta={})
    assert "knn" not in body["settings"]["index"]
    assert "dense" not in body["mappings"]["properties"]


class _Recorded:
    """A transport that keeps what is asked and answers with nothing found."""

    def __init__(self, counts: int = 0) -> None:
        self.bodies: list[Any] = []
        self._counts = counts

    def ask(self, method: str, path: str, body: Any = None, **how: object) -> dict[str, Any]:
        self.bodies.append(body)
        if path.endswith("/_count"):
            return {"count": self._counts}
        names = body.get("aggs", {}).get("terms", {}).get("filters", {}).get("filters", {})
        return {
            "_shards": {"total": 1, "successful": 1},
            "hits": {"hits": [{"sort": [1.0, "a", 1]}] if body.get("size") == 1 else []},
            "aggregations": {
                "terms": {"buckets": {name: {"doc_count": self._counts} for name in names}}
            },
            "suggest": {
                "words": [
                    {
                        "options": [
                            {"text": "metformin", "freq": 3},
                            {"text": "mitfrumin", "freq": 9},
                        ]
                    }
                ]
            },
        }


def test_the_cluster_gets_words_that_are_cut_already() -> None:
    chunk = Chunk("d:chunk_0", "d", "IL-6 fell by 2,550 mg.", title="Tumours")
    row = row_of(KeyedChunk(1, chunk), None, None)
    assert row["body"] == "tumor il 6 fell 2550 mg"
    assert row["forms"].split() == ["il6", "2550mg"]
    assert row["ids"].split() == ["d", "dchunk0"]
    fields = index_body(shards=1, replicas=0, refresh="1s", dimension=0, meta={})["mappings"]
    assert fields["properties"]["body"]["analyzer"] == "whitespace"


def test_the_cluster_is_asked_for_words_conditions_and_codes() -> None:
    transport = _Recorded()
    words = Bm25(cast("Transport", transport), "assay-000001")
    words.search('IL-6 "heart failure" -aspirin', 10)
    asked = transport.bodies[-1]["query"]["bool"]
    assert {"term": {"forms": {"value": "il6", "boost": 0.5}}} in asked["should"]
    assert asked["filter"] == [
        {"bool": {"should": [{"match_phrase": {"body": "heart failur"}}],
                  "minimum_should_match": 1}}
    ]  # fmt: skip
    assert asked["must_not"] == [{"match_phrase": {"body": "aspirin"}}]
    assert words.exact("I21.4") == []
    assert transport.bodies[-1]["query"]["bool"]["filter"][0]["bool"]["should"][1] == {
        "term": {"forms": {"value": "i214"}}
    }
    assert words.holding('"heart failure"', [3, 4]) == set()
    assert {"terms": {"key": [3, 4]}} in transport.bodies[-1]["query"]["bool"]["filter"]
    assert words.identified("nct01", 5) == []
    assert words.similar("metfromin") == ("metformin", 1)
    assert Bm25(cast("Transport", _Recorded(7)), "i").counts(["a", "b"]) == {"a": 7, "b": 7}


def test_the_cluster_is_asked_once_for_each_word() -> None:
    transport = _Recorded(7)
    words = Bm25(cast("Transport", transport), "i")
    assert words.counts(()) == {}
    assert transport.bodies == [], "OpenSearch refuses to count nothing"
    assert words.counts(["a", "b"]) == words.counts(["b", "a"])
    assert words.frequency("of the") == limits.MAX_CHUNKS_OF_WORD + 7, (
        "stop words are in every chunk"
    )
    words.search('"heart failure"', 5)
    words.search('"heart failure" dose', 5)
    sizes = [body["size"] for body in transport.bodies if body]
    assert sizes == [0, 1, 5, 5], "counts, whether the phrase is anywhere, and two searches"


def test_exact_codes_are_as_many_as_the_size_of_the_index_allows() -> None:
    for chunks, most in ((0, 10), (5_000, 50), (900_000, 200)):
        transport = _Recorded(chunks)
        Bm25(cast("Transport", transport), "i").exact("I21.4")
        assert transport.bodies[-1]["size"] == most + 1


def test_weights_are_rounded_to_what_the_cluster_keeps() -> None:
    """Lucene cuts 15 of 32 bits off; what is left of rounded weights is nearer."""
    given = np.array([0.001, 0.1234567, 1.0, 1.2345678, 2.71828, 17.3], dtype=np.float32)
    sent = rounded(given)
    kept = np.array(sent, dtype=np.float32)
    assert (kept.view(np.int32) & 0x7FFF).tolist() == [0] * 6, "nothing is left to cut off"
    assert kept.tolist() == pytest.approx(given.tolist(), rel=2**-9)
    cut = (given.view(np.int32) >> 15 << 15).view(np.float32)
    assert np.abs(kept - given).sum() < np.abs(cut - given).sum()
