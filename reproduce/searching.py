"""How good is search on a collection in BEIR's form, whole documents, by each set of options?

Every component searches once; runs differ in how its lists are fused. ``queries: N`` of a run
takes the first N query ids in order, for what is slow. Reranking is what a search does: the best 20
by the usual reranker with its usual share, or by what ``rerank_depth``, ``reranker`` and
``rerank_share`` say.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import assay
from assay.app.engine import model_shelf
from assay.app.workspace import Workspace
from assay.encode.catalog import requires_gpu, reranker_share
from assay.encode.encoders import open_reranker
from assay.index.writer import passage
from assay.ingest import read_corpus
from assay.model.judgments import Qrels
from assay.model.query import Hit
from assay.search.fusion import Fused, fuse
from assay.search.query_type import classify
from assay.search.request import COMPONENTS, SearchOptions
from assay.search.rerank import Rerankers, blended, depth, order, share
from assay.search.searcher import with_model_weights
from reproduce.data import indexed, judged, query_texts
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    qrels = judged(folder, experiment.split)
    texts = query_texts(folder)
    most = max(one.options.depth for one in experiment.runs)
    with indexed(experiment.corpus, read_corpus(folder, "beir", "whole", skip_empty=True)) as home:
        components = home.components(home.generation())
        lists = {
            query: {name: components[name].search(texts[query], most) for name in COMPONENTS}
            for query in sorted(qrels.queries)
        }
        rerank = _Reranking(home)
        for one in experiment.runs:
            chosen = [*lists][: int(one.more.get("queries", len(lists)))]
            began = time.perf_counter()
            options = with_model_weights(one.options, home.snapshot())
            ranked = {
                query: _ranked(texts[query], lists[query], options, rerank) for query in chosen
            }
            took = (time.perf_counter() - began) / len(chosen) * 1000
            part = Qrels.from_mapping({query: qrels.by_query[query] for query in chosen})
            yield Outcome.of(one, assay.score(part, ranked, list(one.expected)), took)


class _Reranking:
    """The rerankers, each loaded where a run asks for it, and what they said of a pair."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._said: dict[tuple[str, str, int], float] = {}

    @cached_property
    def _rerankers(self) -> Rerankers:
        shelf = model_shelf(self._workspace.settings)
        return Rerankers(lambda name: open_reranker(name, shelf), requires_gpu, reranker_share)

    def best_first(self, query: str, fused: list[Fused], options: SearchOptions) -> list[Fused]:
        """The best candidates reordered, then the others."""
        name = options.reranker
        best = {one.key: one for one in fused[: depth(options, self._rerankers.profile(name))]}
        missing = [key for key in best if (name, query, key) not in self._said]
        if missing:
            chunks = self._workspace.store.chunks_by_key(missing)
            texts = [passage(chunks[key]) for key in missing]
            scores = self._rerankers.get(name).score(query, texts).tolist()
            self._said |= {(name, query, key): s for key, s in zip(missing, scores, strict=True)}
        judged = {key: self._said[name, query, key] for key in best}
        before = {key: one.score for key, one in best.items()}
        found = order(list(best), blended(judged, before, share(options, self._rerankers)))
        return [best[key] for key in found] + fused[len(best) :]


def _ranked(
    query: str,
    lists: Mapping[str, list[Hit]],
    options: SearchOptions,
    reranking: _Reranking,
) -> list[str]:
    """Document ids, best first."""
    chosen = {name: lists[name][: options.depth] for name in options.components}
    fused = [*fuse(chosen, options, classify(query))]
    if options.rerank:
        fused = reranking.best_first(query, fused, options)
    return documents(fused)


def documents(fused: Sequence[Fused | Hit]) -> list[str]:
    """The documents of whole-document chunks, in order."""
    return [hit.chunk_id.rpartition(":chunk_")[0] for hit in fused]
