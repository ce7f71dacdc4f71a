"""How do samples, pools, rounds, agreement and refreshes read, here and in other tools?

What is written for an annotator (a spreadsheet, Label Studio) tells neither where a passage came
from nor what the other annotator thinks of it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.annotation.agreement import Agreement, Voice
from assay.annotation.draw import Sample
from assay.annotation.effect import PARTS, Effect
from assay.annotation.exchange import CANNOT_JUDGE, CSV_COLUMNS
from assay.annotation.retire import Retirement
from assay.annotation.sample_file import sample_row
from assay.model.annotation import Grade, ItemKey, Task
from assay.model.testset import TestSet
from assay.plural import counted
from assay.render.escape import csv_cell
from assay.render.tables import aligned
from assay.stats.interval import Interval
from assay.stats.kappa import Kappa

SHOWN = 10
PREVIEW = 80

LABEL_STUDIO_VIEW = """<View>
  <Header value="$query"/>
  <Text name="title" value="$title"/>
  <Text name="text" value="$text"/>
  <Choices name="grade" toName="text" choice="single" showInline="true">
    <Choice value="0" hint="does not help" hotkey="0"/>
    <Choice value="1" hint="is on the topic and helps" hotkey="1"/>
    <Choice value="2" hint="answers a part of it" hotkey="2"/>
    <Choice value="3" hint="answers it fully" hotkey="3"/>
    <Choice value="cannot judge" hotkey="x"/>
  </Choices>
  <TextArea name="comment" toName="text" maxSubmissions="1" rows="2"/>
</View>
"""


def tasks_csv(tasks: Sequence[Task], grades: Mapping[ItemKey, Grade]) -> str:
    """One row a passage, with the annotator's own grades so far; no cell is a formula."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for task in tasks:
        said = grades.get((task.query_id, task.chunk_id))
        cells = (
            task.query_id,
            task.query_text,
            task.chunk_id,
            task.title,
            task.section_label,
            task.text,
            grade_word(said),
            said.comment if said else "",
        )
        writer.writerow([csv_cell(cell) for cell in cells])
    return out.getvalue()


def tasks_label_studio(tasks: Sequence[Task], grades: Mapping[ItemKey, Grade]) -> str:
    """Tasks as Label Studio imports them; what was graded already comes as an annotation."""
    rows = []
    for number, task in enumerate(tasks, 1):
        row = {
            "id": number,
            "data": {
                "round_id": task.round_id,
                "query_id": task.query_id,
                "query": task.query_text,
                "chunk_id": task.chunk_id,
                "title": task.title,
                "section": task.section_label,
                "text": task.text,
            },
        }
        said = grades.get((task.query_id, task.chunk_id))
        if said is not None:
            row["annotations"] = [{"result": _result(said)}]
        rows.append(row)
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def grade_word(said: Grade | None) -> str:
    """A grade as people write it."""
    if said is None:
        return ""
    return CANNOT_JUDGE if said.grade is None else str(said.grade)


def _result(said: Grade) -> list[dict[str, object]]:
    parts: list[dict[str, object]] = [
        {
            "from_name": "grade",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": [grade_word(said)]},
        }
    ]
    if said.comment:
        parts.append(
            {
                "from_name": "comment",
                "to_name": "text",
                "type": "textarea",
                "value": {"text": [said.comment]},
            }
        )
    return parts


def sample_json(sample: Sample) -> dict[str, Any]:
    """A sample with everything that was left out, as values for JSON."""
    return {
        "strategy": sample.strategy.value,
        "seed": sample.seed,
        "candidates": sample.candidates,
        "wanted": {kind.value: count for kind, count in sample.wanted.items()},
        "missing": {kind.value: count for kind, count in sample.missing.items()},
        "queries": [sample_row(query, sample) for query in sample.queries],
        "left_out": [
            {"query_text": wording.query_text, "reason": wording.reason}
            for wording in sample.left_out
        ],
    }


def suggested_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Synthetic questions, each with its passage."""
    cells = [
        (row["query_id"], row["made_by"], row["synthetic"], _short(row["query_text"]))
        for row in rows
    ]
    return aligned([("id", "made from", "passage", "question"), *cells])


def sample_text(sample: Sample) -> str:
    """The queries of a sample."""
    rows = [
        (
            query.query_id,
            str(query.query_type),
            str(query.candidate.times),
            _short(query.query_text),
        )
        for query in sample.queries
    ]
    return aligned([("id", "type", "asked", "query"), *rows])


def sample_notes(sample: Sample) -> Iterator[str]:
    """What a reader of a sample should know."""
    yield (
        f"note: {len(sample.queries)} of {sample.candidates} wordings, by {sample.strategy}, "
        f"seed {sample.seed}; {len(sample.left_out)} left out"
    )
    for wording in sample.left_out[:SHOWN]:
        yield f"note:   {_short(wording.query_text)}: {wording.reason}"
    scrubbed = [query.query_id for query in sample.queries if query.scrubbed]
    if scrubbed:
        yield f"note: identifiers were taken out of {', '.join(scrubbed)}: read them before use"
    for kind, count in sample.missing.items():
        yield f"warning: {counted(count, f'more {kind} query', 'was')} wanted and not found"


def rounds_text(rounds: Sequence[Mapping[str, Any]]) -> str:
    """One line a round."""
    header = ("round", "for", "purpose", "passages", "judged", "kappa", "open", "state")
    rows = [
        (
            row["round_id"],
            row["test_set"],
            row["purpose"],
            str(row["passages"]),
            ", ".join(f"{name} {done}" for name, done in row["annotators"].items()),
            _value(row["kappa"]),
            str(row["open"]),
            "closed" if row["closed_at"] else "open",
        )
        for row in rounds
    ]
    return aligned([header, *rows])


def judged_text(judged: Mapping[str, float | None]) -> str:
    """How much of each list's first ten results has a judgment."""
    return aligned([("list", "Judged@10"), *((name, _value(n)) for name, n in judged.items())])


