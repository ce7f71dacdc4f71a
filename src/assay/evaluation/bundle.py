"""Which numbers do we report, and can anyone compute them again?

``metrics_master.json`` is the one source of reported numbers: every value with its interval,
protocol, split, seed, n, and the run it comes from; ``reason`` says why a value or its interval is
null. The reports of a bundle are written from it and from nothing else (``content_of``), so that
they can be written again and compared. ``MANIFEST.sha256`` holds the checksum of every file, and
``master`` computes everything again from the stored runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import FormatError
from assay.evaluation.answers import answer_interval, answer_records, score_answers
from assay.evaluation.defaults import ANSWER_MEASURES, EVIDENCE_MEASURES, REPORT_MEASURES
from assay.evaluation.insights import usual_targets
from assay.evaluation.outcomes import (
    outcomes_digest,
    query_field,
    score_outcomes,
    score_run,
    scored,
    tells_evidence,
)
from assay.evaluation.report import (
    ALL,
    OF_ANSWERS,
    PROTOCOLS,
    Figure,
    ReportContent,
    figure_insights,
    figures,
    provenance,
    report_warnings,
    run_report,
    scored_by,
)
from assay.evaluation.score import Protocol
from assay.evaluation.scores import Scores, ends, rounded
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.model.codec import decode, encode
from assay.model.document import check_id
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring
from assay.plural import counted

FORM = 3
FORMS = (1, 2, FORM)
"""The first had no intervals for measures of answers; in the first two, reports had numbers of
their own, and the intervals of all runs were drawn alike."""
MASTER = "metrics_master.json"
MANIFEST = "MANIFEST.sha256"
NO_INTERVAL = "no interval is computed for measures of answers"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is computed for every run of a bundle; without sampling, intervals as the run has them.

    ``targets`` are what the reports hold the figures against.
    """

    measures: str
    sampling: Sampling | None = None
    targets: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        drawn = {} if self.sampling is None else self.sampling.to_dict()
        return {"measures": self.measures, "targets": list(self.targets), **drawn}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Recipe:
        """The recipe that ``to_dict`` wrote."""
        sampling = Sampling.from_dict(entry) if "method" in entry else None
        return cls(str(entry["measures"]), sampling, tuple(map(str, entry.get("targets", ()))))


def usual_recipe(runs: Sequence[StoredRun], sampling: Sampling | None = None) -> Recipe:
    """Ranking measures; those of decisions and answers where some run has what they look at."""
    measures = [REPORT_MEASURES]
    if any(tells_evidence(run.test_set, run.outcomes) for run in runs) and all(
        scored(run.outcomes) for run in runs
    ):
        measures.append(EVIDENCE_MEASURES)
    if any(outcome.was_to_answer for run in runs for outcome in run.outcomes):
        measures.append(ANSWER_MEASURES)
    return Recipe(" ".join(measures), sampling, tuple(map(str, usual_targets())))


def master(runs: Sequence[StoredRun], recipe: Recipe, form: int = FORM) -> dict[str, Any]:
    """The content of ``metrics_master.json``: the same runs in any order give the same bytes."""
    runs = [run for _, run in sorted({run.name: run for run in runs}.items())]
    written = recipe.to_dict()
    if form < FORM:
        del written["targets"]
    return {
        "form": form,
        "recipe": written,
        "runs": {run.name: _about(run, recipe, form) for run in runs},
        "metrics": [entry for run in runs for entry in _entries(run, recipe, form)],
    }


def _about(run: StoredRun, recipe: Recipe, form: int) -> dict[str, Any]:
    about = {
        "suite": run.test_set.name,
        "test_set_version": run.test_set.version,
        "test_set_checksum": run.info.test_set_checksum,
        "split": run.info.part,
        "outcomes_sha256": outcomes_digest(run.outcomes),
        "queries": len(run.queries),
        "failed_queries": len(run.failed),
        **({"failed_answers": len(run.unanswered)} if run.unanswered else {}),
        "degraded_queries": len(run.degraded),
        "provenance": provenance(run),
    }
    if form < FORM:
        return about
    return {
        **about,
        "name": run.info.name,
        **({"skipped_queries": len(run.scope.skipped)} if run.scope.skipped else {}),
        "scoring": encode(_scoring(run, recipe)),
        "warnings": list(report_warnings(run)),
    }


