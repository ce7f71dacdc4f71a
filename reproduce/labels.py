"""Do the sections of a drug's label come first when they are asked for by the drug's name?

Seven labels of the FDA among the articles on randomised trials of ``rct_tables``. Each brand and
generic name is asked for together with each section that its label has (``ASKED``); the chunks of
that section answer. ``expected`` names the sections, ``all``, ``subject first`` (the share of
queries whose first result is of the right drug) and ``table in the first five`` (the share of
labels with a table of adverse reactions that have it there for "NAME adverse reactions"). The
others are nDCG@10.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import assay
from assay.ingest import read_corpus
from assay.model.document import Chunk
from assay.model.judgments import Qrels
from reproduce.data import indexed, rankings
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome

MEASURE = "nDCG@10"
ASKED = {
    "dosage": "maximum dose of {}",
    "adverse_events": "{} adverse reactions",
    "indications": "what is {} used for",
    "contraindications": "{} contraindications",
    "drug_interactions": "{} interactions",
    "warnings": "{} warnings",
}
ALL, SUBJECT, TABLE = "all", "subject first", "table in the first five"


@dataclass(frozen=True, slots=True)
class Query:
    """A query, the section it asks for, and the chunks that answer it."""

    text: str
    section: str
    answers: frozenset[str]
    tables: frozenset[str]
    own: frozenset[str]


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    labels = list(read_corpus(folder / "original", "spl"))
    articles = list(read_corpus(folder.parent / "rct_tables" / "jats_ccby_ae", "jats"))
    queries = {f"q{at}": query for at, query in enumerate(_queries([c for _, c in labels]))}
    grades = {name: dict.fromkeys(query.answers, 1) for name, query in queries.items()}
    with indexed(experiment.corpus, [*labels, *articles]) as home:
        texts = {name: query.text for name, query in queries.items()}
        found = rankings(home, texts, (one.options for one in experiment.runs))
        for one, (ranked, took) in zip(experiment.runs, found, strict=True):
            scores = assay.score(Qrels.from_mapping(grades), ranked, [MEASURE])
            yield Outcome(one, _figures(scores.per_query(MEASURE), queries, ranked), took)


def _queries(labels: list[tuple[Chunk, ...]]) -> Iterator[Query]:
    """Every name with every section; labels of one drug answer alike."""
    by_name: dict[str, list[Chunk]] = {}
    for chunks in labels:
        for name in _names(chunks[0]):
            by_name.setdefault(name, []).extend(chunks)
    for name, own in sorted(by_name.items()):
        for section, words in ASKED.items():
            asked = [chunk for chunk in own if chunk.section_label == section]
            if asked:
                yield Query(
                    words.format(name),
                    section,
                    frozenset(chunk.chunk_id for chunk in asked),
                    frozenset(chunk.chunk_id for chunk in asked if chunk.is_table),
                    frozenset(chunk.chunk_id for chunk in own),
                )


def _names(chunk: Chunk) -> list[str]:
    """The first word of each brand and generic name."""
    given = (chunk.metadata.get(key, ()) for key in ("brands", "generics"))
    names = (str(name) for each in given for name in (each if isinstance(each, tuple) else ()))
    return sorted({name.split()[0].lower() for name in names} - {"mens", "womens"})


def _figures(
    values: Mapping[str, float | None],
    queries: Mapping[str, Query],
    ranked: Mapping[str, list[str]],
) -> dict[str, float]:
    groups: dict[str, list[float]] = {ALL: []}
    for name, query in queries.items():
        for group in (ALL, query.section):
            groups.setdefault(group, []).append(values[name] or 0.0)
        groups.setdefault(SUBJECT, []).append(float(ranked[name][0] in query.own))
        if query.section == "adverse_events" and query.tables:
            there = not query.tables.isdisjoint(ranked[name][:5])
            groups.setdefault(TABLE, []).append(float(there))
    return {name: round(sum(each) / len(each), 4) for name, each in groups.items()}
