"""How does a result look as a small picture?

Pictures are plain SVG that takes its colors from the page (``--good``, ``--bad``, ``--accent``,
``--line``, ``--ink``, ``--faint``), so that they follow a light or a dark theme. Everything that
comes from outside is escaped. Colors are attributes, never ``style``: served pages forbid inline
styles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise

from markupsafe import Markup, escape

from assay.plural import counted

LABEL_WIDTH = 190
NUMBERS_WIDTH = 190
PLOT_WIDTH = 420
ROW = 26
DATE_WIDTH = 66
NARROW = (84, 254, 18)
"""Labels, plot and margin of a picture that fits a phone."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One difference with its interval; ``tone`` is good, bad, or anything else."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One value between 0 and 1, with what stands beside it."""

    label: str
    value: float | None
    note: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """One point with the text that shows when it is pointed at."""

    x: float
    y: float
    title: str = ""
    tone: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """One upright bar of a histogram."""

    label: str
    count: int
    link: str = ""


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One run in a row of runs, with its interval where it is known.

    ``broken`` says why it cannot be compared with the one before, ``changed`` what is new about it.
    ``kind`` is ``baseline``, ``degraded`` or nothing: a degraded run stands beside the line.
    """

    label: str
    when: str
    value: float | None
    broken: str = ""
    link: str = ""
    low: float | None = None
    high: float | None = None
    changed: str = ""
    kind: str = ""


def forest_plot(
    rows: Sequence[ForestRow], *, margin: float | None = None, narrow: bool = False
) -> Markup:
    """Differences around zero, each with its interval; the margin of equivalence is shaded.

    A ``narrow`` one fits a phone and has no column of numbers.
    """
    left, across, right = NARROW if narrow else (LABEL_WIDTH, PLOT_WIDTH, NUMBERS_WIDTH)
    ends = [abs(v) for row in rows for v in (row.low, row.high, row.value) if v is not None]
    reach = _nice(max([*ends, margin or 0.0, 1e-3]))
    bottom = ROW * len(rows)

    def x(value: float) -> float:
        return left + across * (value + reach) / (2 * reach)

    said = f"{counted(len(rows), 'difference')} with confidence intervals"
    parts = [_head(left + across + right, bottom + 44, said, "" if narrow else " wide")]
    if margin is not None:
        parts.append(
            f'<rect x="{x(-margin):.1f}" y="0" width="{x(margin) - x(-margin):.1f}" '
            f'height="{bottom}" fill="var(--faint)"/>'
        )
    for tick in (-reach, -reach / 2, 0.0, reach / 2, reach):
        parts.append(_line(x(tick), 0, x(tick), bottom, zero=tick == 0.0))
        parts.append(_text(x(tick), bottom + 18, f"{tick:+g}" if tick else "0", "middle"))
    parts.append(_text(x(0), bottom + 38, "B − A", "middle"))
    for at, row in enumerate(rows):
        y = ROW * at + ROW / 2
        parts.append(_text(left - 10, y + 4, row.label, "end"))
        parts.append(_interval(row, y, x))
        if not narrow:
            parts.append(_text(left + across + 12, y + 4, _numbers(row), "start"))
    return Markup("".join(parts) + "</svg>")  # noqa: S704 - every text in it went through escape


def heat_bars(bars: Sequence[Bar]) -> Markup:
    """Values from 0 to 1 as bars whose color runs from bad to good."""
    width = LABEL_WIDTH + PLOT_WIDTH + NUMBERS_WIDTH
    role = _role(bars)
    parts = [_head(width, ROW * len(bars) + 4, "values as bars", " wide", role)]
    for at, bar in enumerate(bars):
        y = ROW * at
        parts.append(_open(bar.link, f"the queries of {bar.label}"))
        parts.append(_text(LABEL_WIDTH - 10, y + 17, bar.label, "end"))
        parts.append(
            f'<rect x="{LABEL_WIDTH}" y="{y + 4}" width="{PLOT_WIDTH}" height="{ROW - 8}" rx="3" '
            'fill="var(--faint)"/>'
        )
        if bar.value is not None:
            share = min(1.0, max(0.0, bar.value))
            good = round(100 * share)
            parts.append(
                f'<rect x="{LABEL_WIDTH}" y="{y + 4}" width="{PLOT_WIDTH * share:.1f}" '
                f'height="{ROW - 8}" rx="3" '
                f'fill="color-mix(in oklch, var(--good) {good}%, var(--bad))"/>'
            )
        shown = "—" if bar.value is None else f"{bar.value:.4f}"
        note = f"  {bar.note}" if bar.note else ""
        parts.append(_text(LABEL_WIDTH + PLOT_WIDTH + 12, y + 17, shown + note, "start"))
        parts.append("</a>" if bar.link else "")
    return Markup("".join(parts) + "</svg>")  # noqa: S704 - every text in it went through escape


