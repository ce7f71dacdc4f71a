"""Does a command say the same with a service as beside the workspace of that service?"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.evaluation_request import EvaluationRequest
from assay.cli.lazy import load
from assay.cli.main import COMMANDS, run
from assay.client import Client
from assay.testsets.load import parse_test_set
from tests.parity.table import TABLE
from tests.unit.http.conftest import small_home  # noqa: F401 - a fixture
from tests.unit.http.process import SETTINGS, ServiceProcess
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow

Shared = tuple[Path, str]
MOVING = re.compile(r'[0-9.]+ ms|"timings_ms": \{[^}]*\}|"cached": \w+|, "request_id": "\w+"')
GATE = ["eval", "gate", "--baseline", "run_a", "--current", "run_b"]


def request(run_id: str, depth: int) -> EvaluationRequest:
    test_set = parse_test_set(json.dumps(TEST_SET).encode()).sound()
    return EvaluationRequest(test_set=test_set, run_id=run_id, options={"depth": depth})


@pytest.fixture(scope="module")
def shared(
    small_home: Path,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shared]:
    """A workspace with two runs, and the address of a service over it."""
    home = tmp_path_factory.mktemp("shared") / "home"
    shutil.copytree(small_home, home)
    with ServiceProcess(home) as process, Client(process.address) as client:
        for name, depth in (("run_a", 1), ("run_b", 100)):
            client.carry_out(request(name, depth))
        yield home, process.address


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The settings of the service hold here, too."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, str, str]:
    code = run(arguments)
    out, err = capsys.readouterr()
    return code, MOVING.sub("...", out), err


@pytest.mark.parametrize(
    "command",
    [
        ["eval", "list"],
        ["eval", "list", "--suite", "small", "--status", "complete", "--limit", "1", "--json"],
        ["eval", "list", "--offset", "1"],
        ["eval", "show", "run_a"],
        ["eval", "show", "run_b", "-m", "MAP", "--per-component", "--waterfall", "--per-query"],
        ["eval", "show", "run_b", "--query", "q1"],
        ["eval", "show", "run_b", "--json", "--match", "doc"],
        ["eval", "show", "no-such-run"],
        ["eval", "history", "small", "-m", "MRR"],
        ["eval", "history", "small", "--json", "--limit", "1"],
        ["eval", "export", "run_b", "--trec", "--documents"],
        ["eval", "export", "run_b", "--json", "--component", "bm25"],
        ["eval", "compare", "run_a", "run_b"],
        ["eval", "compare", "run_a", "run_b", "--csv", "-m", "nDCG@5"],
        ["eval", "compare", "run_a", "run_b", "--json", "--strict-chunker-version"],
        ["eval", "ab", "run_a", "run_b", "--resamples", "100", "--seed", "3", "--json"],
        GATE,
        [*GATE, "--json"],
        [*GATE, "--limit", "nDCG@10=0.5", "--non-inferiority", "--alpha", "0.2", "--seed", "9"],
        ["eval", "gate", "--baseline", "run_b", "--current", "run_a"],
        ["eval", "report", "run_a", "--format", "md", "--workflow", "--target", "P@5=0.9"],
        ["eval", "report", "run_a", "--json", "--resamples", "50", "--seed", "1"],
        ["eval", "publish"],
        ["search", "headache", "--explain", "-k", "1"],
        ["search", "headache", "--json", "--doc-id", "d1", "--components", "bm25"],
        ["search", "headache", "--why", "d4"],
        ["answer", "What does aspirin ease?"],
        ["index", "check"],
        ["corpus", "show", "d1"],
    ],
    ids=" ".join,
)
def test_the_same_words_from_near_and_far(
    shared: Shared, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    home, address = shared
    near = said(capsys, ["--home", str(home), *command])
    far = said(capsys, ["--server", address, *command])
    assert near[0] == far[0], far
    assert near[1] == far[1]
    assert near[1] or near[0]


@pytest.mark.req("E9")
def test_the_files_of_a_gate_are_written_here(
    shared: Shared,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    home, address = shared
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    baseline = tmp_path / "before.json"
    before = {"metrics": {"recall_at_10": 1.0, "ndcg_at_10": 1.0}, "scoring": {"match": "exact"}}
    with Client(address) as client:
        chunkers = client.runs.run("run_a").chunker_versions
    baseline.write_text(json.dumps({**before, "chunker_versions": chunkers}))
    texts = []
    for where in (["--home", str(home)], ["--server", address]):
        files = ["--report", "gate.md", "--junit", "gate.xml", "--step-summary"]
        gate = ["eval", "gate", "--baseline", str(baseline), "--current", "run_a", *files]
        assert run([*where, *gate]) == 3
        texts.append([(tmp_path / name).read_text() for name in ("gate.md", "gate.xml")])
    assert texts[0] == texts[1]
    assert (tmp_path / "summary.md").read_text() == 2 * texts[0][0]
    capsys.readouterr()


def test_runs_are_tagged_and_deleted_from_afar(
    shared: Shared, capsys: pytest.CaptureFixture[str]
) -> None:
    _, address = shared
    far = ["--server", address]
    with Client(address) as client:
        client.carry_out(request("run_c", 2))
    assert said(capsys, [*far, "eval", "tag", "run_c", "mine"])[1] == "run_c  mine\n"
    assert said(capsys, [*far, "eval", "show", "mine"])[0] == 0
    assert said(capsys, [*far, "eval", "tag", "run_c", "mine", "--remove"])[1] == "run_c  no tags\n"
    assert said(capsys, [*far, "eval", "delete", "run_c"])[1] == "deleted run_c\n"
    assert said(capsys, [*far, "eval", "show", "run_c"])[0] != 0


def test_a_test_set_of_this_machine_is_run_by_the_service(
    shared: Shared, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, address = shared
    (tmp_path / "mine.json").write_text(json.dumps(TEST_SET))
    ask = ["--server", address, "eval", "run", "--testset", "mine.json", "--depth", "7"]
    assert run([*ask, "--name", "from afar", "--tag", "far", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["recall_at_10"] == 1.0
    assert run([*ask, "-m", "MAP", "--rrf-k", "10"]) == 0
    assert "MAP" in capsys.readouterr().out
    with Client(address) as client:
        assert client.runs.run("far").name == "from afar"
        client.runs.delete("far")
    assert run(["--server", address, "eval", "run", "--testset", "no_such_set"]) == 2
    assert "no_such_set" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--retriever", "m:f"],
        ["--mapping", "m.yaml"],
        ["--run", "run.trec"],
        ["--resume", "run_a"],
        ["--answerer", "extractive"],
        ["--answer-model", "m"],
        ["--publish"],
    ],
    ids=lambda options: str(options[0]),
)
def test_what_only_works_here_is_refused_by_name(
    capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    ask = ["--server", "http://127.0.0.1:9", "eval", "run", "--testset", "small", *options]
    assert run(ask) == 2
    assert options[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--per-component"],
        ["--waterfall"],
        ["--answers"],
        ["--keep", "5"],
        ["--protocol", "all_queries"],
        ["--match", "doc"],
        ["--mode", "overall"],
        ["--by-group"],
        ["--max-errors", "3"],
        ["--per-query"],
        ["--no-boosts", "-m", "MAP"],
        ["--confidence", "0.8", "--resamples", "50", "--seed", "7", "--ci-method", "percentile"],
    ],
    ids=" ".join,
)
def test_an_evaluation_says_the_same_from_near_and_far(
    shared: Shared, capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str]
) -> None:
    home, address = shared
    (tmp_path / "mine.json").write_text(json.dumps({**TEST_SET, "name": "mine"}))
    ask = ["eval", "run", "-t", "mine.json", "--no-cache", *options]
    near = said(capsys, ["--home", str(home), *ask])
    far = said(capsys, ["--server", address, *ask])
    assert (near[0], words(near[1])) == (far[0], words(far[1])), far[2]


def words(text: str) -> str:
    """A text without the ids of runs and the blanks that depend on their length."""
    return " ".join(re.sub(r"\d{8}-\d{6}-\w+|evaluation_\w+", "RUN", text).split())


def test_other_refusals_by_name(shared: Shared, capsys: pytest.CaptureFixture[str]) -> None:
    _, address = shared
    for command, word in (
        (["search", "x", "--synonyms", "none"], "--synonyms"),
        (["answer", "x", "--answerer", "extractive"], "--answerer"),
    ):
        assert run(["--server", address, *command]) == 2
        assert word in capsys.readouterr().err


def test_a_wrong_key_is_refused_with_where_a_right_one_goes(
    shared: Shared, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, address = shared
    monkeypatch.setenv("ASSAY_API_KEY", "assay_wrong")
    assert run(["--server", address, "search", "x"]) == 1
    assert "ASSAY_API_KEY" in capsys.readouterr().err


def test_a_configuration_is_run_by_the_service_before_it_is_tested(
    shared: Shared, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, address = shared
    (tmp_path / "t.json").write_text(json.dumps(TEST_SET))
    ask = ["eval", "ab", "depth=3", "run_a", "-t", str(tmp_path / "t.json"), "--json"]
    assert run(["--server", address, *ask]) == 0
    printed = capsys.readouterr()
    assert "ran: depth=3 is " in printed.err
    assert "run_a" in printed.out
    assert run(["--server", address, *ask]) == 0
    assert "stored: depth=3 is " in capsys.readouterr().err


def every_verb() -> dict[str, object]:
    """Every verb and its command."""
    return {
        f"{entry.name} {name}".strip(): command
        for entry in COMMANDS
        for name, command in (getattr(load(entry), "commands", {}) or {"": load(entry)}).items()
    }


@pytest.mark.parametrize("verb", sorted(every_verb()))
def test_every_verb_uses_the_service_or_refuses_it(
    verb: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The address answers to nobody: whoever uses it fails, whoever cannot says so."""
    if verb in {"eval push", "eval verify-bundle"}:
        pytest.skip("needs a run or a bundle of this machine first; see test_client.py")
    more = {"eval export": ["--trec"], "eval run": ["--testset", "small"]}.get(verb, [])
    for one in every_verb()[verb].params:  # type: ignore[attr-defined]
        if one.required:
            value = str(tmp_path / "new")
            more += [value] if one.param_type_name == "argument" else [one.opts[0], value]
    code = run(["--server", "http://127.0.0.1:9", *verb.split(), *more])
    message = capsys.readouterr().err
    if verb in {row.command for row in TABLE if row.server}:
        assert code == 1, message
        assert "127.0.0.1:9 does not answer" in message
    else:
        assert code == 2
        assert "works on this machine only" in message


def test_a_backup_comes_over_and_is_whole(
    shared: Shared, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, address = shared
    ask = ["--server", address, "backup", "copy.tar.gz"]
    assert run(ask) == 0
    assert run(ask) == 2  # never over a file that is there
    capsys.readouterr()
    assert run(["--home", str(tmp_path / "new"), "restore", "copy.tar.gz"]) == 0
    assert "5 documents" in capsys.readouterr().out


def test_files_are_joined_before_they_are_sent_and_names_are_not(
    shared: Shared, capsys: pytest.CaptureFixture[str]
) -> None:
    _, address = shared
    extras = {
        "name": "extras",
        "version": "v1",
        "queries": [{"query_id": "x1", "query_text": "measles", "expect": "nothing"}],
    }
    for content in (TEST_SET, extras):
        Path(f"{content['name']}.json").write_text(json.dumps(content))
    both = ["-t", "./small.json", "-t", "./extras.json"]
    assert run(["--server", address, "eval", "run", *both, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total_queries"] == 4
    assert run(["--server", address, "eval", "run", "-t", "small", "-t", "./extras.json"]) == 2
    assert "small is not a file here" in capsys.readouterr().err
