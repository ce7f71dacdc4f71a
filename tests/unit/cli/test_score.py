"""The command line of scoring, run in this process."""

import json
from pathlib import Path

import pytest

from assay.cli.main import run


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 1\nq2 0 c 1\nq3 0 d 0\n")
    (tmp_path / "one.run").write_text(
        "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\nq3 Q0 d 1 1 t\n"
    )
    (tmp_path / "two.run").write_text("q1 Q0 x 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 y 1 1 t\n")
    (tmp_path / "types.tsv").write_text("query_id\tgroup\nq1\texact_term\nq2\tparaphrase\n")
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["score", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_trec_format_is_trec_evals_three_columns(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(
        capsys,
        "--qrels",
        "qrels",
        "--run",
        "one.run",
        "-m",
        "map recall_10 P@1",
        "--format",
        "trec",
    )
    assert code == 0
    assert out == "map\tall\t0.6667\nrecall_10\tall\t0.6667\nP@1\tall\t0.6667\n"


def test_json_has_the_seeds_keys_and_null_for_undefined(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(
        capsys,
        "-q",
        "qrels",
        "-r",
        "one.run",
        "-m",
        "Recall@10 MRR MAP",
        "--per-query",
        "--ci",
        "--json",
    )
    assert code == 0
    found = json.loads(out)
    assert found["metrics"] == {"recall_at_10": 1.0, "mrr": 1.0, "mean_average_precision": 1.0}
    assert found["per_query"]["q3"]["recall_at_10"] is None
    assert found["aggregates"]["mrr"]["ci"] is not None
    assert found["summary"]["n"] == 3


def test_a_table_for_people(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(
        capsys, "-q", "qrels", "-r", "one.run", "--by", "types.tsv", "--per-query", "--ci"
    )
    assert code == 0
    assert "95% CI" in out
    assert "exact_term" in out
    assert "(none)" in out
    assert "q3" in out
    assert "Recall@5, Recall@10, Recall@20 are undefined for 1 query" in err


def test_several_runs_get_differences_and_verdicts(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(
        capsys, "-q", "qrels", "-r", "one.run", "-r", "two.run", "-m", "nDCG@10", "-f", "md"
    )
    assert code == 0
    assert "| measure | one.run | two.run |" in out
    assert "**two.run against one.run**" in out
    assert "inconclusive" in out


def test_settings_come_from_the_environment(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_MEASURES", "P@1")
    _, out, _ = call(capsys, "-q", "qrels", "-r", "one.run", "-f", "csv")
    assert out.splitlines()[1] == "one.run,,all,P@1,1.0000,,,2"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-q", "nope", "-r", "one.run"], "'nope' cannot be read"),
        (["-q", "qrels", "-r", "."], "is a folder"),
        (["-q", "qrels", "-r", "qrels"], "qrels:1: 4 columns instead of 6"),
        (["-q", "qrels", "-r", "one.run", "-m", "nDCGG@10"], "unknown measure 'nDCGG@10'"),
        (["-q", "qrels", "-r", "one.run", "--by", "nope"], "neither a file nor a field"),
        (["-q", "-", "-r", "-"], "only one of qrels and runs"),
        (["-q", "qrels", "-r", "one.run", "--match", "span"], "span matching needs the spans"),
        (["-q", "qrels", "-r", "one.run", "--depth", "0"], "depth"),
        (["-q", "qrels", "-r", "one.run", "--format", "xml"], "xml"),
        (["-q", "qrels"], "run"),
    ],
)
def test_what_cannot_work_ends_with_code_two_and_says_why(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert says in err


def test_errors_are_json_where_json_was_asked_for(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, "-q", "nope", "-r", "one.run", "--json")
    assert code == 2
    assert json.loads(err)["error"]["code"] == "not_found"


def test_one_file_twice_is_told_apart(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "-q", "qrels", "-r", "one.run", "-r", "one.run", "-m", "MRR", "--json")
    assert [entry["run"] for entry in json.loads(out)["runs"]] == ["one.run", "one.run (2)"]


def test_many_runs_are_rows_of_one_table(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A leaderboard in one call; nothing is tested against the first run."""
    code, out, _ = call(capsys, "qrels", "one.run", "two.run", "-m", "MAP P@1")
    assert code == 0
    rows = [line.split() for line in out.splitlines() if ".run" in line]
    assert rows == [["one.run", "1.0000", "1.0000"], ["two.run", "0.1250", "0.0000"]]
    assert "verdict" not in out


def test_a_pattern_stands_for_its_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "-q", "qrels", "*.run", "-m", "MAP", "--json")
    assert code == 0
    body = json.loads(out)
    assert [run_["run"] for run_ in body["runs"]] == ["one.run", "two.run"]
    assert body["failed"] == []
    code, _, err = call(capsys, "qrels", "*.trec")
    assert code == 2
    assert "no file matches '*.trec'" in err


def test_a_file_with_the_signs_of_a_pattern_is_that_file(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "a[1].run").write_text("q1 Q0 a 1 3 t\n")
    code, out, _ = call(capsys, "qrels", "a[1].run", "-m", "MAP", "--json")
    assert code == 0
    assert [run_["run"] for run_ in json.loads(out)["runs"]] == ["a[1].run"]


def test_a_bad_run_is_named_and_leaves_the_others_alone(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "bad.run").write_text("q1 Q0 a 1 x t\n")
    names = ("qrels", "bad.run", "one.run", "gone.run")
    code, out, err = call(capsys, *names, "-m", "MAP")
    assert code == 2
    assert "1.0000" in out
    assert "error: bad.run: bad.run:1: the score 'x' is not a finite number" in err
    assert "error: gone.run: 'gone.run' cannot be read" in err
    code, out, _ = call(capsys, *names, "-m", "MAP", "--json")
    assert code == 2
    body = json.loads(out)
    assert [run_["run"] for run_ in body["runs"]] == ["one.run"]
    assert [(row["run"], row["code"]) for row in body["failed"]] == [
        ("bad.run", "bad_format"),
        ("gone.run", "not_found"),
    ]
    code, out, err = call(capsys, *names, "-m", "MAP", "--compare")
    assert (code, out) == (2, "")
    assert "bad.run:1" in err
    code, out, _ = call(capsys, "qrels", "bad.run", "-m", "MAP")
    assert (code, out) == (2, "")


def test_runs_given_as_arguments_are_compared_if_asked(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = call(capsys, "-q", "qrels", "-r", "one.run", "-r", "two.run", "-m", "MAP", "--json")
    given = call(capsys, "qrels", "one.run", "two.run", "--compare", "-m", "MAP", "--json")
    assert given == wanted
    mixed = call(capsys, "-q", "qrels", "-r", "one.run", "two.run", "-m", "MAP", "--json")
    assert "comparison" not in json.loads(mixed[1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "no judgments were named"),
        (("-r", "one.run"), "no judgments were named"),
        (("qrels",), "no run was named"),
        (("-q", "qrels"), "no run was named"),
    ],
)
def test_what_was_not_named(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    code, _, err = call(capsys, *arguments)
    assert code == 2
    assert says in err


def test_notes_of_many_runs_are_joined(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "three.run").write_text("q9 Q0 a 1 3 t\nq1 Q0 x 1 3 t\n")
    _, _, err = call(capsys, "qrels", "one.run", "two.run", "three.run", "-m", "MAP")
    assert "queries are missing from the run: scored 0: two.run, three.run" in err
    assert "no relevant document was retrieved: three.run" in err
    assert "queries not in the qrels: left out: three.run" in err


def test_a_protocol_brings_its_measures(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "qrels", "one.run", "--protocol", "all_queries")
    assert code == 0
    assert "AUROC" in out
    assert "nDCG" not in out
