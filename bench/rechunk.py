"""Does a comparison survive another chunker? Real papers, cut twice, searched twice with BM25.

    python -m bench.rechunk DATA/covidqa

Questions of COVID-QA are judged by the chunk that holds the answer, as the first chunker cut it;
the test set names nothing but that chunk's id. Then the papers are cut by another profile and
searched again. By ids most hits are lost, and most of those that remain are other passages that
happen to have the same number. By document and archived characters the hits stay, as long as the
new chunks are not much smaller than the judged ones; where they are, test sets should name the
characters of the answer (last column), which no chunker changes.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.app.workspace import Workspace
from assay.evaluation.compare import CompareReport, ComparisonKind, compare_runs
from assay.evaluation.match import covers_enough
from assay.evaluation.stored_run import StoredRun
from assay.ingest.chunker import chunk_document
from assay.ingest.profiles import Profile
from assay.model.document import Chunk, Document
from assay.model.runs import QueryOutcome, RankedResult, RunInfo, RunStatus
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.settings import configure

DEPTH = 10
BEFORE = Profile("bench-before", 1, 300, 30)
AFTER = {
    "larger (450 tokens)": Profile("bench-larger", 1, 450, 50),
    "shifted (260 tokens)": Profile("bench-shifted", 1, 260, 40),
    "smaller (120 tokens)": Profile("bench-smaller", 1, 120, 10),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its paper and the characters of its answer there."""

    query_id: str
    text: str
    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Row:
    """What became of the hits under one new chunker, by each way of matching."""

    name: str
    hits_before: float
    hits_by_id: float
    wrong_by_id: float
    hits_by_span: float
    kept: float
    kept_by_answer: float
    match: str
    notes: tuple[str, ...]


def papers(folder: Path) -> dict[str, Document]:
    """The papers, put together again from passages that know their places."""
    parts: dict[str, list[tuple[int, str]]] = defaultdict(list)
    titles: dict[str, str] = {}
    for entry in _lines(folder / "corpus.jsonl.gz"):
        about = entry["metadata"]
        parts[about["doc"]].append((about["start"], entry["text"]))
        titles[about["doc"]] = entry["title"]
    found = {}
    for doc, pieces in parts.items():
        text = ""
        for start, piece in sorted(pieces):
            text = text.ljust(start) + piece
        found[doc] = Document(doc, text, titles[doc])
    return found


def questions(folder: Path, documents: Mapping[str, Document]) -> list[Question]:
    """The questions whose answer stands, word for word, in their paper."""
    found = []
    for entry in _lines(folder / "queries.jsonl.gz"):
        doc, answer = entry["metadata"]["doc"], entry["metadata"]["answers"][0]
        start = documents[doc].text.find(answer)
        if start >= 0:
            found.append(Question(entry["_id"], entry["text"], doc, start, start + len(answer)))
    return found


def judged(
    asked: Iterable[Question], chunks: Mapping[str, Sequence[Chunk]], *, spans: bool = False
) -> TestSet:
    """A test set that names, for each question, the chunk that holds most of its answer.

    With ``spans`` it also names the paper and the characters of the answer.
    """

    def held(chunk: Chunk, question: Question) -> int:
        return sum(
            max(0, min(end, question.end) - max(start, question.start))
            for start, end in chunk.spans
        )

    queries = []
    for question in asked:
        best = max(chunks[question.doc_id], key=lambda chunk: held(chunk, question))
        judgment = Judgment(best.chunk_id, 1)
        if spans:
            place = ((question.start, question.end),)
            judgment = replace(judgment, spans=place, owner=question.doc_id)
        queries.append(GoldenQuery(question.query_id, question.text, relevant_docs=(judgment,)))
    return TestSet("covidqa", "v1", tuple(queries))


def search(home: Path, name: str, profile: Profile, tests: TestSet, at: str) -> StoredRun:
    """The run of a test set over the index of a workspace."""
    config = configure({"home": home, "dense_model": "none", "splade_model": "none"})
    with Workspace(config) as workspace:
        generation = workspace.generation()
        bm25 = workspace.components(generation)["bm25"]
        outcomes = []
        for query in tests.queries:
            hits = bm25.search(query.query_text, DEPTH)
            chunks = workspace.store.chunks_by_key([hit.key for hit in hits])
            outcomes.append(
                QueryOutcome(
                    query.query_id,
                    tuple(_result(chunks[hit.key], hit.score) for hit in hits),
                )
            )
        info = RunInfo(
            run_id=name,
            suite=tests.name,
            test_set_version=tests.version,
            test_set_checksum=tests.checksum,
            config={},
            config_hash="",
            cache_key=name,
            created_at=at,
            status=RunStatus.COMPLETE,
            generation=str(generation.manifest.generation),
            chunker_versions=(profile.chunker_version,),
        )
        return StoredRun(info, tests, tuple(outcomes))


