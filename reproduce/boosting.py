"""Do intents lift the right lines of a trial, and do they harm where there is none?

NLI4CT: statements about one or two trials, judged line by line. Each is searched in all four
sections; the section that its judges looked at is known, and search is not told. How it learns of
the trials is ``trials`` of a run: by a ``filter``, as a user would set it; ``named``, where their
ids stand before the statement and all trials are searched; or ``untold``. ``expected`` names groups
of statements: by section, by what the lexicon found (``intent read``, ``no intent read``), ``all``.
Values are nDCG@10.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import assay
from assay.model.document import Chunk, Document, Section
from assay.model.judgments import Qrels
from assay.model.query import Filters
from assay.model.sections import intent_of, label_of
from assay.search.boost import default_lexicon, detect
from reproduce.data import existing, indexed, json_lines, opened, ranked_ids
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome

MEASURE = "nDCG@10"
ALL, READ, NOT_READ = "all", "intent read", "no intent read"


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    grades = _judgments(existing(folder / "evidence_qrels" / f"{experiment.split}.tsv"))
    statements = _statements(folder, set(grades))
    trials = {trial for one in statements.values() for trial in _trials(one)}
    with indexed(f"{experiment.corpus}_{experiment.split}", _documents(folder, trials)) as home:
        snapshot = home.snapshot()
        ways = {run.more["trials"] for run in experiment.runs}
        asked = {way: {q: _asked(way, one) for q, one in statements.items()} for way in ways}
        lists = {
            way: {
                query: {
                    name: component.search(text.lower(), 100, filters)
                    for name, component in snapshot.components.items()
                }
                for query, (text, filters) in asked[way].items()
            }
            for way in asked
        }
        for one in experiment.runs:
            way = one.more["trials"]
            began = time.perf_counter()
            ranked = {
                query: ranked_ids(text, found, replace(one.options, filters=filters), snapshot)
                for (query, (text, filters)), found in zip(
                    asked[way].items(), lists[way].values(), strict=True
                )
            }
            took = (time.perf_counter() - began) / len(ranked) * 1000
            scores = assay.score(Qrels.from_mapping(grades), ranked, [MEASURE])
            found = _by_group(scores.per_query(MEASURE), statements, list(one.expected))
            yield Outcome(one, found, took)


def _asked(way: str, one: Mapping[str, str]) -> tuple[str, Filters]:
    """What is asked, and among which documents."""
    if way == "named":
        return f"{' '.join(_trials(one))}: {one['text']}", Filters()
    return one["text"], Filters(doc_id=_trials(one)) if way == "filter" else Filters()


def _by_group(
    values: Mapping[str, float | None],
    statements: Mapping[str, Mapping[str, str]],
    wanted: list[str],
) -> dict[str, float]:
    groups: dict[str, list[float]] = {name: [] for name in wanted}
    for query, one in statements.items():
        read = READ if detect(one["text"], default_lexicon()) else NOT_READ
        for name in (ALL, one["section"], read):
            groups.setdefault(name, []).append(values[query] or 0.0)
    return {name: round(sum(groups[name]) / max(1, len(groups[name])), 4) for name in wanted}


def _judgments(path: Path) -> dict[str, dict[str, int]]:
    """The judged lines of every statement; the file names some of them twice."""
    grades: dict[str, dict[str, int]] = {}
    with opened(path) as lines:
        next(lines)
        for line in lines:
            query, document, grade = line.rstrip("\n").split("\t")
            grades.setdefault(query, {})[_id(document)] = int(grade)
    return grades


def _statements(folder: Path, chosen: set[str]) -> dict[str, dict[str, str]]:
    return {
        row["_id"]: {"text": row["text"], **{k: v for k, v in row["metadata"].items() if v}}
        for row in json_lines(existing(folder / "queries.jsonl"))
        if row["_id"] in chosen
    }


def _trials(one: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(one[name] for name in ("primary", "secondary") if name in one)


def _documents(folder: Path, trials: set[str]) -> Iterator[tuple[Document, tuple[Chunk, ...]]]:
    """One document a trial, one chunk a line."""
    lines: dict[str, list[tuple[str, str, str]]] = {}
    for row in json_lines(existing(folder / "lines.jsonl")):
        trial, section = row["metadata"]["nct"], row["metadata"]["section"]
        if trial in trials and row["text"].strip():
            lines.setdefault(trial, []).append((_id(row["_id"]), section, row["text"]))
    for trial, rows in sorted(lines.items()):
        sections, chunks, at = [], [], 0
        for chunk_id, section, text in rows:
            label = label_of(section)
            hint = intent_of(label, text)
            sections.append(Section(at, at + len(text), label, section, hint))
            chunks.append(
                Chunk(
                    chunk_id,
                    trial,
                    text,
                    section_label=label,
                    intent_hint=hint,
                    spans=((at, at + len(text)),),
                )
            )
            at += len(text) + 1
        whole = "\n".join(text for _, _, text in rows)
        yield Document(trial, whole, sections=tuple(sections)), tuple(chunks)


def _id(line: str) -> str:
    return line.replace(" ", "_")
