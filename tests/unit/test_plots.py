"""Is what a picture shows what the result says? matplotlib draws them for real."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest

import assay
from assay import extras, plots
from assay.app.workspace import Workspace
from assay.errors import MissingDependencyError, UsageError
from tests.unit.app.results import GOLDEN, evaluated

NAME = r"\frac{$broken$}"  # a formula that cannot be read


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with evaluated(tmp_path_factory.mktemp("plots") / "home") as workspace:
        workspace.evaluate(GOLDEN, name=NAME, depth=2)
        yield workspace


@pytest.fixture
def matplotlib() -> Any:
    return pytest.importorskip("matplotlib", reason="the extra plots is not installed")


def drawn(figure: Any) -> Any:
    """The axes of a figure, once it was really drawn."""
    file = io.BytesIO()
    figure.savefig(file, format="png")
    assert file.getvalue().startswith(b"\x89PNG")
    (ax,) = figure.axes
    return ax


def ticks(axis: Any) -> list[str]:
    return [one.get_text() for one in axis.get_ticklabels()]


def test_a_forest_has_every_measure_with_its_interval(here: Workspace, matplotlib: Any) -> None:
    tested = here.ab("wide", "narrow")
    ax = drawn(plots.forest(tested))
    contrasts = tested.result.contrasts
    assert ticks(ax.yaxis) == [str(one.measure) for one in contrasts]
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert points == [one.difference for one in contrasts]
    bars = [list(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2][1:]
    assert bars == [
        [one.interval.low, one.interval.high] for one in contrasts if one.interval.defined
    ]
    assert ax.get_title() == "narrow against wide"
    assert [note.get_text().split()[-1] for note in ax.texts] == [
        one.ruling.verdict.value for one in contrasts
    ]


def test_several_runs_are_named_in_one_forest(matplotlib: Any) -> None:
    qrels = {f"q{at}": {"d1": 1} for at in range(5)}
    one, two, three = (
        assay.score(qrels, {f"q{at}": [*skipped, "d1"] for at in range(5)}, "MRR", name=name)
        for name, skipped in (("a", []), (NAME, ["x"]), ("c", ["x", "y"]))
    )
    ax = drawn(plots.forest(assay.compare(one, two, three)))
    assert [text.replace(r"\$", "$") for text in ticks(ax.yaxis)] == [f"{NAME} MRR", "c MRR"]


def test_differences_stand_in_order(here: Workspace, matplotlib: Any) -> None:
    tested = here.ab("wide", "narrow")
    ax = drawn(plots.differences(tested, "Recall@5"))
    heights = [bar.get_height() for bar in ax.patches]
    before, after = (side.per_query("Recall@5") for side in (tested.result.a, tested.result.b))
    wanted = [(after[q] or 0.0) - (before[q] or 0.0) for q in before]
    assert heights == sorted(wanted, reverse=True)
    assert set(ticks(ax.xaxis)) == {"q1", "q2", "q3", "q4"}
    worse = sum(value < 0 for value in wanted)
    assert worse > 0
    assert ax.get_xlabel().endswith(f"{worse} worse")


def test_two_results_without_a_workspace_are_set_side_by_side(matplotlib: Any) -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    one = assay.score(qrels, {"q1": ["d1"], "q2": ["x", "d2"]}, "MRR P@5", name="one")
    other = assay.evaluate(lambda text: ["x", "d1", "d2"], GOLDEN, "MRR", name="other")
    two = assay.score(qrels, {"q1": ["x", "d1"], "q2": ["d2"]}, "MRR P@5", name="two")
    ax = drawn(plots.differences((one, two)))
    assert [bar.get_height() for bar in ax.patches] == [0.5, -0.5]
    assert (ax.get_title(), ax.get_ylabel()) == ("two against one", "difference of MRR")
    with pytest.raises(UsageError, match="no query has a value of MRR in both runs"):
        plots.differences((assay.score({"z": {"d": 1}}, {"z": ["d"]}, "MRR"), other))


def test_a_trend_follows_the_runs(here: Workspace, matplotlib: Any) -> None:
    past = here.history(GOLDEN.name, measures="nDCG@10 MRR")
    ax = drawn(plots.trend(past))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["nDCG@10", "MRR"]
    frame = past.to_frame("polars")
    assert list(ax.lines[0].get_ydata()) == frame["nDCG@10"].to_list()
    assert [text.replace(r"\$", "$") for text in ticks(ax.xaxis)] == [i.name for i in past.runs]


def test_a_waterfall_shows_what_is_left_and_lost(here: Workspace, matplotlib: Any) -> None:
    view = here.show("narrow", waterfall=True)
    assert view.fates is not None
    ax = drawn(plots.waterfall(view))
    steps = view.fates.passed()
    assert ticks(ax.yaxis) == list(steps)
    assert [bar.get_width() for bar in ax.patches][: len(steps)] == list(steps.values())
    assert sum(bar.get_width() for bar in ax.patches[len(steps) :]) == (
        steps["relevant"] - view.fates.passed()["in the top 10"]
    )
    with pytest.raises(UsageError, match="stages were not asked for"):
        plots.waterfall(here.show("narrow"))


def test_axes_of_the_caller_are_drawn_into(here: Workspace, matplotlib: Any) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    tested = here.ab("wide", "narrow")
    assert plots.forest(tested, ax=left) is figure
    assert plots.differences(tested.result, ax=right) is figure
    assert left.lines
    assert right.patches


def test_without_matplotlib_the_extra_is_named(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", gone)
    with pytest.raises(MissingDependencyError, match="the extra plots"):
        plots.forest(here.ab("wide", "narrow"))


@pytest.mark.parametrize(
    ("draw", "hint"),
    [
        (plots.forest, "workspace.ab"),
        (plots.differences, "workspace.ab"),
        (plots.trend, "workspace.history"),
        (plots.waterfall, "workspace.show"),
    ],
)
def test_a_result_of_another_kind_is_refused_with_the_verb(draw: Any, hint: str) -> None:
    with pytest.raises(UsageError, match=rf"a list has no such picture .*{hint}"):
        draw([])
