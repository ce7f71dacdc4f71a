"""Which file does a name mean?"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

import assay
from assay.errors import MissingFileError, ProblemsError
from assay.testsets.load import (
    find_test_set,
    list_test_sets,
    read_test_set,
    shipped_folder,
)
from assay.testsets.save import save_test_set
from assay.testsets.schema import schema
from assay.testsets.split import hold_out
from tests.unit.testsets.samples import HEAD, QUERY, fifty


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    save_test_set(fifty(), tmp_path / "home" / "testsets" / "fifty.yaml")
    return tmp_path / "home"


@pytest.mark.req("E4")
def test_load_test_set_from_yaml(home: Path) -> None:
    """GIVEN a file with 50 queries WHEN loaded by name THEN 50 queries have all their fields."""
    found = assay.load_test_set("fifty")
    assert len(found.queries) == 50
    assert all(query.query_id and query.query_text for query in found.queries)
    kinds = [str(query.query_type) for query in found.queries]
    counts = [kinds.count(name) for name in ("exact_term", "paraphrase", "complex_clinical")]
    assert counts == [20, 15, 15]
    grades = [item.grade for query in found.queries for item in query.relevant_docs]
    assert set(grades) <= {0, 1, 2, 3}


def test_a_path_loads_too(home: Path) -> None:
    path = home / "testsets" / "fifty.yaml"
    assert assay.load_test_set(path) == assay.load_test_set(str(path)) == fifty()


def test_the_workspace_hides_a_shipped_set_of_the_same_name(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped"
    for name in ("fifty", "other"):
        save_test_set(fifty(), shipped / f"{name}.yaml")
    monkeypatch.setattr("assay.testsets.load.shipped_folder", lambda: shipped)
    assert list_test_sets(home / "testsets") == {
        "fifty": home / "testsets" / "fifty.yaml",
        "other": shipped / "other.yaml",
    }


def test_an_unknown_name_is_answered_with_the_known_ones(home: Path) -> None:
    with pytest.raises(MissingFileError, match=r"no test set 'fity' \(did you mean fifty"):
        assay.load_test_set("fity")
    with pytest.raises(MissingFileError, match=r"known: .*fifty"):
        assay.load_test_set("zzz")
    with pytest.raises(MissingFileError, match="no file"):
        assay.load_test_set("no/such/file")


@pytest.mark.parametrize("name", ["..", "../fifty", "\0", "a" * 5000, "", "-"])
def test_names_do_not_leave_the_folder(home: Path, name: str) -> None:
    with pytest.raises(MissingFileError):
        find_test_set(name)


def test_what_is_no_file_is_refused(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(MissingFileError, match="not a regular file"):
        assay.load_test_set(tmp_path / "pipe.yaml")


def test_a_bad_file_is_named_with_its_lines(home: Path) -> None:
    path = home / "testsets" / "bad.yaml"
    path.write_text(HEAD + QUERY.replace("grade: 3", "grade: 7"))
    with pytest.raises(ProblemsError) as caught:
        assay.load_test_set("bad")
    assert f"{path}:8: q1: the grade is 7" in caught.value.message


def test_a_skipped_query_is_logged(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = home / "testsets" / "some.yaml"
    path.write_text(HEAD + QUERY + "  - {query_id: q2, query_text: unjudged}\n")
    with caplog.at_level(logging.WARNING, "assay.testset"):
        assert assay.load_test_set("some", lenient=True).skipped == ("q2",)
    assert "q2: no ground truth" in caplog.text


def test_shipped_sets_are_sound() -> None:
    for path in shipped_folder().glob("*.yaml"):
        assert assay.load_test_set(path).name == path.stem


def test_the_schema_knows_every_key_that_is_read() -> None:
    from assay.testsets import native

    rows = schema()["properties"]
    assert set(rows) == {*native.SET_KEYS, "$schema"}
    queries = rows["queries"]["items"]["properties"]
    assert set(queries) == {*native.QUERY_KEYS, native.NOTE_KEY}
    judgments = queries["relevant_docs"]["items"]["anyOf"][1]["properties"]
    assert set(judgments) == {*native.JUDGMENT_KEYS, native.NOTE_KEY}
    assert set(rows["held_out"]["properties"]) == set(native.HELD_OUT_KEYS)


@pytest.mark.req("E4")
def test_scenario_load_test_set_from_yaml() -> None:
    """GIVEN test_set_v1 WHEN loaded by name THEN it has 50 queries, graded 0-3 and stratified."""
    found = assay.load_test_set("test_set_v1")
    assert len(found.queries) == 50
    kinds = [str(query.query_type) for query in found.queries]
    counts = {kind: kinds.count(kind) for kind in kinds}
    assert counts == {"exact_term": 20, "paraphrase": 15, "complex_clinical": 15}
    for query in found.queries:
        assert query.query_id
        assert query.query_text
        assert all(item.id and item.grade in (0, 1, 2, 3) for item in query.relevant_docs)


@pytest.mark.slow
@pytest.mark.req("E4")
def test_scenario_test_set_validation() -> None:
    """Every query has a relevant document, all grades are from 0 to 3, query ids are unique."""
    found = assay.load_test_set("test_set_v1")
    assert all(query.judged for query in found.queries)
    assert len(found.by_id) == 50
    assert read_test_set(shipped_folder() / "test_set_v1.yaml").problems == ()


@pytest.mark.req("E13")
def test_scenario_held_out_validation_set() -> None:
    """80 % (40 queries) are used for evaluation, 20 % (10 queries) are held out."""
    found = assay.load_test_set("test_set_v1")
    assert (len(found.evaluation_queries), len(found.held_out_queries)) == (40, 10)
    assert found.held_out is not None
    assert hold_out(found, seed=found.held_out.seed) == found
