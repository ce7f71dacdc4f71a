"""What results does a ClinicalTrials.gov study report, as tables?

Participant flow, baseline, each outcome measure, and deaths, serious and other adverse events: one
table each, with a column per group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.ingest.compose import Composer, tidy
from assay.ingest.parsed import FileLocation
from assay.ingest.records import Record
from assay.ingest.tables import Table, simple_table
from assay.ingest.watch import Watch
from assay.model.sections import CTGOV_MODULES

_Write: TypeAlias = Callable[[Record], str]


@dataclass(frozen=True, slots=True)
class _Group:
    """A column of a table: the id by which values name it, and its title."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class _Page:
    """What results are written to, and who is told of what can hardly be meant."""

    composer: Composer
    location: FileLocation
    watch: Watch

    def doubt(self, text: str) -> None:
        """Note something that is kept as it is given."""
        self.watch.note(f"{self.location}: {text}")


def add_results(results: Record, composer: Composer, location: FileLocation, watch: Watch) -> None:
    """Append the results of a study, if it has any."""
    page = _Page(composer, location, watch)
    with composer.under("Results"):
        _flow(results.record("participantFlowModule"), page)
        _baseline(results.record("baselineCharacteristicsModule"), page)
        for outcome in results.record("outcomeMeasuresModule").records("outcomeMeasures"):
            _outcome(outcome, page)
        _adverse(results.record("adverseEventsModule"), page)
        more = results.record("moreInfoModule").record("limitationsAndCaveats")
        with composer.under("Limitations" if more else ""):
            composer.add(tidy(more.text("description")), CTGOV_MODULES["moreInfoModule"])


def _flow(module: Record, page: _Page) -> None:
    label = CTGOV_MODULES["participantFlowModule"]
    periods = module.records("periods")
    steps = [*_all(periods, "milestones"), *_all(periods, "dropWithdraws")]
    counts = [*_all(steps, "achievements"), *_all(steps, "reasons")]
    groups = _groups(module.records("groups"), counts, "participant flow", page)
    notes = [tidy(module.text("recruitmentDetails")), tidy(module.text("preAssignmentDetails"))]
    with page.composer.under("Participant flow" if module else ""):
        page.composer.add("\n".join(filter(None, notes)), label)
        for period in periods:
            rows = [
                [stone.text("type"), *_cells(groups, stone.records("achievements"), _subjects)]
                for stone in period.records("milestones")
            ] + [
                [f"Left: {left.text('type')}", *_cells(groups, left.records("reasons"), _subjects)]
                for left in period.records("dropWithdraws")
            ]
            caption = f"Participant flow: {period.text('title')}"
            table = _table(caption, ["Milestone", *_titles(groups)], rows)
            page.composer.add_table(table, label, page.location, name=period.text("title"))


def _baseline(module: Record, page: _Page) -> None:
    measures, denoms = module.records("measures"), module.records("denoms")
    values = [*_all(denoms, "counts"), *_measurements(measures)]
    groups = _groups(module.records("groups"), values, "baseline", page)
    rows: list[list[str]] = [_denominators(groups, denoms)]
    for measure in measures:
        rows += _measured(groups, measure, _with_unit(measure))
    caption = "Baseline characteristics"
    notes = [tidy(module.text("populationDescription"))]
    table = _table(caption, ["Characteristic", *_titles(groups)], rows, notes)
    label = CTGOV_MODULES["baselineCharacteristicsModule"]
    page.composer.add_table(table, label, page.location, name=caption)


def _outcome(outcome: Record, page: _Page) -> None:
    title, denoms = outcome.text("title"), outcome.records("denoms")
    values = [*_all(denoms, "counts"), *_measurements([outcome])]
    groups = _groups(outcome.records("groups"), values, f"the outcome {title!r:.80}", page)
    kind = outcome.text("type").replace("_", " ").capitalize() or "Outcome"
    caption = f"{kind} outcome: {title}"
    frame = outcome.text("timeFrame")
    notes = [
        tidy(outcome.text("description")),
        f"Time frame: {frame}" if frame else "",
        tidy(outcome.text("populationDescription")),
        *(_analysis(analysis, groups) for analysis in outcome.records("analyses")),
    ]
    rows = [_denominators(groups, denoms)]
    rows += _measured(groups, outcome, _parameter(outcome))
    table = _table(caption, ["Measure", *_titles(groups)], rows, notes)
    label = CTGOV_MODULES["outcomeMeasuresModule"]
    page.composer.add_table(table, label, page.location, name=title)


