"""How good is the search on a test set?

An ``EvaluationRequest`` says everything about one evaluation, and ``evaluate`` is the one way to
carry it out: the command, a service, the schedule, tuning and the sides of an A/B test all call it.
As JSON the request is what a job keeps, so that a service that starts again knows all of it;
outcomes are committed as they come, and an evaluation that was cut short goes on where it stopped.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from assay import limits
from assay.app import engine
from assay.app.search import incomplete, options_of_caller
from assay.app.statistics import SAMPLING, Statistics, as_set
from assay.errors import AssayError, ConflictError, UnknownRunError, UsageError
from assay.model.codec import as_json, decode, encode
from assay.model.document import ID_FORM
from assay.model.ranking import MatchName, RankByName
from assay.model.tabular import Records, Tabular
from assay.model.testset import SpeakerFilter, TestSet
from assay.options import (
    Choice,
    Maybe,
    Option,
    Real,
    Several,
    Switch,
    Text,
    Whole,
    option,
    options_of,
    several,
)
from assay.search.request import SEARCH_OPTIONS, address_pairs, changed, configuration_name
from assay.settings import SETTINGS, Settings
from assay.tracing import Span, span

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.app.workspace import Workspace
    from assay.evaluation.cross_mode import ModeDifference
    from assay.evaluation.parts import SetPart
    from assay.evaluation.record import Recorded
    from assay.evaluation.result import EvaluationResult
    from assay.model.runs import QueryOutcome, RunInfo
    from assay.model.scoring import Scoring
    from assay.model.system import System

CROSS_MODE = "cross-mode"
MODES = ("as-written", "overall", "patient", "clinician", CROSS_MODE)
T = TypeVar("T")
KEPT, MAX_ERRORS = 100, 10
JUDGE_SPEC = "judge_spec"
OF_ANSWERS = ("answerer", "judge", JUDGE_SPEC)
"""What of a run's configuration is about its answers, and changes no ranking."""
OFFERED_JUDGES = ("entailment", "words", engine.CONFIGURED)
"""The judges that anybody may name who may evaluate."""
COMMIT_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")
COMMIT_SECONDS = 2.0
COMMIT_FORM = re.compile(r"[0-9A-Za-z._-]{0,64}")
_HERE_ONLY = as_json(None)
"""What only a caller on this machine may say: it names files or code, so no JSON holds it."""


