"""How does the cost of a search grow with the number of passages, as a picture?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

PLOT = Path(__file__).parent / "index-size.svg"
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 380, 64, 24, 110, 48
COLORS = {"bm25": "#1b6ca8", "splade": "#c2571a", "dense": "#5b8c2a", "graph": "#7a4fa3"}
LABELS = {"bm25": "bm25", "splade": "splade", "dense": "dense exact", "graph": "dense graph"}


def plot(rows: list[dict[str, Any]]) -> str:
    """An SVG with both axes logarithmic: a line of P50 per kind, its P95 as dots."""
    sound = [row for row in rows if "one" in row]
    sizes = sorted({row["passages"] for row in sound})
    times = [row["one"]["plain"][name] for row in sound for name in ("p50", "p95")]
    across = _scale(sizes[0], sizes[-1], LEFT, WIDTH - RIGHT)
    low, high = 10 ** math.floor(math.log10(min(times))), 10 ** math.ceil(math.log10(max(times)))
    up = _scale(low, high, HEIGHT - BOTTOM, TOP)
    parts = [*_grid(sizes, low, high, across, up)]
    for kind, color in COLORS.items():
        found = sorted((r["passages"], r["one"]["plain"]) for r in sound if r["kind"] == kind)
        points = [(across(size), up(one["p50"])) for size, one in found]
        if not points:
            continue
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{across(size):.1f}" cy="{up(one["p95"]):.1f}" r="2.5" fill="{color}"/>'
            for size, one in found
        ]
        x, y = points[-1]
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{color}">{LABELS[kind]}</text>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="12" role="img">\n'
        "<title>Milliseconds of a search against passages: lines P50, dots P95</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def _scale(low: float, high: float, start: float, end: float) -> Any:
    span = math.log(high) - math.log(low) or 1.0
    return lambda value: start + (math.log(value) - math.log(low)) / span * (end - start)


def _grid(sizes: list[int], low: float, high: float, across: Any, up: Any) -> list[str]:
    parts = []
    mark = low
    while mark <= high * 1.001:
        y = up(mark)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                     'stroke="#dddddd"/>')  # fmt: skip
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
        mark *= 10
    for size in sizes:
        x = across(size)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
                     f"{size // 1000}k</text>")  # fmt: skip
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 10}">passages; milliseconds on one core, '
                 "line P50, dots P95</text>")  # fmt: skip
    return parts
