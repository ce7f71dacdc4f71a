"""The demo, the catalog and the measures of decisions."""

import json
from pathlib import Path

import pytest

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
