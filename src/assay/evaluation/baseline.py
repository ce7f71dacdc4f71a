"""What does a gate compare a run with: another run, or a file with the numbers of one?

A file is JSON with ``metrics`` (``{"recall_at_10": 0.82}``), as ``assay eval run --json``, ``assay
eval show --json``, ``assay score --json`` and ``assay eval report --format json`` write it, or the
``metrics_master.json`` of a bundle of one run, by its own name or by that of its folder. What
else such a file holds is used where it is there: ``per_query``, ``per_query_type``, ``test_set``,
``degraded_queries``, ``failed_queries``, ``latency_ms``, ``status`` and ``run_id``. A file must say
by which rule its run was scored (``scoring``) and with which chunkers (``chunker_versions``) where
the run that is held against it has any: a gate does not guess either.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from assay import limits
from assay.errors import FormatError
from assay.evaluation import bundle as bundles
from assay.evaluation.answers import answer_records, answer_values, score_answers
from assay.evaluation.chunker_match import (
    Archive,
    ChunkerMatch,
    Chunkers,
    Matching,
    chunkers_of,
    matching,
    no_archive,
    own_matching,
)
from assay.evaluation.compare import run_doubts
from assay.evaluation.drawing import Drawing
from assay.evaluation.outcomes import Latency, groups_of, latency, query_field, score_run
from assay.evaluation.parts import filters_of_part
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Family, Measure
from assay.model.ranking import CHUNK_SEPARATOR, Match
from assay.model.runs import RunStatus
from assay.model.sampling import Sampling
from assay.plain_file import read_plain
from assay.plural import counted

MOST = 1e15  # no measure or count comes near; a larger whole number fits no float


class SetVersion(NamedTuple):
    """Which version and part of a test set; files of others may say neither part nor checksum."""

    name: str
    version: str
    checksum: str = ""
    part: str = ""

    def __str__(self) -> str:
        known = f" ({self.checksum[:8]})" if self.checksum else ""
        part = f", part {self.part}" if self.part else ""
        return f"{self.name} {self.version}{part}{known}"

    def differs(self, other: SetVersion) -> bool:
        """Whether it is certainly another one; a part with all queries is the whole set."""
        known = self.checksum and other.checksum
        return self[:2] != other[:2] or bool(known and self.checksum != other.checksum)

    def asked_otherwise(self, other: SetVersion) -> bool:
        """Whether its queries were certainly asked with other filters."""
        known = bool(self.part and other.part)
        return known and filters_of_part(self.part) != filters_of_part(other.part)


@dataclass(frozen=True, slots=True)
class Baseline:
    """One side of a gate: what it scored, as far as a run or a file tells.

    ``means`` go by the measures' text form, ``per_query`` holds the values of single queries where
    they are known, ``queries`` text and type by id. The numbers of a file are ``rounded``. Queries
    that ``failed`` count as having no results, those ``unanswered`` as having a wrong answer.
    """

    name: str
    means: Mapping[str, float | None]
    per_query: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    by_type: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    queries: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    degraded: int = 0
    failed: int = 0
    unanswered: int = 0
    incomplete: str | None = None  # how far it got, where it did not ask every query to the end
    rounded: bool = False
    test_set: SetVersion | None = None
    chunkers: Chunkers | None = None  # None: it does not matter, or nobody knows
    match: Match | None = None  # the rule that the run is scored by; None: nobody knows
    chunk_separator: str = CHUNK_SEPARATOR
    protocol: str | None = None
    rule_notes: tuple[str, ...] = ()  # rule, separator and protocol of a run, where not the usual
    groups: Mapping[str, str] | None = None  # the group of each query; None: nobody knows
    by_group: bool | None = None  # whether queries of one group are resampled together
    sampling: Sampling | None = None
    latency: Latency | None = None  # how long its queries took; None: nobody knows
    run_id: str = ""
    warnings: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def drawing(self) -> Drawing:
        """How its intervals are drawn."""
        return Drawing(self.name, self.sampling, self.by_group)


def sides_of_runs(
    before: StoredRun, now: StoredRun, measures: Sequence[Measure], archive: Archive = no_archive
) -> tuple[Baseline, Baseline]:
    """Two stored runs as the sides of a gate, matched across chunkers where these differ."""
    match = matching(before, now, now.queries, archive=archive)
    one, other = (side_of_run(run, measures, match) for run in (before, now))
    doubtful = run_doubts({before: now.queries, now: now.queries}, match)
    return one, replace(other, warnings=(*other.warnings, *match.notes, *doubtful))


def side_of_run(
    run: StoredRun, measures: Sequence[Measure], match: Matching | None = None
) -> Baseline:
    """A stored run as one side of a gate, by its own rule unless it is matched with another."""
    match = match or own_matching(run)
    ranking = [m for m in measures if m.definition.family is Family.RANKING]
    answers = [m for m in measures if m.definition.family is Family.ANSWER]
    scores = score_run(
        run,
        ranking,
        match=match.rule,
        places=match.places,
        by_level=match.by_level,
        documents=match.documents,
    )
    means: dict[str, float | None] = {str(m): scores[m] for m in ranking}
    by_query: dict[str, dict[str, float | None]] = {str(m): scores.per_query(m) for m in ranking}
    asked = [query.query_id for query in run.queries]
    if answers:
        records = answer_records(run.test_set, run.outcomes)
        outcomes = score_answers(records, answers)
        means |= {str(measure): outcome.value for measure, outcome in outcomes.items()}
        values = answer_values(records, answers)
        by_query |= {
            str(measure): {name: found.get(name) for name in asked}
            for measure, found in values.items()
        }
    types = query_field(run.queries, "query_type")
    of_answers = {str(measure): by_query[str(measure)] for measure in answers}
    info, failed = run.info, len(run.failed) - len(run.unanswered)
    return Baseline(
        name=run.name,
        means=means,
        per_query=by_query,
        by_type={
            kind: {
                **{str(m): part[m] for m in ranking},
                **{
                    name: _mean(values[query] for query in asked if types.get(query) == kind)
                    for name, values in of_answers.items()
                },
            }
            for kind, part in (scores.by(types) if types else {}).items()
        },
        queries={
            query.query_id: (query.query_text, str(query.query_type or "")) for query in run.queries
        },
        degraded=len(run.degraded),
        failed=failed,
        unanswered=len(run.unanswered),
        incomplete=run.incomplete,
        test_set=SetVersion(
            run.test_set.name, run.test_set.version, info.test_set_checksum, info.part
        ),
        chunkers=(
            chunkers_of(run)
            if match.match is ChunkerMatch.EXACT and match.rule is not Match.DOC
            else None
        ),
        match=info.scoring.match,
        chunk_separator=info.scoring.chunk_separator,
        protocol=info.scoring.protocol,
        rule_notes=info.scoring.rule_notes,
        groups=groups_of(run.queries),
        by_group=run.info.scoring.by_group,
        sampling=run.info.scoring.sampling,
        latency=latency(run.outcomes),
        run_id=info.run_id,
        warnings=(
            *(
                (f"{counted(failed, 'query')} of {run.name} failed: counted as having no results",)
                if failed
                else ()
            ),
            *run.test_set.cautions,
        ),
        provenance={
            "configuration": info.config_hash[:12],
            **({"commit": info.commit_hash[:12]} if info.commit_hash else {}),
        },
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are defined; None where none is."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def side_of_file(path: Path, measures: Sequence[Measure]) -> Baseline:
    """The numbers in a file as one side of a gate."""
    content = _of_one_run(_read(path), path)
    metrics = content.get("metrics")
    if not isinstance(metrics, Mapping):
        raise FormatError(
            "there is no object 'metrics' in it",
            source=str(path),
            hint='such as {"metrics": {"recall_at_10": 0.82}}',
        )
    per_query = _object(content, "per_query", path)
    return Baseline(
        name=path.name,
        means=_means(metrics, measures, path),
        per_query={
            str(m): {
                str(query): _number(entry.get(m.key), f"per_query.{query}.{m.key}", path)
                for query, entry in per_query.items()
                if isinstance(entry, Mapping) and m.key in entry
            }
            for m in measures
        },
        by_type=_by_type(content, measures, path),
        degraded=_count(content, "degraded_queries", path),
        incomplete=_incomplete(content, path),
        failed=_count(content, "failed_queries", path) - _count(content, "failed_answers", path),
        unanswered=_count(content, "failed_answers", path),
        rounded=True,
        test_set=_named(content.get("test_set"), content.get("part")),
        chunkers=_chunkers(content),
        match=_match(content.get("scoring")),
        protocol=_text(content.get("scoring"), "protocol"),
        chunk_separator=_text(content.get("scoring"), "chunk_separator") or CHUNK_SEPARATOR,
        by_group=_by_group(content.get("scoring")),
        sampling=_sampling(content.get("scoring")),
        latency=_latency(content, path),
        run_id=str(content.get("run_id") or ""),
    )


def _of_one_run(content: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The figures of a run, also from a bundle."""
    if not bundles.is_master(content):
        return content
    try:
        return bundles.figures_of_run(content)
    except FormatError as error:
        raise FormatError(error.message, source=str(path), hint=error.hint) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"not a bundle of ours: {error}", source=str(path)) from None


