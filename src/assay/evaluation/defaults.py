"""Which measures are computed where nobody names any?

One constant per purpose; commands, HTTP, pages and Python take them from here. The order counts:
tables list measures in it, and verdicts and lists of worst queries speak of the first.
"""

from __future__ import annotations

from collections.abc import Iterable

SCORE_MEASURES = "nDCG@10 RR@10 Recall@{5,10,20}"
"""``assay score`` and ``assay.score``: a run against qrels; the default of the setting
``measures``."""

EVALUATION_MEASURES = "Recall@{5,10,20} nDCG@10 MRR"
"""An evaluation of a test set (seed 000, SPEC section 1: K sets)."""

EVIDENCE_MEASURES = "AUROC AUPRC"
"""Beside them where a test set has queries with nothing to find: do scores tell these apart?
(seed 004, M1)"""

DECISION_MEASURES = "AUROC AUPRC Sensitivity Specificity PPV NPV F1 TPR(fpr={0.01,0.03,0.05,0.1})"
"""``assay classify`` and the protocol ``all_queries`` (seed 004, SPEC section 1: Protocols)."""

ANSWER_MEASURES = "CitationCoverage Groundedness NumberSupport RefusalCorrectness EmptyResultRate"
"""Stored answers (seed 001, K4-K7), and whether their numbers are those of the sources."""

JUDGED_MEASURES = (
    "Faithfulness CitationPrecision CitationRecall AnswerRelevance Correctness ContextPrecision "
    "ContextRecall NumberFidelity RefusalPrecision RefusalRecall"
)
"""Beside them, where a judge read the answers claim by claim."""

OF_JUDGES = (
    "Faithfulness CitationPrecision AnswerRelevance Correctness ContextPrecision ContextRecall"
)
"""Those of them that are only as good as the judge; a gate on them asks whether people agree."""

RUN_MEASURES = "EmptyResultRate"
"""What the measures of answers can say of a run without answers."""

HIT_DEPTH = 10
"""How deep the comparison of two runs looks for the first hit of a query (seed 001)."""

COMPARE_CUTOFFS = (1, 3, 5, 10)
"""hit@k and document-level recall@k of the comparison of two runs (seed 001, SPEC section 1)."""

COMPARE_RECIPROCAL_RANK = f"RR@{HIT_DEPTH}"
"""What seed 001 calls ``mrr``; everywhere else MRR looks at the whole ranking (SPEC section 1)."""

AB_MEASURES = "nDCG@10 Recall@{5,10,20} MRR"
"""An A/B test: the measures of an evaluation; the verdict is about the first (seed 000, E8)."""

GATE_MEASURES = "Recall@10 nDCG@10"
"""What the report of a gate shows beside the measures that have limits (SPEC section 5)."""

GATE_LIMIT = "Recall@10=5%"
"""The limit of a gate that is given none (SPEC section 5)."""

REPORT_MEASURES = "nDCG@10 Recall@{10,5,20} MRR P@5 MAP"
"""The report on a stored run (SPEC section 4: Reports) and ``metrics_master.json`` (M6)."""

WORKFLOW_MEASURES = "P@{1,3,5,10} Recall@{1,3,5,10} MAP nDCG@10"
"""The workflow report (seed 002, W7)."""

WORKFLOW_TARGETS = ("P@5>0.65", "Recall@10>=0.75", "nDCG@10>=0.70")
"""The values that a report holds the measures against (seed 002, W7; the alerts of section 7)."""

SPEAKER_MEASURES = "P@5 Recall@5"
"""The table by speaker of the workflow report (seed 002, W7)."""

HISTORY_MEASURES = "nDCG@10 Recall@10 MRR"
"""Where columns are scarce: trends (seed 002, W11), lists of runs, components side by side."""

PAGE_MEASURES = "nDCG@10 Recall@10 MRR Recall@5 Recall@20"
"""The page of a run: the measures of an evaluation, those of the list of runs first."""

PROGRESS_MEASURES = "nDCG@10 Recall@10"
"""What is shown while an evaluation is under way."""


def workflow_measures(cutoffs: Iterable[int]) -> str:
    """The measures of an evaluation that names its own cutoffs (seed 002, W2)."""
    listed = ",".join(map(str, sorted(set(cutoffs))))
    return f"P@{{{listed}}} Recall@{{{listed}}} MAP nDCG@10 MRR"
