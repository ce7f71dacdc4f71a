"""Does a name mean the same set to Python as to every other surface?"""

from __future__ import annotations

import builtins
import inspect
from pathlib import Path

import pytest

import assay
from assay.app.layout import Layout
from assay.app.testsets import save_new, split
from assay.app.workspace import open_workspace
from assay.evaluation.evaluate import evaluate
from tests.unit.testsets.samples import fifty


@pytest.fixture(autouse=True)
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    found = Layout(tmp_path)
    save_new(found, fifty())
    return found


def test_evaluate_looks_for_names_in_the_workspace(layout: Layout) -> None:
    assert assay.evaluate(lambda text: ["d1"], "fifty", "MRR")["MRR"] == 1.0
    split(layout, "fifty", seed=3)
    part = assay.evaluate(lambda text: ["d1"], "fifty", "MRR")
    assert len(part.test_set.queries) == 40, "who names a set does not mean what is held out"
    whole = assay.evaluate(lambda text: ["d1"], "fifty", "MRR", part="all")
    assert len(whole.test_set.queries) == 50
    held_out = assay.evaluate(retrieval_fn=lambda text: ["d1"], test_set="fifty", part="holdout")
    assert len(held_out.test_set.queries) == 10


def test_the_signature_is_that_of_the_function_below() -> None:
    assert inspect.signature(assay.evaluate) == inspect.signature(evaluate)
    assert assay.evaluate.__doc__ == evaluate.__doc__
    with pytest.raises(TypeError):
        assay.evaluate(lambda text: [])  # type: ignore[call-arg]


def test_a_search_takes_its_arguments_by_name() -> None:
    with assay.open(dense_model="none", splade_model="none") as workspace:
        workspace.add([{"doc_id": "d1", "text": "Aspirin eased it."}])
        options = assay.SearchOptions(k=1)
        (hit,) = workspace.search(query="aspirin", options=options).results
        assert hit.to_dict()["doc_id"] == "d1"
        assert workspace.answer(question="aspirin", options=options).question == "aspirin"
        assert workspace.why(query="aspirin", document="d1", options=options).verdict


def test_a_star_import_hides_nothing_of_python() -> None:
    names: dict[str, object] = {}
    exec("from assay import *", names)
    hidden = set(vars(builtins)).intersection(names) - {"__builtins__", "__doc__"}
    assert not hidden
    assert "open" in dir(assay)
    assert assay.open is open_workspace