def _read(path: Path) -> Mapping[str, Any]:
    if path.is_dir() and (path / bundles.MASTER).is_file():
        path = path / bundles.MASTER
    data = read_plain(path, limits.MAX_JSON_BYTES, hint="give a JSON file, or a run")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", source=str(path)) from None
    if not isinstance(content, Mapping):
        raise FormatError("not a JSON object", source=str(path), hint='begin with {"metrics": ...')
    return content


def _object(content: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    """A part of the file that may be absent."""
    found = content.get(name) or {}
    if not isinstance(found, Mapping):
        raise FormatError(f"{name} is not an object", source=str(path))
    return found


def _by_type(
    content: Mapping[str, Any], measures: Sequence[Measure], path: Path
) -> dict[str, dict[str, float | None]]:
    """The means of each type of query; those of answers stand in an object of their own."""
    ranked = _object(content, "per_query_type", path)
    answered = _object(content, "answers_by_query_type", path)
    return {
        str(kind): {
            **_means(entry, measures, path),
            **_means(_values(answered.get(kind)), measures, path),
        }
        for kind, entry in ranked.items()
        if isinstance(entry, Mapping)
    }


def _values(entry: Any) -> dict[str, Any]:
    """The value of each measure of answers."""
    if not isinstance(entry, Mapping):
        return {}
    return {
        str(key): found.get("value") for key, found in entry.items() if isinstance(found, Mapping)
    }


def _means(
    entry: Mapping[str, Any], measures: Sequence[Measure], path: Path
) -> dict[str, float | None]:
    """The measures that are asked for, under their key or their text form."""
    found: dict[str, float | None] = {}
    for measure in measures:
        for name in (measure.key, str(measure)):
            if name in entry:
                found[str(measure)] = _number(entry[name], name, path)
                break
    return found


def _number(value: object, name: str, path: Path) -> float | None:
    if value is None:
        return None
    number = math.nan
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = float(value) if abs(value) < MOST else math.nan
    if not math.isfinite(number):
        raise FormatError(f"{name} is {value!s:.40}, not a number or null", source=str(path))
    return number


def _count(content: Mapping[str, Any], name: str, path: Path) -> int:
    return int(_number(content.get(name), name, path) or 0)


def _incomplete(content: Mapping[str, Any], path: Path) -> str | None:
    """What the file says of a run that did not end, or did not ask every query."""
    status = str(content.get("status", RunStatus.COMPLETE.value))
    unasked = _count(content, "unasked_queries", path)
    if status == RunStatus.COMPLETE.value and not unasked:
        return None
    why = "" if status == RunStatus.COMPLETE.value else f" (it is {status:.40})"
    return f"the run of {path.name} is not complete{why}: {counted(unasked, 'query')} not asked"


def _latency(content: Mapping[str, Any], path: Path) -> Latency | None:
    """How long queries took, as ``eval run --json`` writes it."""
    entry = _object(content, "latency_ms", path)
    mean, p50, p95 = (
        _number(entry.get(name), f"latency_ms.{name}", path) for name in ("mean", "p50", "p95")
    )
    return Latency(_count(entry, "n", path), mean, p50, p95) if entry else None


def _named(entry: object, part: object) -> SetVersion | None:
    if not isinstance(entry, Mapping) or "name" not in entry or "version" not in entry:
        return None
    checksum, part = (str(one or "") for one in (entry.get("checksum"), entry.get("part", part)))
    return SetVersion(str(entry["name"]), str(entry["version"]), checksum, part)


def _text(entry: object, name: str) -> str | None:
    named = entry.get(name) if isinstance(entry, Mapping) else None
    return named if isinstance(named, str) else None


def _match(entry: object) -> Match | None:
    try:
        return Match(entry["match"]) if isinstance(entry, Mapping) else None
    except (KeyError, ValueError):
        return None


def _by_group(entry: object) -> bool | None:
    named = entry.get("by_group") if isinstance(entry, Mapping) else None
    return named if isinstance(named, bool) else None


def _sampling(entry: object) -> Sampling | None:
    try:
        return Sampling.from_dict(entry["sampling"]) if isinstance(entry, Mapping) else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _chunkers(content: Mapping[str, Any]) -> Chunkers | None:
    """The chunkers of the run, which a report names among the provenance; None: not said."""
    provenance = content.get("provenance")
    noted: Mapping[str, Any] = provenance if isinstance(provenance, Mapping) else {}
    index = content.get("chunker_versions", noted.get("chunker_versions"))
    judged = content.get("judged_chunker_versions")
    if not isinstance(index, list):
        return None
    return Chunkers(
        frozenset(map(str, index)), frozenset(map(str, judged if isinstance(judged, list) else ()))
    )
