"""Do significance and verdict stand side by side, each by its name, wherever a comparison is read?

Seed 000: p < 0.05 of the paired t-test is significant. The verdict rests on the corrected
randomization test, and may be open where the t-test is not.
"""

from __future__ import annotations

import html
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli import console
from assay.cli.main import run as cli
from tests.unit.http.conftest import client_of, service_of

P_T = "0.0172"
WHY = "only 5 queries differ, and with so few it cannot go below p = 0.0625"
RUNS = {"before": 0, "after": 5}
"""How many of twelve queries have their document first instead of second."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace with two runs, made from run files by the command."""
    names = [f"q{at:02}" for at in range(12)]
    queries = [
        f"  - {{query_id: {name}, query_text: about {name}, query_type: {kind}, "
        f"relevant_docs: [{{doc_id: d-{name}, grade: 1}}]}}"
        for at, name in enumerate(names)
        for kind in [("exact_term", "paraphrase")[at % 2]]
    ]
    golden = tmp_path / "golden.yaml"
    golden.write_text("\n".join(["name: golden", "version: v1", "queries:", *queries]) + "\n")
    folder = tmp_path / "home"
    monkeypatch.setenv("ASSAY_HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "200")
    console._console.cache_clear()
    monkeypatch.chdir(tmp_path)
    for tag, first in RUNS.items():
        ranked = {
            name: [f"d-{name}", "x"] if at < first else ["x", f"d-{name}"]
            for at, name in enumerate(names)
        }
        (tmp_path / f"{tag}.json").write_text(json.dumps(ranked))
        made = ["eval", "run", "-t", str(golden), "--run", f"{tag}.json", "--tag", tag]
        assert cli(made) == 0
    yield folder
    console._console.cache_clear()


def check(contrast: dict[str, Any]) -> None:
    assert f"{contrast['p_t']:.4f}" == P_T
    assert contrast["significant"] is True
    assert contrast["verdict"] == "inconclusive"
    assert WHY in contrast["significance"]
    assert contrast["ci"][0] > 0


@pytest.mark.req("E8")
def test_on_the_command_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert cli(["eval", "ab", "before", "after", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["significant"], found["verdict"]) == (True, "inconclusive")
    assert set(found["tests"]) == {"significant", "verdict"}
    check(found["contrasts"][0])
    assert WHY in found["verdict_text"]
    assert "slower" not in found["verdict_text"]
    assert "atency" not in found["verdict_text"], "run files have none"

    assert cli(["eval", "ab", "before", "after", "--write-report"]) == 0
    out = capsys.readouterr()
    (row,) = [line for line in out.out.splitlines() if line.split()[:1] == ["nDCG@10"]][:1]
    assert row.split()[-4:] == [P_T, "0.3125", "yes", "inconclusive"]
    assert "significant (t)   verdict (Holm)" in out.out
    assert WHY in out.out
    assert WHY in out.err
    for end in (".md", ".html"):
        (report,) = (home / "reports").glob(f"ab-*{end}")
        text = html.unescape(report.read_text())
        assert "significant (t)" in text
        assert "verdict (Holm)" in text
        assert P_T in text
        assert WHY in text
        assert "0.0 ms" not in text


@pytest.mark.req("E8")
def test_over_http_and_on_pages(home: Path) -> None:
    service = service_of(home, io.StringIO())
    try:
        with client_of(service) as client:
            found = client.post("/v1/ab", json={"a": "before", "b": "after"}).json()
            check(found["contrasts"][0])
            assert found["latency"]["verdict"] is None
            for path in ("/ab", "/compare"):
                page = html.unescape(client.get(path, params={"a": "before", "b": "after"}).text)
                assert "significant (t)" in page
                assert "verdict (Holm)" in page
                assert P_T in page
                assert WHY in page
                assert "0.0 ms" not in page
    finally:
        service.close()


@pytest.mark.req("E8")
def test_scores_of_files(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = {f"q{at:02}": {f"d-q{at:02}": 1} for at in range(12)}
    Path("qrels.json").write_text(json.dumps(judged))
    files = ["--qrels", "qrels.json", "--run", "before.json", "--run", "after.json"]
    asked = ["score", *files, "-m", "nDCG@10 Recall@{5,10,20} MRR"]
    capsys.readouterr()
    assert cli([*asked, "--json"]) == 0
    check(json.loads(capsys.readouterr().out)["comparison"]["contrasts"][0])
    assert cli(asked) == 0
    out = capsys.readouterr()
    assert "significant (t)   verdict (Holm)" in out.out
    assert WHY in out.err