def scatter(points: Sequence[Point], *, x_label: str, y_label: str, size: int = 320) -> Markup:
    """Points in the unit square, with the line on which nothing changed."""
    left, top = 46, 10

    def x(value: float) -> float:
        return left + size * value

    def y(value: float) -> float:
        return top + size * (1 - value)

    parts = [_head(size + 70, size + 60, f"{y_label} against {x_label}", role=_role(points))]
    parts.append(
        f'<rect x="{left}" y="{top}" width="{size}" height="{size}" '
        'fill="none" stroke="var(--line)"/>'
    )
    parts.append(_line(x(0), y(0), x(1), y(1), dashed=True))
    for tick in (0.0, 0.5, 1.0):
        parts.append(_text(x(tick), top + size + 18, f"{tick:g}", "middle"))
        parts.append(_text(left - 8, y(tick) + 4, f"{tick:g}", "end"))
    parts.append(_text(x(0.5), top + size + 40, x_label, "middle"))
    parts.append(_upright(14, y(0.5), y_label))
    parts += [
        f'{_open(p.link, p.title)}<circle cx="{x(p.x):.1f}" cy="{y(p.y):.1f}" r="4" '
        f'fill="{_tone(p.tone)}" fill-opacity=".65"><title>{escape(p.title)}</title></circle>'
        f"{'</a>' if p.link else ''}"
        for p in points
    ]
    return Markup("".join(parts) + "</svg>")  # noqa: S704 - every text in it went through escape


def histogram(
    bars: Sequence[HistogramBar], *, x_label: str, y_label: str, width: int = 480, height: int = 150
) -> Markup:
    """A histogram: each bar with its count above and its label below, between named axes."""
    left = 26
    step = (width - left) / max(1, len(bars))
    most = max((bar.count for bar in bars), default=0) or 1
    parts = [_head(width, height + 62, f"{y_label} by {x_label}", role=_role(bars))]
    for at, bar in enumerate(bars):
        tall = height * bar.count / most
        parts.append(_open(bar.link, f"{counted(bar.count, 'query')} from {bar.label}"))
        parts.append(
            f'<rect x="{left + step * at + 3:.1f}" y="{18 + height - tall:.1f}" '
            f'width="{step - 6:.1f}" height="{tall:.1f}" rx="3" fill="var(--accent)"/>'
        )
        middle = left + step * (at + 0.5)
        parts.append(_text(middle, 13 + height - tall, str(bar.count), "middle"))
        parts.append(_text(middle, height + 34, bar.label, "middle"))
        parts.append("</a>" if bar.link else "")
    parts.append(_line(left, 18 + height, width, 18 + height))
    parts.append(_text(left + (width - left) / 2, height + 56, x_label, "middle"))
    parts.append(_upright(12, 18 + height / 2, y_label))
    return Markup("".join(parts) + "</svg>")  # noqa: S704 - every text in it went through escape


