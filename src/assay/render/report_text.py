"""How does the evaluation of a workflow read: overall, by speaker, and in sentences?

Takes plain mappings, so that numbers which came over HTTP read the same as those of a stored run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.evaluation.defaults import SPEAKER_MEASURES
from assay.evaluation.insights import Insight
from assay.evaluation.report import PROTOCOLS, Figure, ReportContent, RunReport
from assay.evaluation.scope import total_text
from assay.evaluation.scores import shown
from assay.measures.parse import parse_measures
from assay.render.escape import markdown_cell
from assay.render.scores import csv_rows
from assay.render.tables import Table, footnoted, markdown

_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._:-]*(?:,? [A-Za-z0-9][A-Za-z0-9@._:-]*)*")


def workflow_markdown(
    *,
    evaluation_id: str,
    dataset: str,
    date: str,
    total_queries: int,
    overall: Sequence[Sequence[str]],
    speakers: Mapping[str, Mapping[str, str]],
    insights: Sequence[Insight],
    skipped_queries: int = 0,
    columns: Sequence[str] = ("Metric", "Value"),
    facts: Sequence[tuple[str, str]] = (),
    more: Sequence[Table] = (),
    warnings: Sequence[str] = (),
) -> str:
    """The report of the evaluation workflow; values come as they are to be read.

    ``overall`` has a row for each measure under ``columns``; ``facts`` follow the dataset, the date
    and the number of queries.
    """
    total = total_text(total_queries, skipped_queries)
    head = [("Dataset", dataset), ("Date", date), ("Total Queries", total), *facts]
    parts = [
        f"# Evaluation Report: {_word(evaluation_id)}",
        "  \n".join(f"**{name}**: {_word(value)}" for name, value in head),
    ]
    parts += [f"> **Note:** {markdown_cell(line)}" for line in warnings]
    parts += ["## Overall Metrics", _table(columns, overall)]
    if speakers:
        names = tuple(dict.fromkeys(name for values in speakers.values() for name in values))
        rows = tuple((who, *(v.get(n, "—") for n in names)) for who, v in speakers.items())
        parts += ["## Speaker-Specific Performance", _table(("Speaker", *names), rows)]
    if insights:
        lines = "\n".join(f"- {_sentence(insight.text)}" for insight in insights)
        parts += ["## Insights", lines]
    for table in more:
        parts += [f"## By {table.columns[0].lower()}", markdown([table])]
    return footnoted("\n\n".join(parts) + "\n")


def _word(text: str) -> str:
    """Ids, dates and names as they are, since nothing in them is markup; all else escaped."""
    return text if _HARMLESS.fullmatch(text) else markdown_cell(text)


def _sentence(text: str) -> str:
    """Escaped, but for a > that stands between words, where it is no markup."""
    return markdown_cell(text).replace(" \\> ", " > ").replace(" \\>= ", " >= ")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in the form that the contract of the workflow shows."""
    rule = "|".join("-" * (len(cell) + 2) for cell in header)
    lines = [f"| {' | '.join(map(_word, row))} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def run_markdown(report: RunReport) -> str:
    """The report on a stored run."""
    return content_markdown(report.content)


def content_markdown(content: ReportContent) -> str:
    """The text of a report, wherever its figures are kept."""
    speakers = content.by("speaker_filter")
    return workflow_markdown(
        evaluation_id=content.run_id,
        dataset=content.dataset,
        date=content.date,
        total_queries=content.total_queries,
        skipped_queries=content.skipped_queries,
        columns=("Metric", "Value", f"{content.level:.0%} CI", "n", "Protocol"),
        overall=[
            (one.measure, shown(one.value), _between(one), str(one.n), one.protocol)
            for one in content.overall
        ],
        speakers={
            who: {
                **{name: shown(row[name].value) for name in _speaker_measures(row)},
                "Queries": str(_queries(row)),
            }
            for who, row in speakers.items()
        },
        insights=content.insights,
        facts=report_facts(content),
        more=[
            _group_table(content, name, title)
            for name, title in (("query_type", "Query type"), ("ingestion_mode", "Ingestion mode"))
            if content.by(name)
        ],
        warnings=content.warnings,
    )


def report_facts(content: ReportContent) -> list[tuple[str, str]]:
    """What the figures of a report are of, in pairs: name, part, protocol, rule."""
    protocols = dict.fromkeys(one.protocol for one in content.overall)
    return [
        *([("Name", content.name)] if content.name else []),
        ("Part", content.part),
        ("Protocol", ", ".join(protocols)),
        *([("Scored", "; ".join(content.scored))] if content.scored else []),
    ]


def run_csv(report: RunReport) -> str:
    """Overall, by query type and by query: one long table."""
    groups = report.groups.get("query_type", {})
    name, info = report.scores.name, report.run.info
    return csv_rows(
        [report.scores],
        ci=True,
        per_query=True,
        groups={name: groups},
        more={
            "name": lambda _: info.name,
            "part": lambda _: info.part,
            "protocol": lambda measure: PROTOCOLS[measure.definition.family],
        },
    )


def run_tables(report: RunReport) -> list[Table]:
    """The same for a terminal."""
    content = report.content
    rows = [
        (one.measure, shown(one.value), _between(one), str(one.n), one.protocol)
        for one in content.overall
    ]
    total = total_text(content.total_queries, content.skipped_queries)
    about = [("queries", total), *report_facts(content)]
    facts = ", ".join(f"{name.lower()} {value}" for name, value in about)
    tables = [
        Table(
            ("measure", "mean", f"{content.level:.0%} CI", "n", "protocol"),
            tuple(rows),
            title=f"{content.run_id}, {content.dataset}",
            notes=(facts,),
            text_columns=frozenset({0, 4}),
            optional=(4, 3),
        ),
    ]
    return tables + [_group_table(content, name, name) for name in report.groups]


def _group_table(content: ReportContent, name: str, title: str) -> Table:
    groups = content.by(name)
    measures = tuple(next(iter(groups.values())))
    return Table(
        (title, *measures, "queries"),
        tuple(
            (group, *(shown(row[m].value) for m in measures), str(_queries(row)))
            for group, row in groups.items()
        ),
    )


def _speaker_measures(row: Mapping[str, Figure]) -> list[str]:
    usual = [str(measure) for measure in parse_measures(SPEAKER_MEASURES)]
    return [name for name in usual if name in row] or list(row)[:2]


def _queries(row: Mapping[str, Figure]) -> int:
    return next(iter(row.values())).queries


def _between(figure: Figure) -> str:
    if figure.ci is None:
        return "—"
    return f"[{shown(figure.ci[0])}, {shown(figure.ci[1])}]"
