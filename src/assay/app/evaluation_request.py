"""What is asked for in one evaluation?

As JSON the request is what a job keeps, so that a service that starts again knows all of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay import limits
from assay.app import engine
from assay.app.statistics import SAMPLING, Statistics, as_set
from assay.errors import AssayError, UsageError
from assay.model.codec import as_json, decode, encode
from assay.model.document import ID_FORM
from assay.model.ranking import MatchName, RankByName
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

if TYPE_CHECKING:
    from assay.model.scoring import Scoring

KEPT, MAX_ERRORS = 100, 10
CROSS_MODE = "cross-mode"
MODES = ("as-written", "overall", "patient", "clinician", CROSS_MODE)
OFFERED_JUDGES = ("entailment", "words", engine.CONFIGURED)
"""The judges that anybody may name who may evaluate."""

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
