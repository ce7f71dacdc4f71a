"""What does Prometheus learn about the quality of the search, and how?

Gauges wake people up, so that only the runs which the settings mean set them: complete runs, in
which no query failed or was degraded, of a named test set (``metrics_test_set``), all queries of
one part of it (``metrics_part``), by one configuration (``metrics_configuration``) and one rule of
matching (``metrics_match``). Labels say which. Measures that such a run was not scored by are
computed from what it found.

A service reads runs from the store whenever Prometheus looks, so that the figures are there after a
restart and follow runs that the command line makes. Where no service runs, they go to a file that
the node exporter's textfile collector reads, replaced as a whole, or by a push to a Pushgateway.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2 as httpx

from assay import extras
from assay.app.configurations import list_configurations, read_configuration
from assay.app.engine import usual_options
from assay.app.timetable import timetable
from assay.cache import Cache
from assay.durable import write_atomically
from assay.errors import AssayError, CorruptError, InputError, UnreachableError, UsageError
from assay.evaluation.outcomes import score_run
from assay.evaluation.parts import Mode, Split, part_label, part_of
from assay.evaluation.scores import rounded
from assay.measures.parse import parse_measures
from assay.model.run_store import RunFilter
from assay.model.runs import RunInfo, RunStatus
from assay.model.testset import TestSet
from assay.plural import counted
from assay.search.run_config import evaluation_options, options_from, search_config
from assay.settings import Settings
from assay.testsets.load import list_test_sets, load_test_set

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

    from assay.app.workspace import Workspace
    from assay.model.scoring import Scoring

JOB = "assay"
TIMEOUT_S = 10.0
MEASURES = tuple(parse_measures("Recall@{5,10,20} nDCG@{5,10,20} MRR"))
LABELS = ("test_set", "version", "configuration", "part", "match")
GAUGES = (
    "medicalkg_retrieval_recall_at_k",
    "medicalkg_retrieval_ndcg_at_k",
    "medicalkg_retrieval_mrr",
    "medicalkg_evaluation_last_run_timestamp_seconds",
    "medicalkg_store_up",
)
CUTOFFS = (5, 10, 20)
OWN = "workspace"
"""The label of the configuration that the settings describe."""
_COMPLETE = RunFilter(status=RunStatus.COMPLETE)
_SETTINGS = "see the settings metrics_test_set, metrics_part, metrics_configuration, metrics_match"
PAGE, LOOKED_AT = 50, 1_000
"""Runs that are read at a time, and at most, in search of one that counts."""


@dataclass(frozen=True, slots=True)
class Quality:
    """The figures of one run, and what they are of.

    ``metrics`` are by their names in JSON, such as ``recall_at_10``.
    """

    metrics: Mapping[str, float | None]
    finished_at: str
    test_set: str = ""
    version: str = ""
    configuration: str = OWN
    part: str = "all"
    match: str = "exact"

    @property
    def labels(self) -> list[str]:
        """The values of ``LABELS``."""
        return [str(getattr(self, name)) for name in LABELS]


class QualityCollector:
    """Asks for the newest figures each time Prometheus looks."""

    def __init__(self, newest: Callable[[], Sequence[Quality]]) -> None:
        self._newest = newest

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """The families, without asking the store."""
        yield from families(())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The families with their values; without the store, only that it is down."""
        from prometheus_client.core import GaugeMetricFamily

        try:
            found = self._newest()
        except AssayError:
            yield GaugeMetricFamily("medicalkg_store_up", "The store can be read.", 0)
            return
        yield GaugeMetricFamily("medicalkg_store_up", "The store can be read.", 1)
        yield from families(found)


