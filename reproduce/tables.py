"""Do table queries find the tables, and do titles that only sound tabular suffer?

Articles on randomised trials, whole, in chunks. Queries are made from each article's title: with
"adverse events", "baseline characteristics" or "outcome measures" in front they ask for the tables
of that kind (told by the collection, by other patterns than ours); the plain title asks for the
abstract. ``expected`` names these groups, and ``titles that speak of an intent``, where boosts lift
other sections than the abstract. Values are nDCG@10.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import assay
from assay.ingest import read_corpus
from assay.model.document import Chunk
from assay.model.judgments import Qrels
from assay.search.boost import default_lexicon, detect
from reproduce.data import indexed, rankings
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome

MEASURE = "nDCG@10"
ASKED = {
    "adverse_events": "adverse events",
    "baseline": "baseline characteristics",
    "outcome": "outcome measures",
}
TITLES, SPEAKING = "titles", "titles that speak of an intent"
_END = re.compile(r"[:?]|\. ")


@dataclass(frozen=True, slots=True)
class Query:
    """A query, the groups it counts in, and the chunks that answer it."""

    text: str
    groups: tuple[str, ...]
    answers: frozenset[str]


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    articles = list(read_corpus(folder / "jats_ccby_ae", "jats"))
    kinds = _kinds(folder / "tables_ccby.jsonl.zst")
    queries = {
        f"q{at}": query
        for at, query in enumerate(
            query
            for document, chunks in articles
            for query in _queries(document.title, chunks, kinds.get(document.doc_id, {}))
        )
    }
    grades = {name: dict.fromkeys(query.answers, 1) for name, query in queries.items()}
    with indexed(experiment.corpus, articles) as home:
        texts = {name: query.text for name, query in queries.items()}
        found = rankings(home, texts, (one.options for one in experiment.runs))
        for one, (ranked, took) in zip(experiment.runs, found, strict=True):
            scores = assay.score(Qrels.from_mapping(grades), ranked, [MEASURE])
            yield Outcome(one, _by_group(scores.per_query(MEASURE), queries), took)


def _queries(title: str, chunks: tuple[Chunk, ...], captions: Mapping[str, str]) -> Iterator[Query]:
    """The queries that one article answers."""
    subject = _END.split(title)[0].strip()
    tables: dict[str, set[str]] = {}
    for chunk in chunks:
        if chunk.is_table:
            for caption, kind in captions.items():
                if caption in chunk.text:
                    tables.setdefault(kind, set()).add(chunk.chunk_id)
    for kind, words in ASKED.items():
        if kind in tables:
            yield Query(f"{words} {subject}", (words,), frozenset(tables[kind]))
    abstract = frozenset(chunk.chunk_id for chunk in chunks if chunk.section_label == "abstract")
    if abstract:
        speaks = bool(detect(subject, default_lexicon()))
        yield Query(subject, (TITLES, SPEAKING) if speaks else (TITLES,), abstract)


def _kinds(path: Path) -> dict[str, dict[str, str]]:
    """Article to the beginnings of its tables' captions and their kinds."""
    import zstandard

    found: dict[str, dict[str, str]] = {}
    with path.open("rb") as packed:
        stream = zstandard.ZstdDecompressor().stream_reader(packed)
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            row = json.loads(line)
            if caption := row["caption"][:40].strip():
                found.setdefault(row["doc"], {})[caption] = row["kind_guess"]
    return found


def _by_group(values: Mapping[str, float | None], queries: Mapping[str, Query]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for name, query in queries.items():
        for group in query.groups:
            groups.setdefault(group, []).append(values[name] or 0.0)
    return {name: round(sum(each) / len(each), 4) for name, each in groups.items()}
