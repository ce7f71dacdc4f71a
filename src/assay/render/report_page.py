"""How does the report on one run look as a page?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.evaluation.chunker_match import own_matching
from assay.evaluation.defaults import JUDGED_MEASURES
from assay.evaluation.match import graded_ranks
from assay.evaluation.report import FIELDS, PROTOCOLS, RunReport
from assay.evaluation.scope import total_text
from assay.measures.parse import parse_measures
from assay.model.runs import QueryOutcome, RunInfo
from assay.model.testset import GoldenQuery
from assay.render.pages import render
from assay.render.report_text import report_facts
from assay.render.scores import answer_rows
from assay.render.svg import Bar, heat_bars

DEPTH = 10
CHARTED = 2
DOUBTFUL = 100  # claims without support that a page lists


@dataclass(frozen=True, slots=True)
class WorstQuery:
    """One query with its ranking."""

    query: GoldenQuery
    value: float
    outcome: QueryOutcome
    grades: dict[int, int]


def _judged(report: RunReport) -> dict[str, Any]:
    """What a judge said of the answers; the claims of held-out queries are not shown."""
    outcomes = [one for one in report.run.outcomes if one.judged is not None]
    hidden = report.run.test_set.held_out_ids
    chosen = set(parse_measures(JUDGED_MEASURES))
    fields = {"query type": "query_type", "speaker": "speaker_filter"}
    groups = {what: report.result.answers_by(name) for what, name in fields.items()}
    return {
        "judged_by": outcomes[0].judged.judge if outcomes and outcomes[0].judged else "",
        "judged_measures": [measure for measure in report.answers if measure in chosen],
        "answer_groups": {what: found for what, found in groups.items() if len(found) > 1},
        "doubtful": [
            (one.query_id, claim)
            for one in outcomes
            if one.judged is not None and one.query_id not in hidden
            for claim in one.judged.claims
            if not claim.supported
        ][:DOUBTFUL],
    }


def run_page(report: RunReport) -> str:
    """One file of HTML."""
    run, scores = report.run, report.scores
    by_id, match = run.test_set.by_id, own_matching(run)
    charted = [str(measure) for measure in list(scores.columns)[:CHARTED]]
    return render(
        "run.html",
        report=report,
        about=report_facts(report.content),
        total=total_text(run.scope.total, len(run.scope.skipped), "query"),
        protocols=PROTOCOLS,
        fields=FIELDS,
        level=f"{scores.sampling.level:.0%}",
        answers=zip(
            answer_rows(report.answers, scores.sampling.level),
            report.answers.values(),
            strict=True,
        ),
        **_judged(report),
        charted=charted,
        charts={
            name: {
                measure: heat_bars(
                    [
                        Bar(group, part[measure], f"n = {len(part.queries)}")
                        for group, part in groups.items()
                    ]
                )
                for measure in charted
            }
            for name, groups in report.groups.items()
        },
        worst=[
            WorstQuery(
                by_id[query],
                value,
                run.outcome(query),
                graded_ranks(by_id[query], run.outcome(query), match.rule, {}, match.documents),
            )
            for query, value in report.worst
        ],
        depth=DEPTH,
        facts=facts(report),
    )


def facts(report: RunReport) -> list[tuple[str, str]]:
    """Where the numbers come from, in pairs."""
    sampling = report.scores.sampling
    drawn = f"{sampling.method}, {sampling.resamples} resamples, seed {sampling.seed}"
    return [*origin(report.run.info), ("intervals", drawn)]


def origin(info: RunInfo) -> list[tuple[str, str]]:
    """What a run was made of, in pairs."""
    return [
        ("run", info.run_id),
        ("test set", f"{info.suite} {info.test_set_version}, sha256 {info.test_set_checksum[:16]}"),
        ("part", info.part),
        ("scored", _rule(info)),
        *((("results", f"those of {info.reused_from}"),) if info.reused_from else ()),
        ("configuration", f"sha256 {info.config_hash[:16]}"),
        *((key, _setting(value)) for key, value in sorted(info.config.items())),
        ("engine", f"{info.engine}, generation {info.generation or '—'}"),
        *((f"model {name}", value) for name, value in sorted(info.models.items())),
        ("chunkers", ", ".join(info.chunker_versions) or "—"),
        ("commit", info.commit_hash or "—"),
    ]


def _rule(info: RunInfo) -> str:
    if info.figures_only:
        return "elsewhere, by a rule that is not known"
    return "; ".join(info.scoring.notes) or "results are matched by the judged ids"


def _setting(value: object) -> str:
    """A setting as people write it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        value = [f"{key}={_setting(one)}" for key, one in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(map(_setting, value)) or "—"
    return "—" if value is None else str(value)