def trend(
    points: Sequence[TrendPoint], *, name: str, threshold: float | None = None, width: int = 960
) -> Markup:
    """Values over time, in a band of their intervals, above their dates.

    The line is broken where a value is undefined or not comparable. Moments are ISO texts; points
    stand apart even where runs followed each other within minutes.
    """
    left, top, height, right = 56, 26, 180, 20
    known = [
        one for point in points for one in (point.value, point.low, point.high) if one is not None
    ]
    if threshold is not None:
        known.append(threshold)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    pad = max((high - low) * 0.1, 0.01)
    low, high = max(0.0, low - pad), min(1.0, high + pad) if high <= 1.0 else high + pad
    places = _places([point.when for point in points], left + 6, width - right - 6)

    def y(value: float) -> float:
        return top + height * (1 - (value - low) / (high - low))

    role = "group" if any(point.link for point in points) else "img"
    said = f"{name} over {counted(len(points), 'run')}"
    parts = [_head(width, top + height + 32, said, " wide", role)]
    for edge in (low, (low + high) / 2, high):
        parts.append(_line(left, y(edge), width - right, y(edge)))
        parts.append(_text(left - 8, y(edge) + 4, f"{edge:.2f}", "end"))
    parts.append(_text(4, 12, name, "start"))
    parts += _band(points, places, y)
    if threshold is not None:
        parts.append(
            f'<line x1="{left}" y1="{y(threshold):.1f}" x2="{width - right}" '
            f'y2="{y(threshold):.1f}" stroke="var(--bad)" stroke-dasharray="6 4"/>'
        )
        parts.append(_text(width - right, y(threshold) - 5, f"threshold {threshold:g}", "end"))
    previous: tuple[float, float] | None = None
    for at, (point, x) in enumerate(zip(points, places, strict=True)):
        if point.broken:
            previous = None
            between = (x + places[at - 1]) / 2 if at else x
            end = between > width / 2
            parts.append(_line(between, top - 8, between, top + height, dashed=True))
            parts.append(
                _text(
                    between + (-4 if end else 4), top - 12, point.broken, "end" if end else "start"
                )
            )
        if point.value is None:
            previous = None
            continue
        here = (x, y(point.value))
        if point.kind == "degraded":
            parts.append(_trend_dot(point, here))
            continue
        if previous is not None:
            parts.append(
                f'<line x1="{previous[0]:.1f}" y1="{previous[1]:.1f}" x2="{here[0]:.1f}" '
                f'y2="{here[1]:.1f}" stroke="var(--accent)" stroke-width="2"/>'
            )
        if point.changed:
            parts.append(
                f'<line x1="{x:.1f}" y1="{top + height}" x2="{x:.1f}" y2="{top + height + 7}" '
                'stroke="var(--ink)" stroke-width="2"/>'
            )
        parts.append(_trend_dot(point, here))
        previous = here
    parts += _dates(points, places, top + height + 24)
    return Markup("".join(parts) + "</svg>")  # noqa: S704 - every text in it went through escape


def _places(moments: Sequence[str], left: float, right: float) -> list[float]:
    """Where each moment stands: by its time, with at least a little room between neighbours."""
    count = len(moments)
    if count < 2:
        return [left] * count
    even = (right - left) / (count - 1)
    times = [_seconds(text) for text in moments]
    known = [one for one in times if one is not None]
    span = max(known) - min(known) if len(known) == count else 0.0
    if not span:
        return [left + even * at for at in range(count)]
    gaps = [
        0.6 * even + 0.4 * (right - left) * max(0.0, after - before) / span
        for before, after in pairwise(known)
    ]
    scale = (right - left) / sum(gaps)
    return [left, *(left + scale * total for total in accumulate(gaps))]


def _seconds(moment: str) -> float | None:
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return None


def _band(
    points: Sequence[TrendPoint], places: Sequence[float], y: Callable[[float], float]
) -> list[str]:
    """The intervals as a band; it ends where one is not known."""
    parts: list[str] = []
    piece: list[tuple[float, float, float]] = []

    def close() -> None:
        if len(piece) > 1:
            upper = [f"{x:.1f},{top:.1f}" for x, top, _ in piece]
            lower = [f"{x:.1f},{bottom:.1f}" for x, _, bottom in reversed(piece)]
            parts.append(
                f'<polygon points="{" ".join([*upper, *lower])}" fill="var(--accent)" '
                'fill-opacity=".13"/>'
            )
        piece.clear()

    for point, x in zip(points, places, strict=True):
        if point.kind == "degraded":
            continue
        if point.broken or point.low is None or point.high is None:
            close()
        if point.low is not None and point.high is not None:
            piece.append((x, y(point.high), y(point.low)))
    close()
    return parts