@dataclass(frozen=True, slots=True)
class Printable(Text):
    """Text that a terminal shows as it is: no control codes, nothing that turns its direction."""

    def read(self, text: str) -> str:
        """The text without blanks around it."""
        found = Text.read(self, text)
        if not found.isprintable():
            raise ValueError(text)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """What to evaluate, how to search and how to score; what is None is as the settings say.

    The test set is a value, or names and paths of this machine (several are run as one).
    ``options`` are changes of the search by name. ``run_id`` names the new run: where a run of that
    id was begun with the same request, it goes on. Instead of our own search, a ``retriever``
    (``module:function``, an address with its ``mapping``, or the function or system itself) or a
    ``run_file`` may be evaluated.
    ``uploaded`` says that the test set came with the request: an experiment of the caller.
    """

    test_set: TestSet | None = None
    test_sets: tuple[str, ...] = field(default=(), metadata=_HERE_ONLY)
    options: Mapping[str, Any] = field(default_factory=dict)
    measures: str | None = option(
        Maybe(Text(form="measures such as nDCG@10 MRR"), none=()),
        None,
        "Measures, e.g. nDCG@10 Recall@{5,10,20}; those usual for the test set by default.",
    )
    part: Literal["evaluation", "holdout", "all"] | None = option(
        Maybe(Choice(("evaluation", "holdout", "all")), none=()),
        None,
        "Side of the held-out split; evaluation by default, where there is one.",
    )
    mode: str = option(
        Choice(MODES),
        MODES[0],
        "Which queries, with which filters; cross-mode runs OFFLINE and LIVE separately.",
    )
    speakers: tuple[SpeakerFilter, ...] = option(
        Several(Choice(SpeakerFilter)),
        (),
        "Only queries with one of these speaker filters.",
        name="speaker_filter",
    )
    match: MatchName = option(
        Choice(("exact", "chunk", "doc", "span")),
        "exact",
        "By the ids that were judged (exact), by document, or by span.",
    )
    protocol: Literal["positives_only", "all_queries"] | None = option(
        Maybe(Choice(("positives_only", "all_queries")), none=()),
        None,
        "Which queries and measures count.",
    )
    by_group: bool = option(Switch(), False, "Resample queries of one group together.")
    chunk_separator: str | None = as_set("chunk_separator")
    confidence: float | None = as_set("confidence")
    resamples: int | None = as_set("resamples")
    seed: int | None = as_set("seed")
    ci_method: Literal["bca", "percentile"] | None = as_set("ci_method")
    answers: bool = option(Switch(), False, "Answer each query, and judge the answers.")
    judge: str | None = option(
        Maybe(Printable(form="a judge: entailment, words, an address or module:function"), none=()),
        None,
        "Answer each query, and have this judge check the answers claim by claim: entailment, "
        "words, configured, http://... or module:function.",
    )
    kept: int = option(
        Whole(1, limits.MAX_RESULTS), KEPT, "Results to store per query.", name="keep"
    )
    name: str = option(
        Printable(form="up to 200 printable characters", most=200),
        "",
        "A name to find the run by; a tag is unique, a name is not.",
    )
    tags: tuple[str, ...] = option(
        Several(Text(ID_FORM.pattern, "a tag: letters, digits or . _ : # -, up to 128")),
        (),
        "Tag the run, as in baseline.",
        name="tag",
    )
    use_cache: bool = option(
        Switch(), True, "Reuse an identical run without failures, if there is one.", name="cache"
    )
    max_errors: int = option(
        Whole(0, limits.MAX_TEST_SET_QUERIES),
        MAX_ERRORS,
        "Queries that may fail before the run is given up.",
    )
    rank_by: RankByName | None = option(
        Maybe(Choice(("order", "score")), none=()),
        None,
        "Rank the results of another engine by their order (the default) or by their scores.",
    )
    timeout_s: float | None = option(
        Maybe(Real(0.001, limits.MAX_QUERY_SECONDS), none=()),
        None,
        "Seconds that a query may take before it counts as failed.",
    )
    concurrency: int = option(
        Whole(1, limits.MAX_CONCURRENCY),
        1,
        "Queries to run at once. Assay's own search takes them as a batch, which is faster and "
        "measures no latency; another engine's latencies are then those under load.",
    )
    retries: int = option(
        Whole(0, limits.MAX_RETRIES),
        0,
        "How often to retry a failed query of another engine, with increasing delays.",
    )
    per_query: bool = option(Switch(), False, "Show every query.")
    run_id: str | None = field(default=None, metadata=_HERE_ONLY)
    resume: str | None = field(default=None, metadata=_HERE_ONLY)
    retriever: Any = field(default=None, metadata=_HERE_ONLY)
    own_judge: Any = field(default=None, metadata=_HERE_ONLY)
    mapping: Path | None = field(default=None, metadata=_HERE_ONLY)
    run_file: str | None = field(default=None, metadata=_HERE_ONLY)
    commit_hash: str = ""
    uploaded: bool = False
    purpose: str = field(default="evaluation", metadata=_HERE_ONLY)

    def __post_init__(self) -> None:
        for rule in REQUEST_OPTIONS.values():
            value = getattr(self, rule.attribute)
            if value != rule.default:
                object.__setattr__(self, rule.attribute, rule.accept(value))
        object.__setattr__(self, "options", _written(self.options))
        if not COMMIT_FORM.fullmatch(self.commit_hash):
            raise UsageError(f"{self.commit_hash!r:.80} is not the hash of a commit")
        if self.test_set is None and not self.test_sets and self.resume is None:
            raise UsageError("no test set is named", hint="--testset NAME; assay testset list")
        if self.retriever is not None and self.run_file is not None:
            raise UsageError("--retriever and --run exclude each other")
        if self.answers:
            self.require_our_engine()
        if self.judge is not None and self.own_judge is not None:
            raise UsageError("two judges are named", hint="name one")
        if self.judged and self.run_file is not None:
            raise UsageError("a run file has no answers to judge", hint="leave out --judge")
        self._refuse_what_is_for_others()
        if self.options and (self.retriever is not None or self.run_file is not None):
            raise UsageError(
                f"{', '.join(self.options)}: another engine does not take these options",
                hint="leave them out, or leave out --retriever and --run",
            )
        if self.measures is not None:
            from assay.evaluation.score import check_families, protocol_named
            from assay.measures.parse import parse_measures

            check_families(parse_measures(self.measures), protocol_named(self.protocol))

    def _refuse_what_is_for_others(self) -> None:
        """Refuse options that say how another engine is asked, where none is named."""
        if (
            self.rank_by is not None
            and self.retriever is None
            and not (self.run_file or self.resume)
        ):
            raise UsageError(
                "rank_by applies to another engine; assay's own search ranks by score",
                hint="leave it out, or name a retriever or a run file",
            )
        if self.retries and self.retriever is None and self.resume is None:
            raise UsageError(
                "retries applies only to another engine", hint="leave it out, or name a retriever"
            )
        if self.concurrency > 1 and self.run_file is not None:
            raise UsageError("concurrency does not apply to a run file", hint="leave it out")

    def require_our_engine(self) -> None:
        """Refuse what another engine cannot show."""
        if self.retriever is not None or self.run_file is not None:
            raise UsageError(
                "only assay's own engine shows its components and answers",
                hint="leave --retriever and --run out",
            )

    @property
    def judged(self) -> bool:
        """Whether a judge reads the answers."""
        return self.judge is not None or self.own_judge is not None

    @property
    def statistics(self) -> Statistics:
        """How intervals are drawn."""
        return Statistics(**{name: getattr(self, name) for name in SAMPLING})

    @property
    def measure_count(self) -> int:
        """How many measures are computed."""
        from assay.evaluation.defaults import EVALUATION_MEASURES
        from assay.measures.parse import parse_measures

        return len(parse_measures(self.measures or EVALUATION_MEASURES))

    def scoring(self, settings: Settings) -> Scoring:
        """What outcomes are scored by."""
        from assay.model.ranking import Match
        from assay.model.scoring import Scoring

        return Scoring(
            measures=self.measures,
            protocol=self.protocol,
            match=Match(self.match),
            sampling=self.statistics.applied_to(settings).sampling,
            by_group=self.by_group,
            chunk_separator=self.chunk_separator or settings.chunk_separator,
        )

    def drawn_as(self, settings: Settings) -> EvaluationRequest:
        """The same with these settings wherever it leaves open how ids and intervals are read."""
        drawn = self.statistics.applied_to(settings)
        return replace(
            self,
            chunk_separator=self.chunk_separator or settings.chunk_separator,
            **{name: getattr(drawn, name) for name in SAMPLING},
        )


