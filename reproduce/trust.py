"""Is the first result about what was asked, and is the right section above those of others?

``trust.yaml`` and ``heldout.yaml`` hold the questions and what is right. ``part`` of a run is the
part that it asks.
Figures: ``right subject first`` (share of the questions whose first result is about the subject),
``another subject above`` (how many have a chunk about something else above the right section),
``others lifted`` (how many have a chunk about something else among the first ten that was boosted),
``nDCG@10`` of the right chunks, also of a class (``nDCG@10 drug``) or an intent (``nDCG@10 asking
dosage``), ``several: each in ten`` and ``table in five`` (shares of those classes), ``nothing: said
so`` (share of the questions about which there is nothing, where search says that, or that what they
are about is only mentioned), ``nothing: said wrongly`` (how many with an answer have nothing
shown), and ``nothing: AUROC`` (how well its confidence tells those from the others).
Run this file to see the questions that go wrong: ``python -m reproduce.trust [dev|test] [NAME]``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import assay
from assay.app.workspace import Workspace
from assay.ingest.corpus import Pair
from assay.measures.classification import auroc
from assay.model.judgments import Qrels
from assay.search.request import SearchOptions
from assay.search.response import SearchResponse
from reproduce.collection import CHOICES, documents
from reproduce.data import indexed
from reproduce.experiment import HERE, Experiment
from reproduce.groups import found_by
from reproduce.outcome import Outcome
from reproduce.questions import Question, questions, texts

MEASURE = "nDCG@10"
DEPTH = 50

NOTHING, SEVERAL, TABLE = "nothing", "several", "table"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what search answered."""

    question: Question
    response: SearchResponse

    @property
    def says_so(self) -> bool:
        """Does search say that nothing is about it, or that it is only mentioned?"""
        return bool(self.response.nothing_about or self.response.only_mentioned)

    @property
    def first_is_right(self) -> bool:
        """Is the first result about the subject?"""
        results = self.response.results
        return bool(results) and self.question.is_about(results[0].chunk.doc_id)

    @property
    def intruders(self) -> list[str]:
        """The chunks about something else above the first one of a right section."""
        wide = replace(self.question, says="")
        found = []
        for hit in self.response.results:
            if wide.is_answered_by(hit.chunk):
                break
            if not self.question.is_about(hit.chunk.doc_id):
                found.append(hit.chunk.chunk_id)
        return found

    @property
    def lifts_others(self) -> bool:
        """Was a chunk about something else lifted into the first ten?"""
        return any(
            boost.applied and boost.factor > 1
            for hit in self.response.results[:10]
            if not self.question.is_about(hit.chunk.doc_id)
            for boost in hit.boosts
        )

    def within(self, depth: int, section: str = "") -> bool:
        """Is a right chunk, or one of this section, in the first results?"""
        return any(
            self.question.is_answered_by(hit.chunk, section)
            for hit in self.response.results[:depth]
        )


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    path = HERE / f"{experiment.name}.yaml"
    asked, pairs = questions(path), collection(path, folder.parent)
    with indexed(experiment.name, pairs) as home:
        for one in experiment.runs:
            began = time.perf_counter()
            rows = answers(home, asked, one.more["part"], one.options)
            took = (time.perf_counter() - began) / len(rows) * 1000
            yield Outcome(one, figures(rows, pairs), took)


def collection(path: Path, data: Path) -> list[Pair]:
    """The documents that the questions of a file are asked over."""
    return list(documents(data, {name: {*texts(path, name)} for name in CHOICES}))


def answers(
    home: Workspace, asked: list[Question], part: str, options: SearchOptions
) -> list[Asked]:
    """What search says to every question of a part."""
    deep = replace(options, k=DEPTH)
    return [Asked(one, found_by(home, one.ask, deep)) for one in asked if one.part == part]


def figures(rows: list[Asked], pairs: list[Pair]) -> dict[str, float]:
    """Everything that a run can be expected to have."""
    there = [row for row in rows if row.question.documents]
    found = {
        "right subject first": share([row.first_is_right for row in there]),
        "another subject above": float(sum(bool(row.intruders) for row in there)),
        "others lifted": float(sum(row.lifts_others for row in rows)),
        "several: each in ten": share(
            [
                all(row.within(10, section) for section in row.question.sections)
                for row in there
                if row.question.kind == SEVERAL
            ]
        ),
        "table in five": share([row.within(5) for row in there if row.question.kind == TABLE]),
        "nothing: said so": share([row.says_so for row in rows if row.question.kind == NOTHING]),
        "nothing: said wrongly": float(sum(bool(row.response.nothing_about) for row in there)),
        "nothing: AUROC": _told_apart(rows),
    }
    return found | _by_group(_gains(there, pairs), there)


def _told_apart(rows: list[Asked]) -> float:
    """How well the confidence of a search tells questions with an answer from those without.

    One that is not judged, since it names a document, is sure.
    """
    there = [bool(row.question.documents) for row in rows]
    sure = (row.response.confidence for row in rows)
    value = auroc(there, [1.0 if one is None else one for one in sure]).value
    return round(value or 0.0, 4)


def _gains(rows: list[Asked], pairs: list[Pair]) -> dict[str, float | None]:
    """Question to the measure of its right chunks."""
    chunks = {document.doc_id: chunks for document, chunks in pairs}
    grades = {
        row.question.ask: {
            chunk.chunk_id: 1
            for document in row.question.documents
            for chunk in chunks[document]
            if row.question.is_answered_by(chunk)
        }
        for row in rows
    }
    ranked = {
        row.question.ask: [hit.chunk.chunk_id for hit in row.response.results] for row in rows
    }
    return dict(assay.score(Qrels.from_mapping(grades), ranked, [MEASURE]).per_query(MEASURE))


def _by_group(values: Mapping[str, float | None], rows: list[Asked]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for row in rows:
        names = [MEASURE, f"{MEASURE} {row.question.kind}"]
        names += [f"{MEASURE} asking {intent}" for intent in row.question.intents]
        for name in names:
            groups.setdefault(name, []).append(values[row.question.ask] or 0.0)
    return {name: round(sum(each) / len(each), 4) for name, each in groups.items()}


def share(each: list[bool]) -> float:
    """The part that is true, to 4 decimals."""
    return round(sum(each) / len(each), 4) if each else 0.0


def main() -> int:
    """Print the questions of a part that go wrong, and what came first instead."""
    from reproduce.run import DATA

    part = sys.argv[1] if len(sys.argv) > 1 else "dev"
    path = HERE / f"{sys.argv[2] if len(sys.argv) > 2 else 'trust'}.yaml"
    pairs = collection(path, Path(os.environ.get("ASSAY_SHARED_DATA", DATA)))
    with indexed(path.stem, pairs) as home:
        for row in answers(home, questions(path), part, SearchOptions()):
            question, results = row.question, row.response.results
            wrong = row.intruders or not row.first_is_right if question.documents else results
            if wrong:
                print(f"{question.kind}: {question.ask} -> {', '.join(question.sections)}")
                for hit in results[:3]:
                    chunk = hit.chunk
                    print(f"    {hit.rank}. {chunk.chunk_id} [{chunk.section_label}] {chunk.title}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
