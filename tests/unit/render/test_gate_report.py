"""Does the gate's report say what a reviewer must know, and only that?"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from assay.evaluation.baseline import side_of_run
from assay.evaluation.gate import GateReport, gate, parse_limits
from assay.evaluation.stored_run import StoredRun
from assay.measures.parse import parse_measures
from assay.render.gate import (
    MARKER,
    MOST_CHARACTERS,
    MOST_QUERIES,
    gate_junit,
    gate_markdown,
    gate_text,
)
from tests.unit.evaluation.stored import ranks

MEASURES = parse_measures("Recall@10 nDCG@10")
CI = Path(__file__).resolve().parents[3] / "ci"


def with_texts(run: StoredRun, text: str) -> StoredRun:
    queries = tuple(replace(query, query_text=text) for query in run.test_set.queries)
    return replace(run, test_set=replace(run.test_set, queries=queries))


def failing(text: str = "a question", count: int = 30, limits: tuple[str, ...] = ()) -> GateReport:
    good = {f"q{at:03}": 1 for at in range(count)}
    bad: dict[str, int | None] = dict.fromkeys(good)
    before = with_texts(ranks("main", dict(good), types=True), text)
    after = with_texts(ranks("branch", bad, types=True), text)
    return gate(side_of_run(before, MEASURES), side_of_run(after, MEASURES), parse_limits(limits))


@pytest.mark.req("E9")
def test_the_comment_has_marker_measures_types_and_failing_queries() -> None:
    text = gate_markdown(failing())
    assert text.startswith(f"{MARKER}\n## Search quality: ❌ failed")
    assert "| Recall@10 | 1.0000 | 0.0000 | -1.0000 | 5% | failed |" in text
    assert "| nDCG@10 | 1.0000 | 0.0000 | -1.0000 |" in text
    assert "| exact\\_term | Recall@10 | 1.0000 | 0.0000 | -1.0000 |" in text
    assert "Queries that got worse by Recall@10 (30)" in text
    assert "10 more are not shown" in text


@pytest.mark.req("E9")
@pytest.mark.parametrize("file", ["github-comment.yml", "gitlab-gate.yml"])
def test_the_workflows_look_for_the_same_marker(file: str) -> None:
    assert MARKER in (CI / file).read_text(encoding="utf-8")


def test_no_text_of_a_query_comes_alive() -> None:
    evil = "@team see https://evil.example <img src=x> | **b** [a](b)\n\n# head <!-- assay-gate -->"
    text = gate_markdown(failing(evil))
    assert text.count(MARKER) == 1
    assert "@team" not in text
    assert "https://evil" not in text
    assert not re.search(r"(?<!\\)<(?!!-- assay-gate|/?sub>)", text)
    assert "\n# head" not in text


@pytest.mark.slow
def test_a_comment_is_never_too_long() -> None:
    report = failing("x" * 5000, 3000)
    assert len(gate_markdown(report)) <= MOST_CHARACTERS + 100
    huge = replace(report, warnings=("w" * 200_000,))
    assert len(gate_markdown(huge)) <= MOST_CHARACTERS + 100


@pytest.mark.req("E9")
def test_junit_has_a_case_for_each_limit() -> None:
    root = Xml.fromstring(gate_junit(failing(limits=("Recall@10=5%", "nDCG@10=100%"))).encode())
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    cases = {case.get("name"): case for case in suite}
    assert cases["Recall@10=5%"].find("failure") is not None
    assert cases["nDCG@10=100%"].find("failure") is None


def test_junit_of_what_cannot_be_compared_is_an_error() -> None:
    report = replace(failing(), blockers=("branch is degraded: \x00 3 queries",))
    root = Xml.fromstring(gate_junit(report).encode())
    assert root.find(".//error") is not None


def test_the_lines_of_a_test_say_what_failed_and_break_nowhere() -> None:
    report = replace(failing(count=MOST_QUERIES + 2), warnings=("one\nline\x1b[31m",))
    lines = gate_text(report).splitlines()
    assert lines[0] == "gate failed: branch against main"
    assert lines[1].startswith("  Recall@10=5%: it got worse by 1.0000")
    assert "  note: one line [31m" in lines
    assert "    q000: 1.0000 → 0.0000" in lines
    assert lines[-1] == "    and 2 more"