def _dates(points: Sequence[TrendPoint], places: Sequence[float], y: float) -> list[str]:
    """The dates of as many points as there is room for, each day once."""
    parts: list[str] = []
    free, said = float("-inf"), ""
    for at, (point, x) in enumerate(zip(points, places, strict=True)):
        text, last = point.when[:10], at == len(points) - 1
        begins = x if at == 0 else x - DATE_WIDTH if last else x - DATE_WIDTH / 2
        if text == said or begins < free:
            continue
        parts.append(_text(x, y, text, "start" if at == 0 else "end" if last else "middle"))
        free, said = begins + DATE_WIDTH + 12, text
    return parts


def _trend_dot(point: TrendPoint, here: tuple[float, float]) -> str:
    interval = ""
    if point.low is not None and point.high is not None:
        interval = f" ({point.low:.4f} to {point.high:.4f})"
    notes = "".join(f", {one}" for one in (point.kind, point.changed) if one)
    when = point.when[:16].replace("T", " ")
    said = f"{point.label}, {when}: {point.value:.4f}{interval}{notes}"
    title = f"<title>{escape(said)}</title>"
    x, y = here
    if point.kind == "baseline":
        dot = (
            f'<rect x="{x - 5.5:.1f}" y="{y - 5.5:.1f}" width="11" height="11" fill="var(--good)" '
            f'transform="rotate(45 {x:.1f} {y:.1f})">{title}</rect>'
        )
    elif point.kind == "degraded":
        dot = (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="var(--card)" stroke="var(--bad)" '
            f'stroke-width="2">{title}</circle>'
        )
    else:
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="var(--accent)">{title}</circle>'
    if not point.link:
        return dot
    return f'<a href="{escape(point.link)}" aria-label="{escape(said)}">{dot}</a>'


def _interval(row: ForestRow, y: float, x: Callable[[float], float]) -> str:
    """A difference as a diamond on the line of its interval."""
    color, drawn = _tone(row.tone), ""
    if row.low is not None and row.high is not None:
        drawn = (
            f'<line x1="{x(row.low):.1f}" y1="{y:.1f}" x2="{x(row.high):.1f}" y2="{y:.1f}" '
            f'stroke="{color}" stroke-width="3" stroke-linecap="round"/>'
        )
    if row.value is None:
        return drawn
    return (
        f'{drawn}<rect x="{x(row.value) - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" '
        f'transform="rotate(45 {x(row.value):.1f} {y:.1f})" fill="{color}"/>'
    )


def _numbers(row: ForestRow) -> str:
    if row.value is None:
        return "—"
    known = row.low is not None and row.high is not None
    return f"{row.value:+.4f}" + (f" [{row.low:+.4f}, {row.high:+.4f}]" if known else "")


def _head(width: float, height: float, title: str, kind: str = "", role: str = "img") -> str:
    """The beginning of a picture; one with links in it is a group, not an image."""
    return (
        f'<svg class="chart{kind}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="{role}" aria-label="{escape(title)}">'
    )


def _role(marks: Sequence[Bar] | Sequence[Point] | Sequence[HistogramBar]) -> str:
    """A picture with links in it is a group of them, not an image."""
    return "group" if any(mark.link for mark in marks) else "img"


def _open(link: str, said: str) -> str:
    """The beginning of a link around a mark; nothing where it leads nowhere."""
    return f'<a href="{escape(link)}" aria-label="{escape(said)}">' if link else ""


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'font-size="12" fill="var(--ink)">{escape(text)}</text>'
    )


def _upright(x: float, y: float, text: str) -> str:
    """The name of a vertical axis, read from below."""
    return (
        f'<text transform="translate({x:.1f} {y:.1f}) rotate(-90)" text-anchor="middle" '
        f'font-size="12" fill="var(--ink)">{escape(text)}</text>'
    )


def _line(
    x1: float, y1: float, x2: float, y2: float, *, zero: bool = False, dashed: bool = False
) -> str:
    color = "var(--ink)" if zero else "var(--line)"
    dash = ' stroke-dasharray="4 4"' if dashed else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{dash}/>'


def _tone(tone: str) -> str:
    return {"good": "var(--good)", "bad": "var(--bad)"}.get(tone, "var(--accent)")


def _nice(reach: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(reach))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= reach - 1e-12)
