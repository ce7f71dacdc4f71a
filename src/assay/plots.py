"""How does a result look as a picture of matplotlib?

Each function draws one result into axes of yours, or into a new figure, and gives the figure back:
a notebook shows it, ``savefig`` writes it. matplotlib comes with the extra ``plots``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.app.comparison import AbTest
from assay.app.run_view import RunView
from assay.errors import UsageError
from assay.evaluation.ab import ABResult
from assay.evaluation.history import History, metric_of
from assay.evaluation.result import EvaluationResult
from assay.evaluation.scores import Scores
from assay.evaluation.significance import Comparison, Contrast
from assay.evaluation.waterfall import Waterfall
from assay.extras import import_optional
from assay.stats.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from assay.measures.base import Measure

Scored: TypeAlias = Scores | EvaluationResult
GOOD, BAD, PLAIN, FAINT = "#2a7f4f", "#b3372f", "#5b6470", "#e4e7eb"
NAMED_QUERIES = 40
"""With more queries than this, their names would not be readable."""
MOST_CHARACTERS = 60


def forest(tested: AbTest | ABResult | Comparison, *, ax: Axes | None = None) -> Figure:
    """The difference of each measure with its interval; the margin of equivalence is shaded."""
    _require(tested, AbTest, ABResult, Comparison, hint="workspace.ab(a, b) or assay.compare(...)")
    result = tested.result if isinstance(tested, AbTest) else tested
    contrasts = result.contrasts
    figure, ax = _axes(ax, height=1.3 + 0.42 * len(contrasts))
    ax.axvspan(-result.margin, result.margin, color=FAINT, zorder=0)
    ax.axvline(0.0, color=PLAIN, linewidth=0.8)
    several = len({one.run for one in contrasts}) > 1
    for at, one in enumerate(contrasts):
        color = _tone(one)
        if one.difference is not None:
            ax.plot([one.difference], [at], "o", color=color)
        if one.interval.low is not None and one.interval.high is not None:
            ax.plot([one.interval.low, one.interval.high], [at, at], color=color, linewidth=2)
        ax.annotate(
            f"{_signed(one.difference)}  {one.ruling.verdict}",
            (1.02, at),
            xycoords=("axes fraction", "data"),
            va="center",
            color=color,
        )
    labels = [
        _text(f"{one.run} {one.measure}" if several else str(one.measure)) for one in contrasts
    ]
    ax.set_yticks(range(len(contrasts)), labels)
    ax.invert_yaxis()
    ax.set_xlabel(f"difference, with {_level(contrasts)} interval")
    ax.set_title(_text(_title(tested)))
    return figure


def differences(
    tested: AbTest | ABResult | tuple[Scored, Scored],
    measure: Measure | str | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """What each query gained or lost, from the largest gain to the largest loss.

    Instead of a test, two results of ``assay.score`` or ``assay.evaluate`` will do: the second is
    held against the first.
    """
    _require(tested, AbTest, ABResult, tuple, hint="workspace.ab(a, b), or two results as (a, b)")
    one, other = _sides(tested)
    chosen = one.measures[0] if measure is None else measure
    before, after = one.per_query(chosen), other.per_query(chosen)
    changes = sorted(
        (
            (change - old, query)
            for query, old in before.items()
            if old is not None and (change := after.get(query)) is not None
        ),
        key=lambda pair: (-pair[0], pair[1]),
    )
    if not changes:
        raise UsageError(f"no query has a value of {chosen} in both runs")
    figure, ax = _axes(ax, height=3.6)
    values = [value for value, _ in changes]
    colors = [GOOD if value > 0 else BAD if value < 0 else PLAIN for value in values]
    ax.bar(range(len(values)), values, color=colors)
    ax.axhline(0.0, color=PLAIN, linewidth=0.8)
    better, worse = sum(value > 0 for value in values), sum(value < 0 for value in values)
    if len(changes) <= NAMED_QUERIES:
        names = [_text(query) for _, query in changes]
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize="small")
    else:
        ax.set_xticks([])
    same = len(values) - better - worse
    ax.set_xlabel(f"{len(values)} queries: {better} better, {same} the same, {worse} worse")
    ax.set_ylabel(f"difference of {chosen}")
    ax.set_title(_text(_title(tested)))
    return figure


def trend(
    history: History, measures: Sequence[Measure] | None = None, *, ax: Axes | None = None
) -> Figure:
    """Measures from run to run; only runs that can be compared are joined by a line."""
    _require(history, History, hint="workspace.history(suite)")
    if not history.runs:
        raise UsageError(f"there is no complete run of {history.suite:.80}")
    figure, ax = _axes(ax, height=3.8)
    place = {info.run_id: at for at, info in enumerate(history.runs)}
    for number, measure in enumerate(measures or history.measures):
        color, label = f"C{number}", str(measure)
        for series in history.series:
            points = [(place[one.run_id], metric_of(one, measure)) for one in series.runs]
            known = [(at, value) for at, value in points if value is not None]
            ax.plot(
                [at for at, _ in known],
                [value for _, value in known],
                "o-",
                color=color,
                label=label,
            )
            label = f"_{measure}"  # a legend names a measure once
        for info in history.runs:
            value = metric_of(info, measure)
            if info.run_id in history.unsound and value is not None:
                ax.plot([place[info.run_id]], [value], "x", color=color)
    labels = [_text(info.name or info.created_at[:10]) for info in history.runs]
    ax.set_xticks(range(len(labels)), labels, rotation=30, ha="right", fontsize="small")
    ax.set_ylim(bottom=0.0, top=1.02)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    unsound = " (x: queries failed or were degraded)" if history.unsound else ""
    ax.set_title(_text(f"{history.suite}{unsound}"))
    return figure


def waterfall(found: Waterfall | RunView, *, ax: Axes | None = None) -> Figure:
    """How many relevant documents were still there after each stage, and how many were lost."""
    _require(found, Waterfall, RunView, hint="workspace.show(run, waterfall=True)")
    fates = found.fates if isinstance(found, RunView) else found
    if fates is None:
        raise UsageError("the stages were not asked for", hint="show(run, waterfall=True)")
    steps = fates.passed()
    figure, ax = _axes(ax, height=3.2)
    left = list(steps.values())
    lost = [0, *(before - after for before, after in pairwise(left))]
    places = range(len(left))
    ax.barh(places, left, color=GOOD)
    ax.barh(places, lost, left=left, color=BAD, alpha=0.35)
    for at, (count, gone) in enumerate(zip(left, lost, strict=True)):
        said = f"{count}" + (f"  (−{gone})" if gone else "")
        ax.annotate(
            said, (count + gone, at), xytext=(4, 0), textcoords="offset points", va="center"
        )
    ax.set_yticks(places, list(steps))
    ax.invert_yaxis()
    ax.set_xlim(0, max(left, default=0) * 1.2 or 1)
    ax.set_xlabel("relevant documents")
    name = found.info.name or found.info.run_id if isinstance(found, RunView) else ""
    ax.set_title(_text(name))
    return figure


def _require(given: object, *kinds: type, hint: str) -> None:
    """Refuse a result that has no such picture."""
    if not isinstance(given, kinds):
        raise UsageError(f"a {type(given).__name__} has no such picture", hint=hint)


def _axes(ax: Axes | None, *, height: float) -> tuple[Figure, Any]:
    """The axes to draw into, and their figure."""
    if ax is not None:
        figure: Any = ax.get_figure(root=True)
        return figure, ax
    import_optional("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, height), layout="constrained")
    return figure, figure.subplots()


def _sides(tested: AbTest | ABResult | tuple[Scored, Scored]) -> tuple[Scores, Scores]:
    if isinstance(tested, AbTest):
        return tested.result.a, tested.result.b
    if isinstance(tested, ABResult):
        return tested.a, tested.b
    one, other = (side.scores if isinstance(side, EvaluationResult) else side for side in tested)
    return one, other


def _title(tested: AbTest | ABResult | Comparison | tuple[Scored, Scored]) -> str:
    """Which run is held against which, by names where they have any."""
    if isinstance(tested, tuple):
        return f"{tested[1].name} against {tested[0].name}"
    if isinstance(tested, Comparison):
        return f"against {tested.baseline}"
    if isinstance(tested, ABResult):
        return tested.title
    before, after = (run.info.name or run.info.run_id for run in (tested.a, tested.b))
    return f"{after} against {before}"


def _tone(one: Contrast) -> str:
    return {Verdict.BETTER: GOOD, Verdict.WORSE: BAD}.get(one.ruling.verdict, PLAIN)


def _signed(value: float | None) -> str:
    return "—" if value is None else f"{value:+.4f}"


def _level(contrasts: Sequence[Contrast]) -> str:
    return f"{contrasts[0].interval.level:.0%}" if contrasts else "its"


def _text(text: str) -> str:
    """Text as it is: matplotlib would read what stands between dollars as a formula."""
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
    return cut.replace("$", r"\$")
