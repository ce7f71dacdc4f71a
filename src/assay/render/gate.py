"""How does the gate's ruling read: as a comment on a pull request, as JUnit, in a terminal?

The Markdown begins with a hidden marker by which the comment is found and replaced. Query texts
come from anyone's file: they are escaped, and the whole is kept below what a comment may hold.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from assay.evaluation.gate import Check, GateOutcome, GateReport
from assay.evaluation.scores import shown
from assay.render.escape import markdown_cell, one_line
from assay.render.numbers import signed
from assay.render.tables import Table, footnoted, markdown

MARKER = "<!-- assay-gate -->"
MOST_QUERIES = 20
MOST_TEXT = 120
MOST_CHARACTERS = 60_000  # a comment holds 65,536
SIGNS = {
    GateOutcome.PASSED: "✅ passed",
    GateOutcome.FAILED: "❌ failed",
    GateOutcome.INCONCLUSIVE: "⚠️ inconclusive",
}


def gate_tables(report: GateReport) -> list[Table]:
    """The checks, the measures, the types, and the queries that got worse."""
    checks = Table(
        ("measure", "baseline", "current", "change", "limit", "outcome", "why"),
        tuple(_check(check) for check in report.checks),
        title="Limits",
        text_columns=frozenset({0, 5, 6}),
        wrapped=frozenset({6}),
        optional=(4,),
        below=(5,),
    )
    measures = Table(
        ("measure", "baseline", "current", "change"),
        tuple((name, *_sides(pair)) for name, pair in report.shown.items()),
        title="Current vs baseline",
    )
    tables = [checks, measures]
    if report.by_type:
        tables.append(
            Table(
                ("query type", "measure", "baseline", "current", "change"),
                tuple(
                    (kind, name, *_sides(pair))
                    for kind, values in report.by_type.items()
                    for name, pair in values.items()
                ),
                title="By query type",
                text_columns=frozenset({0, 1}),
            )
        )
    if report.failing:
        more = len(report.failing) - MOST_QUERIES
        tables.append(
            Table(
                ("query", "type", "text", "baseline", "current"),
                tuple(
                    (q.query_id, q.query_type, _short(q.query_text), shown(q.baseline),
                     shown(q.current))
                    for q in report.failing[:MOST_QUERIES]
                ),
                title=f"Queries that got worse by {report.failing_measure} ({len(report.failing)})",
                text_columns=frozenset({0, 1, 2}),
                wrapped=frozenset({2}),
                notes=(f"{more} more are not shown",) if more > 0 else (),
            )
        )  # fmt: skip
    return tables


def gate_markdown(report: GateReport) -> str:
    """The report as a comment: marker, ruling, tables."""
    mode = " (non-inferiority)" if report.non_inferiority else ""
    lines = [
        MARKER,
        f"## Search quality: {SIGNS[report.outcome]}{mode}",
        "",
        f"`{_code(report.current)}` against the baseline `{_code(report.baseline)}`.",
    ]
    lines += [f"\n> **Not compared:** {markdown_cell(line)}" for line in report.blockers]
    lines += [f"\n> **Note:** {markdown_cell(line)}" for line in report.warnings]
    text = footnoted("\n".join([*lines, "", markdown(gate_tables(report)), ""]))
    if report.provenance:
        facts = ", ".join(f"{key} `{_code(value)}`" for key, value in report.provenance.items())
        text += f"\n<sub>{facts}</sub>\n"
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS].rsplit("\n", 1)[0] + "\n\n(the rest is cut off)\n"
    return text


def gate_text(report: GateReport) -> str:
    """The ruling in a few lines, for the output of a test."""
    lines = [f"gate {report.outcome.value}: {report.current} against {report.baseline}"]
    lines += [f"  {check.limit}: {check.sentence}" for check in report.checks]
    lines += [f"  not compared: {line}" for line in report.blockers]
    lines += [f"  note: {line}" for line in report.warnings]
    if report.failing:
        lines.append(f"  queries that got worse by {report.failing_measure}:")
        lines += [
            f"    {query.query_id}: {shown(query.baseline)} → {shown(query.current)}"
            for query in report.failing[:MOST_QUERIES]
        ]
        more = len(report.failing) - MOST_QUERIES
        lines += [f"    and {more} more"] if more > 0 else []
    return "\n".join(one_line(line) for line in lines)


def gate_junit(report: GateReport) -> str:
    """One test case per limit, in the XML that CI systems show."""
    count = dict.fromkeys(GateOutcome, 0)
    for check in report.checks:
        count[check.outcome] += 1
    suite = Xml.Element(
        "testsuite",
        name="assay gate",
        tests=str(len(report.checks)),
        failures=str(count[GateOutcome.FAILED]),
        errors=str(len(report.blockers)),
        skipped=str(count[GateOutcome.INCONCLUSIVE]),
    )
    for check in report.checks:
        case = Xml.SubElement(suite, "testcase", classname="assay.gate", name=str(check.limit))
        if report.blockers:
            problem = Xml.SubElement(case, "error", message="the runs cannot be compared")
            problem.text = _clean("; ".join(report.blockers))
        elif check.outcome is GateOutcome.FAILED:
            failure = Xml.SubElement(case, "failure", message=_clean(check.sentence))
            failure.text = _clean(
                "\n".join(
                    f"{q.query_id}: {shown(q.baseline)} -> {shown(q.current)}"
                    for q in report.failing[:MOST_QUERIES]
                )
            )
        elif check.outcome is GateOutcome.INCONCLUSIVE:
            Xml.SubElement(case, "skipped", message=_clean(check.sentence))
    root = Xml.Element("testsuites", name="assay")
    root.append(suite)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode")


def _check(check: Check) -> tuple[str, ...]:
    return (
        check.limit.name,
        shown(check.baseline),
        shown(check.current),
        signed(check.difference),
        check.limit.allowed,
        check.outcome.value,
        check.sentence,
    )


def _sides(pair: tuple[float | None, float | None]) -> tuple[str, str, str]:
    before, after = pair
    change = None if before is None or after is None else after - before
    return shown(before), shown(after), signed(change)


def _short(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"


def _code(text: str) -> str:
    """Text for a code span: no backtick ends it, no line breaks it."""
    return " ".join(text.replace("`", "'").split())


def _clean(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return "".join(c for c in text if c in "\t\n" or c >= " ")
