"""Are functions, services and run files evaluated like our own search?"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import assay
from assay.errors import ConfigError, InputError, UsageError
from assay.evaluation.execution import Retries, execute
from assay.evaluation.result import EvaluationResult
from assay.evaluation.retrievers.http import (
    HttpMapping,
    http_system,
    load_mapping,
    read_answer,
)
from assay.evaluation.retrievers.python import python_system
from assay.evaluation.retrievers.run_file import run_file_system
from assay.evaluation.returned import as_outcome
from assay.evaluation.templates import filled
from assay.model.answers import Usage
from assay.model.system import System
from assay.model.testset import GoldenQuery, Judgment, SpeakerFilter, TestSet

TEST_SET = TestSet(
    "small",
    "v1",
    (
        GoldenQuery("q1", "alpha", relevant_docs=(Judgment("d1", 1),)),
        GoldenQuery(
            "q2", "beta", relevant_docs=(Judgment("d2", 1),), speaker_filter=SpeakerFilter.PATIENT
        ),
    ),
)


def evaluate(system: System) -> EvaluationResult:
    return assay.evaluate(system.retrieve, TEST_SET, "MRR", wants="query", max_errors=None)


def test_a_function_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_engine.py").write_text(
        "from assay.model.testset import GoldenQuery\n"
        "def search(text): return ['x', 'd1' if text == 'alpha' else 'd2']\n"
        "async def later(text): return search(text)\n"
        "def whole(query: GoldenQuery): return ['d' + query.query_id[1:]]\n"
        "class Engine:\n"
        "    @staticmethod\n"
        "    def find(text): return []\n"
        "number = 3\n"
        "import assay\n"
        "papers = assay.system(lambda text: [{'pmid': 'd1' if text == 'alpha' else 'd2'}],"
        " id_field='pmid')\n"
    )
    monkeypatch.chdir(tmp_path)
    assert evaluate(python_system("own_engine:search"))["MRR"] == 0.5
    assert evaluate(python_system("own_engine:later"))["MRR"] == 0.5
    assert evaluate(python_system("own_engine:whole"))["MRR"] == 1.0
    assert evaluate(python_system("own_engine:Engine.find"))["MRR"] == 0.0
    assert evaluate(python_system("own_engine:papers"))["MRR"] == 1.0
    for spec in ("own_engine", ":search", "own_engine:", "own_engine:none", "own_engine:number"):
        with pytest.raises(UsageError):
            python_system(spec)
    with pytest.raises(UsageError, match="cannot be imported: ModuleNotFoundError"):
        python_system("no_such_module_here:f")


def test_a_run_file(tmp_path: Path) -> None:
    path = tmp_path / "a.trec"
    # ties go to the larger id, as trec_eval has it; the rank column says nothing
    path.write_text("q1 Q0 d0 1 2.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 x 1 9 t\nq2 Q0 d2 2 8 t\n")
    system = run_file_system(str(path))
    assert system.generation is not None
    assert evaluate(system).scores.per_query("MRR") == {"q1": 1.0, "q2": 0.5}
    path.write_text(path.read_text() + "q9 Q0 d2 1 8 t\n")
    assert run_file_system(str(path)).generation != system.generation
    lists = tmp_path / "a.json"
    lists.write_text(json.dumps({"q1": ["x", "d1"]}))
    assert evaluate(run_file_system(str(lists))).scores.per_query("MRR") == {"q1": 0.5, "q2": 0.0}


def test_lists_of_a_file_keep_their_order_and_rows_have_none(tmp_path: Path) -> None:
    """Distances rise: the first of the list is the best. A table of scores is ranked by score."""
    path = tmp_path / "distances.json"
    path.write_text(json.dumps({"q1": [["d1", 0.1], ["x", 0.7]], "q2": [["x", 0.2], ["d2", 0.4]]}))
    result = evaluate(run_file_system(str(path)))
    assert result.scores.per_query("MRR") == {"q1": 1.0, "q2": 0.5}
    assert result.out_of_order == ("q1", "q2")
    rows = [("q1", "d1", 0.1), ("q1", "x", 0.7), ("q2", "d2", 0.4)]
    lines = (json.dumps({"query_id": q, "doc_id": d, "score": s}) for q, d, s in rows)
    path.write_text("\n".join(lines))
    result = evaluate(run_file_system(str(path)))
    assert result.scores.per_query("MRR") == {"q1": 0.5, "q2": 1.0}
    assert result.out_of_order == ()


def test_an_answer_over_http_keeps_its_order() -> None:
    answer = b'{"results": [{"chunk_id": 0, "score": 0.1}, {"chunk_id": "x", "score": 0.5}]}'
    for rank_by, wanted in ((None, ["0", "x"]), ("order", ["0", "x"]), ("score", ["x", "0"])):
        read = read_answer(answer, HttpMapping(rank_by=rank_by))
        assert [one.chunk_id for one in as_outcome("q1", read).results] == wanted


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"id": "d1", "score": 2.0}, {"id": "d2", "score": 1.0}]},
        {"results": [{"chunk_id": "d1", "score": 2.0}, {"chunk_id": "d2", "score": 1.0}]},
        {"results": ["d1", "d2"]},
        {"results": [{"metadata": {"pmid": "d1"}}, {"metadata": {"pmid": "d2"}}]},
        [{"doc_id": "d1"}, {"doc_id": "d2"}],
        {"hits": {"hits": [{"_id": "d1", "_score": 2.0}, {"_id": "d2", "_score": 1.0}]}},
    ],
)
def test_an_answer_that_no_mapping_describes_is_read_as_it_is(answer: Any) -> None:
    read = read_answer(json.dumps(answer).encode(), HttpMapping())
    assert [one.chunk_id for one in as_outcome("q1", read).results] == ["d1", "d2"]


def test_a_mapping_names_what_it_names_and_the_rest_is_read_as_it_is() -> None:
    answer = b'{"found": [{"id": "d1", "relevance": 2.5, "paper": {"key": "p1"}}]}'
    mapping = HttpMapping(results="found", score="relevance", doc_id="paper.key")
    (result,) = as_outcome("q1", read_answer(answer, mapping)).results
    assert (result.chunk_id, result.doc_id, result.score) == ("d1", "p1", 2.5)
    with pytest.raises(InputError, match=r"result 1 has nothing at 'pmid' \(it has id, "):
        read_answer(answer, HttpMapping(results="found", id="pmid"))
    with pytest.raises(InputError, match=r"no list of results \(it has found, total\)"):
        read_answer(b'{"found": [], "total": 0}', HttpMapping())


class Service(BaseHTTPRequestHandler):
    """A search service that remembers what it was asked."""

    asked: list[dict[str, Any]]
    status = 200
    answer: Any = None

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        self.reply({"path": address.path, **{k: v[0] for k, v in parse_qs(address.query).items()}})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.reply({"body": json.loads(data), "token": self.headers["Authorization"]})

    def reply(self, asked: dict[str, Any]) -> None:
        type(self).asked.append(asked)
        text = json.dumps(asked)
        found = "d1" if "alpha" in text else "d2"
        answer = self.answer or {
            "results": [{"chunk_id": "x", "score": 2}, {"chunk_id": found, "score": 1.5}],
            "hits": {"hits": [{"_id": found, "_score": 0.1, "_source": {"doc": "D"}}]},
        }
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name there
        pass


@pytest.fixture
def service() -> Iterator[tuple[str, type[Service]]]:
    kind = type("OneService", (Service,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/search", kind
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_another_assay_over_http(service: tuple[str, type[Service]]) -> None:
    url, kind = service
    system = http_system(url, k=20)
    assert system.generation is None
    result = evaluate(system)
    assert result["MRR"] == 0.5
    assert kind.asked == [
        {"path": "/v1/search", "q": "alpha", "k": "20"},
        {"path": "/v1/search", "q": "beta", "k": "20", "speaker": "PATIENT"},
    ]


@pytest.mark.slow
def test_any_service_by_a_mapping(
    service: tuple[str, type[Service]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, kind = service
    monkeypatch.setenv("SEARCH_TOKEN", "s3cret")
    path = tmp_path / "mapping.yaml"
    path.write_text(
        'headers: {Authorization: "Bearer ${SEARCH_TOKEN}"}\n'
        'body: {query: {match: {text: "about {query_text}"}}, size: "{k}", exact: true}\n'
        "results: hits.hits\nid: _id\nscore: _score\ndoc_id: _source.doc\ntimeout_s: 5\n"
    )
    system = http_system(url, load_mapping(path), k=7)
    result = evaluate(system)
    assert result["MRR"] == 1.0
    assert result.outcomes[0].results[0].doc_id == "D"
    assert kind.asked[0] == {
        "body": {"query": {"match": {"text": "about alpha"}}, "size": 7, "exact": True},
        "token": "Bearer s3cret",
    }
    assert "s3cret" not in json.dumps(dict(system.config))


@pytest.mark.slow
def test_what_an_answer_over_http_cost_is_read(service: tuple[str, type[Service]]) -> None:
    url, kind = service
    kind.answer = {"results": [{"chunk_id": "d1"}], "usage": {"dollars": 0.5, "all": 7}}
    mapping = HttpMapping(cost="usage.dollars", tokens="usage.all")
    assert evaluate(http_system(url, mapping)).usage == Usage(1.0, 14)
    assert "cost" not in http_system(url, mapping).config  # it changes no answer


@pytest.mark.slow
def test_a_service_that_is_busy_is_asked_again(service: tuple[str, type[Service]]) -> None:
    url, kind = service
    kind.status = 503
    pauses: list[float] = []
    retries = Retries(1, pauses.append)
    (outcome,) = execute(http_system(url).retrieve, TEST_SET.queries[:1], retries=retries)
    assert "HTTP 503" in (outcome.error or "")
    assert (len(kind.asked), pauses) == (2, [0.5])
    kind.status = 404
    list(execute(http_system(url).retrieve, TEST_SET.queries[:1], retries=retries))
    assert len(kind.asked) == 3


@pytest.mark.slow
def test_no_key_is_in_an_error_or_a_configuration(
    service: tuple[str, type[Service]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, kind = service
    monkeypatch.setenv("SEARCH_TOKEN", "fr0m-environment")
    secrets = ("pa55word", "query-s3cret", "fr0m-environment", "wr1tten-down", "p@r4m")
    kind.status, kind.answer = 401, {"detail": f"refused: {' '.join(secrets)}"}
    address = f"{url.replace('://', '://me:pa55word@')}?api_key=query-s3cret"
    mapping = HttpMapping(
        headers={"Authorization": "Bearer ${SEARCH_TOKEN}", "X-Api-Key": "wr1tten-down"},
        params={"q": "{query_text}", "access_token": "p@r4m"},
    )
    for status, place in ((401, address), (503, address), (200, "http://me:pa55word@127.0.0.1:1/")):
        kind.status = status
        system = http_system(place, mapping)
        error = evaluate(system).outcomes[0].error or ""
        assert ("HTTP" in error) or ("Connect" in error), error
        kept = f"{error} {json.dumps(dict(system.config))}"
        assert [one for one in secrets if one in kept] == []


@pytest.mark.slow
def test_what_goes_wrong_over_http_is_an_error_of_its_query(
    service: tuple[str, type[Service]],
) -> None:
    url, kind = service
    for status, answer, message in (
        (503, {"detail": "busy"}, "HTTP 503"),
        (200, b"<html>", "not JSON"),
        (200, {"other": []}, "no list of results (it has other)"),
        (200, {"results": [{"score": 1}]}, "has no id"),
        (200, {"results": [{"chunk_id": "d1", "score": "high"}]}, "not a number"),
        (302, {"results": []}, "HTTP 302"),
    ):
        kind.status, kind.answer = status, answer
        assert message in (evaluate(http_system(url)).outcomes[0].error or "")
    kind.status, kind.answer = 200, {"results": [], "degraded": True}
    assert evaluate(http_system(url)).degraded == ("q1", "q2")
    assert "Connect" in (evaluate(http_system("http://127.0.0.1:1/")).outcomes[0].error or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "lines such as"),
        ("result: hits\n", "mapping.yaml:1: 'result' is not known"),
        ("results: [a]\n", "path of a field"),
        ("params: q\n", "names and values"),
        ("method: PUT\n", "GET, POST"),
        ("timeout_s: soon\n", "timeout_s"),
        ("timeout_s: 0\n", "timeout_s"),
        ("rank_by: distance\n", "rank_by must be order or score"),
        ('params: {q: "{query}"}\n', "mapping.yaml:1: 'params'.q: '{query}' is not known"),
        ('body: {a: [{b: "x {Query_Text} y"}]}\n', "'{Query_Text}' is not known"),
        ('headers: {X-Id: "{queryId}"}\n', "'{queryId}' is not known"),
        ('results: r\nbody: {a: "{k} of {top_k}"}\n', "mapping.yaml:2: .*'{top_k}' is not known"),
        ('body: {"{k}": 1}\n', "only values are filled in"),
    ],
)
def test_a_mapping_with_a_mistake_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message.replace("'", ".")):
        load_mapping(path)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=re.escape("params.q: '{text}' is not known")) as refused:
        HttpMapping(params={"q": "{text}"})
    for name in ("query_text", "query_id", "k", "speaker", "ingestion_mode"):
        assert f"{{{name}}}" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ("{query_text}!", "who?!"),
        ("{k}", 7),
        ("{speaker}", None),
        ("by {speaker}.", "by ."),
        ("{{k}}", "{k}"),
        (
            'query { search(text: "{query_text}") { id score } }',
            'query { search(text: "who?") { id score } }',
        ),
        ("${SEARCH_KEY}", "{k}"),
        ({"a": ["{query_id}", 3, None]}, {"a": ["q1", 3, None]}),
    ],
)
def test_a_template_is_filled_once(
    template: Any, sent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_KEY", "{k}")  # what is filled in is not filled again
    known = {"query_text": "who?", "query_id": "q1", "k": 7, "speaker": None}
    HttpMapping(body=template)
    assert filled(template, known) == sent


def test_a_header_needs_its_variable() -> None:
    mapping = HttpMapping(headers={"X-Key": "${NOT_SET_ANYWHERE}"})
    with pytest.raises(UsageError, match="NOT_SET_ANYWHERE"):
        http_system("http://127.0.0.1:1/", mapping)
