"""Which runs set the gauges, and do figures reach Prometheus without a service?"""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from assay.app.configurations import save_configuration
from assay.app.evaluation import evaluate
from assay.app.evaluation_request import EvaluationRequest
from assay.app.prometheus import Gauges, Quality
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.model.runs import RunInfo
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.settings import configure
from assay.store.runs import SqlRunStore
from assay.testsets.load import parse_test_set
from tests.unit.http.conftest import SETTINGS
from tests.unit.http.small import TEST_SET

LINE = (
    'medicalkg_retrieval_recall_at_k{configuration="workspace",k="10",match="exact",'
    'part="all",test_set="small",version="v1"} 1.0'
)
WHOLE = parse_test_set(json.dumps(TEST_SET).encode()).sound()


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace for words only, in which the small test set was run."""
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    with opened(home) as workspace:
        evaluate(workspace, EvaluationRequest(test_set=WHOLE))
    return home


def opened(home: Path, **settings: str) -> Workspace:
    flags = {"home": home, **SETTINGS, "resamples": "50", **settings}
    return Workspace(configure(flags, environ={}, folder=home))


def shown(home: Path, **settings: str) -> tuple[Quality, ...]:
    with opened(home, **settings) as workspace:
        return Gauges(workspace)()


def recall(home: Path, **settings: str) -> dict[str, float | None]:
    """The paging gauge of each test set."""
    return {one.test_set: one.metrics["recall_at_10"] for one in shown(home, **settings)}


def evaluated(home: Path, **request: Any) -> RunInfo:
    with opened(home) as workspace:
        asked = EvaluationRequest(**{"test_set": WHOLE, "use_cache": False, **request})
        return evaluate(workspace, asked).runs[0].info


def one_query(name: str) -> TestSet:
    """A set of one query, for which nothing is found."""
    return TestSet(name, "v1", (GoldenQuery("q", "?", relevant_docs=(Judgment("nowhere", 1),)),))


@pytest.mark.req("E11")
def test_a_workspace_of_one_component_is_a_whole_system(home: Path) -> None:
    (quality,) = shown(home)
    assert (quality.test_set, quality.version, quality.part) == ("small", "v1", "all")
    assert quality.metrics["recall_at_10"] == 1.0


@pytest.mark.req("E11")
def test_a_run_by_other_measures_keeps_every_gauge(home: Path) -> None:
    before = shown(home)[0].metrics
    evaluated(home, measures="P@1")
    assert shown(home)[0].metrics == before
    assert set(before) == {
        "recall_at_5", "recall_at_10", "recall_at_20",
        "ndcg_at_5", "ndcg_at_10", "ndcg_at_20", "mrr",
    }  # fmt: skip


@pytest.mark.req("E11")
@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"test_set": one_query("small")}, "its queries are not those that small has now"),
        ({"test_set": one_query("other")}, "gauges are of small"),
        ({"test_set": one_query("sent"), "uploaded": True}, "was uploaded"),
        ({"options": {"depth": 1}}, "another configuration"),
        ({"match": "doc"}, "rule doc, not exact"),
        ({"chunk_separator": "#"}, 'the separator "#", not ":chunk_"'),
        ({"kept": 19}, "it kept 19 results of each query, and gauges look at 20"),
        ({"mode": "overall"}, "the part overall, and gauges are of all"),
        ({"run_file": "junk.json"}, "another configuration or engine"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_does_not_set_the_gauges(
    home: Path, monkeypatch: pytest.MonkeyPatch, request_: dict[str, Any], why: str
) -> None:
    monkeypatch.chdir(home)
    (home / "testsets").mkdir()
    (home / "testsets" / "small.json").write_text(json.dumps(TEST_SET))
    Path("junk.json").write_text(json.dumps({"q1": {"nothing": 1.0}}))
    made = evaluated(home, **request_)
    assert recall(home) == {"small": 1.0}
    with opened(home) as workspace:
        said = Gauges(workspace).objection(made) or ""
    assert why in said


@pytest.mark.req("E11")
def test_a_degraded_run_does_not_set_the_gauges(home: Path) -> None:
    with opened(home) as workspace:
        (info,) = workspace.runs.runs().runs
        workspace.runs.finish(info.run_id, {**info.aggregate, "degraded_queries": 1})
        assert Gauges(workspace)() == ()
        assert "0 queries failed, 1 query degraded" in str(Gauges(workspace).nothing())


@pytest.mark.req("E11")
def test_settings_say_which_runs_set_the_gauges(home: Path) -> None:
    evaluated(home, test_set=one_query("other"))
    assert recall(home) == {"small": 1.0}, "the one that was run first"
    assert recall(home, metrics_test_set="other") == {"other": 0.0}
    assert recall(home, metrics_test_set="other small") == {"other": 0.0, "small": 1.0}
    assert recall(home, schedule="0 3 * * 1 other") == {"other": 0.0}
    assert recall(home, metrics_part="overall") == {}
    evaluated(home, mode="overall", match="doc")
    assert recall(home, metrics_part="overall", metrics_match="doc") == {"small": 1.0}
    with opened(home) as workspace:
        options = replace(workspace.settings.search, depth=7)
        save_configuration(workspace.layout, "shallow", options)
    assert recall(home, metrics_configuration="shallow") == {}
    evaluated(home, options={"depth": 7})
    (quality,) = shown(home, metrics_configuration="shallow")
    assert quality.configuration == "shallow"


@pytest.mark.req("E11")
def test_an_uploaded_set_counts_where_the_workspace_keeps_it(home: Path) -> None:
    sent = replace(WHOLE, name="sent")
    evaluated(home, test_set=sent, uploaded=True)
    assert recall(home, metrics_test_set="sent") == {}
    (home / "testsets").mkdir()
    (home / "testsets" / "sent.json").write_text(json.dumps({**TEST_SET, "name": "sent"}))
    assert recall(home, metrics_test_set="sent") == {"sent": 1.0}


@pytest.mark.req("E11")
def test_a_run_that_is_not_published_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    Path("small.json").write_text(json.dumps(TEST_SET))
    monkeypatch.setenv("ASSAY_METRICS_TEXTFILE", "out.prom")
    command = ["eval", "run", "-t", "small.json", "--publish", "--depth", "3"]
    assert run(["--home", str(home), *command]) == 0
    assert "does not set the gauges: it was made by another configuration" in " ".join(
        capsys.readouterr().err.split()
    )
    assert LINE in Path("out.prom").read_text()


@pytest.mark.slow
@pytest.mark.req("E11")
def test_as_a_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "out" / "assay.prom"
    assert run(["--home", str(home), "eval", "publish", "--textfile", str(file)]) == 0
    assert LINE in file.read_text()
    assert run(["--home", str(home), "eval", "publish"]) == 0
    assert LINE in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.req("E11")
def test_by_a_push(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken: list[tuple[str, str]] = []

    class Gateway(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            taken.append((self.path, body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *values: object) -> None:
            del values

    with HTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"
        assert run(["--home", str(home), "eval", "publish", "--pushgateway", address]) == 0
        server.shutdown()
    ((path, body),) = taken
    assert path == "/metrics/job/assay"
    assert LINE in body
    assert run(["--home", str(home), "eval", "publish", "--pushgateway", "127.0.0.1:9"]) == 1
    assert "did not take" in capsys.readouterr().err


def test_nothing_to_publish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SqlRunStore(tmp_path / "assay.db").close()
    assert run(["--home", str(tmp_path), "eval", "publish"]) == 2
    assert "no complete run" in capsys.readouterr().err
