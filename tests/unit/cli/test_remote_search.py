"""Does a search with a service take the same options, and give the same answer, as one here?"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run
from assay.client import Client, ServiceError
from assay.settings import SETTINGS as TABLE
from tests.unit.http.conftest import small_home  # noqa: F401 - a fixture
from tests.unit.http.process import SETTINGS, ServiceProcess
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow

Shared = tuple[Path, str]
MOVING = re.compile(r'[0-9.]+ ms|"timings_ms": \{[^}]*\}|"cached": \w+| \(from memory\)')


@pytest.fixture(scope="module")
def shared(
    small_home: Path,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shared]:
    """A workspace, and the address of a service over it."""
    home = tmp_path_factory.mktemp("shared") / "home"
    shutil.copytree(small_home, home)
    (home / "models" / "someone--some-model").mkdir(parents=True)
    with ServiceProcess(home) as process:
        yield home, process.address


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The settings of the service hold here, too."""
    for row in TABLE.values():
        monkeypatch.delenv(row.env, raising=False)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, str, str]:
    code = run(arguments)
    out, err = capsys.readouterr()
    return code, MOVING.sub("...", out), err


@pytest.mark.parametrize(
    "options",
    [
        ["--ingestion-mode", "OFFLINE"],
        ["--ingestion-mode", "LIVE"],
        ["--speaker", "UNKNOWN", "--speaker", "PATIENT"],
        ["--doc-id", "d1", "--doc-id", "d2", "--no-is-table", "--explain"],
        ["--section", "abstract", "--section", "Results", "-k", "1", "--offset", "1"],
        [
            "--fusion-method",
            "weighted",
            "--weights",
            "bm25=1",
            "--components",
            "bm25",
            "--no-per-type-weights",
        ],
        ["--query-type", "paraphrase", "--query-intent", "tabular", "--depth", "7", "--rrf-k", "5"],
        ["--rerank", "--reranker", "BAAI/bge-reranker-base"],
        ["--rerank", "--reranker", "ms-marco-minilm-l12-v2"],
        ["--rerank", "--reranker", "someone/some-model"],
        ["--why", "d4"],
    ],
    ids=" ".join,
)
def test_the_same_options_from_near_and_far(
    shared: Shared, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    home, address = shared
    command = ["search", "headache blood", *options]
    for more in ([], ["--json"]):
        near = said(capsys, ["--home", str(home), *command, *more])
        far = said(capsys, ["--server", address, *command, *more])
        assert near == far
        assert near[0] in {0, 4}


@pytest.mark.parametrize("name", ["bge-small", "models/someone--some-model", "nobody/has-this"])
def test_a_service_opens_no_folder_that_a_caller_names(shared: Shared, name: str) -> None:
    """Not even one that is there: the service stands in the folder that the name counts from."""
    _, address = shared
    with Client(address) as client:
        if "/" not in name:
            assert client.search("headache", rerank=True, reranker=name).reranker_error
            return
        for ask in (
            lambda: client.search("headache", reranker=name),
            lambda: client.why("headache", "d1", reranker=name),
            lambda: client.answer("headache", reranker=name),
            lambda: client.call("POST", "/v1/evaluate", json=TEST_SET, params={"reranker": name}),
        ):
            with pytest.raises(ServiceError, match="is not a model of this service") as caught:
                ask()
            assert caught.value.status == 400


@pytest.mark.parametrize("name", ["/etc", "./models", "~/models", "a/b/c", "..", "../x"])
def test_a_path_is_refused_before_it_is_looked_at(shared: Shared, name: str) -> None:
    _, address = shared
    with Client(address) as client, pytest.raises(ServiceError) as caught:
        client.search("headache", reranker=name)
    assert caught.value.status == 422


def test_sections_and_hints_come_from_the_service(
    shared: Shared, capsys: pytest.CaptureFixture[str]
) -> None:
    home, address = shared
    ask = ["search", "headache", "--section", "foo"]
    near = said(capsys, ["--home", str(home), *ask])
    far = said(capsys, ["--server", address, *ask])
    assert near == far
    with Client(address) as client:
        sections = client.sections()
        state = client.freshness()
    assert sections == sorted(sections)
    assert (state.empty, state.changes_behind, state.home) == (False, 0, "")


def test_json_is_the_value_that_a_client_reads(
    shared: Shared, capsys: pytest.CaptureFixture[str]
) -> None:
    _, address = shared
    assert run(["--server", address, "search", "headache", "--json"]) == 0
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    with Client(address) as client:
        found = client.search("headache").to_dict()
    for moving in ("timings_ms", "cached"):
        del shown[moving], found[moving]
    assert shown == found