def families(found: Sequence[Quality]) -> Iterator[GaugeMetricFamily]:
    """The gauges of the contract; one without a value has no series, never a 0."""
    from prometheus_client.core import GaugeMetricFamily

    for measure in ("recall", "ndcg"):
        family = GaugeMetricFamily(
            f"medicalkg_retrieval_{measure}_at_k",
            f"{measure} of the newest evaluation, by cutoff.",
            labels=["k", *LABELS],
        )
        for quality in found:
            for k in CUTOFFS:
                value = quality.metrics.get(f"{measure}_at_{k}")
                if value is not None:
                    family.add_metric([str(k), *quality.labels], value)
        yield family
    rank = GaugeMetricFamily(
        "medicalkg_retrieval_mrr", "MRR of the newest evaluation.", labels=LABELS
    )
    when = GaugeMetricFamily(
        "medicalkg_evaluation_last_run_timestamp_seconds",
        "When the newest evaluation ended.",
        labels=LABELS,
    )
    for quality in found:
        mrr = quality.metrics.get("mrr")
        if mrr is not None:
            rank.add_metric(quality.labels, mrr)
        when.add_metric(quality.labels, datetime.fromisoformat(quality.finished_at).timestamp())
    yield rank
    yield when


# Which runs count


class Gauges:
    """The figures of a workspace: of each test set that is meant, those of the newest run."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._settings = workspace.settings
        self._kept = _KeptSets(workspace.layout.test_sets)
        self._computed: Cache[tuple[str, str], Mapping[str, float | None]] = Cache(20)

    def __call__(self) -> tuple[Quality, ...]:
        """The figures as they are now, by the name of the test set."""
        rule = _Rule(self._workspace, self._kept)
        found = []
        for info in self._chosen(rule):
            with contextlib.suppress(CorruptError):  # doctor names it; other gauges stand
                found.append(self._quality(rule, info))
        return tuple(found)

    def nothing(self) -> InputError:
        """Why there is no figure: what is wrong with the newest complete run."""
        info = next(self._runs(_COMPLETE), None)
        if info is None:
            return InputError("there is no complete run yet", hint="assay eval run makes one")
        return InputError(
            "no complete run may set the gauges; of the newest, "
            f"{info.run_id}: {self.objection(info)}",
            hint=_SETTINGS,
        )

    def objection(self, info: RunInfo) -> str | None:
        """Why a run does not set the gauges; None where it does."""
        rule = _Rule(self._workspace, self._kept)
        if (said := rule.objection(info)) is not None:
            return said
        chosen = self._chosen(rule)
        if info.run_id in {one.run_id for one in chosen}:
            return None
        names = self._named() or tuple(one.suite for one in chosen)
        return f"it is a run of {info.suite}, and gauges are of {', '.join(names)}"

    def _chosen(self, rule: _Rule) -> list[RunInfo]:
        """The newest run of each test set that is meant.

        Those that the settings or the schedule name; else those that load by name; else the one
        that was run first.
        """
        if names := self._named():
            return self._newest(rule, names)
        known = list_test_sets(self._workspace.layout.test_sets)
        kept = [name for name in self._workspace.runs.suites() if name in known]
        if found := self._newest(rule, kept):
            return found
        first = next(filter(rule.counts, self._runs(_COMPLETE, oldest=True)), None)
        return [] if first is None else self._newest(rule, [first.suite])

    def _named(self) -> tuple[str, ...]:
        settings = self._settings
        if settings.metrics_test_set is not None:
            return tuple(dict.fromkeys(settings.metrics_test_set.split()))
        entries = timetable(settings, self._workspace.layout).entries
        return tuple(
            dict.fromkeys(one.test_set for one in entries if not one.request.get("options"))
        )

    def _newest(self, rule: _Rule, suites: Sequence[str]) -> list[RunInfo]:
        """The newest run of each that counts, where there is one."""
        runs = (self._runs(replace(_COMPLETE, suite=suite)) for suite in suites)
        found = (next(filter(rule.counts, one), None) for one in runs)
        return [info for info in found if info is not None]

    def _runs(self, chosen: RunFilter, *, oldest: bool = False) -> Iterator[RunInfo]:
        """Runs page by page, the newest first, or the oldest."""
        total = self._workspace.runs.runs(chosen, limit=1).total
        starts = range(0, total, PAGE)
        for start in (starts[::-1] if oldest else starts)[: LOOKED_AT // PAGE]:
            page = self._workspace.runs.runs(chosen, limit=PAGE, offset=start)
            yield from reversed(page.runs) if oldest else page.runs

    def _quality(self, rule: _Rule, info: RunInfo) -> Quality:
        assert info.finished_at is not None
        return Quality(
            self._metrics(info),
            info.finished_at,
            test_set=info.suite,
            version=info.test_set_version,
            configuration=rule.configuration,
            part=info.part,
            match=info.scoring.match.value,
        )

    def _metrics(self, info: RunInfo) -> Mapping[str, float | None]:
        """What the run scored; measures that it was not scored by are computed, once."""
        stored = info.aggregate.get("metrics", {})
        lacking = [measure for measure in MEASURES if measure.key not in stored]
        if not lacking:
            return {measure.key: stored[measure.key] for measure in MEASURES}
        key = (info.run_id, str(info.finished_at))
        if (known := self._computed.get(key)) is None:
            try:
                scores = score_run(self._workspace.stored_run(info.run_id), lacking)
            except UsageError:  # no query of it has a relevant document
                return dict(stored)
            known = {measure.key: rounded(scores[measure]) for measure in lacking}
            self._computed.put(key, known)
        return {
            measure.key: known.get(measure.key, stored.get(measure.key)) for measure in MEASURES
        }


class _Rule:
    """Whether a run may set the gauges, as the settings and test sets are now."""

    def __init__(self, workspace: Workspace, kept: _KeptSets) -> None:
        self._workspace = workspace
        self._settings = workspace.settings
        self._kept = kept
        self.configuration = self._settings.metrics_configuration or OWN

    def counts(self, info: RunInfo) -> bool:
        """Whether the run may."""
        return self.objection(info) is None

    def objection(self, info: RunInfo) -> str | None:
        """Why the run may not; None where it may."""
        if info.status is not RunStatus.COMPLETE or info.finished_at is None:
            return f"it is {info.status}"
        if info.figures_only:
            return "it holds saved figures without rankings"
        if not info.sound:
            failed, degraded = (
                int(info.aggregate.get(name) or 0)
                for name in ("failed_queries", "degraded_queries")
            )
            return f"{counted(failed, 'query')} failed, {counted(degraded, 'query')} degraded"
        if not self._configured(info):
            return f"it was made by another configuration or engine than {self.configuration}"
        kept = info.config.get("kept")
        if isinstance(kept, int) and kept < CUTOFFS[-1]:
            each = f"{counted(kept, 'result')} of each query"
            return f"it kept {each}, and gauges look at {CUTOFFS[-1]}"
        return self._other_rule(info.scoring) or self._other_queries(info)

    def _other_rule(self, scoring: Scoring) -> str | None:
        """By which other rule it is scored than it should be; None where it is the same."""
        settings = self._settings
        if scoring.match.value != settings.metrics_match:
            rule = settings.metrics_match
            return f"its results are matched by the rule {scoring.match.value}, not {rule}"
        if scoring.chunk_separator != settings.chunk_separator:
            return (
                f'its ids of chunks are read with the separator "{scoring.chunk_separator}", '
                f'not "{settings.chunk_separator}"'
            )
        return None

    def _configured(self, info: RunInfo) -> bool:
        """Whether it searched as the settings say: our own options, or another engine."""
        wanted = self._settings.metrics_configuration
        layout = self._workspace.layout
        changes: dict[str, Any] = {}
        if wanted is not None and wanted in list_configurations(layout):
            changes = read_configuration(f"{wanted}.yaml", layout)
        elif wanted is not None:
            return wanted in (info.engine, info.config.get("retriever"))
        if not info.ours:
            return False
        search = usual_options(self._workspace)
        try:
            made = search_config(options_from(info.config, search))
        except (AssayError, KeyError, TypeError, ValueError):  # of options that are no more
            return False
        usual = search_config(evaluation_options(search, **changes))
        of_the_index = {"kept": 0, "model_weights": {}}
        return {**made, **of_the_index} == {**usual, **of_the_index}

    def _other_queries(self, info: RunInfo) -> str | None:
        """Which other queries it asked than it should have; None where they are the same."""
        split, mode = _split_and_mode(self._settings.metrics_part)
        kept = self._kept.get(info.suite)
        if kept is None and info.uploaded:
            return f"its test set was uploaded, and the workspace has no {info.suite}"
        whole = kept or self._workspace.runs.test_set(info.run_id)
        label = part_label(whole, split, mode)
        if info.part != label:
            return f"it ran the part {info.part}, and gauges are of {label}"
        if kept is not None:
            try:
                wanted = part_of(kept, split, mode).test_set.checksum
            except UsageError as problem:
                return problem.message
            if info.test_set_checksum != wanted:
                return f"its queries are not those that {info.suite} has now"
        return None


class _KeptSets:
    """The test sets that load by name; a file is read again when it has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: Cache[tuple[Path, int, int], TestSet] = Cache(20)

    def get(self, name: str) -> TestSet | None:
        """The set of that name, where one loads."""
        try:
            path = list_test_sets(self._folder)[name]
            about = path.stat()
            key = (path, about.st_mtime_ns, about.st_size)
            if (known := self._read.get(key)) is None:
                known = load_test_set(path, lenient=True)
                self._read.put(key, known)
        except (KeyError, OSError, AssayError):
            return None
        return known


