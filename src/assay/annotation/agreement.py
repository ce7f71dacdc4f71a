"""Do the two annotators of a round agree well enough to use their grades?

Cohen's kappa, plain and quadratic-weighted, over the passages that both graded. The interval
resamples whole queries, since passages of one query are not independent. The gate is plain kappa
above 0.6; if kappa is undefined, the gate stays closed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay import limits
from assay.annotation.tasks import asked
from assay.evaluation.joint import Joint
from assay.evaluation.scores import rounded
from assay.model.annotation import Grade, Item, ItemKey, Round
from assay.model.sampling import DEFAULT_SEED
from assay.stats.defaults import SAME
from assay.stats.interval import Interval
from assay.stats.kappa import Kappa, Weights, cohen_kappa, kappa_by_cluster

KAPPA_FLOOR = 0.6
CATEGORIES = tuple(range(limits.MAX_GOLDEN_GRADE + 1))


@dataclass(frozen=True, slots=True)
class Difference:
    """An item on which the annotators differ; None means that one could not judge it."""

    query_id: str
    chunk_id: str
    grades: tuple[int | None, int | None]

    @property
    def key(self) -> ItemKey:
        """The item."""
        return self.query_id, self.chunk_id


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """The agreement on one query; unreliable if there are few items."""

    query_id: str
    n: int
    agreement: float | None
    kappa: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Annotator:
    """What one annotator did: how much, how strictly, and with how much doubt."""

    name: str
    done: int
    total: int
    cannot_judge: int
    by_grade: Mapping[int, int]
    mean: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of the annotators in a round."""

    round_id: str
    items: int
    both: int
    plain: Kappa
    plain_interval: Interval
    quadratic: Kappa
    quadratic_interval: Interval
    annotators: tuple[Annotator, ...]
    queries: tuple[QueryAgreement, ...]
    differences: tuple[Difference, ...]

    @property
    def complete(self) -> bool:
        """Whether both annotators have graded everything."""
        return all(one.done == one.total for one in self.annotators)

    @property
    def enough(self) -> bool:
        """Whether the gate is open: kappa above 0.6, rounding errors aside."""
        return self.plain.value is not None and self.plain.value > KAPPA_FLOOR + SAME

    @property
    def verdict(self) -> str:
        """One sentence that says whether the grades can be used."""
        value = self.plain.value
        if len(self.annotators) < 2:
            return f"{self.annotators[0].name} judges alone; kappa needs a second judge"
        if value is None:
            return f"kappa is undefined: {self.plain.reason}"
        if not self.enough:
            return f"kappa {value:.4f} does not exceed {KAPPA_FLOOR}"
        low = self.plain_interval.low
        doubt = ""
        if low is not None and low <= KAPPA_FLOOR:
            doubt = f"; with so few queries it may lie below (95% CI from {low:.4f})"
        return f"kappa {value:.4f} exceeds {KAPPA_FLOOR}{doubt}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "round_id": self.round_id,
            "passed": self.enough,
            "verdict": self.verdict,
            "floor": KAPPA_FLOOR,
            "items": self.items,
            "judged_by_both": self.both,
            "complete": self.complete,
            "kappa": kappa_dict(self.plain, self.plain_interval),
            "kappa_quadratic": kappa_dict(self.quadratic, self.quadratic_interval),
            "agreement": rounded(self.plain.agreement),
            "confusion": {
                "annotators": [one.name for one in self.annotators],
                "grades": list(self.plain.categories),
                "counts": [list(row) for row in self.plain.confusion],
            },
            "annotators": [
                {
                    "name": one.name,
                    "done": one.done,
                    "total": one.total,
                    "cannot_judge": one.cannot_judge,
                    "by_grade": {str(grade): count for grade, count in one.by_grade.items()},
                    "mean": rounded(one.mean),
                }
                for one in self.annotators
            ],
            "queries": [
                {
                    "query_id": one.query_id,
                    "n": one.n,
                    "agreement": rounded(one.agreement),
                    "kappa": rounded(one.kappa),
                    "reason": one.reason,
                }
                for one in self.queries
            ],
            "differences": [
                {"query_id": one.query_id, "chunk_id": one.chunk_id, "grades": list(one.grades)}
                for one in self.differences
            ],
        }


@dataclass(frozen=True, slots=True)
class Voice:
    """An automatic judge beside one person; the largest differences come first.

    ``joint`` are measures of a pooled list by the grades of both.
    """

    judge: str
    person: str
    shown: bool
    agreement: Agreement
    joint: tuple[Joint, ...] = ()

    @property
    def differences(self) -> tuple[tuple[ItemKey, int | None, int | None], ...]:
        """The items about which they differ, with the person's grade and the judge's."""
        rows = [(one.key, *one.grades) for one in self.agreement.differences]
        return tuple(sorted(rows, key=lambda row: (-gap(row[1], row[2]), row[0])))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "judge": self.judge,
            "person": self.person,
            "shown": self.shown,
            **self.agreement.to_dict(),
            "differences": [
                {"query_id": key[0], "chunk_id": key[1], "person": ours, "judge": theirs}
                for key, ours, theirs in self.differences
            ],
            "joint": [one.to_dict() for one in self.joint],
        }