def asked_for(
    test_set: TestSet | str | os.PathLike[str], *, options: Mapping[str, Any], **given: Any
) -> EvaluationRequest:
    """The request that a test set and some options in Python mean."""
    if isinstance(test_set, EvaluationRequest):
        raise UsageError(
            "evaluate takes a test set, not a request", hint="carry_out(request) takes the request"
        )
    if "retriever" in options:
        raise UsageError("evaluate has no retriever", hint="system=... evaluates another engine")
    if isinstance(test_set, TestSet):
        return EvaluationRequest(test_set=test_set, options=options, **given)
    return EvaluationRequest(test_sets=(os.fspath(test_set),), options=options, **given)


def _written(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that a run may have, as a job keeps them: filters as people write them."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        known = SEARCH_OPTIONS[configuration_name(name)]
        found[name] = [*map(str, known.accept(value))] if several(known.kind) else value
    return found


REQUEST_OPTIONS: Mapping[str, Option] = options_of(EvaluationRequest)
"""The options of an evaluation beside those of the search, by the name that every surface uses."""


_SENT = frozenset({"test_sets", "run_id"})
"""What a service is sent although the JSON of a request does not hold it."""


def refuse_what_stays_here(request: EvaluationRequest) -> None:
    """Refuse a request for a service that names files, code or runs of this machine."""
    for one in fields(EvaluationRequest):
        here = one.metadata.get("json", "") is None and one.name not in _SENT
        if here and getattr(request, one.name) != one.default:
            raise UsageError(
                f"{one.name}: a service cannot be asked for it",
                hint="leave it out, or evaluate where the workspace is",
            )


def refuse_other_judges(settings: Settings, request: EvaluationRequest) -> None:
    """Refuse a judge that a caller of a service names: only the settings run code or send texts."""
    if request.judge not in (None, *OFFERED_JUDGES, settings.judge):
        raise UsageError(
            f"judge: {request.judge!r:.80} is not one that this service offers",
            hint=f"{', '.join(OFFERED_JUDGES)}, or set {SETTINGS['judge'].env} where it runs",
        )


def request_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options by their names, as fields of an ``EvaluationRequest``."""
    return {REQUEST_OPTIONS[name].attribute: value for name, value in values.items()}


def same_request(settings: Settings, stored: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    """Whether two requests as jobs keep them ask for the same, one maybe of an older version."""
    try:
        return _meaning(settings, stored) == _meaning(settings, request)
    except AssayError:  # it cannot be asked for any longer
        return False


def _meaning(settings: Settings, content: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """What is asked for: what is left out has its default, every option one form."""
    from assay.evaluation.defaults import EVALUATION_MEASURES

    request = decode(EvaluationRequest, content)
    if "use_cache" not in content and request.measures == EVALUATION_MEASURES:
        request = replace(request, measures=None)  # once the usual ones were written down, too
    options = changed(settings.search, **request.options)
    return encode(replace(request, options={}, uploaded=False)), options.identity()


def written_options(request: EvaluationRequest) -> list[tuple[str, str]]:
    """The options that differ from the usual ones, by name, as an address has them."""
    pairs: list[tuple[str, str]] = []
    for one in REQUEST_OPTIONS.values():
        value = getattr(request, one.attribute)
        if value != one.default:
            pairs += address_pairs(one, value)
    return pairs


@dataclass(frozen=True, slots=True)
class EvaluationStep:
    """How far an evaluation is; what was found so far is known only where it is made."""

    done: int
    total: int
    test_set: TestSet | None = None
    outcomes: Sequence[QueryOutcome] = ()

    def so_far(self) -> str:
        """The measures over the queries that were answered, in one line."""
        from assay.evaluation.defaults import PROGRESS_MEASURES
        from assay.evaluation.outcomes import score_outcomes
        from assay.evaluation.scores import shown

        ids = {one.query_id for one in self.outcomes}
        failed = sum(one.error is not None for one in self.outcomes)
        words = [f"{failed} failed"] if failed else []
        if self.test_set is not None:
            queries = tuple(one for one in self.test_set.queries if one.query_id in ids)
            if any(query.judged for query in queries):
                part = replace(self.test_set, queries=queries)
                scores = score_outcomes(part, self.outcomes, PROGRESS_MEASURES)
                words = [*(f"{m} {shown(scores[m])}" for m in scores.measures), *words]
        return "  ".join(words)


EvaluationProgress: TypeAlias = Callable[[EvaluationStep], None]


def unwatched(step: EvaluationStep) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Evaluated(Tabular):
    """The runs of an evaluation, two of them in cross-mode, and what they could not find.

    ``unindexed`` says what is stored and not indexed, ``absent`` what was judged and is not there.
    """

    runs: tuple[Recorded, ...]
    unindexed: tuple[str, ...] = ()
    absent: str | None = None

    @property
    def result(self) -> EvaluationResult:
        """The result of the only run, with all warnings; of two, each has its own."""
        if self.modes:
            raise UsageError(
                "cross-mode has two results", hint="see modes, by OFFLINE and LIVE, and difference"
            )
        (run,) = self.runs
        return replace(run.result, info=run.info, notes=self.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before believing the figures."""
        compared = () if self.difference is None else tuple(self.difference.warnings())
        absent = () if self.absent is None else (self.absent,)
        return (*compared, *self.unindexed, *absent, *self.unseen)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Of code of one's own only the code is known, not what it looks into."""
        return tuple(
            f"{name} was not asked again, since its code is unchanged; "
            "if what it searches has changed: --no-cache"
            for one in self.runs
            if one.cached
            for name in (
                [one.info.config["retriever"]]
                if one.info.engine == "python"
                else one.info.config.get("component_code", {})
            )
        )

    @property
    def modes(self) -> dict[str, Recorded]:
        """The runs of cross-mode by their names; nothing otherwise."""
        names = ("OFFLINE", "LIVE")
        return dict(zip(names, self.runs, strict=True)) if len(self.runs) == len(names) else {}

    @property
    def difference(self) -> ModeDifference | None:
        """What came live against what came from files; None but in cross-mode."""
        from assay.evaluation.cross_mode import mode_difference

        sides = {name: one.result for name, one in self.modes.items()}
        return mode_difference(sides) if sides else None

    @property
    def degraded(self) -> bool:
        """Whether anything is missing from the figures."""
        return any(one.result.degraded or one.result.failed for one in self.runs)

    def records(self) -> Records:
        """A row for each query of each run."""
        found = [one.result.records() for one in self.runs]
        rows = (dict(zip(one.names, row, strict=True)) for one in found for row in one.rows)
        return Records.of(rows, notes=self.warnings)

    def overview(self) -> Records:
        """A row for each run with its measures, and what to know before believing them."""
        rows = [
            {
                "run": one.info.run_id,
                "name": one.info.name,
                "queries": len(one.result.scores.queries),
            }
            | {str(measure): one.result[measure] for measure in one.result.scores.measures}
            for one in self.runs
        ]
        said = (warning for one in self.runs for warning in one.result.warnings())
        return Records.of(rows, notes=(*said, *self.warnings))

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """JSON-ready."""
        if self.modes:
            results = {
                name: one.result.to_dict(per_query=per_query) for name, one in self.modes.items()
            }
            difference = self.difference
            assert difference is not None
            return {
                "modes": results,
                "difference": difference.to_dict(),
                "warnings": list(self.warnings),
            }
        return self.result.to_dict(per_query=per_query)


def evaluate(
    workspace: Workspace,
    request: EvaluationRequest,
    progress: EvaluationProgress = unwatched,
    before_query: Callable[[], None] | None = None,
) -> Evaluated:
    """Run a test set and keep the run, or find that it was run before.

    ``before_query`` is called before each query, so that other work can go first.
    """
    with span("assay.evaluate") as noted:
        made = _evaluate(workspace, request, progress, before_query)
        _note(noted, made)
        return made


def _note(noted: Span, made: Evaluated) -> None:
    """Tell whoever listens what was run and what it scored."""
    noted.note("test_set", made.runs[0].info.suite)
    noted.note("run_ids", [one.info.run_id for one in made.runs])
    noted.note("queries", sum(one.info.queries for one in made.runs))
    noted.note("cached", all(one.cached for one in made.runs))
    noted.note("failed", sum(len(one.result.failed) for one in made.runs))
    for mode, one in (made.modes or {"": made.runs[0]}).items():
        for measure in one.result.scores.measures:
            noted.note(".".join(filter(None, ("metric", mode, measure.key))), one.result[measure])


def _evaluate(
    workspace: Workspace,
    request: EvaluationRequest,
    progress: EvaluationProgress,
    before_query: Callable[[], None] | None,
) -> Evaluated:
    if request.resume is not None:
        return evaluated(workspace, request, [_resumed(workspace, request, progress)])
    system = _system(workspace, request)
    if before_query is not None:
        many = system.retrieve_many
        system = replace(
            system,
            retrieve=_preceded(system.retrieve, before_query),
            retrieve_many=None if many is None else _preceded(many, before_query),
        )
    parts = _parts(workspace, request)
    made: list[Recorded] = []
    before, total = 0, sum(_size(part) for part in parts)
    for part in parts:
        run_id = request.run_id
        if run_id is not None and len(parts) > 1:
            run_id = f"{run_id}_{part.mode}"
        shifted = _shifted(progress, before, total)
        made.append(_record(workspace, request, system, part, shifted, run_id=run_id))
        before += _size(part)
    return evaluated(workspace, request, made)


def check_request(workspace: Workspace, request: EvaluationRequest) -> None:
    """Refuse an evaluation by a service that could only fail, or that nobody may ask it for."""
    from assay.search.run_config import evaluation_options

    options_of_caller(workspace.settings, request.options)
    refuse_other_judges(workspace.settings, request)
    searcher = workspace.searcher
    searcher.check_named(request.options)
    options = evaluation_options(searcher.defaults, **request.options)
    searcher.check(options)
    searcher.snapshot.resolved(options.filters)


def scored_run(
    assay: Assay, ref: str, request: EvaluationRequest, *, cached: bool = False
) -> Recorded:
    """A stored run as ``evaluate`` gives it, without what components found, scored as asked."""
    from assay.evaluation.record import Recorded
    from assay.evaluation.result import result_of_run

    run = assay.stored_run(ref)
    scoring = run.info.scoring.changed(measures=request.measures)
    result = result_of_run(run.info, run.test_set, run.outcomes, scoring, cached=cached)
    return Recorded(run.info, result, cached=cached, reused=len(run.outcomes) if cached else 0)


def evaluated(assay: Assay, request: EvaluationRequest, made: Sequence[Recorded]) -> Evaluated:
    """The runs, held against the corpus: our own search cannot find what is not in the index."""
    from assay.evaluation.match import absence

    ours = [one.result.test_set for one in made if one.info.ours]
    if not ours:
        return Evaluated(tuple(made))  # of other engines we know nothing
    queries = [query for test_set in ours for query in test_set.queries]
    held_out = frozenset().union(*(test_set.held_out_ids for test_set in ours))
    absent = absence(queries, assay.present, made[0].info.scoring.match, held_out)
    return Evaluated(tuple(made), tuple(incomplete(assay)), absent)


def joined_test_set(names: Sequence[str], folder: Path | None = None) -> TestSet:
    """The test set that names or paths of this machine mean; several are one."""
    from assay.testsets.join import join
    from assay.testsets.load import load_test_set

    return join([load_test_set(name, folder=folder, lenient=True) for name in names])


def test_set_body(request: EvaluationRequest) -> dict[str, Any]:
    """The test set of a request as a service takes it: files are sent, other names are its own."""
    from assay.testsets.write import as_plain

    test_set, names = request.test_set, request.test_sets
    if test_set is None:
        elsewhere = [name for name in names if not Path(name).exists()]
        if elsewhere and len(names) == 1:
            return {"dataset_id": names[0]}
        if elsewhere:
            raise UsageError(
                f"{elsewhere[0]} is not a file here, and a service runs one of its own test sets "
                "at a time",
                hint="name one test set, or files",
            )
        test_set = joined_test_set([os.path.abspath(name) for name in names])
    return as_plain(test_set)


def commit_hash() -> str:
    """The commit that CI names, else that of the working folder; empty where there is none."""
    for name in COMMIT_VARIABLES:
        if (found := os.environ.get(name, "")[:64]) and COMMIT_FORM.fullmatch(found):
            return found
    try:
        said = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607 - whichever git the caller uses
            capture_output=True,
            text=True,
            timeout=COMMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def _system(workspace: Workspace, request: EvaluationRequest) -> System:
    """What is evaluated; how it is asked, ranked and judged is part of its configuration."""
    from assay.model.ranking import RankBy

    system = _engine(workspace, request)
    if request.judged:
        judge = request.own_judge if request.judge is None else request.judge
        system = _judged(workspace, system, judge, ours=request.retriever is None)
    ours = request.retriever is None
    # a reranker and a service are asked one query at a time
    concurrency = 1 if ours and system.retrieve_many is None else request.concurrency
    asked = {"rank_by": request.rank_by, "timeout_s": request.timeout_s}
    given = {name: value for name, value in asked.items() if value is not None}
    given |= {"concurrency": concurrency} if concurrency > 1 else {}
    given |= {"retries": request.retries} if request.retries else {}
    return replace(
        system,
        config={**system.config, **given},
        rank_by=None if request.rank_by is None else RankBy(request.rank_by),
        timeout_s=request.timeout_s,
        concurrency=concurrency,
        retries=request.retries,
    )


def _judged(workspace: Workspace, system: System, judge: Any, *, ours: bool) -> System:
    """The system with a judge; its name tells what it is, a ``JUDGE_SPEC`` how to open it again.

    A judge is a name, a function or an object; of the last two nobody can open one again.

    A system that is not ``ours`` may return ids without texts: those of our corpus are looked up.
    """
    from assay.evaluation.verdicts import judged_system

    found = judged_system(
        system, workspace.judge(judge), None if ours else partial(_text_of, workspace)
    )
    if not isinstance(judge, str):
        return found
    return replace(found, config={**found.config, JUDGE_SPEC: judge})


def _text_of(workspace: Workspace, name: str) -> str | None:
    """The text of the chunk or the document with this id, where the corpus has it."""
    if not workspace.exists():
        return None
    return "\n\n".join(row.chunk.text for row in workspace.store.find(name)) or None


def _engine(workspace: Workspace, request: EvaluationRequest) -> System:
    if request.run_file is not None:
        from assay.evaluation.retrievers.run_file import run_file_system

        return run_file_system(request.run_file, rank_by=request.rank_by)
    if request.retriever is None:
        workspace.searcher.refresh()
        return workspace.system(
            answers=request.answers,
            judged=request.judged,
            **{"k": request.kept, **request.options},
        )
    if not isinstance(request.retriever, str):
        from assay.evaluation.retrievers.python import given_system

        return given_system(request.retriever)
    if request.retriever.startswith(("http://", "https://")):
        from assay.evaluation.retrievers.http import HttpMapping, http_system, load_mapping

        mapping = HttpMapping() if request.mapping is None else load_mapping(request.mapping)
        if request.timeout_s is not None:
            mapping = replace(mapping, timeout_s=request.timeout_s)
        return http_system(request.retriever, mapping, k=request.kept)
    from assay.evaluation.retrievers.python import python_system

    return python_system(request.retriever)


def _preceded(retrieve: Callable[[T], Any], before_query: Callable[[], None]) -> Callable[[T], Any]:
    def preceded(asked: T) -> Any:
        before_query()
        return retrieve(asked)

    return preceded


def _parts(workspace: Workspace, request: EvaluationRequest) -> list[SetPart]:
    from assay.evaluation.parts import Mode, Split, part_of

    test_set = request.test_set
    if test_set is None:
        test_set = joined_test_set(request.test_sets, workspace.layout.test_sets)
    split = None if request.part is None else Split(request.part)
    if request.mode != CROSS_MODE:
        return [part_of(test_set, split, Mode(request.mode), speakers=request.speakers)]
    modes_of = workspace.store.inventory.ingestion_modes
    return [
        part_of(test_set, split, mode, modes_of=modes_of, speakers=request.speakers)
        for mode in (Mode.OFFLINE, Mode.LIVE)
    ]


def _size(part: SetPart) -> int:
    from assay.evaluation.scope import answerable

    return len(answerable(part.test_set))


def _shifted(progress: EvaluationProgress, before: int, total: int) -> EvaluationProgress:
    return lambda step: progress(replace(step, done=before + step.done, total=total))


def _record(
    workspace: Workspace,
    request: EvaluationRequest,
    system: System,
    part: SetPart,
    progress: EvaluationProgress,
    *,
    run_id: str | None = None,
) -> Recorded:
    from assay.evaluation.parts import Mode
    from assay.evaluation.record import RecordOptions, record
    from assay.store.owner import this_process

    config = dict(system.config)
    if part.mode is not Mode.AS_WRITTEN:
        config["mode"] = str(part.mode)
    system = replace(system, config=config)
    options = RecordOptions(
        name=request.name,
        tags=request.tags,
        run_id=run_id,
        resume=request.resume or _begun(workspace, request, run_id, system, part),
        use_cache=request.use_cache,
        max_errors=request.max_errors,
        commit_hash=request.commit_hash,
        uploaded=request.uploaded,
        owner=this_process(),
        purpose=request.purpose,
        scoring=request.scoring(workspace.settings),
    )

    def report(done: int, total: int, outcomes: Sequence[QueryOutcome]) -> None:
        progress(EvaluationStep(done, total, part.test_set, outcomes))

    return record(system, part, workspace.runs, options, report)


def _begun(
    workspace: Workspace,
    request: EvaluationRequest,
    run_id: str | None,
    system: System,
    part: SetPart,
) -> str | None:
    """The run of this very id to go on with, if there is one; refused where it is another's."""
    from assay.model.runs import RunStatus

    if run_id is None:
        return None
    try:
        known = workspace.runs.run(run_id)
    except UnknownRunError:
        return None
    if known.run_id != run_id:
        return None  # a tag or a name of another run: refused when the run is entered
    same = (part.test_set.checksum, part.label)
    scoring = request.scoring(workspace.settings)
    if (
        (known.test_set_checksum, known.part) != same
        or _changed(known, system)
        or replace(known.scoring, measures=None) != replace(scoring, measures=None)
        or request.name not in ("", known.name)
    ):
        raise ConflictError(
            f"the run {run_id} was made with another test set, other options or another name",
            hint="use another id for another evaluation",
        )
    if known.status is not RunStatus.COMPLETE:
        _refuse_other_index(known, system)
    return run_id


def _changed(info: RunInfo, system: System) -> list[str]:
    """What of the configuration is not as it was when a run was begun.

    Older runs do not say everything; services once kept the mode in the label only.
    """
    before, now = dict(info.config), dict(system.config)
    unsaid = {"mode", "assay", "lexicon", "reranker_model"} - before.keys()
    return [
        name
        for name in sorted((before.keys() | now.keys()) - unsaid - {"mode"})
        if before.get(name) != now.get(name)
    ]


def _resumed(
    workspace: Workspace, request: EvaluationRequest, progress: EvaluationProgress
) -> Recorded:
    """Go on with a run: the same queries, put to the same system."""
    from assay.evaluation.parts import Mode, SetPart

    assert request.resume is not None
    info = workspace.runs.run(request.resume)
    last = info.part.rpartition(", ")[2]
    mode = Mode(last) if last in set(Mode) else Mode.AS_WRITTEN
    test_set = workspace.runs.test_set(info.run_id)
    held_out = not test_set.held_out_ids.isdisjoint(test_set.by_id)
    part = SetPart(test_set, info.part, mode, held_out)
    return _record(workspace, request, _system_of(workspace, request, info), part, progress)


def _system_of(workspace: Workspace, request: EvaluationRequest, info: RunInfo) -> System:
    """The system that an unfinished run was made with."""
    if info.ours:
        system = system_of_run(workspace, info, answers="answerer" in info.config)
    elif info.engine == "run file" and request.run_file is None:
        raise UsageError("resuming this run needs its file", hint="--run FILE")
    else:
        again = replace(
            request,
            judge=request.judge or info.config.get(JUDGE_SPEC),
            retriever=request.retriever or info.config.get("retriever"),
            rank_by=request.rank_by or info.config.get("rank_by"),
            timeout_s=request.timeout_s or info.config.get("timeout_s"),
            concurrency=info.config.get("concurrency", 1),
            retries=info.config.get("retries", 0),
        )
        system = _system(workspace, again)
        _refuse_other_system(info, system)
    _refuse_other_index(info, system)
    return system


def system_of_run(workspace: Workspace, info: RunInfo, *, answers: bool = False) -> System:
    """Our search as a run was made with it, on the index as it is now."""
    from assay.search.run_config import options_from

    options = options_from(info.config, workspace.searcher.defaults)
    spec = info.config.get(JUDGE_SPEC) if answers else None
    system = engine.system(workspace, options, answers=answers, judged=spec is not None)
    if spec is not None:
        system = _judged(workspace, system, spec, ours=True)
    for name in ("timeout_s", "concurrency"):
        if name in info.config:
            value = info.config[name]
            system = replace(system, config={**system.config, name: value}, **{name: value})
    if not answers:
        without = {k: v for k, v in info.config.items() if k not in OF_ANSWERS}
        info = replace(info, config=without)
    _refuse_other_system(info, system)
    return system


def _refuse_other_system(info: RunInfo, system: System) -> None:
    if changed_since := _changed(info, system):
        raise ConflictError(
            f"this has changed since {info.run_id} started: {', '.join(changed_since)}",
            hint="start a new run",
        )


def _refuse_other_index(info: RunInfo, system: System) -> None:
    """Refuse to go on with a run in another index; older runs know its generation only."""
    now = system.generation or ""
    if info.generation not in (now, now.partition("#")[0]):
        raise ConflictError(
            f"the index has changed since {info.run_id} started "
            f"(generation {info.generation}, now {system.generation})",
            hint="start a new run",
        )