def _split_and_mode(part: str | None) -> tuple[Split | None, Mode]:
    if part is None or part in set(Split):
        return None if part is None else Split(part), Mode.AS_WRITTEN
    return None, Mode(part)


def figures(workspace: Workspace) -> bytes:
    """The gauges in the text form of Prometheus; refused where there is none."""
    extras.require("prometheus_client")
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import generate_latest

    gauges = Gauges(workspace)
    found = gauges()
    if not found:
        raise gauges.nothing()
    registry = CollectorRegistry()
    registry.register(QualityCollector(lambda: found))
    return generate_latest(registry)


def objections(workspace: Workspace, runs: Sequence[RunInfo]) -> list[str]:
    """What to say of runs whose figures are not published, though that was asked for."""
    gauges = Gauges(workspace)
    found = ((info, gauges.objection(info)) for info in runs)
    return [f"the run {info.run_id} does not set the gauges: {why}" for info, why in found if why]


def only_gauges(text: bytes) -> bytes:
    """Of everything that a service shows Prometheus, the gauges; refused where there is none."""
    kept = [
        line
        for line in text.splitlines(keepends=True)
        if line.removeprefix(b"# HELP ")
        .removeprefix(b"# TYPE ")
        .startswith(tuple(f"{name} ".encode() for name in GAUGES))
        or line.startswith(tuple(f"{name}{{".encode() for name in GAUGES))
    ]
    if not any(line.startswith(GAUGES[3].encode()) for line in kept):
        raise InputError(
            "the service has no run that may set the gauges",
            hint=_SETTINGS,
        )
    return b"".join(kept)


