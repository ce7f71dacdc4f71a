"""How good is search on a collection in BEIR's form, whole documents, by each set of options?

Every component searches once; runs differ in how its lists are fused. ``queries: N`` of a run
takes the first N query ids in order, for what is slow; ``rerank_top: N`` is how many are reranked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import assay
from assay.app.engine import model_shelf
from assay.app.workspace import Workspace
from assay.encode.encoders import open_reranker
from assay.index.writer import passage
from assay.ingest import read_corpus
from assay.model.judgments import Qrels
from assay.model.query import Hit
from assay.model.vectors import Reranker
from assay.search.fusion import Fused, fuse
from assay.search.query_type import classify
from assay.search.request import COMPONENTS, SearchOptions
from assay.search.searcher import with_model_weights
from reproduce.data import indexed, judged, query_texts
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome

RERANKER = "ms-marco-minilm-l12-v2"


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    qrels = judged(folder, experiment.split)
    texts = query_texts(folder)
    depth = max(one.options.depth for one in experiment.runs)
    with indexed(experiment.corpus, read_corpus(folder, "beir", "whole", skip_empty=True)) as home:
        components = home.components(home.generation())
        lists = {
            query: {name: components[name].search(texts[query], depth) for name in COMPONENTS}
            for query in sorted(qrels.queries)
        }
        rerank = _Reranking(home)
        for one in experiment.runs:
            chosen = [*lists][: int(one.more.get("queries", len(lists)))]
            began = time.perf_counter()
            options = with_model_weights(one.options, home.snapshot())
            ranked = {
                query: _ranked(texts[query], lists[query], options, one.more, rerank)
                for query in chosen
            }
            took = (time.perf_counter() - began) / len(chosen) * 1000
            part = Qrels.from_mapping({query: qrels.by_query[query] for query in chosen})
            yield Outcome.of(one, assay.score(part, ranked, list(one.expected)), took)


class _Reranking:
    """The cross-encoder, loaded where a run asks for it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @cached_property
    def _model(self) -> Reranker:
        return open_reranker(RERANKER, model_shelf(self._workspace.settings))

    def best_first(self, query: str, fused: list[Fused]) -> list[Fused]:
        """The candidates in the order of the model's scores."""
        chunks = self._workspace.store.chunks_by_key([one.key for one in fused])
        scores = self._model.score(query, [passage(chunks[one.key]) for one in fused]).tolist()
        order = sorted(range(len(fused)), key=lambda at: (-scores[at], at))
        return [fused[at] for at in order]


def _ranked(
    query: str,
    lists: Mapping[str, list[Hit]],
    options: SearchOptions,
    more: Mapping[str, object],
    reranking: _Reranking,
) -> list[str]:
    """Document ids, best first."""
    chosen = {name: lists[name][: options.depth] for name in options.components}
    fused = [*fuse(chosen, options, classify(query))]
    if options.rerank:
        depth = int(str(more["rerank_top"]))
        fused = reranking.best_first(query, fused[:depth]) + fused[depth:]
    return documents(fused)


def documents(fused: Sequence[Fused | Hit]) -> list[str]:
    """The documents of whole-document chunks, in order."""
    return [hit.chunk_id.rpartition(":chunk_")[0] for hit in fused]
