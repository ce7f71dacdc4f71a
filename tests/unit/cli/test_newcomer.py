"""What does somebody see who types something for the first time?"""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from assay.cli.lazy import load
from assay.cli.main import COMMANDS, run


def _leaves(command: object, path: str) -> list[str]:
    verbs = getattr(command, "commands", {})
    return [path] if not verbs else [f"{path} {verb}" for verb in verbs]


PATHS = [path for entry in COMMANDS for path in _leaves(load(entry), entry.name)]


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_help_speaks_no_python(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*path.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert "list[" not in shown
    usage = shown.split("\n\n")[0]
    arguments = usage.split("[OPTIONS]")[1]
    assert arguments == arguments.upper(), usage


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_listings_end_their_sentences(entry: object, capsys: pytest.CaptureFixture[str]) -> None:
    name = getattr(entry, "name", "")
    assert run([name, "--help"]) == 0
    _, _, verbs = capsys.readouterr().out.partition("Commands:")
    assert not [line for line in verbs.splitlines() if line.endswith("...")]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_looking_at_keys_makes_no_workspace(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["keys", "list"]) == 0
    assert "assay keys create" in capsys.readouterr().err
    assert not (elsewhere / ".assay").exists()


def test_a_backup_that_is_not_there_is_named_first(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / ".assay").mkdir()
    (elsewhere / ".assay" / "something").touch()
    assert run(["restore", "nothing.tar.gz"]) == 2
    assert "there is no file nothing.tar.gz" in capsys.readouterr().err


def test_searching_an_empty_workspace_says_that_it_is_empty(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DENSE_MODEL", "none")
    monkeypatch.setenv("ASSAY_SPLADE_MODEL", "none")
    assert run(["keys", "create", "me"]) == 0
    for command in ("search", "answer"):
        run([command, "anything"])
        assert "holds no documents yet (assay ingest PATH)" in capsys.readouterr().err


def test_a_wrong_test_set_name_lists_the_right_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["testset", "show", "test_set_v9"]) == 2
    said = capsys.readouterr().err
    assert "did you mean test_set_v1? known: test_set_v1" in said


def test_what_is_made_is_its_owners_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    home, copy, again = shared / "home", tmp_path / "copy.tar.gz", tmp_path / "again"
    assert run(["--home", str(home), "keys", "create", "ward"]) == 0
    assert run(["--home", str(home), "backup", str(copy)]) == 0
    assert run(["--home", str(again), "restore", str(copy)]) == 0
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755, "what was there stays as it is"
    for folder in (home, again):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in (copy, home / "assay.db"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    home.chmod(0o755)
    capsys.readouterr()
    run(["--home", str(home), "doctor"])
    assert f"chmod -R go= {home}" in " ".join(capsys.readouterr().out.split())


def test_the_paths_of_the_demo_are_json_where_json_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["demo", "--paths", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(Path(one).is_file() for one in (found["qrels"], *found["runs"]))
    assert run(["demo", "--corpus", "--json"]) == 0
    assert Path(json.loads(capsys.readouterr().out)["corpus"]).exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--filter", "year>=abc"], "filter: year>= needs a number or a date, not 'abc'"),
        (["-k", "0"], "k: must be a whole number from 1 to 1000, not '0'"),
        (["--speaker", "nurse"], "speaker: must be PATIENT, CLINICIAN or UNKNOWN, not 'nurse'"),
    ],
)
def test_a_value_that_is_refused_is_named_as_it_was_typed(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--home", str(tmp_path), "search", "x", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {says}\n")


def test_words_of_a_list_may_be_in_small_letters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--home", str(tmp_path), "search", "x", "--speaker", "patient"]) == 2
    assert "there is no workspace" in capsys.readouterr().err


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace without models."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASSAY_COMPONENTS", "bm25")
    return tmp_path / "home"


def test_one_bad_file_in_a_folder_says_how_to_go_on(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.csv").write_bytes(b"id,text\n1,caf\xe9\n")
    (folder / "b.csv").write_bytes(b"id,text\n2,coffee\n")
    assert run(["ingest", str(folder)]) == 2
    assert "--keep-going" in capsys.readouterr().err
    assert run(["ingest", str(folder), "--keep-going"]) == 4
    assert "1 added" in capsys.readouterr().out


def test_a_judged_document_is_deleted_with_a_warning(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "a.csv"
    rows.write_text("id,text\nd1,aspirin for fever\nd2,ibuprofen for pain\n")
    assert run(["ingest", str(rows)]) == 0
    assert run(["testset", "grade", "ward", "fever", "d1=3"]) == 0
    capsys.readouterr()
    assert run(["corpus", "delete", "d1"]) == 0
    assert "warning: d1 is judged in ward" in capsys.readouterr().err
    assert run(["corpus", "delete", "d2"]) == 0
    assert "warning" not in capsys.readouterr().err
