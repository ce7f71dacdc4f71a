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


def posts(count: int) -> str:
    """Queries about posts, four about each."""
    return "".join(
        f"""  - query_id: q{at}
    query_text: question {at}
    group: post{at // 4}
    relevant_docs: [{{doc_id: d{at}, grade: 1}}]
"""
        for at in range(count)
    )


@pytest.mark.req("M4")
def test_a_post_is_held_out_as_a_whole(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "testsets" / "posts.yaml").write_text(HEAD.replace("t\n", "posts\n", 1) + posts(40))
    found = answered(capsys, "split", "posts")
    held = {int(one[1:]) // 4 for one in found["held_out"]}
    assert len(found["held_out"]) == 8
    assert not held & {int(one[1:]) // 4 for one in found["evaluation"]}
    assert found["notes"] == []


@pytest.mark.req("M4")
def test_a_run_of_a_part_is_a_run_of_that_part(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "testsets" / "posts.yaml").write_text(HEAD.replace("t\n", "posts\n", 1) + posts(40))
    answered(capsys, "split", "posts", "--by-group")
    (home / "r.trec").write_text("".join(f"q{at} Q0 d{at} 1 1.0 r\n" for at in range(40)))
    for name in ("val", "test"):
        engine = ["--run", str(home / "r.trec"), "--tag", name]
        assert run(["eval", "run", "-t", f"posts-{name}", *engine]) == 0
        assert run(["eval", "bundle", name, "-o", str(home / name)]) == 0
        capsys.readouterr()
        assert run(["eval", "show", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["part"] == name
        master = json.loads((home / name / "metrics_master.json").read_text())
        assert {entry["split"] for entry in master["metrics"]} == {name}
    assert run(["eval", "history", "posts-val", "--part", "val", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 1


@pytest.mark.req("M4")
def test_files_that_overlap_are_found_out(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "dev.yaml").write_text(HEAD + posts(20))
    twin = posts(40).replace("query_id: q", "query_id: x").replace("question 5\n", "QUESTION  5\n")
    (home / "test.yaml").write_text(HEAD.replace("t\n", "u\n", 1) + twin)
    code, out, _ = called(capsys, "overlap", str(home / "dev.yaml"), str(home / "test.yaml"))
    assert code == 3
    assert "t and u: 20 query texts are in both: q0 = x0, q1 = x1" in out
    assert "t and u: 5 groups are in both: post0" in out
    assert answered(capsys, "overlap", str(home / "dev.yaml"), "fifty")["disjoint"]
    assert called(capsys, "overlap", "fifty")[0] == 2
    (home / "r.trec").write_text("q0 Q0 d0 1 1.0 r\n")
    sets = [part for name in ("dev", "test") for part in ("-t", str(home / f"{name}.yaml"))]
    assert run(["eval", "run", *sets, "--run", str(home / "r.trec")]) == 0
    assert "t and u: 20 query texts are in both" in capsys.readouterr().err


def test_the_part_of_a_set_is_a_name(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "odd.yaml"
    path.write_text("provenance: {part: 'val, overall'}\n" + HEAD + QUERY)
    code, out, _ = called(capsys, "validate", str(path))
    assert code == 2
    assert "the part 'val, overall' of the provenance is not a name" in out


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
