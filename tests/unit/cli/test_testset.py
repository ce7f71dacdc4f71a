"""Do the commands of test sets say what a person needs, in text and in JSON?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run
from assay.testsets.load import load_test_set
from assay.testsets.save import save_test_set
from tests.unit.testsets.samples import HEAD, QUERY, fifty


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    save_test_set(fifty(), tmp_path / "testsets" / "fifty.yaml")
    return tmp_path


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["testset", *arguments])
    found = capsys.readouterr()
    return code, found.out, found.err


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code, out, _ = called(capsys, *arguments, "--json")
    assert code == 0
    return json.loads(out)


@pytest.mark.req("E4")
def test_validate_lists_every_problem(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "bad.yaml"
    path.write_text(HEAD + QUERY.replace("grade: 3", "grade: 7").replace("exact_term", "exact"))
    code, out, err = called(capsys, "validate", str(path))
    assert code == 2
    assert out.splitlines() == [
        f"{path}:6: q1: query_type 'exact' is unknown (did you mean exact_term? it is one of "
        "exact_term, paraphrase, complex_clinical)",
        f"{path}:8: q1: the grade is 7 (grades are 0, 1, 2 or 3, without quotes)",
    ]
    assert err == f"{path}: 2 problems\n"
    assert run(["testset", "validate", str(path), "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    assert (report["valid"], [one["line"] for one in report["problems"]]) == (False, [6, 8])


def test_validate_a_sound_set(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "validate", "fifty")
    assert code == 0
    assert out.endswith("fifty.yaml: sound; 50 queries, 50 judgments\n")
    assert answered(capsys, "validate", "fifty")["summary"]["counts"]["queries"] == 50


@pytest.mark.req("E4")
def test_validate_against_the_index(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "validate", "fifty", "--index")[0] == 2
    (home / "docs.jsonl").write_text('{"_id": "d1", "title": "t", "text": "warfarin dose"}\n')
    assert run(["ingest", str(home / "docs.jsonl"), "--no-index"]) == 0
    capsys.readouterr()
    assert called(capsys, "validate", "fifty", "--index")[0] == 0
    text = (home / "testsets" / "fifty.yaml").read_text()
    (home / "testsets" / "other.yaml").write_text(text.replace("d1", "d9", 1))
    code, out, _ = called(capsys, "validate", "other", "--index")
    assert (code, out.count("d9 is not in the index")) == (2, 1)


@pytest.mark.slow
def test_held_out_rows_tell_nothing_of_their_judgments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = called(capsys, "show", "test_set_v1")
    rows = [line.split() for line in out.splitlines() if re.match("q0", line)]
    assert {row[2] for row in rows} == {"evidence"}
    assert {row[3] for row in rows if row[4] == "yes"} == {"—"}
    assert "—" not in {row[3] for row in rows if row[4] != "yes"}


def test_a_folder_that_is_no_test_set_is_named_once(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "exp").mkdir()
    code, _, err = called(capsys, "import", str(home / "exp"))
    assert code == 2
    assert f"\n  {home / 'exp'}: no queries.jsonl here" in err


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "show", "fifty")
    assert code == 0
    assert "50: 20 exact_term, 15 complex_clinical, 15 paraphrase" in out
    assert answered(capsys, "show", "fifty")["checksum"] == fifty().checksum
    code, out, _ = called(capsys, "show", "fifty", "q001")
    assert out.startswith("q001  about q001\nexact_term · expect evidence")
    assert answered(capsys, "show", "fifty", "q001")["query_text"] == "about q001"
    assert called(capsys, "show", "fifty", "nope")[0] == 2


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["name"]: row["queries"] for row in answered(capsys, "list")["test_sets"]}
    assert rows["fifty"] == 50
    assert "v1       50" in called(capsys, "list")[1]


@pytest.mark.req("E13")
def test_split_is_stored_in_the_set(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "split", "fifty", "--seed", "5")
    path = home / "testsets" / "fifty.yaml"
    assert (code, out) == (0, f"evaluation 40, held_out 10 (seed 5)\nwrote {path}\n")
    found = load_test_set("fifty", folder=home / "testsets")
    assert found.held_out is not None
    assert (found.held_out.seed, len(found.held_out_queries)) == (5, 10)
    again = answered(capsys, "split", "fifty", "--seed", "5", "--output", str(home / "x.yaml"))
    assert tuple(again["held_out"]) == found.held_out.query_ids


@pytest.mark.slow
def test_a_shipped_set_is_not_hidden_by_its_split(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = called(capsys, "split", "test_set_v1", "--seed", "5", "--redraw")
    assert code == 2
    assert "test_set_v1 ships with assay" in said
    target = home / "testsets" / "my_test_set_v1.yaml"
    assert f"--output {target}" in said
    assert not (home / "testsets" / "test_set_v1.yaml").exists()
    options = ("--seed", "5", "--redraw", "--output", str(target))
    assert called(capsys, "split", "test_set_v1", *options)[0] == 0
    assert load_test_set(target).held_out_ids != load_test_set("test_set_v1").held_out_ids


@pytest.mark.req("M4")
def test_split_by_group(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = answered(capsys, "split", "fifty", "--by-group", "-o", str(home / "parts"))
    assert [len(report[name]) for name in ("train", "val", "test")] == [40, 5, 5]
    assert len(load_test_set(home / "parts" / "fifty-train.yaml").queries) == 40


def test_diff(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answered(capsys, "diff", "fifty", "fifty")["same"]
    text = (home / "testsets" / "fifty.yaml").read_text().replace("grade: 1", "grade: 2", 1)
    (home / "other.yaml").write_text(text.replace("about q002", "changed"))
    code, out, _ = called(capsys, "diff", "fifty", str(home / "other.yaml"))
    assert code == 0
    assert out.splitlines()[1:] == [
        "~ q002  query_text: 'about q002' -> 'changed'",
        "~ q001  d1: grade 1 -> grade 2",
    ]


def test_diff_masks_what_either_set_holds_out(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (home / "testsets" / "fifty.yaml").read_text().replace("grade: 1", "grade: 2", 1)
    text = text.replace("about q001", "changed")
    (home / "other.yaml").write_text(text + 'held_out:\n  seed: 1\n  query_ids: ["q001"]\n')
    asked = ("diff", "fifty", str(home / "other.yaml"))
    mask = "(held out: --held-out shows it, and the look is logged)"
    assert called(capsys, *asked)[1].splitlines()[1:] == [
        f"~ q001  query_text: {mask}",
        f"~ q001  judgments: {mask}",
        "~ held out: +1 -0",
    ]
    found = answered(capsys, *asked)
    assert not found["same"]
    assert "about q001" not in json.dumps(found)
    assert called(capsys, *asked, "--held-out")[1].splitlines()[1:3] == [
        "~ q001  query_text: 'about q001' -> 'changed'",
        "~ q001  d1: grade 1 -> grade 2",
    ]


@pytest.mark.parametrize("form", ["beir", "workflow", "golden-list", "json"])
def test_export_and_import(home: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    report = answered(capsys, "export", "fifty", "--form", form, "-o", str(home / "out"))
    source = home / "out" if form == "beir" else Path(report["written"][0])
    assert called(capsys, "import", str(source), "--name", "back", "--version", "v9")[0] == 0
    found = load_test_set("back", folder=home / "testsets")
    assert (len(found.queries), found.version) == (50, "v9")
    code, _, err = called(capsys, "import", str(source), "--name", "back")
    assert (code, "already exists" in err) == (2, True)
    assert called(capsys, "import", str(source), "--name", "back", "--force")[0] == 0


def test_export_to_trec_scores_with_the_ruler(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import assay

    assert called(capsys, "export", "fifty", "--form", "trec")[0] == 2
    assert called(capsys, "export", "fifty", "--form", "trec", "-o", str(home))[0] == 0
    run_ = {query.query_id: {"d1": 1.0} for query in fifty().queries}
    assert assay.score(str(home / "fifty.qrels"), run_, "RR")["RR"] == 1.0


def test_export_prints_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = called(capsys, "export", "fifty")
    assert (code, err) == (0, "")
    assert out.startswith("name: fifty\nversion: v1\nqueries:\n")


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(called(capsys, "schema")[1]) == answered(capsys, "schema")
