"""How far does a judge agree with people, and what is the measure if both are counted?

People grade claims of some answers, drawn at random, as the judge did: is the claim supported by
what the answer cites? Agreement is Cohen's kappa of "supported" against the rest, its interval by
resampling whole answers. A judge whose kappa does not exceed 0.6 decides no gate, and fewer than 30
claims do not show that it does. The faithfulness
of all answers is estimated from both (``stats/prediction_powered.py``), with answers as items.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import AgreementError, UsageError
from assay.evaluation.joint import Joint
from assay.evaluation.scores import ends, rounded
from assay.evaluation.stored_run import StoredRun
from assay.model.judges import JudgedClaim, Support
from assay.model.runs import RunInfo
from assay.model.tabular import Records, Tabular
from assay.plural import counted
from assay.stats.interval import Interval
from assay.stats.kappa import Kappa, cohen_kappa, kappa_by_cluster
from assay.stats.prediction_powered import prediction_powered_mean

FLOOR = 0.6
"""Kappa that a judge must exceed to decide a gate, as two annotators must (SPEC section 4)."""
LEAST = 30
"""Graded claims below which agreement may be luck."""
KEY = "judge_quality"
"""Where a run's aggregate keeps what is known of its judge."""
LABELS = ("supported", "not supported")


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim for people to grade: the question, the claim, and the passages that are cited."""

    key: str
    query_id: str
    query_type: str
    question: str
    claim: JudgedClaim
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeQuality(Tabular):
    """Agreement over all claims that people graded, and by type of query.

    ``faithfulness`` joins labels of people, over answers that they graded whole, with those of the
    judge over all others. ``begun`` counts answers of which they graded a part: if they left out
    what was hard, the others are no random sample.
    """

    run_id: str
    judge: str
    people: tuple[str, ...]
    kappa: Kappa
    interval: Interval
    by_type: Mapping[str, Kappa]
    faithfulness: Joint
    claims: int
    begun: int = 0

    @property
    def passed(self) -> bool:
        """Whether the judge may decide a gate."""
        return self.agrees and self.claims >= LEAST

    @property
    def agrees(self) -> bool:
        """Whether kappa exceeds the floor, over however few claims."""
        return self.kappa.value is not None and self.kappa.value > FLOOR

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.kappa.value is None:
            return f"kappa is undefined ({self.kappa.reason}): the judge decides no gate"
        if self.passed:
            return f"kappa {self.kappa.value:.4f} exceeds {FLOOR}: the judge may decide a gate"
        if self.agrees:
            return (
                f"kappa {self.kappa.value:.4f} exceeds {FLOOR}, but {self.claims} claims are "
                f"graded, and {LEAST} are needed"
            )
        return f"kappa {self.kappa.value:.4f} does not exceed {FLOOR}: the judge decides no gate"

    def records(self) -> Records:
        """A row for all claims, and for each type of query."""
        rows = [_row("all", self.kappa), *(_row(*one) for one in self.by_type.items())]
        return Records.of(rows, f"{self.judge} against people", (self.verdict, *self.notes))

    @property
    def notes(self) -> tuple[str, ...]:
        """What people and judge say of the faithfulness of all answers."""
        begun = (
            f"{counted(self.begun, 'answer', 'is')} graded in part and left out; "
            "grade all claims of an answer"
        )
        return (*self.faithfulness.lines, *([begun] if self.begun else []))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "run_id": self.run_id,
            "judge": self.judge,
            "people": list(self.people),
            "claims": self.claims,
            "begun_answers": self.begun,
            "kappa": rounded(self.kappa.value),
            "ci": ends(self.interval),
            "reason": self.kappa.reason,
            "agreement": rounded(self.kappa.agreement),
            "labels": list(LABELS),
            "confusion": [list(row) for row in self.kappa.confusion],
            "by_query_type": {name: _row(name, one) for name, one in self.by_type.items()},
            "floor": FLOOR,
            "agrees": self.agrees,
            "passed": self.passed,
            "verdict": self.verdict,
            "faithfulness": self.faithfulness.to_dict(),
        }


def _row(name: str, kappa: Kappa) -> dict[str, Any]:
    return {
        "query_type": name,
        "kappa": rounded(kappa.value),
        "agreement": rounded(kappa.agreement),
        "n": kappa.n,
        "reason": kappa.reason,
    }


def claim_rows(run: StoredRun) -> list[ClaimRow]:
    """Every claim of a judged run whose cited passages are known; held-out queries stay out."""
    hidden = run.test_set.held_out_ids
    return [row for row in _rows(run) if row.query_id not in hidden]


def _rows(run: StoredRun) -> Iterator[ClaimRow]:
    if not any(outcome.judged is not None for outcome in run.outcomes):
        raise UsageError(f"{run.name} has no judged answers", hint="assay eval run --judge NAME")
    for outcome in run.outcomes:
        query = run.test_set.by_id.get(outcome.query_id)
        if outcome.judged is None or query is None:
            continue
        for claim in outcome.judged.claims:
            if claim.unknown:
                continue
            texts = tuple(outcome.passages[one] for one in claim.opinions)
            key = claim_key(query.query_text, claim.text, texts)
            kind = str(query.query_type or "")
            yield ClaimRow(key, query.query_id, kind, query.query_text, claim, texts)


def claim_key(question: str, claim: str, passages: Sequence[str]) -> str:
    """The same for the same claim beside the same passages, in whichever run it stands."""
    content = json.dumps([question, claim, sorted(passages)])
    return hashlib.sha256(content.encode()).hexdigest()


def sampled(rows: Sequence[ClaimRow], answers: int, seed: int) -> list[ClaimRow]:
    """The claims of some answers in the order of the draw; answers stay whole."""
    by_answer = _by_answer(rows)
    names = list(by_answer)
    drawn = np.random.default_rng(seed).permutation(len(names))[:answers]
    return [row for at in drawn.tolist() for row in by_answer[names[at]]]


def judge_quality(run: StoredRun, grades: Mapping[str, Mapping[str, Support]]) -> JudgeQuality:
    """How far the judge of a run agrees with people; ``grades`` by claim and person."""
    rows = claim_rows(run)
    said = {row.key: label for row in rows if (label := _majority(grades.get(row.key, {})))}
    graded = [row for row in rows if row.key in said]
    people = [_label(said[row.key] is Support.SUPPORTED) for row in graded]
    judge = [_label(row.claim.supported) for row in graded]
    kinds = sorted({row.query_type for row in graded if row.query_type})
    answers = list(_by_answer(rows).values())
    whole = [part for part in answers if all(row.key in grades for row in part)]
    others = [part for part in answers if not all(row.key in grades for row in part)]
    return JudgeQuality(
        run_id=run.info.run_id,
        judge=str(run.info.config.get("judge", "")),
        people=tuple(sorted({name for row in rows for name in grades.get(row.key, {})})),
        kappa=cohen_kappa(people, judge, categories=LABELS),
        interval=kappa_by_cluster(
            people, judge, [row.query_id for row in graded], categories=LABELS
        ),
        by_type={kind: _kappa_of(graded, said, kind) for kind in kinds},
        faithfulness=Joint(
            "Faithfulness",
            "answer",
            prediction_powered_mean(
                [_mean([_supporters(grades[row.key]) for row in part]) for part in whole],
                [_mean([row.claim.supported for row in part]) for part in whole],
                [_mean([row.claim.supported for row in part]) for part in others],
            ),
        ),
        claims=len(graded),
        begun=sum(any(row.key in grades for row in part) for part in others),
    )


def require_agreement(sides: Sequence[RunInfo], measures: Sequence[str]) -> list[str]:
    """Refuse a gate on a judge that people disagree with; say where nobody has looked.

    ``measures`` are those of the gate that a judge makes.
    """
    judges = {str(info.config.get("judge", "")) for info in sides}
    if len(judges) > 1:
        raise UsageError(
            f"{', '.join(measures)}: the runs were judged by different judges "
            f"({', '.join(sorted(one or 'none' for one in judges))})",
            hint="judge both by the same one",
        )
    known = [found for info in sides if isinstance(found := info.aggregate.get(KEY), Mapping)]
    if not known:
        return [
            f"nobody has compared the judge of {', '.join(measures)} with people "
            "(assay judge sheet, assay judge grade)"
        ]
    for found in known:
        if not found.get("agrees", found.get("passed")):
            raise AgreementError(
                f"{', '.join(measures)}: {found.get('verdict')}",
                hint="choose another judge, or grade more claims: assay judge sheet RUN",
            )
    if any(found.get("passed") for found in known):
        return []
    return [f"{', '.join(measures)}: {known[0].get('verdict')} (assay judge sheet)"]


def _kappa_of(rows: Sequence[ClaimRow], said: Mapping[str, Support], kind: str) -> Kappa:
    part = [row for row in rows if row.query_type == kind]
    return cohen_kappa(
        [_label(said[row.key] is Support.SUPPORTED) for row in part],
        [_label(row.claim.supported) for row in part],
        categories=LABELS,
    )


def _majority(labels: Mapping[str, Support]) -> Support | None:
    """What most people say; None where they do not agree, or nobody said anything."""
    counts = Counter(labels.values()).most_common(2)
    if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def _label(supported: bool) -> str:
    return LABELS[0] if supported else LABELS[1]


def _by_answer(rows: Sequence[ClaimRow]) -> dict[str, list[ClaimRow]]:
    found: dict[str, list[ClaimRow]] = {}
    for row in rows:
        found.setdefault(row.query_id, []).append(row)
    return found


def _supporters(labels: Mapping[str, Support]) -> float:
    """The share of people who find a claim supported: those who differ count half each.

    Leaving out what people differ about would leave a sample of easy answers.
    """
    return _mean([label is Support.SUPPORTED for label in labels.values()])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
