"""Do the reports on a run and on a comparison say what is so? The report scenarios of 002."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from assay.errors import UsageError
from assay.evaluation.ab import ab
from assay.evaluation.compare import compare_runs
from assay.evaluation.defaults import WORKFLOW_MEASURES
from assay.evaluation.insights import GroupMeans, insights, parse_targets
from assay.evaluation.report import run_report
from assay.evaluation.stored_run import StoredRun
from assay.measures.parse import parse_measures
from assay.model.answers import Answer, Expect
from assay.model.testset import SpeakerFilter
from assay.render.compare_page import compare_page, worst_queries
from assay.render.compare_text import ab_markdown, compare_csv, render_report_md
from assay.render.report_page import origin, run_page
from assay.render.report_text import run_csv, run_markdown, run_tables, workflow_markdown
from assay.render.scores import answer_rows
from tests.unit.evaluation.stored import ranks

EVIL = "<script>alert(1)</script> | [x](javascript:1) @team `code`"
SPEAKERS = (SpeakerFilter.PATIENT, SpeakerFilter.CLINICIAN, SpeakerFilter.ALL)


def interviews(name: str = "eval_run_001", text: str = "What was said?") -> StoredRun:
    """Twelve queries: the patient's at rank 1, the clinician's at 3, the others missed."""
    places = {f"q{at:02}": (1, 3, None)[at % 3] for at in range(12)}
    run = ranks(name, places, types=True)
    queries = tuple(
        replace(query, speaker_filter=SPEAKERS[at % 3], query_text=f"{text} {at}")
        for at, query in enumerate(run.test_set.queries)
    )
    return replace(run, test_set=replace(run.test_set, queries=queries))


class Page(HTMLParser):
    """What a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "action")]
        if tag not in ("meta", "br", "rect", "line", "circle", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.req("W7")
def test_the_markdown_has_overall_speakers_and_insights() -> None:
    report = run_report(interviews(), WORKFLOW_MEASURES, targets=parse_targets(["P@5>0.65"]))
    text = run_markdown(report)
    assert text.startswith("# Evaluation Report: eval_run_001\n")
    assert "**Total Queries**: 12" in text
    for part in ("## Overall Metrics", "## Speaker-Specific Performance", "## Insights"):
        assert part in text
    assert "| Speaker | P@5 | Recall@5 | Queries |" in text
    assert "| PATIENT | 0.2000 | 1.0000 | 4 |" in text
    assert "| ALL | 0.0000 | 0.0000 | 4 |" in text
    assert "- Overall system misses target of P@5 > 0.65 ✗\n" in text


@pytest.mark.req("W6")
def test_patient_and_clinician_differ() -> None:
    report = run_report(interviews(), "RR@10")
    by_speaker = report.groups["speaker_filter"]
    assert by_speaker["PATIENT"]["RR@10"] == 1.0
    assert by_speaker["CLINICIAN"]["RR@10"] == pytest.approx(1 / 3)


@pytest.mark.req("W7")
def test_the_example_of_the_workflow_reads_as_it_shows() -> None:
    found = insights(
        {"P@5": 0.68, "Recall@5": 0.78},
        {
            "speaker": [
                GroupMeans("PATIENT", {"P@5": 0.72, "Recall@5": 0.81}, 25),
                GroupMeans("CLINICIAN", {"P@5": 0.64, "Recall@5": 0.75}, 20),
                GroupMeans("ALL", {"P@5": 0.68, "Recall@5": 0.78}, 5),
            ]
        },
        parse_targets(["P@5>0.65"]),
    )
    assert [insight.text for insight in found] == [
        "Overall system meets target of P@5 > 0.65 ✓",
        "By speaker, P@5 is best for PATIENT (0.7200, 25 queries) and worst for CLINICIAN "
        "(0.6400, 20 queries): a gap of 8.0 points",
        "By speaker, Recall@5 is best for PATIENT (0.8100, 25 queries) and worst for CLINICIAN "
        "(0.7500, 20 queries): a gap of 6.0 points",
    ]
    text = workflow_markdown(
        evaluation_id="eval_run_001",
        dataset="test_set_v1",
        date="2024-03-15",
        total_queries=50,
        overall=[("P@5", "0.68")],
        speakers={"PATIENT": {"P@5": "0.72", "Queries": "25"}},
        insights=found,
    )
    assert "| PATIENT | 0.72 | 25 |" in text


@pytest.mark.req("W7")
def test_insights_speak_of_what_differs_most() -> None:
    """P@1 and P@3 come first in the workflow report, and Recall@5 is what tells speakers apart."""
    names = [str(measure) for measure in parse_measures(WORKFLOW_MEASURES)]
    patient = dict.fromkeys(names, 0.5) | {"Recall@5": 1.0, "Recall@3": 0.9, "P@3": 0.52}
    clinician = dict.fromkeys(names, 0.5) | {"Recall@5": 0.6071, "Recall@3": 0.58}
    found = insights(
        dict.fromkeys(names, 0.5),
        {"speaker": [GroupMeans("PATIENT", patient, 12), GroupMeans("CLINICIAN", clinician, 14)]},
    )
    assert [insight.text for insight in found] == [
        "By speaker, Recall@5 is best for PATIENT (1.0000, 12 queries) and worst for CLINICIAN "
        "(0.6071, 14 queries): a gap of 39.3 points",
    ]


@pytest.mark.req("W7")
@pytest.mark.parametrize(
    ("target", "value", "met"),
    [
        ("P@5>0.48", 0.48, False),
        ("P@5 > 0.48", 0.4801, True),
        ("P@5>=0.48", 0.48, True),
        ("P@5 ≥ 0.48", 0.48, True),
        ("P@5=0.48", 0.48, True),
        ("P@5=0.48", 0.1 + 0.38, True),
        ("P@5=0.48", 0.47996, True),  # it reads 0.4800
        ("P@5=0.48", 0.47994, False),
        ("P@5>0.48", 0.48004, False),
        ("nDCG(gain=linear)@10>=0.7", 0.7, True),
        ("precision_at_5>0.48", 0.5, True),
        ("P@5>65%", 0.65, False),
        ("P@5 >= 65 %", 0.65, True),
        ("Recall@10>=7.5%", 0.075, True),
        ("EmptyResultRate<0.1", 0.1, False),
        ("EmptyResultRate<=10%", 0.1, True),
        ("EmptyResultRate ≤ 0.1", 0.2, False),
        ("EmptyResultRate=0.1", 0.05, True),  # to reach: at most, where less is better
        ("Brier<0.2", 0.19, True),
    ],
)
def test_a_target_is_held_against_the_value_that_is_read(
    target: str, value: float, met: bool
) -> None:
    (one,) = parse_targets([target])
    assert one.met(value) is met
    assert parse_targets([str(one)]) == (one,)
    (said,) = insights({str(one.measure): value}, {}, [one])
    assert said.good is met
    assert said.text.endswith(f" target of {one} {'✓' if met else '✗'}")


@pytest.mark.parametrize(
    "text", ["P@5", "P@5>", "P@5>1.5", "P@5>-1", "P@5>1_0", "=0.4", "P@5>101%", "P@5>5%%"]
)
def test_what_is_no_target_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_targets([text])


@pytest.mark.req("W7")
@pytest.mark.parametrize("text", ["P@5<0.4", "P@5<=0.4", "EmptyResultRate>=0.1", "ECE>0.1"])
def test_a_target_in_the_wrong_direction_is_no_good_news(text: str) -> None:
    with pytest.raises(UsageError, match=r"(more|less) is better"):
        parse_targets([text])


@pytest.mark.req("M1", "W7")
def test_a_report_takes_the_measures_that_a_run_takes() -> None:
    run = interviews()
    queries = [
        *run.test_set.queries[:11],
        replace(run.test_set.queries[11], relevant_docs=(), expect=Expect.NOTHING),
    ]
    run = replace(run, test_set=replace(run.test_set, queries=tuple(queries)))
    both = run_report(run, "nDCG@10 AUROC")
    assert [figure.measure for figure in both.content.overall][:2] == ["nDCG@10", "AUROC"]
    alone = run_report(run, "AUROC")
    assert alone.worst == ()
    for report in (both, alone):
        assert "| AUROC | " in run_markdown(report)
        assert "AUROC" in run_page(report)
        assert "AUROC" in run_csv(report)
        assert "AUROC" in {row[0] for row in run_tables(report)[0].rows}
    content = both.to_dict()
    assert content["aggregates"]["auroc"]["protocol"] == "all_queries"
    assert content["aggregates"]["ndcg_at_10"]["protocol"] == "positives_only"


@pytest.mark.req("W7")
def test_every_form_names_run_part_protocol_and_n() -> None:
    run = interviews()
    run = replace(run, info=replace(run.info, name="nightly build", part="holdout, patient"))
    report = run_report(run)
    text = run_markdown(report)
    assert "**Name**: nightly build  \n**Part**: holdout, patient  \n**Protocol**: " in text
    assert re.search(r"\| nDCG@10 \| [\d.]+ \| .+ \| 12 \| positives", text)
    page = Page(run_page(report)).text
    for word in ("nightly build", "holdout, patient", "positives_only"):
        assert word in page
    row = next(csv.DictReader(io.StringIO(run_csv(report))))
    assert (row["name"], row["part"], row["protocol"], row["n"]) == (
        "nightly build", "holdout, patient", "positives_only", "12",
    )  # fmt: skip
    table = run_tables(report)[0]
    assert table.notes == (
        "queries 12, name nightly build, part holdout, patient, protocol positives_only, answers",
    )
    assert table.rows[0][3:] == ("12", "positives_only")
    content = report.to_dict()
    assert (content["name"], content["part"]) == ("nightly build", "holdout, patient")


@pytest.mark.req("W7")
def test_a_report_is_the_same_twice() -> None:
    one, other = (run_page(run_report(interviews())) for _ in range(2))
    assert one == other


def test_the_page_says_how_sure_the_measures_of_answers_are() -> None:
    run = interviews()
    answered = replace(run.outcomes[0], answer=Answer("a", ("c",)), known_citations=frozenset("c"))
    report = run_report(replace(run, outcomes=(answered, *run.outcomes[1:])))
    shown = run_page(report)
    rows = answer_rows(report.answers, report.scores.sampling.level)
    assert ("CitationCoverage", "1.0000", "1") in [(row[0], row[1], row[3]) for row in rows]
    for _, share, interval, n in rows:
        line = f'<td>{share}</td><td class="n">{interval}</td><td class="t soft" colspan="2">'
        assert line in shown
        assert f"</td><td>{n}</td><td" in shown.partition(line)[2].partition("\n")[0]


def test_json_is_a_baseline_with_every_query() -> None:
    content = run_report(interviews()).to_dict()
    json.dumps(content, allow_nan=False)
    assert content["metrics"]["recall_at_10"] == pytest.approx(0.6667)
    assert content["test_set"]["checksum"]
    assert len(content["per_query"]) == 12
    assert set(content["per_query_type"]) == {"exact_term", "paraphrase", "complex_clinical"}


def test_csv_has_a_line_for_each_query_and_measure() -> None:
    rows = list(csv.DictReader(io.StringIO(run_csv(run_report(interviews(), "RR@10 P@5")))))
    assert len([row for row in rows if row["query"] != "all"]) == 24
    assert {row["measure"] for row in rows} == {"RR@10", "P@5"}


@pytest.mark.parametrize("make", ["run", "compare"])
def test_pages_stand_alone_and_let_no_text_become_markup(make: str) -> None:
    a, b = interviews("a", EVIL), interviews("b", EVIL)
    worse = tuple(replace(out, results=out.results[5:]) for out in b.outcomes)
    b = replace(b, outcomes=worse)
    if make == "run":
        text = run_page(run_report(b))
    else:
        result = ab(a, b)
        text = compare_page(a, b, result.compared, result)
    page = Page(text)
    assert page.open == []
    assert page.loads == []
    assert "script" not in page.tags
    assert "<script>alert(1)</script> | [x]" in page.text
    assert page.tags.count("svg") >= 2
    assert not re.search(r"url\(|@import", text)


def test_the_page_shows_both_rankings_of_what_got_worse() -> None:
    a = ranks("a", {"q1": 1, "q2": 2, "q3": 1})
    b = ranks("b", {"q1": None, "q2": 5, "q3": 1})
    report = compare_runs(a, b)
    assert [query.query_id for query in worst_queries(report)] == ["q1", "q2"]
    page = Page(compare_page(a, b, report))
    assert page.text.count("question q1") == 1
    assert page.text.count("grade 1") == 3  # q1 in a, q2 in both
    assert "svg" not in page.tags  # a comparison without statistics has no pictures


def test_markdown_of_a_comparison_is_escaped() -> None:
    a = ranks("a", {"q": 1}, config={"prompt": EVIL})
    text = render_report_md(compare_runs(a, ranks("b", {"q": 3}, config={"prompt": "v2"})))
    assert "<script>" not in text.replace("\\<script\\>", "")
    assert "@team" not in text
    assert "Losses (1)" in text


def test_markdown_of_an_ab_test_begins_with_the_verdict() -> None:
    a, b = ranks("a", {"q1": 1, "q2": 2}), ranks("b", {"q1": 1, "q2": 2})
    assert "**equivalent**: A and B are equivalent" in ab_markdown(ab(a, b))


def test_csv_of_a_comparison_is_defused() -> None:
    a = ranks("=HYPERLINK(1)", {"q": 1})
    (row,) = csv.DictReader(io.StringIO(compare_csv(compare_runs(a, ranks("b", {"q": None})))))
    assert row["run_a"] == "'=HYPERLINK(1)"
    assert (row["kind"], row["a_hit_rank"], row["b_hit_rank"]) == ("Regression", "1", "")


def test_settings_of_a_run_read_as_people_write_them() -> None:
    config = {
        "components": ["bm25", "dense"],
        "weights": {"bm25": 0.3, "dense": 0.7},
        "boosts": True,
        "rerank": False,
        "query_intent": None,
        "depth": 100,
    }
    told = dict(origin(ranks("a", {"q": 1}, config=config).info))
    assert told["components"] == "bm25, dense"
    assert told["weights"] == "bm25=0.3, dense=0.7"
    assert (told["boosts"], told["rerank"], told["query_intent"]) == ("on", "off", "—")
    assert told["depth"] == "100"
