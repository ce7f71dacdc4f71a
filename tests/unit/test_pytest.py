"""Does a marked test fail where search got worse, and only there? pytest runs for real."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.settings import configure
from tests.unit.app.results import DOCUMENTS
from tests.warm import warm

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

SETTINGS = "dense_model: none\nsplade_model: none\nresamples: 200\ncomponent_timeout_ms: 20000\n"
GOLDEN = {
    "name": "golden",
    "version": "v1",
    "queries": [
        {
            "query_id": name,
            "query_text": text,
            "relevant_docs": [{"doc_id": one, "grade": 2} for one in ids],
        }
        for name, text, ids in (
            ("q1", "headache", ("d1", "d2")),
            ("q2", "diabetes", ("d4", "d5")),
            ("q3", "cholesterol", ("d3",)),
        )
    ],
}
TEST = """
import pytest

@pytest.mark.assay("golden.json"{more})
def test_search(assay_check):
    print("its own lines ran with", assay_check.result["Recall@10"])
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a workspace; made before pytester, which forgets what is imported under it."""
    folder = tmp_path_factory.mktemp("team")
    (folder / "assay.yaml").write_text(SETTINGS)
    settings = configure({"home": folder / "search"}, environ={}, folder=folder)
    with Workspace(settings) as opened:
        opened.add(DOCUMENTS)
    return folder


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """pytest, started from a process that has imported assay."""
    with warm(tmp_path_factory.mktemp("program"), entry="pytest:console_main") as made:
        yield made


@pytest.fixture
def project(
    workspace: Path, program: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """A project with a workspace and a test set, as a team has it; its pytest has no other plugins.

    Loading the plugins of our own tests would take longer than everything else.
    """
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(pytester, "_getpytestargs", lambda: (str(program),))
    shutil.copytree(workspace, pytester.path, dirs_exist_ok=True)
    (pytester.path / "golden.json").write_text(json.dumps(GOLDEN))
    pytester.makeini("[pytest]\nassay_home = search\naddopts = --strict-markers -W error\n")
    return pytester


def ran(project: pytest.Pytester, more: str = "", *flags: str) -> pytest.RunResult:
    project.makepyfile(TEST.replace("{more}", more))
    return project.runpytest_subprocess("-p", "assay.pytest", "-s", *flags)


def test_a_run_is_held_against_its_baseline(project: pytest.Pytester) -> None:
    first = ran(project)
    first.assert_outcomes(errors=1)
    first.stdout.fnmatch_lines(["*nothing to compare the run with*--assay-tag-baseline*"])
    tagged = ran(project, "", "--assay-tag-baseline")
    tagged.assert_outcomes(passed=1)
    tagged.stdout.fnmatch_lines(["*its own lines ran with 1.0*"])
    ran(project).assert_outcomes(passed=1)

    worse = ran(project, ', options={"depth": 1}')
    worse.assert_outcomes(failed=1)
    worse.stdout.fnmatch_lines(
        [
            "gate failed: * against *",
            "*Recall@10=5%: it got worse by 0.3333 (33.33% of the baseline); 5% is allowed",
            "*q1: 1.0000 * 0.5000",
        ]
    )
    assert "its own lines" not in worse.stdout.str()
    assert "Traceback" not in worse.stdout.str()
    allowed = ran(
        project, ', options={"depth": 1}, limits=["Recall@10=50%", "latency_p95<60000ms"]'
    )
    allowed.assert_outcomes(passed=1)
    slow = ran(project, ', limits="latency_p95<0.0001ms"')
    slow.assert_outcomes(failed=1)
    slow.stdout.fnmatch_lines(["*latency_p95<0.0001ms: queries took * ms; 0.0001 ms is allowed"])


def test_what_cannot_be_decided_fails_unless_told_otherwise(project: pytest.Pytester) -> None:
    ran(project, "", "--assay-tag-baseline").assert_outcomes(passed=1)
    (project.path / "base.json").write_text(json.dumps({"metrics": {"recall_at_10": 0.0}}))
    zero = ', baseline="base.json"'
    for more, outcome in (
        (zero, {"failed": 1}),
        (f'{zero}, inconclusive="skip"', {"skipped": 1}),
        (f'{zero}, inconclusive="pass"', {"passed": 1}),
    ):
        found = ran(project, more)
        found.assert_outcomes(**outcome)
    refused = ran(project, zero, "--assay-tag-baseline")
    refused.stdout.fnmatch_lines(["*base.json is a file, and a run cannot be tagged with it*"])


def test_an_engine_of_ones_own_is_gated(project: pytest.Pytester) -> None:
    project.makepyfile(mine="def search(query):\n    return ['d1', 'd3', 'd4', 'd5', 'd2']\n")
    project.makeconftest("import sys\nsys.path.insert(0, '.')\n")
    own = ', retriever="mine:search"'
    ran(project, own, "--assay-tag-baseline").assert_outcomes(passed=1)
    ran(project, own).assert_outcomes(passed=1)
    project.makepyfile(mine="def search(query):\n    return ['d1']\n")
    ran(project, own).assert_outcomes(failed=1)


def test_an_engine_of_ones_own_is_asked_anew(project: pytest.Pytester) -> None:
    """What it searches may change while its code stays the same."""
    project.makepyfile(
        mine="""
        from pathlib import Path

        def search(query):
            return Path("found" + ".txt").read_text().split()
        """
    )
    project.makeconftest("import sys\nsys.path.insert(0, '.')\n")
    (project.path / "found.txt").write_text("d1 d3 d4 d5 d2")
    own = ', retriever="mine:search"'
    ran(project, own, "--assay-tag-baseline").assert_outcomes(passed=1)
    ran(project, own).assert_outcomes(passed=1)
    (project.path / "found.txt").write_text("d1")
    ran(project, f"{own}, use_cache=True").assert_outcomes(passed=1)
    ran(project, own).assert_outcomes(failed=1)


def test_a_function_is_taken_as_it_is(project: pytest.Pytester) -> None:
    every = ', retriever=lambda text: ["d1", "d3", "d4", "d5", "d2"]'
    ran(project, every, "--assay-tag-baseline").assert_outcomes(passed=1)
    ran(project, every).assert_outcomes(passed=1)
    ran(project, ', system=lambda text: ["d1"]').assert_outcomes(failed=1)
    odd = ran(project, ", retriever=7")
    odd.stdout.fnmatch_lines(["assay: builtins.int cannot be asked for a text*"])


KINDS = """
import unittest
import pytest

