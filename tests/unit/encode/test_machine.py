"""Is the way to run a model chosen by what is fastest here, once, and kept?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.encode import machine
from assay.encode.encoders import open_hybrid
from assay.encode.hybrid import MANY_TEXTS
from assay.encode.machine import Way, chosen, fastest, shortest, ways
from assay.encode.shelf import Shelf
from tests.unit.encode.tiny_hybrid import write_hybrid

ONE, TWO = Way(), Way(2)


@pytest.fixture
def inexact(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor without exact 8-bit products."""
    monkeypatch.setattr(machine, "has_exact_products", lambda: False)


class Runner:
    """Opens nothing, and takes the time that it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: dict[Way, float]) -> None:
        self.tried: list[Way] = []
        self._seconds = seconds
        monkeypatch.setattr(machine, "shortest", lambda work: work())

    def __call__(self, way: Way) -> Callable[[], object]:
        self.tried.append(way)
        return lambda: self._seconds[way]


def test_what_is_worth_trying() -> None:
    assert ways(exact=True, cores=2) == (ONE,)
    assert ways(exact=True, cores=8) == (ONE, TWO)
    assert ways(exact=False, cores=1) == (ONE,)
    assert ways(exact=False, cores=2) == (ONE, TWO)


def test_another_way_must_be_clearly_faster() -> None:
    assert fastest({ONE: 10.0}) == ONE
    assert fastest({ONE: 10.0, TWO: 9.0}) == ONE
    assert fastest({ONE: 10.0, TWO: 7.5}) == TWO


def test_the_shortest_run_counts_and_the_first_does_not() -> None:
    now = iter([0.0, 5.0, 5.0, 7.0, 7.0, 8.5, 8.5, 12.0, 12.0, 15.0])
    calls: list[int] = []
    assert shortest(lambda: calls.append(1), lambda: next(now)) == 1.5
    assert len(calls) == machine.ROUNDS + 1


def test_where_there_is_one_way_nothing_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "has_exact_products", lambda: True)
    runner = Runner(monkeypatch, {})
    assert chosen(tmp_path / "kept", "model", 2, runner) == ONE
    assert not runner.tried
    assert not (tmp_path / "kept").exists()


@pytest.mark.usefixtures("inexact")
def test_the_choice_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "machine.json"
    runner = Runner(monkeypatch, {ONE: 20.0, TWO: 11.0})
    assert chosen(kept, "model", 2, runner) == TWO
    assert runner.tried == [ONE, TWO]
    assert chosen(kept, "model", 2, Runner(monkeypatch, {})) == TWO
    # another model, and another machine, are measured for themselves
    assert chosen(kept, "other", 2, Runner(monkeypatch, {ONE: 9.0, TWO: 11.0})) == ONE
    monkeypatch.setattr(machine, "this_machine", lambda cores: "another")
    assert chosen(kept, "model", 2, Runner(monkeypatch, {ONE: 9.0, TWO: 11.0})) == ONE
    assert len(json.loads(kept.read_text())) == 3


@pytest.mark.usefixtures("inexact")
@pytest.mark.parametrize("content", ["", "[]", "{", '{"KEY": 7}', '{"KEY": {"products": "x"}}'])
def test_a_damaged_file_is_measured_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    kept = tmp_path / "machine.json"
    key = f"model on {machine.this_machine(2)}"
    kept.write_text(content.replace("KEY", key))
    assert chosen(kept, "model", 2, Runner(monkeypatch, {ONE: 20.0, TWO: 11.0})) == TWO
    assert json.loads(kept.read_text())[key] == {"threads": 2}


@pytest.mark.usefixtures("inexact")
def test_without_a_workspace_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(monkeypatch, {ONE: 20.0, TWO: 11.0})
    assert chosen(tmp_path / "none/machine.json", "model", 2, runner) == TWO
    assert chosen(None, "model", 2, runner) == TWO
    assert not any(tmp_path.iterdir())


def test_the_processor_is_part_of_the_key(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text("processor : 0\nmodel name\t: Some CPU 7\n")
    assert machine.this_machine(2, path).startswith("Some CPU 7, 2 cores, onnxruntime ")
    assert machine.this_machine(2, tmp_path / "none") != machine.this_machine(4, tmp_path / "none")


@pytest.mark.usefixtures("inexact")
def test_the_choice_changes_no_digit_of_a_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_hybrid(tmp_path / "model")
    found = []
    for way in (ONE, TWO):
        monkeypatch.setattr(machine, "fastest", lambda seconds, way=way: way)
        model = open_hybrid(str(folder), Shelf(), threads=2)
        assert model is not None
        found.append(model.dense.encode(["aspirin"], "query"))
        np.testing.assert_array_equal(found[-1], model.dense.encode(["aspirin"], "passage"))
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.usefixtures("inexact")
def test_an_ingest_measures_so_that_the_first_search_need_not(tmp_path: Path) -> None:
    folder, kept = write_hybrid(tmp_path / "model"), tmp_path / "machine.json"
    model = open_hybrid(str(folder), Shelf(), threads=2, kept=kept)
    assert model is not None
    model.encode_both(["aspirin"])
    assert not kept.exists()
    model.encode_both([f"aspirin {number}" for number in range(MANY_TEXTS)])
    assert kept.is_file()
