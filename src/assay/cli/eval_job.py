"""What does ``assay eval run`` do, once its options are read?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.app.publication import figures, places, publish
from assay.app.runs import view_of
from assay.app.workspace import Workspace
from assay.cli.commit import commit_hash
from assay.cli.console import emit_json, note
from assay.cli.eval_progress import evaluation_progress
from assay.cli.options import DEGRADED
from assay.cli.search import tell_if_behind
from assay.cli.tables import show_tables
from assay.errors import ConflictError, UsageError
from assay.evaluation.match import absence
from assay.evaluation.parts import Mode, SetPart, Split, part_of
from assay.evaluation.record import Recorded, RecordOptions, record
from assay.evaluation.result import ScoringOptions
from assay.evaluation.score import check_families, protocol_named
from assay.measures.parse import parse_measures
from assay.model.ranking import Match, MatchName
from assay.model.runs import RunInfo
from assay.model.system import System
from assay.plural import counted
from assay.render import evaluation as report
from assay.settings import Settings
from assay.store.owner import this_process
from assay.testsets.join import join
from assay.testsets.load import load_test_set

CROSS_MODE = "cross-mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The options of one call."""

    config: Settings
    testsets: tuple[str, ...]
    measures: str | None
    per_component: bool
    waterfall: bool
    answers: bool
    kept: int
    retriever: str | None
    mapping: Path | None
    run_file: str | None
    protocol: str | None
    match: MatchName
    mode: str
    split: str | None
    by_group: bool
    name: str
    tags: tuple[str, ...]
    resume: str | None
    cache: bool
    max_errors: int
    per_query: bool
    publish: bool
    as_json: bool

    def run(self) -> int:
        """Run, score, show; the exit code says whether anything is missing from the figures."""
        self._check()
        with Workspace(self.config) as workspace:
            if self.resume is not None:
                made = [self._resume(workspace, self.resume)]
            else:
                system = self._system(workspace)
                made = [self._record(workspace, system, part) for part in self._parts(workspace)]
            self._say_what_is_absent(workspace, made)
            if self.mode == CROSS_MODE:
                self._show_modes(made)
            else:
                self._show(workspace, made[0])
            if self.publish:
                publish(self.config, figures(workspace.runs))
        return DEGRADED if any(one.result.degraded or one.result.failed for one in made) else 0

    def _check(self) -> None:
        if self.resume is None and not self.testsets:
            raise UsageError("no test set is named", hint="--testset NAME; assay testset list")
        if self.retriever is not None and self.run_file is not None:
            raise UsageError("--retriever and --run exclude each other")
        if self.publish and not places(self.config):
            raise UsageError(
                "--publish needs a place", hint="the settings metrics_textfile and pushgateway"
            )
        foreign = self.retriever is not None or self.run_file is not None
        if self.measures is not None:
            check_families(parse_measures(self.measures), protocol_named(self.protocol))
        if foreign and (self.per_component or self.waterfall or self.answers):
            raise UsageError(
                "only our own engine shows its components and answers",
                hint="leave --retriever and --run out",
            )

    def _system(self, workspace: Workspace) -> System:
        if self.run_file is not None:
            from assay.evaluation.retrievers.run_file import run_file_system

            return run_file_system(self.run_file)
        if self.retriever is None:
            return workspace.system(answers=self.answers, k=self.kept)
        if self.retriever.startswith(("http://", "https://")):
            from assay.evaluation.retrievers.http import http_system, load_mapping

            mapping = None if self.mapping is None else load_mapping(self.mapping)
            return http_system(self.retriever, mapping, k=self.kept)
        from assay.evaluation.retrievers.python import python_system

        return python_system(self.retriever)

    def _parts(self, workspace: Workspace) -> list[SetPart]:
        folder = self.config.home / "testsets"
        test_set = join(
            [load_test_set(name, folder=folder, lenient=True) for name in self.testsets]
        )
        split = None if self.split is None else Split(self.split)
        if self.mode != CROSS_MODE:
            return [part_of(test_set, split, Mode(self.mode))]
        modes_of = workspace.store.places.ingestion_modes
        return [
            part_of(test_set, split, mode, modes_of=modes_of) for mode in (Mode.OFFLINE, Mode.LIVE)
        ]

    def _record(self, workspace: Workspace, system: System, part: SetPart) -> Recorded:
        options = RecordOptions(
            name=self.name,
            tags=self.tags,
            resume=self.resume,
            use_cache=self.cache,
            max_errors=self.max_errors,
            commit_hash=commit_hash(),
            owner=this_process(),
            scoring=self._scoring(),
        )
        config = dict(system.config)
        if part.mode is not Mode.AS_WRITTEN:
            config["mode"] = str(part.mode)
        with evaluation_progress(part.test_set, self.config.color) as told:
            made = record(replace(system, config=config), part, workspace.runs, options, told)
        if made.cached:
            note(
                f"note: run {made.info.run_id} has the answer already and nothing was searched; "
                f"--no-cache runs it again{self._other_name(made.info)}"
            )
        elif made.reused:
            note(f"note: {counted(made.reused, 'query', 'was')} answered before it was cut short")
        return made

    def _other_name(self, info: RunInfo) -> str:
        if self.name in ("", info.name):
            return ""
        return f"; it keeps its name {info.name!r:.80}, and --tag gives it another"

    def _say_what_is_absent(self, workspace: Workspace, made: Sequence[Recorded]) -> None:
        """Our own search cannot find what is not in the index; of other engines we know nothing."""
        queries = [query for one in made if one.info.ours for query in one.result.test_set.queries]
        if queries:
            tell_if_behind(workspace, "warning")
        if said := absence(queries, workspace.present, Match(self.match)):
            name = self.testsets[0] if len(self.testsets) == 1 else "NAME"
            note(f"warning: {said} (assay testset validate {name} --index lists them)")

    def _resume(self, workspace: Workspace, ref: str) -> Recorded:
        info = workspace.runs.run(ref)
        mode = Mode(info.config.get("mode", Mode.AS_WRITTEN))
        part = SetPart(
            workspace.runs.test_set(ref), info.part, mode, info.part.startswith("holdout")
        )
        return self._record(workspace, self._system_of(workspace, info), part)

    def _system_of(self, workspace: Workspace, info: RunInfo) -> System:
        """The system that an unfinished run was made with."""
        if info.ours:
            system = workspace.system_of(info.config)
            if system.generation != info.generation:
                raise ConflictError(
                    f"the index has changed since {info.run_id} was begun "
                    f"(generation {info.generation}, now {system.generation})",
                    hint="start a new run",
                )
            return system
        if info.engine == "run file" and self.run_file is None:
            raise UsageError("resuming this run needs its file", hint="--run FILE")
        return replace(self, retriever=info.config.get("retriever"))._system(workspace)

    def _scoring(self) -> ScoringOptions:
        return ScoringOptions(
            measures=self.measures,
            protocol=self.protocol,
            match=self.match,
            sampling=self.config.sampling,
            by_group=self.by_group,
        )

    def _show(self, workspace: Workspace, made: Recorded) -> None:
        view = view_of(
            workspace,
            made.info,
            made.result,
            self._scoring(),
            per_component=self.per_component,
            waterfall=self.waterfall,
        )
        if self.as_json:
            emit_json(view.scores(per_query=self.per_query))
        else:
            show_tables(view.tables(per_query=self.per_query), self.config.color)

    def _show_modes(self, made: Sequence[Recorded]) -> None:
        results = dict(zip(("OFFLINE", "LIVE"), (one.result for one in made), strict=True))
        if self.as_json:
            emit_json({"modes": {name: result.to_dict() for name, result in results.items()}})
            return
        show_tables([report.modes_table(results)], self.config.color)