found = {found}
gate = pytest.mark.assay("golden.json", retriever=lambda text: found)

@gate
def test_function(): pass

@gate
class TestPlain:
    def test_method(self): pass

@gate
class TestOfUnittest(unittest.TestCase):
    def test_method(self): pass

class TestMethodOfUnittest(unittest.TestCase):
    @gate
    def test_method(self): pass

@gate
class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_method(self): pass

@gate
class TestLeftOut(unittest.TestCase):
    @unittest.skip("not today")
    def test_method(self): pass
"""


def test_every_kind_of_test_is_gated(project: pytest.Pytester) -> None:
    """A marker that is not heeded lets everything pass."""
    for found, flag, outcome in (
        ("['d1', 'd3', 'd4', 'd5', 'd2']", "--assay-tag-baseline", {"passed": 5}),
        ("['d1', 'd3', 'd4', 'd5', 'd2']", "-q", {"passed": 5}),
        ("[]", "-q", {"failed": 5}),
    ):
        project.makepyfile(KINDS.replace("{found}", found))
        result = project.runpytest_subprocess("-p", "assay.pytest", flag)
        result.assert_outcomes(skipped=1, **outcome)


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ('"golden.json", basline="x"', "*the marker assay has no basline (did you mean baseline?*"),
        ("", "*the marker assay is missing * 'test_set' (@pytest.mark.assay(\"TEST SET\"*"),
        ('"golden.json", inconclusive="skp"', "*inconclusive is 'skp'*fail, skip, pass*"),
        ('"a.json")\n@pytest.mark.assay("b.json"', "*several markers assay*"),
    ],
)
def test_a_mistake_in_a_marker_is_one_line(
    project: pytest.Pytester, marker: str, said: str
) -> None:
    project.makepyfile(f"import pytest\n@pytest.mark.assay({marker})\ndef test_search(): pass\n")
    result = project.runpytest_subprocess("-p", "assay.pytest")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([said])
    assert "def _wanted" not in result.stdout.str()


def test_mistakes_in_a_marker_are_named(project: pytest.Pytester) -> None:
    ran(project, ', options={"fusin": "rrf"}').stdout.fnmatch_lines(
        ["assay: 'fusin' is not a search option (did you mean fusion_method?*"]
    )
    project.makepyfile("def test_search(assay_check): pass")
    bare = project.runpytest_subprocess("-p", "assay.pytest")
    assert "needs the marker" in bare.stdout.str()
    listed = project.runpytest_subprocess("-p", "assay.pytest", "--markers")
    listed.stdout.fnmatch_lines(["@pytest.mark.assay(test_set: *baseline: *limits: *"])


def test_a_test_without_a_marker_may_use_the_workspace(project: pytest.Pytester) -> None:
    project.makepyfile(
        "def test_search(assay_workspace):\n"
        "    assert assay_workspace.search('migraine').results[0].chunk.doc_id == 'd2'\n"
    )
    project.runpytest_subprocess("-p", "assay.pytest").assert_outcomes(passed=1)
    elsewhere = project.runpytest_subprocess("-p", "assay.pytest", "--assay-home", "nowhere")
    elsewhere.assert_outcomes(failed=1)
