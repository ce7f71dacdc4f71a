"""Does every reported number say what it was computed over?"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from assay.evaluation.bundle import Recipe, as_text, content_of, master, usual_recipe
from assay.evaluation.insights import usual_targets
from assay.evaluation.report import run_report
from assay.evaluation.scores import shown
from assay.model.answers import Answer, Expect
from assay.model.ranking import Match
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring
from assay.model.testset import SpeakerFilter
from assay.render.report_text import content_markdown, run_markdown
from tests.unit.evaluation.stored import TYPES, golden, outcome, stored, suite

SPEAKERS = (SpeakerFilter.PATIENT, SpeakerFilter.CLINICIAN)


@pytest.mark.req("M6")
def test_measures_of_answers_count_what_they_look_at_and_have_an_interval() -> None:
    queries = [golden(f"q{at}", "d") for at in range(8)]
    queries += [golden(f"r{at}", expect=Expect.REFUSAL) for at in range(2)]
    outcomes = [
        outcome(q.query_id, "d", answer=Answer("x", (), q.expect is Expect.EVIDENCE, None))
        for q in queries
    ]
    run = stored("run", suite(*queries), outcomes)
    recipe = Recipe("nDCG@10 RefusalCorrectness Groundedness EmptyResultRate", Sampling())
    entries = {e["measure"]: e for e in master([run], recipe)["metrics"] if e["group"] == "all"}
    assert {name: entry["n"] for name, entry in entries.items()} == {
        "nDCG@10": 8,
        "RefusalCorrectness": 2,
        "Groundedness": 0,
        "EmptyResultRate": 10,
    }
    for entry in entries.values():
        assert entry["ci"] is not None or entry["reason"]
    assert entries["RefusalCorrectness"]["ci"] == [0.3424, 1.0]
    assert "must_contain" in entries["Groundedness"]["reason"]
    before = {e["measure"]: e for e in master([run], recipe, form=1)["metrics"]}
    assert before["RefusalCorrectness"]["ci"] is None
    assert "no interval" in before["RefusalCorrectness"]["reason"]


@pytest.mark.req("M6")
def test_a_value_without_an_interval_says_why() -> None:
    run = stored("run", suite(golden("q", "d")), [outcome("q", "d")])
    entry, empty = master([run], Recipe("nDCG@10", Sampling()))["metrics"]
    assert empty["measure"] == "EmptyResultRate"
    assert (entry["value"], entry["ci"], entry["n"]) == (1.0, None, 1)
    assert entry["reason"] == "one query has no spread"


@pytest.mark.req("M6")
def test_a_report_is_written_from_the_master_and_from_nothing_else() -> None:
    """Every number of the report on a run, the table by speaker included, is one of the master."""
    queries = [
        golden(f"q{at}", "d", speaker_filter=SPEAKERS[at % 2], query_type=TYPES[at % 3])
        for at in range(12)
    ]
    queries += [golden("n", expect=Expect.NOTHING, relevant_docs=())]
    outcomes = [outcome(q.query_id, *("x" * (at % 4)), "d") for at, q in enumerate(queries)]
    run = stored("run", suite(*queries), outcomes, part="val")
    run = replace(run, info=replace(run.info, name="nightly"))
    content = json.loads(as_text(master([run], usual_recipe([run]))))
    text = content_markdown(content_of(content, "run"))
    assert text == run_markdown(run_report(run, targets=usual_targets()))
    figures = {shown(entry["value"]) for entry in content["metrics"]}
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")]
    cells = [cell.strip() for row in rows for cell in row[1:]]
    said = {cell for cell in cells if re.fullmatch(r"[01]\.\d{4}", cell)}
    assert len(said) > 5
    assert said <= figures
    for line in ("**Name**: nightly", "**Part**: val", "**Protocol**: positives_only, all_queries"):
        assert line in text
    assert "| Speaker | P@5 | Recall@5 | Queries |" in text
    assert {entry["breakdown"] for entry in content["metrics"]} == {
        None,
        "query_type",
        "speaker_filter",
    }


@pytest.mark.req("M6")
def test_a_run_is_bundled_by_the_rule_that_it_is_scored_by() -> None:
    queries = [golden(f"q{at}", "D", group=f"post{at // 2}") for at in range(6)]
    scoring = Scoring(match=Match.DOC, by_group=True, sampling=Sampling(level=0.9, seed=7))
    outcomes = [outcome(q.query_id, "X:chunk_0", "D:chunk_3") for q in queries]
    run = stored("run", suite(*queries), outcomes, scoring=scoring)
    content = master([run], usual_recipe([run]))
    entry = next(one for one in content["metrics"] if one["measure"] == "MRR")
    assert (entry["value"], entry["seed"]) == (0.5, 7)
    text = content_markdown(content_of(content, "run"))
    assert "| Metric | Value | 90% CI | n | Protocol |" in text
    assert "results are matched by document; queries of one group are resampled together" in text


@pytest.mark.req("M1", "M6")
def test_a_protocol_leaves_out_its_measures() -> None:
    queries = [golden("a", "d"), golden("n", expect=Expect.NOTHING, relevant_docs=())]
    outcomes = [outcome(q.query_id, "d") for q in queries]
    ranked, decided = (
        stored(name, suite(*queries), outcomes, scoring=Scoring(protocol=name))
        for name in ("positives_only", "all_queries")
    )
    content = master([ranked, decided], usual_recipe([ranked, decided]))
    named = {(entry["run"], entry["protocol"]) for entry in content["metrics"]}
    assert named == {
        ("positives_only", "positives_only"),
        ("positives_only", "answers"),
        ("all_queries", "all_queries"),
        ("all_queries", "answers"),
    }
