"""Do tables of evaluations say each thing once, in plain English, and to four decimals?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.main import run as cli

SET = """name: small
version: v1
queries:
  - {query_id: q1, query_text: aspirin, relevant_docs: [{doc_id: d1, grade: 1}]}
  - {query_id: q2, query_text: moon, expect: nothing}
"""
Said = Callable[..., str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, value in (("DENSE_MODEL", "none"), ("SPLADE_MODEL", "none"), ("RESAMPLES", "200")):
        monkeypatch.setenv(f"ASSAY_{name}", value)
    Path("set.yaml").write_text(SET)
    Path("good.json").write_text(json.dumps({"q1": {"d1": 2.0}, "q2": {"d9": 1.0}}))
    Path("bad.json").write_text(json.dumps({"q1": {"d9": 3.0, "d1": 2.0}, "q2": {"d9": 4.0}}))
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """What a command writes for people: tables and notes."""

    def call(*arguments: str) -> str:
        capsys.readouterr()
        cli(["eval", *arguments])
        return " ".join(capsys.readouterr())

    return call


def made(said: Said, name: str, *more: str) -> str:
    run = ("run", "-t", "set.yaml", "--run", f"{name}.json", "--tag", name)
    return said(*run, *more)


@pytest.mark.req("K11")
@pytest.mark.parametrize("measure", ["Success@1", "RR@10", "P@1"])
def test_a_comparison_has_each_measure_once(said: Said, measure: str) -> None:
    made(said, "good")
    made(said, "bad")
    table = said("compare", "good", "bad", "-m", f"nDCG@10 {measure}")
    assert len(re.findall(rf"(?m)^ *{measure}\b", table)) == 1


def test_the_report_of_a_comparison_counts_what_it_compares(said: Said, folder: Path) -> None:
    """Of two ranked queries one expects a document, which has no wins and losses."""
    Path("set.yaml").write_text(
        SET.replace("doc_id: d1, ", "chunk_id: d1, doc_id: d, ")
        + "  - {query_id: q3, query_text: pain,"
        " relevant_docs: [{doc_id: e, grade: 1, level: document}]}\n"
    )
    made(said, "good")
    made(said, "bad")
    said("compare", "good", "bad", "--write-report")
    (page,) = folder.rglob("compare-*.html")
    assert "1 compared query" in page.read_text()
    assert "1 of 2 ranked queries expects documents and no chunk" in page.read_text()


def test_one_query_of_each_kind_is_said_in_the_singular(said: Said) -> None:
    table = made(said, "good", "-m", "nDCG@10 AUROC")
    assert "over 1 query with evidence and 1 without" in table


def test_an_interval_that_is_a_point_says_why(said: Said) -> None:
    table = made(said, "good", "-m", "nDCG@10 AUROC")
    assert "[1.0000, 1.0000]" in table
    assert "interval of AUROC: every resample gives the same value" in table


def test_queries_that_failed_are_counted_whatever_their_number(
    said: Said, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "failing_engine.py").write_text(
        "def find(text):\n    if text == 'aspirin':\n        raise ValueError('no')\n"
        "    return []\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    table = said("run", "-t", "set.yaml", "--retriever", "failing_engine:find")
    assert "1 of 2 queries failed, counted as 0 (the first with ValueError: no): q1" in table
    Path("set.yaml").write_text("".join(SET.splitlines(keepends=True)[:-1]))
    refused = said("run", "-t", "set.yaml", "--retriever", "failing_engine:find")
    assert "the only query failed, the first one with: ValueError: no" in refused


def test_scoring_again_shows_both_figures_to_four_decimals(said: Said) -> None:
    made(said, "bad", "--match", "doc")
    made(said, "good")
    assert "(was" not in said("rescore", "good")
    Path("other.yaml").write_text(SET.replace("d1", "d9"))
    table = said("rescore", "bad", "--testset", "other.yaml")
    assert "1.0000 (was 0.5000)" in table


@pytest.mark.req("E9")
def test_two_files_are_gated_without_a_workspace(said: Said, folder: Path) -> None:
    for name, recall in (("before", 0.8), ("same", 0.8), ("worse", 0.5)):
        Path(f"{name}.json").write_text(json.dumps({"metrics": {"recall_at_10": recall}}))
    assert "gate: passed" in said("gate", "--baseline", "before.json", "--current", "same.json")
    assert "gate: failed" in said("gate", "--baseline", "before.json", "--current", "worse.json")
    assert not (folder / ".assay").exists()
    assert "there is no workspace" in said("gate", "--baseline", "before.json")
    timed = ("--limit", "latency_p95=20%", "--latency-repeats", "3")
    refused = said("gate", "--baseline", "before.json", "--current", "same.json", *timed)
    assert "before.json is a file, which cannot be timed" in refused
    made(said, "good")
    assert "gate: passed" in said("gate", "--baseline", "good", "--current", "before.json",
                                  "--limit", "Recall@10=50%")  # fmt: skip
