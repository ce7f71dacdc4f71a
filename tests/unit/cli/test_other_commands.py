"""The demo, the catalog and the measures of decisions."""

import json
from pathlib import Path

import pytest

from assay.cli import console
from assay.cli.demo import COMPARED
from assay.cli.main import run
from assay.measures.catalog import DEFINITIONS
from bench.make_example import FOLDER, files


def test_the_shipped_example_is_what_its_script_writes() -> None:
    for name, text in files().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, name


def test_demo_shows_intervals_groups_and_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--no-search"]) == 0
    out = capsys.readouterr().out
    for words in ("95% CI", "exact_term", "paraphrase", "complex_clinical", "better", "Try next"):
        assert words in out


def test_demo_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["runs"]) == 2
    assert set(found["runs"][0]["groups"]) == {"exact_term", "paraphrase", "complex_clinical"}


@pytest.mark.req("E8")
def test_demo_and_readme_show_the_same_verdicts_and_say_what_changes_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "112")
    console._console.cache_clear()
    assert run(["demo", "--no-search"]) == 0
    console._console.cache_clear()
    out = capsys.readouterr().out
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    assert f'-m "{COMPARED}"' in readme
    rows = [line.split() for line in readme.splitlines() if line.endswith("  better")]
    assert len(rows) == 2
    shown = [line.split() for line in out.splitlines()]
    assert all(row in shown for row in rows)
    assert "Without -m those are five" in out

    assert run(["demo", "--paths"]) == 0
    qrels, before, after = capsys.readouterr().out.split()
    assert run(["score", "--qrels", qrels, "--run", before, "--run", after, "--json"]) == 0
    usual = json.loads(capsys.readouterr().out)["comparison"]["contrasts"]
    assert (usual[0]["measure"], usual[0]["comparisons"]) == ("nDCG@10", 5)
    assert (usual[0]["significant"], usual[0]["verdict"]) == (True, "inconclusive")
    assert "corrected for 5 comparisons" in usual[0]["significance"]


def test_demo_tells_where_its_files_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--paths"]) == 0
    assert all(Path(line).is_file() for line in capsys.readouterr().out.split())


def test_measures_lists_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measures"]) == 0
    out = capsys.readouterr().out
    assert all(definition.name in out for definition in DEFINITIONS)
    assert run(["measures", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["measures"]
    assert [entry["name"] for entry in listed] == [definition.name for definition in DEFINITIONS]


def test_classify_reads_csv_and_json_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("id,label,score,post\n1,1,0.9,a\n2,0,0.8,a\n3,1,0.7,b\n4,0,0.1,b\n")
    assert run(["classify", str(table), "-m", "AUROC Brier", "--cluster", "post", "--json"]) == 0
    from_csv = json.loads(capsys.readouterr().out)
    lines = tmp_path / "labels.jsonl"
    lines.write_text(
        '{"label": true, "score": 0.9}\n{"label": 0, "score": 0.8}\n'
        '{"label": 1, "score": 0.7}\n{"label": 0, "score": 0.1}\n'
    )
    assert run(["classify", str(lines), "-m", "AUROC Brier", "--json"]) == 0
    from_json = json.loads(capsys.readouterr().out)
    assert from_csv["metrics"] == from_json["metrics"]
    assert from_csv["metrics"]["auroc"] == 0.75
    assert run(["classify", str(table)]) == 0
    assert "Sensitivity" in capsys.readouterr().out


@pytest.mark.req("M5")
def test_classify_draws_the_intervals_that_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = [3.0 + 0.2 * at for at in range(9)] + [-2.0] + [-1.5 + 0.1 * at for at in range(40)]
    rows = [f"{int(at < 10)},{score:.2f}" for at, score in enumerate(scores)]
    table = tmp_path / "skewed.csv"
    table.write_text("\n".join(["label,score", *rows]) + "\n")
    low = {}
    for method in ("bca", "percentile"):
        assert run(["classify", str(table), "-m", "AUROC", "--ci-method", method, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["sampling"]["method"], found["aggregates"]["auroc"]["ci_method"]) == (
            method,
            method,
        )
        low[method] = found["aggregates"]["auroc"]["ci"][0]
        assert run(["classify", str(table), "-m", "AUROC", "--ci-method", method]) == 0
        name = {"bca": "BCa", "percentile": "percentile"}[method]
        assert f"intervals: {name} bootstrap" in capsys.readouterr().err
    assert low["bca"] < low["percentile"] - 0.02


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("label,score\n2,0.5\n", ":2: the label '2' is neither 0 nor 1"),
        ("label,score\n1,nan\n", ":2: the score 'nan' is not a finite number"),
        ("label,points\n1,0.5\n", "no 'score' among: label, points"),
        ("", "there is no row"),
    ],
)
def test_classify_names_the_bad_line(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "labels.csv"
    table.write_text(text)
    assert run(["classify", str(table)]) == 2
    assert says in capsys.readouterr().err
