"""How are the measurements written down?"""

from __future__ import annotations

from typing import Any

from bench.score_prose import HEAD, NOTES, SIZE
from bench.summary import Spread, Summary, disagreement, exponent, line, summarise
from bench.targets import targets
from bench.workloads import WORKLOADS

LIKE = {"A": "like MS MARCO", "B": "like TREC-COVID"}


def render(results: dict[str, Any], *, quick: bool = False) -> str:
    """The whole document; a quick trial is held to no target."""
    parts = [HEAD, "" if quick else _targets(results)]
    parts += [_workload(name, results[name]) for name in LIKE if name in results]
    if "cli" in results:
        parts.append(_programs(results["cli"]))
    if "size" in results:
        parts.append(_sizes(results["size"]))
    if "stats" in results and results["stats"]["rows"]:
        parts.append(_statistics(results["stats"]))
    parts += [_notes(results), _machine(results)]
    return "\n\n".join(part for part in parts if part).rstrip() + "\n"


def _table(head: list[str], rows: list[list[str]]) -> str:
    align = "|".join(" :-- " if at == 0 else " --: " for at in range(len(head)))
    lines = [f"| {' | '.join(head)} |", f"|{align}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _targets(results: dict[str, Any]) -> str:
    rows = [target.row() for target in targets(results)]
    if not rows:
        return ""
    head = "| figure | target | measured | |\n| :-- | --: | --: | :-- |"
    return "\n".join(["## Targets", "", head, *rows])


def _workload(name: str, section: dict[str, Any]) -> str:
    recipe = WORKLOADS[section["workload"]]
    title = f"## {name}: {recipe.queries:,} queries × {recipe.depth:,} results, {LIKE[name]}"
    parts = [title, f"A run file of {section['file_bytes'] / 1e6:.1f} MB."]
    for source, tools in section["sources"].items():
        parts.append(f"### {name} from {source}")
        parts.append(_comparison(tools, source))
    return "\n\n".join(parts)


def _comparison(tools: dict[str, Any], source: str) -> str:
    ours = summarise("assay", tools["assay"])
    head = ["", "n", "import s", "work s (min–max)", "import + work s", "wall s"]
    head += ["inputs MB", "peak MB", "work / ours", "both / ours", "values"]
    rows = []
    for name, measured in tools.items():
        summary = summarise(name, measured)
        if isinstance(summary, str):
            rows.append([name, f"failed: {summary}", *[""] * (len(head) - 2)])
        else:
            rows.append(_row(summary, ours, source))
    return _table(head, rows)


def _row(summary: Summary, ours: Summary | str, source: str) -> list[str]:
    beside = ["", "", ""]
    if isinstance(ours, Summary):
        same = "" if summary.tool == "assay" else disagreement(ours, summary)
        beside = [_ratio(summary.work, ours.work), _ratio(summary.total, ours.total), same]
    return [
        summary.tool,
        str(summary.n),
        f"{summary.imported.median:.2f}",
        summary.work.text(),
        f"{summary.total.median:.2f}",
        f"{summary.wall.median:.2f}",
        "" if source == "files" else f"{summary.held_mb:,.0f}",
        f"{summary.peak_mb:,.0f}",
        *beside,
    ]


def _ratio(theirs: Spread, ours: Spread) -> str:
    ratio = theirs.median / ours.median
    return f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.2f}"


def _programs(section: dict[str, Any]) -> str:
    rows = []
    for name, taken in section["programs"].items():
        wall = Spread.of([one["wall_s"] for one in taken])
        cpu = Spread.of([one["work_s"] for one in taken])
        peak = max(one["peak_mb"] for one in taken)
        rows.append([name, str(len(taken)), wall.text(), cpu.text(), f"{peak:,.0f}"])
    head = ["", "n", "wall s (min–max)", "CPU s (min–max)", "peak MB"]
    text = "## Command line\n\nWhole programs from start to end, Python's own start included."
    return f"{text}\n\n{_table(head, rows)}"


def _sizes(section: dict[str, Any]) -> str:
    rows, sizes, costs = [], [], []
    for row in section["sizes"]:
        summary = summarise("assay", row["taken"])
        if isinstance(summary, str):
            return f"## Cost against size\n\nfailed: {summary}"
        millions = row["rows"] / 1e6
        sizes.append(millions)
        costs.append(summary.work.median)
        rows.append(_size_row(f"{millions:g} M", row, summary))
    last = section["sizes"][-1]
    label = f"{sizes[-1]:g} M, {last['limit_bytes'] >> 20} MB of data allowed"
    limited = summarise("assay", [last["limited"]])
    if isinstance(limited, str):
        rows.append([label, "", "", f"failed: {limited}", "", ""])
    else:
        rows.append(_size_row(label, last, limited))
    head = ["rows", "file MB", "n", "work s (min–max)", "s per M rows", "peak MB"]
    fixed, each = line(sizes, costs)
    fit = (
        f"Fitted line: {fixed:.2f} s and {each:.3f} s per million "
        f"rows.\nFitted exponent: {exponent(sizes, costs):.2f}; 1 is linear, and the fixed part "
        "makes it less."
    )
    return f"## Cost against size\n\n{SIZE}\n\n{_table(head, rows)}\n\n{fit}"


def _size_row(label: str, row: dict[str, Any], summary: Summary) -> list[str]:
    each = summary.work.median / (row["rows"] / 1e6)
    size = f"{row['file_bytes'] / 1e6:,.0f}"
    n = str(summary.n)
    return [label, size, n, summary.work.text(), f"{each:.3f}", f"{summary.peak_mb:,.0f}"]


def _statistics(section: dict[str, Any]) -> str:
    rows = [
        [
            str(row["case"]),
            f"{row['ours_s']:.3f} ±{row['ours_spread_s']:.3f}",
            f"{row['peer_s']:.2f} ±{row['peer_spread_s']:.2f}",
            f"{row['ratio']:.1f}",
            str(row["peer"]),
        ]
        for row in section["rows"]
    ]
    head = ["", "ours CPU s", "peer CPU s", "peer / ours", "peer"]
    text = "## Statistics\n\nMedian of three and largest minus smallest; `python -m bench.stats`."
    return f"{text}\n\n{_table(head, rows)}"


def _notes(results: dict[str, Any]) -> str:
    cold = next((results[s]["ranx_cold"] for s in LIKE if s in results), None)
    text = NOTES
    if cold and "error" not in cold:
        seconds = cold["import_s"] + cold["work_s"]
        text += (
            "\n- ranx without compiled code in its cache (first use on a machine) takes "
            f"{seconds:.0f} s and\n  {cold['peak_mb']:,.0f} MB for B from files."
        )
    return text


def _machine(results: dict[str, Any]) -> str:
    facts = dict(results["machine"])
    place = f"{facts.pop('processor')}, {facts.pop('cores')} cores, {facts.pop('memory')} of memory"
    system = f"{facts.pop('system')}, Python {facts.pop('python')}"
    versions = ", ".join(f"{name} {version}" for name, version in facts.items())
    days = {name: results[name]["when"] for name in results if name != "machine"}
    if len(set(days.values())) == 1:
        when = next(iter(days.values()))
    else:
        when = ", ".join(f"{name} {day}" for name, day in days.items())
    return f"## Machine\n\n{place}; {system};\nmeasured {when}.\n\nVersions: {versions}."
