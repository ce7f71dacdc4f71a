"""Does a program on another machine get what the service has?"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from assay.app.evaluation import EvaluationStep
from assay.app.evaluation_request import EvaluationRequest
from assay.app.run_view import view_of
from assay.cli.main import run
from assay.client import Client, ServiceError
from assay.errors import UnreachableError, UsageError
from assay.evaluation.compare import ComparisonKind
from assay.model.run_store import RunFilter, RunPage
from assay.store.keys import KeyStore
from assay.testsets.load import parse_test_set
from tests.unit.http.conftest import small_home  # noqa: F401 - a fixture
from tests.unit.http.process import ServiceProcess
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow


def request(run_id: str, **options: Any) -> EvaluationRequest:
    test_set = parse_test_set(json.dumps(TEST_SET).encode()).sound()
    return EvaluationRequest(test_set=test_set, run_id=run_id, options=options)


@pytest.fixture(scope="module")
def service(
    small_home: Path,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServiceProcess]:
    home = tmp_path_factory.mktemp("shared") / "home"
    shutil.copytree(small_home, home)
    with ServiceProcess(home) as process:
        yield process


def test_search_evaluate_gate_and_carry(service: ServiceProcess) -> None:
    with Client(service.address) as client:
        assert client.search("headache", k=1).results[0].chunk.doc_id == "d1"
        steps: list[EvaluationStep] = []
        made = client.carry_out(request("client_1"), steps.append)
        assert made.to_dict()["metrics"]["recall_at_10"] == 1.0
        assert (steps[-1].done, steps[-1].total) == (3, 3)
        packed = client.export_run("client_1")
        assert client.push_run(packed) == {"run_id": "client_1", "new": False}
        assert client.runs.tag("client_1", "base").tags == ("base",)
        assert client.runs.run("base").run_id == "client_1"
        assert client.runs.run("latest", suite="small").run_id == "client_1"
        (one,) = client.runs.outcomes("base", queries=["q2"], depth=1, stages=False)
        assert (one.query_id, len(one.results), one.component_lists) == ("q2", 1, {})
        assert client.gate("base", "client_1").outcome.exit_code == 0
        assert client.compare("base", "client_1").report.counts[ComparisonKind.DRAW] == 3
        info = client.runs.run("base")
        assert client.runs.runs(RunFilter(suite="small")).runs == (info,)
        assert client.runs.runs(RunFilter(config_hash=info.config_hash)).total == 1
        assert client.runs.runs(RunFilter(config_hash="0" * 64)).total == 0


def test_an_evaluation_is_sent_whole_and_read_without_lists(
    service: ServiceProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = replace(request("client_2", depth=9), tags=("one", "two"), commit_hash="c0ffee")
    asked: list[Any] = []
    with Client(service.address) as client:
        call = client.call

        def noted(method: str, path: str, **more: Any) -> dict[str, Any]:
            asked.append((path, more))
            return call(method, path, **more)

        monkeypatch.setattr(client, "call", noted)
        (made,) = client.carry_out(wanted).runs
        assert (made.info.commit_hash, made.info.tags) == ("c0ffee", ("one", "two"))
        pages = [more["params"] for path, more in asked if path.endswith("/queries")]
        assert [page["stages"] for page in pages] == ["false"]
        shown = view_of(
            client, made.info, made.result, wanted.scoring(client.settings),
            per_component=True, waterfall=True,
        )  # fmt: skip
        assert shown.components is not None
        assert shown.components.to_dict()
        here: list[dict[str, Any]] = [
            {"retriever": "a:b"}, {"run_file": "x"}, {"resume": "x"}, {"mapping": tmp_path},
            {"purpose": "tuning"},
        ]  # fmt: skip
        for only in here:
            with pytest.raises(UsageError, match=f"{next(iter(only))}: a service cannot"):
                client.carry_out(replace(wanted, options={}, **only))


def test_a_refusal_is_an_error_with_its_request(service: ServiceProcess) -> None:
    with Client(service.address) as client, pytest.raises(ServiceError) as caught:
        client.document("nothing-of-that-name")
    assert caught.value.status == 404
    assert caught.value.request_id
    with Client("127.0.0.1:9", timeout=2) as client, pytest.raises(UnreachableError):
        client.runs.runs()


def test_a_busy_service_is_asked_again() -> None:
    answers = iter([503, 429, 200])
    nothing = {"total": 0, "runs": []}

    def handler(request: httpx.Request) -> httpx.Response:
        del request
        return httpx.Response(next(answers), json=nothing, headers={"retry-after": "0"})

    with Client("http://x", transport=httpx.MockTransport(handler)) as client:
        assert client.runs.runs() == RunPage((), 0)
    not_ours = httpx.MockTransport(lambda request: httpx.Response(200, text="hello"))
    with Client("http://x", transport=not_ours) as client, pytest.raises(ServiceError):
        client.runs.runs()


def test_commands_work_with_a_service(
    service: ServiceProcess,
    small_home: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["--server", service.address, "search", "headache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["doc_id"] == "d1"
    assert run(["--server", service.address, "search", "headache"]) == 0
    assert "d1:chunk_0" in capsys.readouterr().out
    shutil.copytree(small_home, tmp_path / "mine")
    with ServiceProcess(tmp_path / "mine") as mine, Client(mine.address) as client:
        client.carry_out(request("made_here", depth=1))
    push = ["--home", "mine", "--server", service.address, "eval", "push", "made_here"]
    assert run([*push, "--tag", "nightly"]) == 0
    assert capsys.readouterr().out == "made_here pushed\n"
    assert run(push) == 0
    assert capsys.readouterr().out == "made_here was there already\n"
    with Client(service.address) as client:
        client.carry_out(request("whole", depth=50))
    gate = ["--server", service.address, "eval", "gate", "--baseline", "whole"]
    assert run([*gate, "--current", "nightly"]) == 3
    assert "gate: failed" in capsys.readouterr().out
    assert run([*gate, "--current", "whole", "--json"]) == 0
    assert run(["--home", "mine", "eval", "push"]) == 2


def test_the_key_comes_from_the_environment(
    small_home: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "closed"
    shutil.copytree(small_home, home)
    store = KeyStore(home / "assay.db")
    _, secret = store.create("ci", ["read"])
    store.close()
    monkeypatch.chdir(tmp_path)
    with ServiceProcess(home) as service:
        ask = ["--server", service.address, "search", "headache"]
        assert run(ask) == 1
        assert "API key" in capsys.readouterr().err
        monkeypatch.setenv("ASSAY_API_KEY", secret)
        assert run(ask) == 0


def test_a_backup_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:9") as client:
        with pytest.raises(UnreachableError):
            client.backup(tmp_path / "new")
        (tmp_path / "kept").write_text("an older backup")
        with pytest.raises(UsageError, match="already exists"):
            client.backup(tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_text() == "an older backup"