def destinations(settings: Settings) -> dict[str, str]:
    """Where the settings want the figures to go."""
    named = {"textfile": settings.metrics_textfile, "pushgateway": settings.pushgateway}
    return {name: str(place) for name, place in named.items() if place is not None}


def publish(settings: Settings, text: bytes) -> dict[str, str]:
    """Hand the figures to every destination that the settings name."""
    chosen = destinations(settings)
    if "textfile" in chosen:
        to_textfile(text, Path(chosen["textfile"]))
    if "pushgateway" in chosen:
        to_pushgateway(text, chosen["pushgateway"])
    return chosen


def publish_now(workspace: Workspace) -> dict[str, str]:
    """Hand the gauges of a workspace on; refused where the settings name no destination."""
    if not destinations(workspace.settings):
        raise InputError(
            "the settings name no destination for the gauges",
            hint="set metrics_textfile or pushgateway",
        )
    return publish(workspace.settings, figures(workspace))


def to_textfile(text: bytes, path: Path) -> None:
    """Replace the file as a whole, so that half of it is never read."""
    write_atomically(path, text)


def to_pushgateway(text: bytes, address: str) -> None:
    """Replace what the gateway holds of us."""
    base = address if "://" in address else f"http://{address}"
    try:
        answer = httpx.put(f"{base.rstrip('/')}/metrics/job/{JOB}", content=text, timeout=TIMEOUT_S)
        answer.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise UnreachableError(
            f"the Pushgateway at {address} did not take the figures: {problem}",
            hint="see the setting pushgateway",
        ) from None
