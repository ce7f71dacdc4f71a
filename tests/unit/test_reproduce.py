"""Is every experiment readable, and does it expect something?"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from assay.search.request import SearchOptions
from reproduce import experiment as experiment_files
from reproduce.experiment import HERE, Experiment, experiments, read, write
from reproduce.questions import questions, text, texts
from reproduce.run import KINDS

FILES = list(experiments([]))


@pytest.mark.parametrize("experiment", FILES, ids=lambda one: one.name)
def test_an_experiment_has_a_known_kind_and_figures(experiment: Experiment) -> None:
    assert experiment.kind in KINDS
    assert experiment.runs
    for run in experiment.runs:
        assert run.expected
        least = -1.0 if experiment.kind == "judging" else 0.0  # rank correlations
        assert all(value >= least for value in run.expected.values()), run.name


def test_options_of_a_run_are_those_of_a_search() -> None:
    nfcorpus = next(one for one in FILES if one.name == "nfcorpus")
    options = {run.name: run.options for run in nfcorpus.runs}
    assert options["rrf"] == SearchOptions(synonyms=False)
    assert options["weighted .3/.2/.5"].weights == {"bm25": 0.3, "splade": 0.2, "dense": 0.5}


@pytest.mark.parametrize(("name", "least"), [("trust", 120), ("answers", 200)])
def test_a_subject_is_either_for_choosing_or_for_reporting(name: str, least: int) -> None:
    asked = questions(HERE / f"{name}.yaml")
    assert len(asked) >= least
    assert len({one.ask for one in asked}) == len(asked)
    assert {one.part for one in asked} == {"dev", "test"}
    parts: dict[str, set[str]] = {}
    for one in asked:
        for document in one.documents or (one.subject,):
            parts.setdefault(document, set()).add(one.part)
    assert all(len(each) == 1 for each in parts.values())


@pytest.mark.parametrize("name", ["trust", "heldout", "unseen"])
def test_every_question_has_sections_where_its_subject_has_documents(name: str) -> None:
    for one in questions(HERE / f"{name}.yaml"):
        assert bool(one.sections) == bool(one.documents) == (one.kind != "nothing"), one.ask


def test_every_question_that_rules_are_chosen_by_says_what_it_asks_for() -> None:
    for one in questions(HERE / "trust.yaml"):
        assert one.intents or one.kind == "nothing", one.ask


def test_what_is_held_out_is_in_no_other_set() -> None:
    chosen_by = {one.ask for name in ("trust", "answers") for one in questions(_file(name))}
    held = [one.ask for name in ("heldout", "heldout_answers") for one in questions(_file(name))]
    assert len({*held}) == len(held) >= 160
    assert not chosen_by & {*held}
    assert not {*texts(_file("trust"), "trials")} & {*texts(_file("heldout"), "trials")}


def test_what_is_unseen_is_in_no_other_set() -> None:
    """Neither its questions nor its trials; there are enough of both kinds of questions."""
    sets = ("trust", "answers", "heldout", "heldout_answers")
    others = {one.ask for name in sets for one in questions(_file(name))}
    searches, asked = questions(_file("unseen")), questions(_file("unseen_answers"))
    unseen = [one.ask for one in (*searches, *asked)]
    assert len({*unseen}) == len(unseen)
    assert len(searches) >= 150
    assert len(asked) >= 90
    assert not others & {*unseen}
    trials = {trial for name in ("trust", "heldout") for trial in texts(_file(name), "trials")}
    assert not trials & {*texts(_file("unseen"), "trials")}


@pytest.mark.parametrize(
    ("name", "over"),
    [("answers", "trust"), ("heldout_answers", "heldout"), ("unseen_answers", "unseen")],
)
def test_answers_are_asked_over_the_collection_of_a_search(name: str, over: str) -> None:
    assert text(_file(name), "over") == over


def _file(name: str) -> Path:
    return HERE / f"{name}.yaml"


def test_a_subject_is_in_the_same_part_of_both_sets() -> None:
    parts = {one.subject: one.part for one in questions(HERE / "trust.yaml")}
    for one in questions(HERE / "answers.yaml"):
        assert one.part == parts.get(one.subject, one.part), one.subject


@pytest.mark.parametrize("name", ["answers", "heldout_answers", "unseen_answers"])
def test_every_question_with_an_answer_says_which_facts_belong_to_it(name: str) -> None:
    for one in questions(HERE / f"{name}.yaml"):
        assert bool(one.answer) == (one.kind == "right"), one.ask
        assert bool(one.documents) == (one.kind != "absent"), one.ask


def test_the_page_on_boosts_has_the_figures_of_the_experiments() -> None:
    """Design/033: every figure of four decimals, without and with boosts."""
    pairs = set()
    for name in ("nli4ct", "rct_tables", "spl_labels", "shipped"):
        runs = {run.name: run.expected for run in read(HERE / f"{name}.yaml").runs}
        for run, without in runs.items():
            lifted = runs.get(run.replace("rrf", "rrf with boosts", 1), {})
            pairs |= {(without[figure], lifted[figure]) for figure in without if figure in lifted}
    page = (HERE.parent / "design" / "033-intents-and-boosts.md").read_text(encoding="utf-8")
    shown = re.findall(r"(\d?\.\d{4}) → (\d?\.\d{4})", page)
    assert len(shown) > 25
    assert {(float(one), float(other)) for one, other in shown} <= pairs


@pytest.mark.parametrize("name", ["nfcorpus", "trust"])
def test_what_was_found_takes_the_place_of_what_was_expected(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where several figures are on one line; the rest of the file stays as it is."""
    path = tmp_path / f"{name}.yaml"
    shutil.copy(HERE / path.name, path)
    monkeypatch.setattr(experiment_files, "HERE", tmp_path)
    before = read(path)
    monkeypatch.setattr(experiment_files, "this_processor", lambda: before.processor)
    write(before, {run.name: run.expected for run in before.runs})
    assert path.read_text("utf-8") == (HERE / path.name).read_text("utf-8")
    found = {run.name: dict.fromkeys(run.expected, 7.0) for run in before.runs}
    write(before, found)
    after = read(path)
    assert {run.name: run.expected for run in after.runs} == found
    assert [run.options for run in after.runs] == [run.options for run in before.runs]
