"""What does ``assay eval tune`` do, once its options are read?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from assay.app.workspace import Workspace
from assay.cli.commit import commit_hash
from assay.cli.console import emit_json, note
from assay.cli.eval_progress import evaluation_progress
from assay.cli.tables import show_tables
from assay.errors import UsageError
from assay.evaluation.match import places_of
from assay.evaluation.parts import Split, part_of
from assay.evaluation.record import RecordOptions, record
from assay.evaluation.tuning import Judged, Rank, Tuning, judged, tune
from assay.measures.parse import parse_measure
from assay.model.arrays import FloatArray, IntArray
from assay.model.testset import TestSet
from assay.render.tuning import tuning_json, tuning_tables
from assay.search.recorded import evaluation_options
from assay.search.request import FusionMethod, SearchOptions
from assay.search.tuning import Pool, grid, pool, weights_of
from assay.settings import Settings
from assay.store.owner import this_process
from assay.testsets.load import load_test_set


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneJob:
    """The options of one call."""

    config: Settings
    testset: str
    measure: str
    fusion: str
    step: float
    holdout: bool
    show: int
    as_json: bool

    def run(self) -> None:
        """Search each part once, then fuse as often as there are settings."""
        measure = parse_measure(self.measure)
        test_set = load_test_set(self.testset, folder=self.config.home / "testsets", lenient=True)
        if self.holdout and test_set.held_out is None:
            raise UsageError(
                f"{test_set.name} has no held-out part to check the gain on",
                hint="assay testset split makes one; --no-holdout goes without",
            )
        with Workspace(self.config) as workspace:
            options = evaluation_options(workspace.searcher.defaults)
            if len(options.components) < 2:
                raise UsageError("one component alone needs no fusion", hint="--components")
            split = None if test_set.held_out is None else Split.EVALUATION
            evaluation = self._part(workspace, test_set, split, options)
            held = self._part(workspace, test_set, Split.HOLDOUT, options) if self.holdout else None
        methods = list(FusionMethod) if self.fusion == "both" else [FusionMethod(self.fusion)]
        found = tune(
            grid(options, methods, self.step),
            options,
            measure,
            evaluation=evaluation,
            held_out=held,
            sampling=self.config.sampling,
        )
        self._write(found, options)

    def _part(
        self, workspace: Workspace, test_set: TestSet, split: Split | None, options: SearchOptions
    ) -> tuple[Judged, Rank]:
        part = part_of(test_set, split)
        settings = RecordOptions(
            name="tune", owner=this_process(), commit_hash=commit_hash(), purpose="tune"
        )
        system = workspace.system(k=options.k)
        with evaluation_progress(part.test_set, self.config.color) as told:
            made = record(system, part, workspace.runs, settings, told)
        pools = {one.query_id: pool(one, options.components) for one in made.result.outcomes}
        names = {query: found.ids for query, found in pools.items()}
        places = places_of(part.test_set, made.result.outcomes, workspace.places_of(made.info))
        return judged(part.test_set, names, places), ranker(pools)

    def _write(self, found: Tuning, present: SearchOptions) -> None:
        if self.as_json:
            emit_json(tuning_json(found, present, self.show))
            return
        show_tables(tuning_tables(found, present, self.show), self.config.color)
        for warning in found.warnings:
            note(f"warning: {warning}")


def ranker(pools: dict[str, Pool]) -> Rank:
    """The ranks of a query's candidates; what does not depend on weights is worked out once."""

    @lru_cache(maxsize=4 * len(pools) or 1)
    def worth(query: str, method: str, rrf_k: int, normalization: str) -> FloatArray:
        options = SearchOptions(
            fusion_method=FusionMethod(method),
            rrf_k=rrf_k,
            normalization=type(SearchOptions().normalization)(normalization),
        )
        return pools[query].worth(options)

    def rank(options: SearchOptions, query: str) -> IntArray:
        found = pools[query]
        values = worth(query, options.fusion_method, options.rrf_k, options.normalization)
        return found.ranks(values, weights_of(found, options))

    return rank