def _scoring(run: StoredRun, recipe: Recipe) -> Scoring:
    """What a run is scored by in a bundle: its own rule, the measures of the recipe."""
    scoring = run.info.scoring
    left_out = {
        Protocol.POSITIVES_ONLY.value: Family.DECISION,
        Protocol.ALL_QUERIES.value: Family.RANKING,
    }.get(scoring.protocol or "")
    asked = [m for m in parse_measures(recipe.measures) if m.definition.family is not left_out]
    return scoring.changed(measures=" ".join(map(str, asked)), sampling=recipe.sampling)


def content_of(stated: Mapping[str, Any], run_id: str) -> ReportContent:
    """What the report on a run says, by a master file and nothing else."""
    about = stated["runs"][run_id]
    scoring = decode(Scoring, about["scoring"])
    said = tuple(_figure(entry) for entry in stated["metrics"] if entry["run"] == run_id)
    skipped = int(about.get("skipped_queries", 0))
    return ReportContent(
        run_id=run_id,
        name=str(about["name"]),
        dataset=f"{about['suite']} {about['test_set_version']}",
        part=str(about["split"]),
        date=str(about["provenance"]["created_at"]),
        scored=scored_by(scoring),
        total_queries=int(about["queries"]) + skipped,
        skipped_queries=skipped,
        level=scoring.sampling.level,
        figures=said,
        insights=figure_insights(said, usual_targets(stated["recipe"]["targets"])),
        warnings=tuple(map(str, about["warnings"])),
    )


def is_master(content: Mapping[str, Any]) -> bool:
    """Whether JSON is a master file, and not the figures of one run."""
    return isinstance(content.get("runs"), Mapping) and isinstance(content.get("metrics"), list)


def figures_of_run(stated: Mapping[str, Any]) -> dict[str, Any]:
    """What a master file of one run says, in the form of ``assay eval show --json``."""
    if len(stated["runs"]) != 1:
        raise FormatError(
            f"a bundle of {counted(len(stated['runs']), 'run')}: {', '.join(stated['runs'])}",
            hint="name one of the stored runs, or bundle it alone",
        )
    ((run_id, about),) = stated["runs"].items()
    means: dict[str, Any] = {}
    by_type: dict[str, dict[str, Any]] = {}
    for entry in stated["metrics"]:
        group, breakdown = entry["group"], entry.get("breakdown")
        if breakdown is None and group != ALL:
            breakdown = "query_type"  # the forms 1 and 2 have no other groups
        if breakdown is None:
            means[entry["measure"]] = entry["value"]
        elif breakdown == "query_type":
            by_type.setdefault(group, {})[entry["measure"]] = entry["value"]
    kept = ("scoring", "failed_queries", "failed_answers", "degraded_queries", "provenance")
    return {
        "run_id": run_id,
        "metrics": means,
        "per_query_type": by_type,
        "test_set": {
            "name": about["suite"],
            "version": about["test_set_version"],
            "checksum": about["test_set_checksum"],
            "part": about["split"],
        },
        **{name: about[name] for name in kept if name in about},
    }


def report_name(run_id: str) -> str:
    """The file of a bundle that reports on a run."""
    if run_id != "*":
        check_id(run_id, "run id")  # it may be a stranger's, and becomes a file
    return f"report-{run_id}.md"


def _figure(entry: Mapping[str, Any]) -> Figure:
    ci = entry["ci"]
    return Figure(
        measure=str(entry["measure"]),
        value=entry["value"],
        n=int(entry["n"]),
        protocol=str(entry["protocol"]),
        ci=None if ci is None else (ci[0], ci[1]),
        reason=entry["reason"],
        breakdown=entry["breakdown"],
        group=str(entry["group"]),
        queries=int(entry["queries"]),
    )


