"""Can the id of a run, made up by a server or a file, name a place outside the workspace?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.app.layout import Layout
from assay.errors import InputError
from assay.evaluation.bundle import report_name

HOSTILE = (
    "../../outside", "/etc/cron.d/x", "a/../../b", "..", ".", ".hidden", "a\\b", "a\x00b", "a\nb",
    "x" * 5_000, "~root", "-rf",
)  # fmt: skip


@pytest.mark.parametrize("run_id", HOSTILE)
def test_a_report_stays_in_its_folder(run_id: str, tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    place = layout.report(f"compare-{run_id}-{run_id}.md")
    assert place.parent == layout.reports
    layout.reports.mkdir()
    place.write_text("x")
    assert [one.parent for one in tmp_path.rglob("*.md")] == [layout.reports]


@pytest.mark.parametrize("run_id", HOSTILE)
def test_a_bundle_has_no_file_of_such_a_run(run_id: str) -> None:
    with pytest.raises(InputError):
        report_name(run_id)


def test_usual_ids_are_kept(tmp_path: Path) -> None:
    name = "compare-20260101-120000-abcdef-hybrid.v2.md"
    assert Layout(tmp_path).report(name).name == name
