"""Where are a collection's queries and judgments, and its index?"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import assay
from assay.app.workspace import Workspace
from assay.model.document import Chunk, Document
from assay.model.judgments import Qrels
from assay.model.query import Hit
from assay.search.boost import default_lexicon
from assay.search.question import ask
from assay.search.ranking import rank
from assay.search.request import SearchOptions
from assay.search.snapshot import Snapshot
from assay.settings import configure
from reproduce.experiment import HERE
from training.sources import kept_passage

WORK = HERE.parent / "bench" / "work" / "reproduce"


def judged(folder: Path, split: str) -> Qrels:
    """The judgments of one split; ``kept`` has the questions of CovidQA that no training saw."""
    if split != "kept":
        return assay.load_qrels(existing(folder / "qrels" / f"{split}.tsv"))
    every = judged(folder, "test").by_query
    kept = {query: found for query, found in every.items() if all(map(kept_passage, found))}
    return Qrels.from_mapping(kept)


def query_texts(folder: Path) -> dict[str, str]:
    """Query id to text."""
    return {row["_id"]: row["text"] for row in json_lines(existing(folder / "queries.jsonl"))}


@contextmanager
def indexed(
    name: str, documents: Iterable[tuple[Document, tuple[Chunk, ...]]], **settings: object
) -> Iterator[Workspace]:
    """A workspace that holds these documents; vectors of an earlier time are used again."""
    config = configure({"home": WORK / name, **settings}, environ={}, folder=HERE)
    with Workspace(config) as workspace:
        workspace.store_documents(documents)
        workspace.update_index(_say)
        if workspace.index_card()["dead_rows"]:  # they still count in the weights of words
            workspace.update_index(_say, fresh=True)
        yield workspace


def ranked_ids(
    query: str, lists: Mapping[str, Sequence[Hit]], options: SearchOptions, index: Snapshot
) -> list[str]:
    """The ids of chunks, best first, as a search with these options orders the lists."""
    chosen = {name: lists[name] for name in options.components}
    ranking = rank(ask(query), chosen, options, default_lexicon(), index)
    return [row.fused.chunk_id for row in ranking.boosted]


def rankings(
    home: Workspace, texts: Mapping[str, str], every: Iterable[SearchOptions]
) -> Iterator[tuple[dict[str, list[str]], float]]:
    """What each of the options makes of the same lists, and the milliseconds that a query takes."""
    snapshot = home.snapshot()
    lists = {
        name: {
            component: one.search(text.lower(), 100)
            for component, one in snapshot.components.items()
        }
        for name, text in texts.items()
    }
    for options in every:
        began = time.perf_counter()
        ranked = {
            name: ranked_ids(text, lists[name], options, snapshot) for name, text in texts.items()
        }
        yield ranked, (time.perf_counter() - began) / len(ranked) * 1000


def existing(path: Path) -> Path:
    """The file as it is or compressed."""
    packed = path.with_name(f"{path.name}.gz")
    return path if path.exists() else packed


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file, compressed or not."""
    with opened(path) as lines:
        for line in lines:
            yield json.loads(line)


def opened(path: Path) -> TextIO:
    """The text of a file, compressed or not."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _say(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{stage}: {done} of {total}  ", end="", file=sys.stderr)
