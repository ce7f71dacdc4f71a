"""Do boosts help where a trial is named in the question, and where it is not?

NLI4CT: statements about one or two trials, whose section was judged. All trials of a split's
statements are searched without a filter; ``named: true`` of a run puts the numbers of the trials
before the statement. Right are the chunks of the judged sections. ``expected`` names groups of
statements: by section, by what search read from them (``intent read``, ``asking dosage`` ...),
``all``. Values are nDCG@10.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.model.judgments import Qrels
from assay.model.sections import label_of
from reproduce.collection import trial_documents
from reproduce.data import existing, indexed, json_lines, opened
from reproduce.experiment import Experiment
from reproduce.groups import values_by_group
from reproduce.outcome import Outcome


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    judged = _sections(existing(folder / "qrels" / f"{experiment.split}.tsv"))
    statements = {
        row["_id"]: row
        for row in json_lines(existing(folder / "queries.jsonl"))
        if row["_id"] in judged
    }
    trials = {trial for each in judged.values() for trial, _ in each}
    pairs = list(trial_documents(folder, trials))
    chunks = {document.doc_id: chunks for document, chunks in pairs}
    qrels = Qrels.from_mapping(
        {
            query: {
                chunk.chunk_id: 1
                for trial, label in each
                for chunk in chunks[trial]
                if chunk.section_label == label
            }
            for query, each in judged.items()
        }
    )
    with indexed(f"nli4ct_trials_{experiment.split}", pairs) as home:
        for one in experiment.runs:
            named = one.more.get("named") == "true"
            asked = {query: _text(row, named=named) for query, row in statements.items()}
            groups = {query: (row["metadata"]["section"],) for query, row in statements.items()}
            began = time.perf_counter()
            found = values_by_group(home, asked, qrels, one.options, groups)
            found = dict.fromkeys(one.expected, 0.0) | found  # a group may have no query
            yield Outcome(one, found, (time.perf_counter() - began) / len(asked) * 1000)


def _text(row: dict[str, Any], *, named: bool) -> str:
    text: str = row["text"]
    about = row["metadata"]
    trials = [about[name] for name in ("primary", "secondary") if about.get(name)]
    return f"{' and '.join(trials)}: {text}" if named else text


def _sections(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Query to the trials and labels of the sections that its judges looked at."""
    found: dict[str, list[tuple[str, str]]] = {}
    with opened(path) as lines:
        next(lines)
        for line in lines:
            query, section, _ = line.rstrip("\n").split("\t")
            trial, _, name = section.partition("#")
            label = label_of(name.replace("AdverseEvents", "Adverse Events"))
            found.setdefault(query, []).append((trial, label))
    return found
