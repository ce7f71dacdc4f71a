"""Is it said once, wherever nDCG is shown, that its gain is not that of other tools?"""

from __future__ import annotations

import pytest

from assay.evaluation.ab import ab
from assay.evaluation.baseline import Baseline
from assay.evaluation.gate import gate, parse_limits
from assay.evaluation.report import run_report
from assay.http.templating import environment
from assay.measures.elsewhere import ELSEWHERE, gain_note
from assay.measures.parse import parse_measure
from assay.render.compare_page import compare_page
from assay.render.compare_text import ab_markdown
from assay.render.gate import gate_markdown
from assay.render.report_page import run_page
from assay.render.report_text import run_markdown
from assay.render.tables import Table, footnote, footnoted, markdown

from ..evaluation.stored import ranks

WORDS = "exponential gain"
SIDE = Baseline(name="side", means={"Recall@10": 0.8, "nDCG@10": 0.7})
RUN = ranks("now", {f"q{at}": at % 4 + 1 for at in range(12)})


@pytest.mark.parametrize(
    ("measure", "linear"),
    [
        ("nDCG@10", "nDCG(gain=linear)@10"),
        ("nDCG", "nDCG(gain=linear)"),
        ("nDCG(rel=2)@5", "nDCG(gain=linear,rel=2)@5"),
    ],
)
def test_the_note_names_the_form_that_others_print(measure: str, linear: str) -> None:
    note = gain_note(["MRR", measure])
    assert note is not None
    assert note.startswith(f"{measure} has exponential gain; trec_eval, ir_measures, MTEB and BEIR")
    assert f"which is {linear} (see: assay measures)" in note
    assert str(parse_measure(linear)) == linear


@pytest.mark.parametrize("measure", ["nDCG(gain=linear)@10", "nDCG(gain=binary)@10", "MRR", "q1"])
def test_other_measures_need_no_note(measure: str) -> None:
    assert gain_note([measure]) is None


def test_every_line_names_a_measure_of_ours() -> None:
    for one in ELSEWHERE:
        assert one.ours is None or str(parse_measure(one.ours)) == one.ours
        assert one.ours is not None or one.remark


def test_a_table_says_it_whether_the_measure_is_a_row_or_a_column() -> None:
    row = Table(("measure", "mean"), (("nDCG@10", "0.5"),))
    column = Table(("query", "nDCG@10"), (("q1", "0.5"),))
    other = Table(("measure", "mean"), (("MRR", "nDCG@10"),))
    for tables in ([row], [other, column], [row, column]):
        assert footnote(tables) == gain_note(["nDCG@10"])
        assert footnoted(markdown(tables)).count(WORDS) == 1
        assert footnoted(footnoted(markdown(tables))).count(WORDS) == 1
    assert footnote([other]) is None
    assert footnoted(markdown([Table(("measure",), (("MRR",),))])).count(WORDS) == 0


def test_every_report_says_it_once() -> None:
    report = run_report(RUN, "nDCG@10 MRR")
    both = ab(RUN, RUN, "nDCG@10 MRR")
    texts = (
        run_markdown(report),
        run_page(report),
        ab_markdown(both),
        compare_page(RUN, RUN, both.compared, both),
        gate_markdown(gate(SIDE, SIDE, parse_limits([]))),
    )
    assert [text.count(WORDS) for text in texts] == [1] * len(texts)
    linear = run_report(RUN, "nDCG(gain=linear)@10 MRR")
    assert WORDS not in run_markdown(linear) + run_page(linear)


def test_every_page_says_it_once() -> None:
    page = '{% extends "ui/base.html" %}{% block main %}<td>MEASURE</td>{% endblock %}'
    values = {"menu": (), "path": "/", "signed_in": False, "open": True, "version": "0"}
    made = environment()
    shown = made.from_string(page.replace("MEASURE", "nDCG@10")).render(**values)
    assert shown.count(WORDS) == 1
    assert shown.count("<td>nDCG@10</td>") == 1
    assert WORDS not in made.from_string(page.replace("MEASURE", "MRR")).render(**values)
