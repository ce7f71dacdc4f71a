"""What results does a ClinicalTrials.gov study report, as tables?

Participant flow, baseline, each outcome measure, and deaths, serious and other adverse events: one
table each, with a column per group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from assay.ingest.compose import Composer, tidy
from assay.ingest.parsed import FileLocation
from assay.ingest.records import Record
from assay.ingest.sections import CTGOV_MODULES
from assay.ingest.tables import Table, simple_table

_Write: TypeAlias = Callable[[Record], str]


def add_results(results: Record, composer: Composer, location: FileLocation) -> None:
    """Append the results of a study, if it has any."""
    with composer.under("Results"):
        _flow(results.record("participantFlowModule"), composer, location)
        _baseline(results.record("baselineCharacteristicsModule"), composer, location)
        for outcome in results.record("outcomeMeasuresModule").records("outcomeMeasures"):
            _outcome(outcome, composer, location)
        _adverse(results.record("adverseEventsModule"), composer, location)
        more = results.record("moreInfoModule").record("limitationsAndCaveats")
        with composer.under("Limitations" if more else ""):
            composer.add(tidy(more.text("description")), CTGOV_MODULES["moreInfoModule"])


def _flow(module: Record, composer: Composer, location: FileLocation) -> None:
    label = CTGOV_MODULES["participantFlowModule"]
    groups = module.records("groups")
    notes = [tidy(module.text("recruitmentDetails")), tidy(module.text("preAssignmentDetails"))]
    with composer.under("Participant flow" if module else ""):
        composer.add("\n".join(filter(None, notes)), label)
        for period in module.records("periods"):
            rows = [
                [stone.text("type"), *_cells(groups, stone.records("achievements"), _subjects)]
                for stone in period.records("milestones")
            ] + [
                [f"Left: {left.text('type')}", *_cells(groups, left.records("reasons"), _subjects)]
                for left in period.records("dropWithdraws")
            ]
            caption = f"Participant flow: {period.text('title')}"
            table = _table(caption, ["Milestone", *_titles(groups)], rows)
            composer.add_table(table, label, location, name=period.text("title"))


def _baseline(module: Record, composer: Composer, location: FileLocation) -> None:
    groups = module.records("groups")
    rows: list[list[str]] = [_denominators(groups, module.records("denoms"))]
    for measure in module.records("measures"):
        what = _with_unit(measure)
        rows += _measured(groups, measure, what)
    caption = "Baseline characteristics"
    notes = [tidy(module.text("populationDescription"))]
    table = _table(caption, ["Characteristic", *_titles(groups)], rows, notes)
    label = CTGOV_MODULES["baselineCharacteristicsModule"]
    composer.add_table(table, label, location, name=caption)


def _outcome(outcome: Record, composer: Composer, location: FileLocation) -> None:
    groups = outcome.records("groups")
    kind = outcome.text("type").replace("_", " ").capitalize() or "Outcome"
    caption = f"{kind} outcome: {outcome.text('title')}"
    frame = outcome.text("timeFrame")
    notes = [
        tidy(outcome.text("description")),
        f"Time frame: {frame}" if frame else "",
        tidy(outcome.text("populationDescription")),
        *(_analysis(analysis, groups) for analysis in outcome.records("analyses")),
    ]
    rows = [_denominators(groups, outcome.records("denoms"))]
    rows += _measured(groups, outcome, _parameter(outcome))
    table = _table(caption, ["Measure", *_titles(groups)], rows, notes)
    label = CTGOV_MODULES["outcomeMeasuresModule"]
    composer.add_table(table, label, location, name=outcome.text("title"))


def _adverse(module: Record, composer: Composer, location: FileLocation) -> None:
    label = CTGOV_MODULES["adverseEventsModule"]
    groups = module.records("eventGroups")
    frame = module.text("timeFrame")
    notes = [f"Time frame: {frame}" if frame else "", tidy(module.text("description"))]
    totals = [
        [what, *(_share(group.text(f"{key}NumAffected"), group.text(f"{key}NumAtRisk"))
                 for group in groups)]
        for key, what in (
            ("deaths", "All-cause mortality"),
            ("serious", "Serious adverse events"),
            ("other", "Other adverse events"),
        )
    ]  # fmt: skip
    caption = "Adverse events: totals"
    table = _table(caption, ["Adverse events", *_titles(groups)], totals, notes)
    composer.add_table(table, label, location, name=caption)
    for key, caption in (("seriousEvents", "Serious"), ("otherEvents", "Other")):
        rows = [_event(event, groups) for event in module.records(key)]
        header = ["Event (organ system)", *_titles(groups)]
        table = _table(f"{caption} adverse events", header, rows)
        composer.add_table(table, label, location, name=f"{caption} adverse events")


def _event(event: Record, groups: Sequence[Record]) -> list[str]:
    organ = event.text("organSystem")
    name = f"{event.text('term')} ({organ})" if organ else event.text("term")
    return [name, *_cells(groups, event.records("stats"), _affected)]


def _table(
    caption: str, header: list[str], rows: list[list[str]], notes: Sequence[str] = ()
) -> Table:
    """Append a table of the rows with a value for any group; nothing if there are none."""
    filled = [row for row in rows if any(row[1:])]
    if not filled:
        return Table(())
    return simple_table(caption, header, filled, [note for note in notes if note])


def _titles(groups: Sequence[Record]) -> list[str]:
    return [group.text("title") or group.text("id") for group in groups]


def _cells(groups: Sequence[Record], values: Sequence[Record], write: _Write) -> list[str]:
    """One cell per group; values of unknown groups are dropped."""
    by_group: dict[str, list[str]] = {}
    for value in values:
        by_group.setdefault(value.text("groupId"), []).append(write(value))
    return ["; ".join(filter(None, by_group.get(group.text("id"), []))) for group in groups]


def _denominators(groups: Sequence[Record], denoms: Sequence[Record]) -> list[str]:
    first = denoms[0] if denoms else None
    if first is None:
        return ["", *("" for _ in groups)]
    return [f"N ({first.text('units').lower()})",
            *_cells(groups, first.records("counts"), _value)]  # fmt: skip


def _measured(groups: Sequence[Record], measure: Record, what: str) -> list[list[str]]:
    """A row per class and category: ``Age, 18 to 65 years`` under the measure's name."""
    rows = []
    for kind in measure.records("classes"):
        for category in kind.records("categories"):
            name = [what, kind.text("title"), category.text("title")]
            cells = _cells(groups, category.records("measurements"), _value)
            rows.append([", ".join(filter(None, name)), *cells])
    return rows


