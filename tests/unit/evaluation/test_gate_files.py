"""Is a file that a run is held against what it is taken for?"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.errors import ConflictError, FormatError, MissingFileError
from assay.evaluation.baseline import Baseline, SetVersion, side_of_file, side_of_run
from assay.evaluation.bundle import MASTER, as_text, master, usual_recipe
from assay.evaluation.gate import gate, parse_limits
from assay.evaluation.stored_run import StoredRun
from assay.measures.parse import parse_measures
from assay.model.ranking import Match
from assay.testsets.split import hold_out, refuse_redraw
from tests.unit.evaluation.stored import TYPES, golden, outcome, stored, suite
from tests.unit.testsets.samples import fifty

MEASURES = parse_measures("Recall@10")


def side(recall: float, **more: Any) -> Baseline:
    return Baseline("run", {"Recall@10": recall}, **more)


def from_file(folder: Path, recall: float, **more: object) -> Baseline:
    path = folder / "baseline.json"
    path.write_text(json.dumps({"metrics": {"recall_at_10": recall}, **more}))
    return side_of_file(path, MEASURES)


@pytest.mark.req("E9")
def test_exactly_5_percent_pass_also_against_rounded_numbers(tmp_path: Path) -> None:
    before = from_file(tmp_path, 0.6667)
    assert gate(before, side(0.95 * 2 / 3), parse_limits(())).outcome.value == "passed"
    assert gate(before, side(0.6331), parse_limits(())).outcome.value == "failed"


@pytest.mark.parametrize(
    ("named", "blocked"),
    [
        ({"name": "t", "version": "v1"}, False),
        ({"name": "t", "version": "v2"}, True),
        ({"name": "other", "version": "v1"}, True),
        ({"name": "t", "version": "v1", "checksum": "a" * 64}, False),
        ({"name": "t", "version": "v1", "checksum": "b" * 64}, True),
        ({"name": "t"}, False),
    ],
)
def test_a_file_of_another_test_set_blocks(
    tmp_path: Path, named: dict[str, str], blocked: bool
) -> None:
    current = side(0.6, test_set=SetVersion("t", "v1", "a" * 64))
    report = gate(from_file(tmp_path, 0.6, test_set=named), current, parse_limits(()))
    assert bool(report.blockers) is blocked


@pytest.mark.req("E9", "M4")
def test_another_part_of_the_set_blocks_and_is_named(tmp_path: Path) -> None:
    named = {"name": "t", "version": "v1", "checksum": "b" * 64, "part": "evaluation"}
    current = side(0.6, test_set=SetVersion("t", "v1", "a" * 64, "holdout"))
    report = gate(from_file(tmp_path, 0.6, test_set=named), current, parse_limits(()))
    assert (
        "t v1, part evaluation (bbbbbbbb) and t v1, part holdout (aaaaaaaa)" in report.blockers[0]
    )


@pytest.mark.req("E9", "W9")
@pytest.mark.parametrize(
    ("before", "now", "blocked"),
    [
        ("all", "overall", True),
        ("overall", "overall", False),
        ("evaluation, live", "evaluation, offline", True),
        ("all", "evaluation", False),  # the same queries, as the checksum says
        ("", "overall", False),  # nobody knows
    ],
)
def test_queries_that_were_asked_with_other_filters_are_not_gated_silently(
    tmp_path: Path, before: str, now: str, blocked: bool
) -> None:
    named = {"name": "t", "version": "v1", "checksum": "a" * 64, "part": before}
    current = side(0.6, test_set=SetVersion("t", "v1", "a" * 64, now))
    report = gate(from_file(tmp_path, 0.6, test_set=named), current, parse_limits(()))
    assert bool(report.blockers) is blocked
    assert all("--mode" in line for line in report.blockers)


def test_a_baseline_with_failed_queries_lowers_no_bar(tmp_path: Path) -> None:
    for before in (side(0.3, failed=5), from_file(tmp_path, 0.3, failed_queries=5)):
        report = gate(before, side(0.6), parse_limits(()))
        assert report.outcome.exit_code == 4
        assert "5 queries" in report.blockers[0]


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/zero")
    if kind == "pipe":
        path = tmp_path / "baseline.json"
        os.mkfifo(path)
    with pytest.raises(MissingFileError, match="not a regular file"):
        side_of_file(path, MEASURES)


def test_a_held_out_part_is_not_drawn_again_by_accident() -> None:
    before = hold_out(fifty(), seed=13)
    refuse_redraw(before, hold_out(before, seed=13))
    refuse_redraw(fifty(), before)
    with pytest.raises(ConflictError, match="held-out part"):
        refuse_redraw(before, hold_out(before, seed=14))


def bundled(folder: Path, *runs: StoredRun) -> Path:
    """A bundle of runs, as far as a gate reads it."""
    place = folder / MASTER
    place.write_text(as_text(master(runs, usual_recipe(runs))))
    return place


def found_by(name: str, missed: int = 0, **more: Any) -> StoredRun:
    """A run of 20 queries, of which some miss what they look for."""
    queries = [golden(f"q{at:02}", "d", query_type=TYPES[at % 3]) for at in range(20)]
    outcomes = [
        outcome(query.query_id, "x" if at < missed else "d") for at, query in enumerate(queries)
    ]
    return stored(name, suite(*queries), outcomes, **more)


@pytest.mark.req("E9", "M6")
@pytest.mark.parametrize("of_folder", [True, False])
def test_a_bundle_of_one_run_is_a_baseline(tmp_path: Path, of_folder: bool) -> None:
    place = bundled(tmp_path, found_by("before"))
    baseline = side_of_file(tmp_path if of_folder else place, MEASURES)
    assert (baseline.means, baseline.run_id) == ({"Recall@10": 1.0}, "before")
    for missed, outcome_due in ((1, "passed"), (2, "failed")):
        report = gate(baseline, side_of_run(found_by("now", missed), MEASURES), parse_limits(()))
        assert (report.outcome.value, report.blockers) == (outcome_due, ())
        assert set(report.by_type) == {str(kind) for kind in TYPES}


@pytest.mark.req("E9", "M6")
def test_a_bundle_is_compared_by_what_its_run_was_scored_by(tmp_path: Path) -> None:
    baseline = side_of_file(bundled(tmp_path, found_by("before")), MEASURES)
    now = side_of_run(found_by("now"), MEASURES)
    for other, word in (
        (replace(now, match=Match.DOC), "--match"),
        (replace(now, protocol="all_queries"), "--protocol"),
        (replace(now, test_set=SetVersion("s", "v9")), "test sets differ"),
        (replace(now, degraded=1), "degraded"),
    ):
        report = gate(baseline, other, parse_limits(()))
        assert report.outcome.exit_code == 4
        assert word in report.blockers[0]


@pytest.mark.req("E9", "M6")
def test_a_bundle_of_several_runs_names_them(tmp_path: Path) -> None:
    place = bundled(tmp_path, found_by("one"), found_by("two"))
    with pytest.raises(FormatError, match="one, two"):
        side_of_file(place, MEASURES)


@pytest.mark.parametrize(
    "content", [{"runs": {}}, {"runs": {"a": 3}}, {"runs": {"a": {}}, "metrics": 3}]
)
def test_half_a_bundle_is_refused(tmp_path: Path, content: dict[str, Any]) -> None:
    place = tmp_path / MASTER
    place.write_text(json.dumps({"metrics": [], **content}))
    with pytest.raises(FormatError):
        side_of_file(place, MEASURES)
