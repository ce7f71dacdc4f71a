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
