"""How does the evaluation of a workflow read: overall, by speaker, and in sentences?

Takes plain mappings, so that numbers which came over HTTP read the same as those of a stored run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.evaluation.defaults import SPEAKER_MEASURES
from assay.evaluation.report import Insight, RunReport
from assay.evaluation.scores import shown
from assay.measures.base import Measure
from assay.measures.parse import parse_measures
from assay.render.escape import markdown_cell
from assay.render.numbers import between
from assay.render.scores import answer_rows, csv_rows
from assay.render.tables import Table, footnoted, markdown

_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._:-]*")


def workflow_markdown(
    *,
    evaluation_id: str,
    dataset: str,
    date: str,
    total_queries: int,
    overall: Mapping[str, str],
    speakers: Mapping[str, Mapping[str, str]],
    insights: Sequence[Insight],
    more: Sequence[Table] = (),
    warnings: Sequence[str] = (),
) -> str:
    """The report of the evaluation workflow; values come as they are to be read."""
    parts = [
        f"# Evaluation Report: {_word(evaluation_id)}",
        f"**Dataset**: {_word(dataset)}  \n**Date**: {_word(date)}  \n"
        f"**Total Queries**: {total_queries}",
    ]
    parts += [f"> **Note:** {markdown_cell(line)}" for line in warnings]
    parts += [
        "## Overall Metrics",
        _table(("Metric", "Value"), tuple(overall.items())),
    ]
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
    """Ids and dates as they are, since nothing in them is markup; all else escaped."""
    return text if _HARMLESS.fullmatch(text) else markdown_cell(text)


def _sentence(text: str) -> str:
    """Escaped, but for a > that stands between words, where it is no markup."""
    return markdown_cell(text).replace(" \\> ", " > ")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in the form that the contract of the workflow shows."""
    rule = "|".join("-" * (len(cell) + 2) for cell in header)
    lines = [f"| {' | '.join(map(_word, row))} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def run_markdown(report: RunReport) -> str:
    """The report on a stored run."""
    run = report.run
    overall = {
        str(m): f"{shown(report.scores[m])} {_ends(between(report.scores.interval(m)))}".strip()
        for m in report.scores.measures
    }
    answers = answer_rows(report.answers, report.scores.sampling.level)
    overall |= {row[0]: f"{row[1]} {_ends(row[2])}".strip() for row in answers}
    speakers = {
        who: {
            **{str(m): shown(part[m]) for m in _speaker_measures(report)},
            "Queries": str(len(part.queries)),
        }
        for who, part in report.groups.get("speaker_filter", {}).items()
    }
    return workflow_markdown(
        evaluation_id=run.name,
        dataset=f"{run.test_set.name} {run.test_set.version}",
        date=run.info.created_at,
        total_queries=len(run.outcomes),
        overall=overall,
        speakers=speakers,
        insights=report.insights,
        more=[
            _group_table(report, name, title)
            for name, title in (("query_type", "Query type"), ("ingestion_mode", "Ingestion mode"))
            if name in report.groups
        ],
        warnings=report.warnings,
    )


def run_csv(report: RunReport) -> str:
    """Overall, by query type and by query: one long table."""
    groups = report.groups.get("query_type", {})
    name = report.scores.name
    return csv_rows([report.scores], ci=True, per_query=True, groups={name: groups})


def run_tables(report: RunReport) -> list[Table]:
    """The same for a terminal."""
    scores = report.scores
    level = scores.sampling.level
    rows = [
        (str(m), shown(scores[m]), between(scores.interval(m)), str(scores.aggregate(m).n))
        for m in scores.measures
    ]
    rows += answer_rows(report.answers, level)
    tables = [
        Table(
            ("measure", "mean", f"{level:.0%} CI", "n"),
            tuple(rows),
            title=report.run.name,
            optional=(3,),
        ),
    ]
    return tables + [_group_table(report, name, name) for name in report.groups]


def _group_table(report: RunReport, name: str, title: str) -> Table:
    measures = tuple(report.scores.columns)
    return Table(
        (title, *map(str, measures), "queries"),
        tuple(
            (group, *(shown(part[m]) for m in measures), str(len(part.queries)))
            for group, part in report.groups[name].items()
        ),
    )


def _speaker_measures(report: RunReport) -> list[Measure]:
    known = list(report.scores.columns)
    usual = parse_measures(SPEAKER_MEASURES)
    return [measure for measure in usual if measure in known] or known[:2]


def _ends(interval: str) -> str:
    return "" if interval == "—" else interval
