"""Which numbers do we report, and can anyone compute them again?

``metrics_master.json`` is the one source of reported numbers: every value with its interval,
protocol, split, seed, n, and the run it comes from; ``reason`` says why a value or its interval is
null. ``MANIFEST.sha256`` holds the checksum of every file of the bundle. ``verify`` computes
everything again from the stored runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.evaluation.answers import answer_interval, answer_records, score_answers
from assay.evaluation.defaults import ANSWER_MEASURES, BUNDLE_MEASURES, EVIDENCE_MEASURES
from assay.evaluation.outcomes import (
    outcomes_digest,
    query_field,
    score_outcomes,
    score_run,
    scored,
    tells_evidence,
)
from assay.evaluation.report import provenance
from assay.evaluation.score import Protocol
from assay.evaluation.scores import Scores, ends, rounded
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.model.sampling import Sampling

FORM = 2
FORMS = (1, FORM)  # the first had no intervals for measures of answers
MASTER = "metrics_master.json"
MANIFEST = "MANIFEST.sha256"
NO_INTERVAL = "no interval is computed for measures of answers"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is computed for every run of a bundle."""

    measures: str
    sampling: Sampling

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"measures": self.measures, **self.sampling.to_dict()}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Recipe:
        """The recipe that ``to_dict`` wrote."""
        return cls(str(entry["measures"]), Sampling.from_dict(entry))


def usual_recipe(runs: Sequence[StoredRun], sampling: Sampling) -> Recipe:
    """Ranking measures; those of decisions and answers where some run has what they look at."""
    measures = [BUNDLE_MEASURES]
    if any(tells_evidence(run.test_set, run.outcomes) for run in runs) and all(
        scored(run.outcomes) for run in runs
    ):
        measures.append(EVIDENCE_MEASURES)
    if any(outcome.answer is not None for run in runs for outcome in run.outcomes):
        measures.append(ANSWER_MEASURES)
    return Recipe(" ".join(measures), sampling)


def master(runs: Sequence[StoredRun], recipe: Recipe, form: int = FORM) -> dict[str, Any]:
    """The content of ``metrics_master.json``: the same runs in any order give the same bytes."""
    runs = [run for _, run in sorted({run.name: run for run in runs}.items())]
    return {
        "form": form,
        "recipe": recipe.to_dict(),
        "runs": {
            run.name: {
                "suite": run.test_set.name,
                "test_set_version": run.test_set.version,
                "test_set_checksum": run.info.test_set_checksum,
                "split": run.info.part,
                "outcomes_sha256": outcomes_digest(run.outcomes),
                "queries": len(run.outcomes),
                "failed_queries": len(run.failed),
                "degraded_queries": len(run.degraded),
                "provenance": provenance(run),
            }
            for run in runs
        },
        "metrics": [entry for run in runs for entry in _entries(run, recipe, form)],
    }


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
    asked = parse_measures(recipe.measures)

    def family(kind: Family) -> list[Measure]:
        return [measure for measure in asked if measure.definition.family is kind]

    found: list[dict[str, Any]] = []
    if ranking := family(Family.RANKING):
        scores = score_run(run, ranking, sampling=recipe.sampling)
        found += _of(run, scores, Protocol.POSITIVES_ONLY.value, "all")
        types = query_field(run.queries, "query_type")
        for kind, part in scores.by(types).items() if types else ():
            found += _of(run, part, Protocol.POSITIVES_ONLY.value, kind)
    if decisions := family(Family.DECISION):
        scores = score_outcomes(
            run.test_set, run.outcomes, decisions, protocol="all_queries", sampling=recipe.sampling
        )
        found += _of(run, scores, Protocol.ALL_QUERIES.value, "all")
    if answers := family(Family.ANSWER):
        records = answer_records(run.test_set, run.outcomes)
        for measure, outcome in score_answers(records, answers).items():
            between = ends(answer_interval(outcome, recipe.sampling.level)) if form > 1 else None
            found.append(
                {
                    "run": run.name,
                    "measure": str(measure),
                    "group": "all",
                    "protocol": "answers",
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
        return f"{entry['run']} {entry['measure']} {entry['group']}"
    return str(at)


def _short(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
