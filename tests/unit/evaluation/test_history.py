"""Is only like held against like, and is what is left out said?"""

from __future__ import annotations

from typing import Any

import pytest

from assay.evaluation.history import History, HistoryOptions, history_of
from assay.measures.parse import parse_measures
from assay.model.ranking import Match
from assay.model.runs import FIGURES_ONLY, RunInfo, RunStatus
from assay.model.scoring import Scoring
from assay.render.runs import history_tables

MEASURES = parse_measures("Recall@10")


def info(run_id: str, recall: float, **more: Any) -> RunInfo:
    """A complete run; ids sort as runs were made."""
    failed, degraded = more.pop("failed", 0), more.pop("degraded", 0)
    metrics = {"recall_at_10": recall}
    usual: dict[str, Any] = {
        "suite": "s",
        "test_set_version": "v1",
        "test_set_checksum": "queries",
        "config": {},
        "config_hash": "aaaaaaaaaaaa",
        "cache_key": run_id,
        "created_at": f"2024-03-{run_id}",
        "status": RunStatus.COMPLETE,
        "aggregate": {"metrics": metrics, "failed_queries": failed, "degraded_queries": degraded},
    }
    return RunInfo(run_id=run_id, **{**usual, **more})


def found(*runs: RunInfo, limit: int = 20, **options: Any) -> History:
    return history_of("s", reversed(runs), MEASURES, HistoryOptions(**options), limit)


def in_series(history: History) -> list[list[str]]:
    return [[run.run_id for run in one.runs] for one in history.series]


@pytest.mark.req("W11")
@pytest.mark.parametrize(
    "other",
    [
        {"part": "holdout"},
        {"engine": "http"},
        {"engine": FIGURES_ONLY},
        {"test_set_checksum": "other queries"},
        {"scoring": Scoring(match=Match.DOC)},
        {"scoring": Scoring(protocol="all_queries")},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_series_holds_like_against_like(other: dict[str, Any]) -> None:
    history = found(info("01", 0.6), info("02", 0.1, **other), info("03", 0.7))
    assert in_series(history) == [["01", "03"], ["02"]]
    plain = history.to_dict()
    assert [run["run_id"] for run in plain["runs"]] == ["01", "02", "03"]
    assert [run["series"] for run in plain["runs"]] == [0, 1, 0]
    assert plain["trend"]["recall_at_10"] == {
        "first": 0.6, "last": 0.7, "change": 0.1, "direction": "up",
    }  # fmt: skip
    assert plain["series"][1]["trend"] == {"recall_at_10": None}
    first, second = history_tables(history)
    assert [row[-1] for row in first.rows] == ["0.6000", "0.7000 (+0.1000)"]
    assert [row[-1] for row in second.rows] == ["0.1000"]


@pytest.mark.req("W11")
@pytest.mark.parametrize(("what", "said"), [("failed", "2 failed"), ("degraded", "2 degraded")])
def test_a_run_that_is_not_sound_is_marked_and_in_no_series(what: str, said: str) -> None:
    history = found(info("01", 0.6), info("02", 0.1, **{what: 2}), info("03", 0.7))
    assert in_series(history) == [["01", "03"]]
    assert history.unsound == {"02": said}
    assert history.to_dict()["runs"][1]["unsound"] == said
    assert said in history_tables(history)[-1].rows[0]


@pytest.mark.req("W11")
def test_what_is_left_out_is_said() -> None:
    history = found(
        info("01", 0.6),
        info("02", 0.0, status=RunStatus.FAILED),
        info("03", 0.0, status=RunStatus.INTERRUPTED),
        info("04", 0.5, part="holdout"),
        part="all",
    )
    assert in_series(history) == [["01"]]
    assert history.left_out == (
        "1 failed run is left out",
        "1 interrupted run is left out",
        "1 run is left out, of another part, engine or configuration",
    )
    assert set(history.left_out) <= set(history_tables(history)[-1].notes)


@pytest.mark.req("W11")
def test_configurations_can_be_kept_apart() -> None:
    runs = (info("01", 0.6), info("02", 0.2, config_hash="bbbbbbbbbbbb"), info("03", 0.7))
    together = found(*runs)
    assert in_series(together) == [["01", "02", "03"]]
    assert "2 configurations in this series" in history_tables(together)[0].notes[-1]
    assert together.to_dict()["series"][0]["configurations"] == ["aaaaaaaa", "bbbbbbbb"]
    assert in_series(found(*runs, by_configuration=True)) == [["01", "03"], ["02"]]
    assert in_series(found(*runs, configuration="bbbb")) == [["02"]]
    assert in_series(found(*runs, engine="embedded")) == [["01", "02", "03"]]
    assert in_series(found(*runs, engine="http")) == []


def test_the_newest_runs_are_shown() -> None:
    history = found(*(info(f"{at:02}", 0.5) for at in range(1, 10)), limit=3)
    assert in_series(history) == [["07", "08", "09"]]
