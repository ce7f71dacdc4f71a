"""Do we print the digits that trec_eval's own test files expect?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import assay

NAMES = {
    "map": "MAP",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "recip_rank": "MRR",
    "infAP": "infAP",
    "ndcg": "nDCG(gain=linear)",
    "set_recall": "Recall",
}
CUT = {"P": "P", "recall": "Recall", "ndcg_cut": "nDCG(gain=linear)", "success": "Success"}
COUNTS = ("num_ret", "num_rel", "num_rel_ret")


@dataclass(frozen=True)
class Case:
    """One call of trec_eval: its files, its options, its expected output."""

    output: str
    qrels: str
    run: str
    depth: int | None = None
    level: int = 1
    extra_columns: bool = False


CASES = [
    Case("out.test", "qrels.test", "results.test"),
    Case("out.test.a", "qrels.test", "results.test"),
    Case("out.test.aq", "qrels.test", "results.test"),
    Case("out.test.aqc", "qrels.test", "results.trunc", extra_columns=True),
    Case("out.test.aqcM", "qrels.test", "results.trunc", depth=100, extra_columns=True),
    Case("out.test.aql", "qrels.rel_level", "results.test", level=2),
    Case("out.test.meas_params", "qrels.test", "results.test"),
]


def our_form(name: str, level: int) -> str | None:
    """The measure that a trec_eval name stands for, or None where we have none."""
    form = NAMES.get(name)
    cut = re.fullmatch(r"([A-Za-z_]+)_(\d+)", name)
    if form is None and cut and cut[1] in CUT:
        form = f"{CUT[cut[1]]}@{cut[2]}"
    if form is None or level == 1 or form.startswith("nDCG"):
        return form
    head, at, cutoff = form.partition("@")
    return f"{head}(rel={level}){at}{cutoff}"


@pytest.mark.req("K1", "E1")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.output)
def test_every_value_of_the_expected_output(case: Case, shared_data: Path) -> None:
    folder = shared_data / "trec_eval_ref" / "test"
    expected = [line.split() for line in (folder / case.output).read_text().splitlines()]
    wanted = {
        (our_form(name, case.level), query): float(value)
        for name, query, value in expected
        if our_form(name, case.level) is not None
    }
    assert len(wanted) >= 10, "the expected output was not understood"
    scores = assay.score(
        folder / case.qrels,
        folder / case.run,
        sorted({form for form, _ in wanted if form}),
        undefined="zero",
        depth=case.depth,
        extra_columns=case.extra_columns,
    )
    for (form, query), value in wanted.items():
        assert form is not None
        ours = scores[form] if query == "all" else scores.value(query, form)
        assert ours is not None
        assert f"{ours:.4f}" == f"{value:.4f}", (form, query)
    if case.level == 1:
        counts = {
            name: int(value) for name, query, value in expected if name in COUNTS and query == "all"
        }
        summary = scores.summary.to_dict()
        ours_counts = dict(
            zip(
                COUNTS,
                (summary[k] for k in ("retrieved", "relevant", "relevant_retrieved")),
                strict=True,
            )
        )
        assert {name: ours_counts[name] for name in counts} == counts


def test_comment_lines_change_nothing(shared_data: Path) -> None:
    folder = shared_data / "trec_eval_ref" / "test"
    plain = assay.score(folder / "qrels.test", folder / "results.test", "MAP bpref nDCG")
    commented = assay.score(
        folder / "qrels.test.with-comments", folder / "results.test", "MAP bpref nDCG"
    )
    # the commented file judges one document under a changed id, CR#93E-1860 for CR93E-1860
    assert commented.summary.to_dict()["relevant"] == plain.summary.to_dict()["relevant"]
    assert commented["MAP"] == pytest.approx(plain["MAP"], abs=1e-3)


def test_a_hash_inside_an_id_is_part_of_it(shared_data: Path) -> None:
    qrels = shared_data / "trec_eval_ref" / "test" / "qrels.comment.test"
    scores = assay.score(
        qrels,
        {"2024-127266": {"msmarco_v2.1_doc_05_1607548104#0_3077382650": 1.0}},
        "P@1",
    )
    assert scores.value("2024-127266", "P@1") == 1.0