def _with_unit(measure: Record) -> str:
    parameter = _parameter(measure)
    return f"{measure.text('title')}, {parameter}" if parameter else measure.text("title")


def _parameter(measure: Record) -> str:
    kind = measure.text("paramType").replace("_", " ").lower()
    spread = measure.text("dispersionType").replace("_", " ").lower()
    unit = measure.text("unitOfMeasure")
    words = f"{kind} ({spread})" if spread and spread != "na" else kind
    return f"{words} {unit}".strip()


def _value(value: Record) -> str:
    """``12 (3.4)`` or ``12 (9 to 15)``."""
    spread = value.text("spread")
    low, high = value.text("lowerLimit"), value.text("upperLimit")
    if low and high:
        spread = f"{low} to {high}"
    return f"{value.text('value')} ({spread})" if spread else value.text("value")


def _subjects(value: Record) -> str:
    return value.text("numSubjects") or value.text("numUnits")


def _affected(value: Record) -> str:
    return _share(value.text("numAffected"), value.text("numAtRisk"))


def _share(affected: str, at_risk: str) -> str:
    """``3/50 (6.00%)``; without a number at risk, only the count."""
    if affected.isdecimal() and at_risk.isdecimal() and int(at_risk[:15]) > 0:
        return f"{affected}/{at_risk} ({100 * int(affected[:15]) / int(at_risk[:15]):.2f}%)"
    return affected


def _analysis(analysis: Record, groups: Sequence[Record]) -> str:
    """One line: who was compared, how, and the result."""
    titles = {group.text("id"): group.text("title") for group in groups}
    compared = " vs ".join(filter(None, (titles.get(name) for name in analysis.texts("groupIds"))))
    low, high = analysis.text("ciLowerLimit"), analysis.text("ciUpperLimit")
    interval = f"{analysis.text('ciPctValue')}% CI {low} to {high}" if low and high else ""
    p_value = analysis.text("pValue")
    estimate = f"{analysis.text('paramType')} {analysis.text('paramValue')}".strip()
    parts = [
        estimate,
        interval,
        f"p {p_value}" if p_value else "",
        analysis.text("statisticalMethod"),
    ]
    said = ", ".join(filter(None, parts))
    return f"Analysis, {compared}: {said}" if compared and said else said