def _adverse(module: Record, page: _Page) -> None:
    label = CTGOV_MODULES["adverseEventsModule"]
    given = module.records("eventGroups")
    kinds = (("seriousEvents", "Serious"), ("otherEvents", "Other"))
    values = [one for key, _ in kinds for one in _all(module.records(key), "stats")]
    groups = _groups(given, values, "adverse events", page)
    frame = module.text("timeFrame")
    notes = [f"Time frame: {frame}" if frame else "", tidy(module.text("description"))]
    totals = [
        [what, *(_share(group.text(f"{key}NumAffected"), group.text(f"{key}NumAtRisk"), what, page)
                 for group in given)]
        for key, what in (
            ("deaths", "All-cause mortality"),
            ("serious", "Serious adverse events"),
            ("other", "Other adverse events"),
        )
    ]  # fmt: skip
    caption = "Adverse events: totals"
    table = _table(caption, ["Adverse events", *_titles(groups[: len(given)])], totals, notes)
    page.composer.add_table(table, label, page.location, name=caption)
    for key, caption in kinds:
        rows = [_event(event, groups, page) for event in module.records(key)]
        header = ["Event (organ system)", *_titles(groups)]
        table = _table(f"{caption} adverse events", header, rows)
        page.composer.add_table(table, label, page.location, name=f"{caption} adverse events")


def _event(event: Record, groups: Sequence[_Group], page: _Page) -> list[str]:
    organ, term = event.text("organSystem"), event.text("term")

    def affected(value: Record) -> str:
        return _share(value.text("numAffected"), value.text("numAtRisk"), term, page)

    name = f"{term} ({organ})" if organ else term
    return [name, *_cells(groups, event.records("stats"), affected)]


def _groups(
    given: Sequence[Record], values: Sequence[Record], where: str, page: _Page
) -> list[_Group]:
    """The groups of a table: those that are described, then others that only values name.

    A group without a title goes by its id, which is noted.
    """
    groups = [_Group(one.text("id"), one.text("title")) for one in given]
    known = {group.id for group in groups}
    others = dict.fromkeys(one.text("groupId") for one in values)
    groups += [_Group(other, "") for other in others if other not in known]
    named: list[_Group] = []
    for number, group in enumerate(groups, 1):
        title = group.title or group.id or f"Group {number}"
        if not group.title:
            page.doubt(f"{where}: a group without a name is shown as {title!r:.80}")
        named.append(_Group(group.id, title))
    return named


def _all(records: Sequence[Record], name: str) -> list[Record]:
    return [inner for one in records for inner in one.records(name)]


def _measurements(measures: Sequence[Record]) -> list[Record]:
    return _all(_all(_all(measures, "classes"), "categories"), "measurements")


def _table(
    caption: str, header: list[str], rows: list[list[str]], notes: Sequence[str] = ()
) -> Table:
    """Append a table of the rows with a value for any group; nothing if there are none."""
    filled = [row for row in rows if any(row[1:])]
    if not filled:
        return Table(())
    return simple_table(caption, header, filled, [note for note in notes if note])


def _titles(groups: Sequence[_Group]) -> list[str]:
    return [group.title for group in groups]


def _cells(groups: Sequence[_Group], values: Sequence[Record], write: _Write) -> list[str]:
    """One cell per group."""
    by_group: dict[str, list[str]] = {}
    for value in values:
        by_group.setdefault(value.text("groupId"), []).append(write(value))
    return ["; ".join(filter(None, by_group.get(group.id, []))) for group in groups]


def _denominators(groups: Sequence[_Group], denoms: Sequence[Record]) -> list[str]:
    first = denoms[0] if denoms else None
    if first is None:
        return ["", *("" for _ in groups)]
    return [f"N ({first.text('units').lower()})",
            *_cells(groups, first.records("counts"), _value)]  # fmt: skip


def _measured(groups: Sequence[_Group], measure: Record, what: str) -> list[list[str]]:
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


def _share(affected: str, at_risk: str, what: str, page: _Page) -> str:
    """``3/50 (6.00%)``; without a number at risk, only the count.

    More affected than at risk is noted, and no percentage is made of it.
    """
    if not (affected.isdecimal() and at_risk.isdecimal() and int(at_risk[:15]) > 0):
        return affected
    count, most = int(affected[:15]), int(at_risk[:15])
    if count > most:
        page.doubt(f"{what}: {affected} affected of {at_risk} at risk, kept as given")
        return f"{affected}/{at_risk}"
    return f"{affected}/{at_risk} ({100 * count / most:.2f}%)"


def _analysis(analysis: Record, groups: Sequence[_Group]) -> str:
    """One line: who was compared, how, and the result."""
    titles = {group.id: group.title for group in groups}
    compared = " vs ".join(titles.get(name, name) for name in analysis.texts("groupIds"))
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
