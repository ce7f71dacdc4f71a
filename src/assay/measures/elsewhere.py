"""Which of our measures is the figure that another tool prints?

Tools use one name for different formulas: nDCG@10 has exponential gain here, as the contract of the
measures wants it, and linear gain in most other places. ``tests/reference/test_elsewhere.py``
computes each line with the tool itself, where it is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_EXPONENTIAL = r"nDCG(?:\(rel=\d+\))?(?:@\d+)?"
_IN_A_CELL = re.compile(rf"(?:>|\| ?)\s*({_EXPONENTIAL})\s*(?=<| ?\|)")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A figure of another tool, and the text form of ours that equals it; None where none does."""

    tool: str
    theirs: str
    ours: str | None
    remark: str = ""


MEAN = "its mean is over the queries of the run; a query that the run lacks counts as 0 here"
ELSEWHERE = (
    Elsewhere("trec_eval -c, pytrec_eval", "ndcg_cut_10", "nDCG(gain=linear)@10"),
    Elsewhere("trec_eval -c, pytrec_eval", "ndcg", "nDCG(gain=linear)"),
    Elsewhere("trec_eval -c, pytrec_eval", "map", "MAP"),
    Elsewhere(
        "trec_eval -c, pytrec_eval",
        "map_cut_10",
        None,
        "it divides by all relevant documents, AP@10 by at most 10",
    ),
    Elsewhere("trec_eval -c, pytrec_eval", "recip_rank", "MRR"),
    Elsewhere("trec_eval -c, pytrec_eval", "recall_10", "Recall@10"),
    Elsewhere("trec_eval -c, pytrec_eval", "P_10", "P@10"),
    Elsewhere("trec_eval -c, pytrec_eval", "success_10", "Success@10"),
    Elsewhere("gdeval.pl", "ndcg@10", "nDCG@10"),
    Elsewhere("gdeval.pl", "err@10", "ERR@10"),
    Elsewhere("ir_measures", "nDCG@10", "nDCG(gain=linear)@10"),
    Elsewhere("ir_measures", "nDCG(dcg='exp-log2')@10", "nDCG@10"),
    Elsewhere("ir_measures", "RR@10", "RR@10", "unless scores are tied: it breaks ties otherwise"),
    Elsewhere("ir_measures", "AP", "MAP"),
    Elsewhere("ir_measures", "R@10", "Recall@10"),
    Elsewhere("MTEB", "ndcg_at_10", "nDCG(gain=linear)@10", MEAN),
    Elsewhere("BEIR", "NDCG@10", "nDCG(gain=linear)@10", MEAN),
    Elsewhere("MTEB, BEIR", "map_at_10, MAP@10", None, "pytrec_eval's map_cut_10"),
    Elsewhere("ranx", "ndcg@10", "nDCG(gain=linear)@10"),
    Elsewhere("ranx", "ndcg_burges@10", "nDCG@10"),
    Elsewhere(
        "scikit-learn",
        "ndcg_score(grades, scores, k=10)",
        "nDCG(gain=linear)@10",
        "where every judged document is passed in and no scores are tied",
    ),
    Elsewhere(
        "scikit-learn", "ndcg_score(2**grades - 1, scores, k=10)", "nDCG@10", "under the same terms"
    ),
)


def gain_note(texts: Iterable[str]) -> str | None:
    """What to say below a table where one of these is the text form of an exponential nDCG."""
    found = next((text for text in texts if re.fullmatch(_EXPONENTIAL, text)), None)
    if found is None:
        return None
    name, at, cutoff = found.partition("@")
    inside = name.removeprefix("nDCG").strip("()")
    linear = f"nDCG({','.join(('gain=linear', *filter(None, (inside,))))}){at}{cutoff}"
    return (
        f"{found} has exponential gain; trec_eval, ir_measures, MTEB and BEIR print linear gain, "
        f"which is {linear} (see: assay measures)"
    )


def gain_note_of(page: str) -> str | None:
    """The same for tables that are Markdown or HTML already."""
    return gain_note(match[1] for match in _IN_A_CELL.finditer(page))
