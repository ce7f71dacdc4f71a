"""How did the figures of a test set change from run to run?

Only like is held against like. Runs are one series where they asked the same queries of the same
part, by the same engine, and are scored by the same rule; on request by the same configuration,
too. A run in which queries failed or were degraded is shown and belongs to no series, and one that
did not end is not shown. What is left out is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.measures.base import Measure
from assay.model.runs import RunInfo, RunStatus
from assay.model.tabular import Records, Tabular
from assay.plural import counted

SHOWN_HASH = 8
"""So many characters of a fingerprint tell configurations apart."""


@dataclass(frozen=True, slots=True)
class Series:
    """Runs that can be held against each other, the oldest first."""

    part: str
    engine: str
    match: str
    version: str
    runs: tuple[RunInfo, ...]

    @property
    def rule_notes(self) -> tuple[str, ...]:
        """What all of them are scored by, in words, as far as it is not the usual."""
        return self.runs[-1].scoring.rule_notes

    @property
    def configurations(self) -> tuple[str, ...]:
        """The fingerprints of configurations that occur, in the order of their first run."""
        return tuple(dict.fromkeys(info.config_hash for info in self.runs))


@dataclass(frozen=True, slots=True)
class History(Tabular):
    """Complete runs of a test set, the oldest first, and what to read of them.

    ``series`` is what can be compared, that of the newest run first; ``unsound`` says of the other
    runs what is wrong with them, by id; ``left_out`` what is not shown at all, in words.
    """

    suite: str
    runs: tuple[RunInfo, ...]
    measures: tuple[Measure, ...]
    series: tuple[Series, ...] = ()
    unsound: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def series_of(self) -> Mapping[str, int]:
        """In which series each run stands, by its id."""
        return {info.run_id: at for at, one in enumerate(self.series) for info in one.runs}

    def records(self) -> Records:
        """A row for each run, the oldest first."""
        rows = [
            {
                "run": info.run_id,
                "name": info.name,
                "created_at": info.created_at,
                "part": info.part,
                "engine": info.engine,
                "configuration": info.config_hash[:SHOWN_HASH],
                "tags": info.tags,
                "series": self.series_of.get(info.run_id),
                "unsound": self.unsound.get(info.run_id),
                **{str(m): metric_of(info, m) for m in self.measures},
            }
            for info in self.runs
        ]
        return Records.of(rows, self.suite, self.left_out)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: each series with its trends, that of the newest run first."""
        series = [
            {
                "part": one.part,
                "engine": one.engine,
                "match": one.match,
                "test_set_version": one.version,
                "configurations": [name[:SHOWN_HASH] for name in one.configurations],
                "runs": [info.run_id for info in one.runs],
                "trend": {m.key: trend_of(column_of(one.runs, m)) for m in self.measures},
            }
            for one in self.series
        ]
        return {
            "suite": self.suite,
            "runs": [
                {
                    "run_id": info.run_id,
                    "name": info.name,
                    "created_at": info.created_at,
                    "test_set_version": info.test_set_version,
                    "part": info.part,
                    "engine": info.engine,
                    "configuration": info.config_hash[:SHOWN_HASH],
                    "match": None if info.figures_only else info.scoring.match.value,
                    "tags": list(info.tags),
                    "series": self.series_of.get(info.run_id),
                    "unsound": self.unsound.get(info.run_id),
                    "metrics": {m.key: metric_of(info, m) for m in self.measures},
                }
                for info in self.runs
            ],
            "series": series,
            "trend": series[0]["trend"] if series else {m.key: None for m in self.measures},
            "left_out": list(self.left_out),
        }


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """Which runs are asked for, and what makes a series.

    ``part``, ``engine`` (as in ``embedded`` or ``run file``) and ``configuration`` (how its
    fingerprint begins) keep some runs; empty allows every one.
    """

    part: str = ""
    engine: str = ""
    configuration: str = ""
    by_configuration: bool = False

    def keep(self, info: RunInfo) -> bool:
        """Whether the run is asked for."""
        return (
            self.part in ("", info.part)
            and self.engine in ("", info.engine, info.engine.partition(" ")[0])
            and info.config_hash.startswith(self.configuration)
        )


def column_of(runs: Sequence[RunInfo], measure: Measure) -> list[float | None]:
    """What each run scored by a measure."""
    return [metric_of(info, measure) for info in runs]


def metric_of(info: RunInfo, measure: Measure) -> float | None:
    """What a run scored by a measure, as it was stored; None where that is not known."""
    value = info.aggregate.get("metrics", {}).get(measure.key)
    return value if isinstance(value, (int, float)) else None


def trend_of(column: Sequence[float | None]) -> dict[str, Any] | None:
    """From the first to the last run that has the measure."""
    known = [value for value in column if value is not None]
    if len(known) < 2:
        return None
    change = round(known[-1] - known[0], 4)
    direction = "up" if change > 0 else "down" if change < 0 else "level"
    return {"first": known[0], "last": known[-1], "change": change, "direction": direction}


def history_of(
    suite: str,
    newest_first: Iterable[RunInfo],
    measures: Sequence[Measure],
    options: HistoryOptions,
    limit: int,
) -> History:
    """The history that the newest runs of a test set make."""
    shown: list[RunInfo] = []
    unfinished: Counter[str] = Counter()
    others = 0
    for info in newest_first:
        if len(shown) == limit:
            break
        if not options.keep(info):
            others += 1
        elif info.status is not RunStatus.COMPLETE:
            unfinished[info.status.value] += 1
        else:
            shown.append(info)
    left_out = [
        f"{counted(count, f'{status} run', 'is')} left out"
        for status, count in sorted(unfinished.items())
    ]
    if others:
        left_out.append(
            f"{counted(others, 'run', 'is')} left out, of another part, engine or configuration"
        )
    runs = oldest_first(shown)
    return History(
        suite,
        runs,
        tuple(measures),
        series=_series(runs, by_configuration=options.by_configuration),
        unsound={info.run_id: info.unsound for info in runs if not info.sound},
        left_out=tuple(left_out),
    )


def oldest_first(newest_first: Sequence[RunInfo]) -> tuple[RunInfo, ...]:
    """By when they were made, whichever has answered again since."""
    found = list(reversed(newest_first))
    found.sort(key=lambda info: info.created_at)
    return tuple(found)


def _series(runs: Sequence[RunInfo], *, by_configuration: bool) -> tuple[Series, ...]:
    groups: dict[tuple[str, ...], list[RunInfo]] = {}
    for info in runs:
        if info.sound:
            rule = tuple(map(str, info.scoring.rule))
            own = (info.config_hash,) if by_configuration else ()
            key = (info.part, info.engine, *rule, info.test_set_checksum, *own)
            groups.setdefault(key, []).append(info)
    newest = sorted(groups.values(), key=lambda group: group[-1].created_at, reverse=True)
    return tuple(
        Series(
            one[-1].part,
            one[-1].engine,
            one[-1].scoring.match.value,
            one[-1].test_set_version,
            tuple(one),
        )
        for one in newest
    )
