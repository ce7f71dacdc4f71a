"""Is every experiment readable, and does it expect something?"""

from __future__ import annotations

import pytest

from assay.search.request import SearchOptions
from reproduce.experiment import HERE, Experiment, experiments
from reproduce.questions import questions
from reproduce.run import KINDS

FILES = list(experiments([]))


@pytest.mark.parametrize("experiment", FILES, ids=lambda one: one.name)
def test_an_experiment_has_a_known_kind_and_figures(experiment: Experiment) -> None:
    assert experiment.kind in KINDS
    assert experiment.runs
    for run in experiment.runs:
        assert run.expected
        assert all(value >= 0.0 for value in run.expected.values()), run.name


def test_options_of_a_run_are_those_of_a_search() -> None:
    nfcorpus = next(one for one in FILES if one.name == "nfcorpus")
    options = {run.name: run.options for run in nfcorpus.runs}
    assert options["rrf"] == SearchOptions()
    assert options["weighted .3/.2/.5"].weights == {"bm25": 0.3, "splade": 0.2, "dense": 0.5}


def test_a_subject_is_either_for_choosing_or_for_reporting() -> None:
    asked = questions(HERE / "trust.yaml")
    assert len(asked) >= 120
    assert len({one.ask for one in asked}) == len(asked)
    assert {one.part for one in asked} == {"dev", "test"}
    parts: dict[str, set[str]] = {}
    for one in asked:
        for document in one.documents or (one.subject,):
            parts.setdefault(document, set()).add(one.part)
    assert all(len(each) == 1 for each in parts.values())


def test_every_question_has_sections_where_its_subject_has_documents() -> None:
    for one in questions(HERE / "trust.yaml"):
        assert bool(one.sections) == bool(one.documents) == (one.kind != "nothing"), one.ask
        assert one.intents, one.ask
