"""Is a file that a run is held against what it is taken for?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from assay.errors import ConflictError, MissingFileError
from assay.evaluation.baseline import Baseline, SetVersion, side_of_file
from assay.evaluation.gate import gate, parse_limits
from assay.measures.parse import parse_measures
from assay.testsets.split import hold_out, refuse_redraw
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