def store(
    home: Path, documents: Mapping[str, Document], profile: Profile
) -> dict[str, list[Chunk]]:
    """Cut the papers, put them into the workspace, index them; chunks that were there go."""
    cut = {doc: list(chunk_document(paper, profile)) for doc, paper in documents.items()}
    config = configure({"home": home, "dense_model": "none", "splade_model": "none"})
    with Workspace(config) as workspace:
        workspace.store_documents((documents[doc], tuple(parts)) for doc, parts in cut.items())
        workspace.update_index()
    return cut


def compare(home: Path, a: StoredRun, b: StoredRun) -> CompareReport:
    """Compare with the workspace's archive of chunks that are gone."""
    config = configure({"home": home, "dense_model": "none", "splade_model": "none"})
    with Workspace(config) as workspace:
        return compare_runs(a, b, archive=workspace.archived)


def rechunk(folder: Path, limit: int | None = None, only: str | None = None) -> Iterator[Row]:
    """Every new chunker beside the old one."""
    documents = papers(folder)
    asked = questions(folder, documents)[:limit]
    for name, profile in AFTER.items():
        if only is not None and only not in name:
            continue
        with tempfile.TemporaryDirectory() as place:
            home = Path(place) / ".assay"
            cut = store(home, documents, BEFORE)
            tests, with_answers = judged(asked, cut), judged(asked, cut, spans=True)
            a = search(home, "before", BEFORE, tests, "2024-01-01T00:00:00Z")
            store(home, documents, profile)
            b = search(home, "after", profile, tests, "2024-01-02T00:00:00Z")
            report = compare(home, a, b)
            by_id = compare(home, a, _as_if_same_chunker(b, a))
            answers = compare(
                home, replace(a, test_set=with_answers), replace(b, test_set=with_answers)
            )
            yield Row(
                name=name,
                hits_before=report.aggregate_a.hit_at_k[10] or 0.0,
                hits_by_id=by_id.aggregate_b.hit_at_k[10] or 0.0,
                wrong_by_id=_wrong(by_id, b, cut),
                hits_by_span=report.aggregate_b.hit_at_k[10] or 0.0,
                kept=_kept(report),
                kept_by_answer=_kept(answers),
                match=report.chunker_version_match.value,
                notes=report.warnings,
            )


def _kept(report: CompareReport) -> float:
    """The share of a's hits that are hits of b."""
    hit = sum(query.a_hit_rank is not None for query in report.per_query)
    return 1.0 - report.counts[ComparisonKind.REGRESSION] / hit


def _wrong(by_id: CompareReport, b: StoredRun, cut: Mapping[str, Sequence[Chunk]]) -> float:
    """Of the hits by id: the share that is another passage than the one that was judged."""
    places = {chunk.chunk_id: chunk.spans for parts in cut.values() for chunk in parts}
    found = [
        b.by_query[query.query_id].results[query.b_hit_rank - 1]
        for query in by_id.per_query
        if query.b_hit_rank is not None
    ]
    wrong = sum(not covers_enough(places[result.chunk_id], result.spans) for result in found)
    return wrong / len(found)


def _as_if_same_chunker(run: StoredRun, like: StoredRun) -> StoredRun:
    """What a tool that only knows ids would see."""
    return replace(run, info=replace(run.info, chunker_versions=like.info.chunker_versions))


def _result(chunk: Chunk, score: float) -> RankedResult:
    return RankedResult(chunk.chunk_id, chunk.doc_id, score, chunk.spans, chunk.chunker_version)


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def main() -> None:
    """Print the table."""
    head = ("new chunker", "before", "by id", "wrong", "by span", "kept", "by answer")
    print("{:22} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10}".format(*head))
    for row in rechunk(Path(sys.argv[1])):
        print(
            f"{row.name:22} {row.hits_before:8.4f} {row.hits_by_id:8.4f} {row.wrong_by_id:8.1%} "
            f"{row.hits_by_span:8.4f} {row.kept:8.1%} {row.kept_by_answer:10.1%}  {row.match}"
        )
        for note in row.notes:
            print(f"    {note}")


if __name__ == "__main__":
    main()