def as_text(content: Mapping[str, Any]) -> str:
    """The bytes of the master file, as text."""
    return json.dumps(content, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


def manifest(files: Mapping[str, bytes]) -> str:
    """The lines that ``sha256sum -c`` reads."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))


def read_manifest(text: str) -> dict[str, str]:
    """Checksums by the names of files."""
    found = {}
    for line in text.splitlines():
        checksum, _, name = line.partition("  ")
        if name:
            found[name] = checksum
    return found


def differences(stated: Mapping[str, Any], computed: Mapping[str, Any]) -> list[str]:
    """Every difference between the stated and the computed content, in words."""
    return list(_differences(stated, computed, ""))


def _differences(stated: Any, computed: Any, place: str) -> Iterable[str]:
    if isinstance(stated, Mapping) and isinstance(computed, Mapping):
        for key in sorted({*stated, *computed}):
            here = f"{place}.{key}" if place else str(key)
            if key not in stated:
                yield f"{here} is missing from the bundle"
            elif key not in computed:
                yield f"{here} is in the bundle and cannot be computed"
            else:
                yield from _differences(stated[key], computed[key], here)
    elif isinstance(stated, list) and isinstance(computed, list) and len(stated) == len(computed):
        for at, (one, other) in enumerate(zip(stated, computed, strict=True)):
            yield from _differences(one, other, f"{place}[{_label(other, at)}]")
    elif stated != computed:
        yield f"{place} is {_short(stated)} in the bundle, {_short(computed)} from the runs"


def _entries(run: StoredRun, recipe: Recipe, form: int) -> list[dict[str, Any]]:
    if form < FORM:
        return _old_entries(run, recipe, form)
    scoring = _scoring(run, recipe)
    report = run_report(run, scoring.measures or "", sampling=scoring.sampling)
    return [
        {
            "run": run.name,
            "measure": one.measure,
            "breakdown": one.breakdown,
            "group": one.group,
            "protocol": one.protocol,
            "split": run.info.part,
            "value": one.value,
            "reason": one.reason,
            "ci": None if one.ci is None else list(one.ci),
            "n": one.n,
            "queries": one.queries,
            "seed": scoring.sampling.seed,
        }
        for one in figures(report.result, report.groups, group_intervals=True)
    ]


def _old_entries(run: StoredRun, recipe: Recipe, form: int) -> list[dict[str, Any]]:
    """The entries of the forms 1 and 2."""
    assert recipe.sampling is not None
    asked = parse_measures(recipe.measures)

    def family(kind: Family) -> list[Measure]:
        return [measure for measure in asked if measure.definition.family is kind]

    found: list[dict[str, Any]] = []
    if ranking := family(Family.RANKING):
        scores = score_run(run, ranking, sampling=recipe.sampling)
        found += _of(run, scores, PROTOCOLS[Family.RANKING], ALL)
        types = query_field(run.queries, "query_type")
        for kind, part in scores.by(types).items() if types else ():
            found += _of(run, part, PROTOCOLS[Family.RANKING], kind)
    if decisions := family(Family.DECISION):
        scores = score_outcomes(
            run.test_set, run.outcomes, decisions, protocol="all_queries", sampling=recipe.sampling
        )
        found += _of(run, scores, PROTOCOLS[Family.DECISION], ALL)
    if answers := family(Family.ANSWER):
        records = answer_records(run.test_set, run.outcomes)
        for measure, outcome in score_answers(records, answers).items():
            between = ends(answer_interval(outcome, recipe.sampling.level)) if form > 1 else None
            found.append(
                {
                    "run": run.name,
                    "measure": str(measure),
                    "group": ALL,
                    "protocol": OF_ANSWERS,
                    "split": run.info.part,
                    "value": rounded(outcome.value),
                    "reason": outcome.reason or (None if between else NO_INTERVAL),
                    "ci": between,
                    "n": outcome.n,
                    "seed": recipe.sampling.seed,
                }
            )
    return found


def _of(run: StoredRun, scores: Scores, protocol: str, group: str) -> list[dict[str, Any]]:
    entries = []
    for measure in scores.measures:
        found, interval = scores.aggregate(measure), scores.interval(measure)
        entries.append(
            {
                "run": run.name,
                "measure": str(measure),
                "group": group,
                "protocol": protocol,
                "split": run.info.part,
                "value": rounded(found.mean),
                "reason": found.reason or (None if interval.defined else interval.reason),
                "ci": ends(interval),
                "n": found.n,
                "seed": scores.sampling.seed,
            }
        )
    return entries


def _label(entry: object, at: int) -> str:
    if isinstance(entry, Mapping) and "measure" in entry:
        place = [entry["run"], entry["measure"], entry.get("breakdown"), entry["group"]]
        return " ".join(str(word) for word in place if word is not None)
    return str(at)


def _short(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