def gap(ours: int | None, theirs: int | None) -> int:
    """How far two grades are apart; what one could not judge comes last."""
    return 0 if ours is None or theirs is None else abs(ours - theirs)


def kappa_dict(kappa: Kappa, interval: Interval) -> dict[str, Any]:
    """Kappa with its interval and how that was computed."""
    return {
        "value": rounded(kappa.value),
        "reason": kappa.reason if kappa.value is None else None,
        "ci": {
            "low": rounded(interval.low),
            "high": rounded(interval.high),
            "level": interval.level,
            "method": interval.method,
            "queries": interval.clusters,
            "resamples": interval.resamples,
            "seed": interval.seed,
            "reason": interval.reason,
        },
        "n": kappa.n,
    }


def agreement(
    held: Round,
    items: Sequence[Item],
    grades: Iterable[Grade],
    *,
    voices: tuple[str, str] | None = None,
    seed: int = DEFAULT_SEED,
) -> Agreement:
    """The agreement of two voices, the annotators by default, on what both have graded so far."""
    said = by_annotator(grades)
    names = voices or held.annotators
    first, second = (said.get(name, {}) for name in (*names, "")[:2])
    pairs = {
        key: (one.grade, other.grade)
        for key, (one, other) in judged_by_both(items, first, second).items()
    }
    plain, plain_interval = _kappa(pairs, "none", seed)
    quadratic, quadratic_interval = _kappa(pairs, "quadratic", seed)
    return Agreement(
        round_id=held.round_id,
        items=len(items),
        both=len(pairs),
        plain=plain,
        plain_interval=plain_interval,
        quadratic=quadratic,
        quadratic_interval=quadratic_interval,
        annotators=tuple(
            _annotator(name, grades_of.values(), _asked(held, items, said, name))
            for name, grades_of in zip(names, (first, second), strict=False)
        ),
        queries=_per_query(pairs),
        differences=differences(pairs),
    )


def judged_by_both(
    items: Sequence[Item], first: Mapping[ItemKey, Grade], second: Mapping[ItemKey, Grade]
) -> dict[ItemKey, tuple[Grade, Grade]]:
    """The items that two voices have graded, with both grades."""
    both = [item.key for item in items if item.key in first and item.key in second]
    return {key: (first[key], second[key]) for key in both}


def differences(
    pairs: Mapping[ItemKey, tuple[int | None, int | None]],
) -> tuple[Difference, ...]:
    """Where two grades differ, or one of them is missing."""
    return tuple(Difference(*key, pair) for key, pair in pairs.items() if differ(pair))


def differ(pair: tuple[int | None, int | None]) -> bool:
    """Whether somebody must decide: two grades, or none that counts."""
    return None in pair or pair[0] != pair[1]


def _asked(
    held: Round, items: Sequence[Item], said: Mapping[str, Mapping[ItemKey, Grade]], name: str
) -> int:
    """How many items a voice is asked about."""
    return len(asked(held, items, said.get(held.annotators[0], {}), name))


def by_annotator(grades: Iterable[Grade]) -> dict[str, dict[ItemKey, Grade]]:
    """The grades of each annotator by item."""
    found: dict[str, dict[ItemKey, Grade]] = {}
    for one in grades:
        found.setdefault(one.annotator, {})[one.key] = one
    return found


def _kappa(
    pairs: Mapping[ItemKey, tuple[int | None, int | None]], weights: Weights, seed: int
) -> tuple[Kappa, Interval]:
    usable = {key: (a, b) for key, (a, b) in pairs.items() if a is not None and b is not None}
    first, second = [a for a, _ in usable.values()], [b for _, b in usable.values()]
    kappa = cohen_kappa(first, second, weights=weights, categories=CATEGORIES)
    if kappa.value is None:
        return kappa, kappa.interval
    clusters = [query_id for query_id, _ in usable]
    drawn = kappa_by_cluster(
        first, second, clusters, weights=weights, categories=CATEGORIES, seed=seed
    )
    return kappa, drawn


def _annotator(name: str, grades: Iterable[Grade], total: int) -> Annotator:
    said = [one.grade for one in grades]
    known = [grade for grade in said if grade is not None]
    counts = Counter(known)
    return Annotator(
        name,
        len(said),
        total,
        len(said) - len(known),
        {grade: counts[grade] for grade in CATEGORIES},
        sum(known) / len(known) if known else None,
    )


def _per_query(
    pairs: Mapping[ItemKey, tuple[int | None, int | None]],
) -> tuple[QueryAgreement, ...]:
    found: dict[str, list[tuple[int, int]]] = {}
    for (query_id, _), (a, b) in pairs.items():
        rows = found.setdefault(query_id, [])
        if a is not None and b is not None:
            rows.append((a, b))
    answers = []
    for query_id in sorted(found):
        rows = found[query_id]
        kappa = cohen_kappa([a for a, _ in rows], [b for _, b in rows], categories=CATEGORIES)
        reason = kappa.reason if kappa.value is None else None
        answers.append(QueryAgreement(query_id, kappa.n, kappa.agreement, kappa.value, reason))
    return tuple(answers)
