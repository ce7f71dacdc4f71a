"""Which weights tell questions that the passages answer from those that they do not?

Two models are fitted. The **gate** of answers: every golden query of the demo is asked twice, with
what search found, and with every relevant chunk taken away, which is what a question without an
answer looks like from inside. The **floor** of search: queries that a collection can serve, its
own, against queries on other subjects. Both are fitted on the evaluation part of the demo's set and
on every other query of the rest; the held-out part, the other half and ``test_set_v1_extras`` are
only looked at. Areas under the ROC curve are printed for what was seen and what was not.

    python -m bench.answer_gate --home FOLDER [--off-topic queries.jsonl.gz ...] [--served BEIR ...]
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import assay
from assay.answers.extractive import ExtractiveAnswerer
from assay.app.workspace import Workspace, open_workspace
from assay.evidence.confidence import LOOKED_AT, Signals, signals
from assay.ingest import read_corpus
from assay.model.answers import Answer, Expect, Passage
from assay.model.document import SpeakerRole
from assay.model.query import Filters
from assay.model.testset import GoldenQuery, SpeakerFilter
from assay.search.response import SearchResponse
from assay.settings import configure

DEEP = 100
WORK = Path(__file__).parent / "work" / "answer_gate"
OFF_TOPIC = 40  # queries of each file
SERVED = 80  # queries of a collection that are asked there
PATIENCE = 60_000.0  # milliseconds
ON, OFF = "on the subject", "off the subject"


@dataclass(frozen=True, slots=True)
class Example:
    """One question with passages; ``kind`` says whether they can answer it, ``fit`` who sees it."""

    kind: str
    fit: bool
    read: Signals
    said_nothing: bool = False


def asked(workspace: Workspace, query: str, speaker: SpeakerFilter) -> SearchResponse:
    roles = () if speaker is SpeakerFilter.ALL else (SpeakerRole(speaker.value),)
    filters = Filters(speaker_role=roles)
    return workspace.search(
        query, k=DEEP, filters=filters, floor=False, component_timeout_ms=PATIENCE
    )


def found(workspace: Workspace, query: str, speaker: SpeakerFilter) -> list[Passage]:
    return asked(workspace, query, speaker).passages()


def examples(workspace: Workspace, off_topic: Sequence[Path]) -> Iterator[Example]:
    golden = assay.load_test_set("test_set_v1")
    extras = assay.load_test_set("test_set_v1_extras")
    for query in (*golden.queries, *extras.queries):
        passages = found(workspace, query.query_text, query.speaker_filter)
        fit = query.expect is Expect.EVIDENCE and query.query_id not in golden.held_out_ids
        kind = "answerable" if query.expect is Expect.EVIDENCE else query.expect.value
        yield Example(kind, fit, signals(query.query_text, passages[:LOOKED_AT]))
        if query.expect is Expect.EVIDENCE:
            relevant = {item.id for item in query.relevant_docs if item.grade > 0}
            rest = [one for one in passages if one.chunk.chunk_id not in relevant]
            yield Example("taken away", fit, signals(query.query_text, rest[:LOOKED_AT]))
    for path in off_topic:
        for number, text in enumerate(queries(path)[:OFF_TOPIC]):
            passages = found(workspace, text, SpeakerFilter.ALL)
            yield Example("off topic", number % 2 == 0, signals(text, passages[:LOOKED_AT]))


def queries(path: Path) -> list[str]:
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    return [json.loads(line)["text"] for line in lines]


def topics(
    workspace: Workspace, own: Sequence[str], off_topic: Sequence[Path]
) -> Iterator[Example]:
    """Queries that a collection can serve, and queries on other subjects."""
    others = [text for path in off_topic for text in queries(path)[:OFF_TOPIC]]
    for kind, texts in ((ON, own), (OFF, others)):
        for number, text in enumerate(texts):
            response = asked(workspace, text, SpeakerFilter.ALL)
            read = signals(text, response.passages()[:LOOKED_AT])
            yield Example(kind, number % 2 == 0, read, bool(response.nothing_about))


def every_topic(
    workspace: Workspace, off_topic: Sequence[Path], served: Sequence[Path]
) -> Iterator[Example]:
    golden = assay.load_test_set("test_set_v1")
    own = [one.query_text for one in golden.queries if one.query_id not in golden.held_out_ids]
    yield from topics(workspace, own, off_topic)
    for folder in served:
        file = next(folder.glob("queries.jsonl*"))
        others = [path for path in off_topic if path.parent != folder]
        with Workspace(configure({"home": WORK / folder.name})) as other:
            other.store_documents(read_corpus(folder, "beir", "whole", skip_empty=True))
            other.update_index(lambda *_: None)
            yield from topics(other, queries(file)[:SERVED], others)


def report(rows: list[Example], names: tuple[str, ...], good: str = "answerable") -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    table = np.array([[getattr(row.read, name) or 0.0 for name in names] for row in rows])
    wanted = np.array([row.kind == good for row in rows])
    seen = np.array([row.fit for row in rows])
    mean, spread = table[seen].mean(0), table[seen].std(0)
    model = LogisticRegression(class_weight="balanced").fit(
        (table[seen] - mean) / spread, wanted[seen]
    )
    sure = model.predict_proba((table - mean) / spread)[:, 1]
    weights = model.coef_[0] / spread
    bias = model.intercept_[0] - float((weights * mean).sum())
    print({name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)})
    print(f"bias {bias:.2f}")
    for label, part in (("fitted", seen), ("not seen", ~seen)):
        print(f"  {label:9} AUROC {roc_auc_score(wanted[part], sure[part]):.3f} of {part.sum()}")
        for kind in dict.fromkeys(row.kind for row in rows):
            chosen = part & np.array([row.kind == kind for row in rows])
            if chosen.any():
                share = float((sure[chosen] >= 0.5).mean())
                print(f"  {label:9} {kind:12} answered {share:.2f} of {chosen.sum()}")


def answers(workspace: Workspace) -> None:
    """The measures of the embedded answerer on both shipped sets."""
    from assay.measures.answers import AnswerRecord

    answerer = ExtractiveAnswerer(workspace.settings.dense_model or "")
    records, taken = [], []
    golden = [
        query
        for name in ("test_set_v1", "test_set_v1_extras")
        for query in assay.load_test_set(name).queries
    ]
    for query in golden:
        passages = found(workspace, query.query_text, query.speaker_filter)
        said: Answer = answerer.answer(query.query_text, passages)
        taken.append((query, said))
        records.append(_record(query, said, len(passages), AnswerRecord))
    for measure, outcome in assay.score_answers(records).items():
        print(f"  {measure}: {outcome.value}")
    refused = sum(not said.grounded for query, said in taken if query.expect is Expect.EVIDENCE)
    print(f"  refused although answerable: {refused} of 50")


def _record(query: GoldenQuery, said: Answer, results: int, kind: type) -> assay.AnswerRecord:
    record: assay.AnswerRecord = kind(
        query.query_id,
        query.expect,
        said,
        results,
        must_contain=query.must_contain,
        forbidden=query.forbidden,
        known_citations=frozenset(said.citations),
    )
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="workspace with the demo corpus")
    parser.add_argument("--off-topic", type=Path, nargs="*", default=[])
    parser.add_argument("--served", type=Path, nargs="*", default=[], help="folders, BEIR's form")
    given = parser.parse_args()
    with open_workspace(given.home) as workspace:
        rows = list(every_topic(workspace, given.off_topic, given.served))
        print("the floor, words and meaning:")
        report(rows, ("closeness", "covered"), ON)
        print("the floor, words alone:")
        report(rows, ("covered", "known"), ON)
        for kind in (ON, OFF):
            said = [row.said_nothing for row in rows if row.kind == kind]
            print(f"  {kind}: nothing said to {sum(said)} of {len(said)}")
        rows = list(examples(workspace, given.off_topic))
        print("the gate, words and meaning:")
        report(rows, ("closeness", "covered", "known"))
        print("the gate, words alone:")
        report(rows, ("covered", "known"))
        print("the embedded answerer:")
        answers(workspace)


if __name__ == "__main__":
    main()
