"""Is every experiment readable, and does it expect something?"""

from __future__ import annotations

import pytest

from assay.search.request import SearchOptions
from reproduce.experiment import Experiment, experiments
from reproduce.run import KINDS

FILES = list(experiments([]))


@pytest.mark.parametrize("experiment", FILES, ids=lambda one: one.name)
def test_an_experiment_has_a_known_kind_and_figures(experiment: Experiment) -> None:
    assert experiment.kind in KINDS
    assert experiment.runs
    for run in experiment.runs:
        assert run.expected
        assert all(0.0 < value < 1.0 for value in run.expected.values()), run.name


def test_options_of_a_run_are_those_of_a_search() -> None:
    nfcorpus = next(one for one in FILES if one.name == "nfcorpus")
    options = {run.name: run.options for run in nfcorpus.runs}
    assert options["rrf"] == SearchOptions()
    assert options["weighted .3/.2/.5"].weights == {"bm25": 0.3, "splade": 0.2, "dense": 0.5}