def agreement_text(found: Agreement) -> str:
    """Kappa first, then the table behind it, then who and where."""
    measures = [("measure", "value", "95% CI", "passages")]
    for label, kappa, interval in (
        ("kappa", found.plain, found.plain_interval),
        ("kappa, quadratic weights", found.quadratic, found.quadratic_interval),
    ):
        measures.append((label, _value(kappa.value), _between(kappa, interval), str(kappa.n)))
    measures.append(("raw agreement", _value(found.plain.agreement), "", str(found.plain.n)))
    if len(found.annotators) < 2:
        return f"{found.round_id}: {found.verdict}"
    first, second = found.annotators
    grades = [str(grade) for grade in found.plain.categories]
    confusion = [("grade", *grades)]
    confusion += [
        (grade, *map(str, row)) for grade, row in zip(grades, found.plain.confusion, strict=True)
    ]
    lines = [
        f"{found.round_id}: {found.verdict}",
        aligned(measures),
        f"\n{first.name} (rows) against {second.name} (columns)",
        aligned(confusion),
        "",
    ]
    for person in found.annotators:
        spread = ", ".join(f"{count} of grade {grade}" for grade, count in person.by_grade.items())
        lines.append(
            f"{person.name}: {person.done} of {person.total} judged, {person.cannot_judge} cannot "
            f"be judged; {spread}; mean {_value(person.mean)}"
        )
    if found.differences:
        lines += _most_disputed(found)
    return "\n".join(lines)


def voices_text(voices: Sequence[Voice]) -> str:
    """How far automatic judges agree with people, and what they differ about most."""
    if not voices:
        return "no automatic judge has graded anything"
    rows = [("judge", "person", "kappa", "95% CI", "passages", "agree", "")]
    called = _short_names({one.judge for one in voices})
    for one in voices:
        found = one.agreement
        rows.append(
            (
                called[one.judge],
                one.person,
                _value(found.plain.value),
                _between(found.plain, found.plain_interval),
                str(found.both),
                _value(found.plain.agreement),
                "shown" if one.shown else "hidden",
            )
        )
    lines = [aligned(rows)]
    for one in voices:
        if one.joint:
            lines.append(f"\n{one.person} and {called[one.judge]} together")
            lines += [f"  {line}" for figure in one.joint for line in figure.lines]
        worst = one.differences[:SHOWN]
        if worst:
            lines.append(f"\n{one.person} and {called[one.judge]}, furthest apart first")
            lines.append(
                aligned(
                    [
                        (f"  {key[0]}", key[1], f"{_grade(ours)} against {_grade(theirs)}")
                        for key, ours, theirs in worst
                    ]
                )
            )
    return "\n".join(lines)


def _short_names(judges: Iterable[str]) -> dict[str, str]:
    """What judges are called in a table: without their versions, where that tells them apart."""
    short = {name: re.split(r"[:(]", name, maxsplit=1)[0] for name in judges}
    often = Counter(short.values())
    return {name: one if often[one] == 1 else name for name, one in short.items()}


def _grade(grade: int | None) -> str:
    return "—" if grade is None else str(grade)


def _most_disputed(found: Agreement) -> list[str]:
    counts = Counter(difference.query_id for difference in found.differences)
    shares = {query.query_id: query.agreement for query in found.queries}
    worst = sorted(counts, key=lambda name: (-counts[name], name))[:SHOWN]
    return [
        f"\n{counted(len(found.differences), 'difference')}; the queries with most of them",
        aligned([(f"  {name}", str(counts[name]), _value(shares[name])) for name in worst]),
    ]


def swap_text(made: TestSet, retired: Sequence[Retirement], added: Sequence[str]) -> str:
    """Which queries go and why, and which come."""
    rows = [
        (
            f"- {gone.query_id}",
            gone.stratum[0],
            "held out" if gone.stratum[1] else "",
            "; ".join(gone.reasons) or "drawn",
        )
        for gone in retired
    ]
    rows += [
        (
            f"+ {name}",
            str(made.by_id[name].query_type or ""),
            "held out" if name in made.held_out_ids else "",
            _short(made.by_id[name].query_text),
        )
        for name in added
    ]
    return aligned(rows)


def effect_text(found: Effect) -> str:
    """What the change of version does to the figures of stored runs."""
    header = ("run", *(f"{part} ({found.sizes[part]})" for part in PARTS))
    rows = [
        (run.name or run.run_id, *(_value(run.values[part]) for part in PARTS))
        for run in found.runs
    ]
    head = f"\n{found.measure} of stored runs, without held-out queries"
    return "\n".join([head, aligned([header, *rows])])


def _between(kappa: Kappa, interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return kappa.reason or interval.reason or "—"
    return f"[{interval.low:.4f}, {interval.high:.4f}]"


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def _short(text: str) -> str:
    return text if len(text) <= PREVIEW else f"{text[: PREVIEW - 3]}..."
