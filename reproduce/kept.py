"""How good is search on what training kept back of Evidence Inference and CovidQA?

The rule of what was kept is that of training (``training.sources.held_out``): a quarter of the
trials' articles and half of the papers, by name. Runs are those of ``searching.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from reproduce import searching
from reproduce.data import WORK, existing, json_lines, judged
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment, on the part that was kept."""
    target = WORK / f"{experiment.name}-beir"
    _WRITERS[experiment.corpus](folder, target)
    yield from searching.run(experiment, target)


def _evidence(folder: Path, target: Path) -> None:
    from training.prepare import kept_evidence

    kept_evidence(target, source=folder)


def _papers(folder: Path, target: Path) -> None:
    """The whole collection, with the judgments of the papers that were kept."""
    from training.sources import held_out

    (target / "qrels").mkdir(parents=True, exist_ok=True)
    for name in ("corpus.jsonl", "queries.jsonl"):
        with (target / name).open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in json_lines(existing(folder / name)))
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [
        f"{query}\t{document}\t{grade}"
        for query, grades in judged(folder, "test").by_query.items()
        for document, grade in grades.items()
        if held_out(document.partition("#")[0], 2)
    ]
    (target / "qrels" / "kept.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


_WRITERS = {"evidence_inference": _evidence, "covidqa": _papers}
