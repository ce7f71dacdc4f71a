"""Does every way of ending give its exit code and a message that helps?"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from assay.cli import main, streams
from assay.cli.lazy import Entry, load
from assay.cli.main import COMMANDS, run
from assay.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FAKE = Entry("fake", "tests.unit.cli.fake_commands", "Ends in many ways.")
PYTHON = shlex.quote(sys.executable)
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "COMMANDS", (FAKE,))
    monkeypatch.setattr(streams, "silence", lambda: None)  # pytest needs its stdout
    monkeypatch.delenv("ASSAY_DEBUG", raising=False)


def assay(
    *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=None if env is None else {**os.environ, **env},
    )


def test_help_lists_every_command(capsys: Captured) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    for entry in COMMANDS:
        assert f"  {entry.name} " in out
        assert entry.help in " ".join(out.split())


def test_short_help_option(capsys: Captured) -> None:
    assert run(["-h"]) == run(["config", "-h"]) == 0
    assert "Usage: assay config" in capsys.readouterr().out


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: str(entry.name))
def test_the_table_says_what_the_module_says(entry: Entry) -> None:
    command = load(entry)
    assert command.name == entry.name
    assert (command.help or "").splitlines()[0] == entry.help


def test_version(capsys: Captured) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"assay {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["config"]])
def test_no_command_shows_help_and_is_wrong_usage(arguments: list[str], capsys: Captured) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: assay")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["confg"], "No such command 'confg'. Did you mean 'config'?", "assay --help"),
        (["--qqq"], "No such option: --qqq", "assay --help"),
        (["config", "shwo"], "No such command 'shwo'. Did you mean 'show'?", "assay config --help"),
        (["config", "show", "x"], "Got unexpected extra argument", "assay config show --help"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, hint: str, capsys: Captured) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}")
    assert err.endswith(f"\nhint: {hint} shows what is possible\n")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["search", "misoprostol", "dose"], 'assay search "misoprostol dose"'),
        (["search", "what", "a", "dose", "-k", "3"], 'assay search "what a dose"'),
        (["answer", "which", "dose?"], 'assay answer "which dose?"'),
    ],
)
def test_a_text_without_its_quotes(arguments: list[str], hint: str, capsys: Captured) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().err.endswith(f"\nhint: put it in quotes: {hint}\n")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["search", "x", "--home", "notes"], "assay --home FOLDER search ..."),
        (["eval", "list", "--server=http://x"], "assay --server ADDRESS eval list ..."),
        (["measures", "--color", "never"], "assay --color never measures ..."),
    ],
)
def test_an_option_of_all_commands_is_sent_to_its_place(
    arguments: list[str], hint: str, capsys: Captured
) -> None:
    assert run(arguments) == 2
    assert f"goes before the command: {hint}" in capsys.readouterr().err


def test_a_test_set_without_its_option_is_told_where_it_goes(capsys: Captured) -> None:
    assert run(["eval", "run", "mine.yaml"]) == 2
    assert "hint: a test set is given with -t: assay eval run -t NAME" in capsys.readouterr().err


def test_wrong_usage_as_json(capsys: Captured) -> None:
    assert run(["config", "show", "--json", "--nope"]) == 2
    report = json.loads(capsys.readouterr().err)
    assert report["error"]["code"] == "usage"
    assert report["error"]["message"] == "No such option: --nope"


@pytest.mark.usefixtures("_fake")
@pytest.mark.parametrize(
    ("verb", "code", "err"),
    [
        ("fine", 0, ""),
        ("gate", 3, ""),
        ("leave", 4, ""),
        ("refuse", 2, "error: a.run:3: 7 columns\nhint: six are expected\n"),
        ("bare", 2, "error: too large\n"),
        ("hostile", 2, "error: a.run:1: bad id 'a\\x1b]0;owned\\x07\\x9b31m'\n"),
        ("stop", 130, "interrupted\n"),
        ("abort", 130, "interrupted\n"),
        ("pipe", 141, ""),
        ("locked", 1, "error: /data/locked: Permission denied\n"),
        ("memory", 1, "error: not enough memory\nhint: use smaller inputs\n"),
    ],
)
def test_ways_to_end(verb: str, code: int, err: str, capsys: Captured) -> None:
    assert run(["fake", verb]) == code
    assert capsys.readouterr().err == err


@pytest.mark.usefixtures("_fake")
def test_a_bad_value_names_its_parameter(capsys: Captured) -> None:
    assert run(["fake", "number", "ten"]) == 2
    assert "'K'" in capsys.readouterr().err.upper()


@pytest.mark.usefixtures("_fake")
def test_an_error_as_json_is_one_object_on_stderr(capsys: Captured) -> None:
    assert run(["fake", "refuse", "--json"]) == 2
    out, err = capsys.readouterr()
    expected = {"code": "bad_format", "message": "a.run:3: 7 columns", "hint": "six are expected"}
    assert (out, json.loads(err)) == ("", {"error": expected})


@pytest.mark.usefixtures("_fake")
def test_a_defect_asks_for_a_report(capsys: Captured) -> None:
    assert run(["fake", "break"]) == 1
    err = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero" in err
    assert "please report this" in err
    assert "Traceback" not in err
    assert run(["fake", "break", "--json"]) == 1
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "internal"


@pytest.mark.usefixtures("_fake")
def test_the_traceback_is_there_for_the_asking(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DEBUG", "1")
    assert run(["fake", "break"]) == 1
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "break_down" in err


@pytest.mark.usefixtures("_fake")
@pytest.mark.parametrize(
    ("file", "variable", "shown"),
    [
        ("debug: on", "", True),
        ("debug: on", "off", False),
        ("nonsense", "", False),  # settings that cannot be read are no second failure
        ("nonsense", "on", True),
    ],
)
def test_the_traceback_is_a_setting(
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    file: str,
    variable: str,
    shown: bool,
) -> None:
    (tmp_path / "assay.yaml").write_text(f"{file}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DEBUG", variable)
    assert run(["fake", "break"]) == 1
    assert ("Traceback" in capsys.readouterr().err) is shown


def test_module_and_script_are_the_same_command() -> None:
    assert assay("--version").stdout == f"assay {__version__}\n"


def test_a_reader_that_goes_away() -> None:
    script = f"{PYTHON} -m assay config limits | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_closed_stdout() -> None:
    script = f"{PYTHON} -m assay --help >&-"
    done = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "assay", "config", "limits"],
            check=False, stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


def test_an_interruption_that_python_wraps_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> int:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as stop:
            raise RuntimeError("Error calling __set_name__ on 'Field' instance") from stop

    monkeypatch.setattr("assay.cli.main._dispatch", interrupted)
    assert run(["measures"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_interrupt_by_signal() -> None:
    script = (
        "import signal, sys, time; import assay.cli.main as m\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background
        "m._dispatch = lambda a: ("
        "sys.stdout.write('up\\n'), sys.stdout.flush(), time.sleep(60)); m.main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
    ],
)
def test_a_locale_without_utf8(env: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "größe"
    done = assay("--home", str(folder), "config", "show", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gr" in done.stdout


def test_json_stays_json_in_any_encoding(tmp_path: Path) -> None:
    env = {"PYTHONIOENCODING": "latin-1"}
    done = assay("--home", str(tmp_path / "größe €"), "config", "show", "--json", env=env)
    home = json.loads(done.stdout)["settings"]["home"]["value"]
    assert home == str(tmp_path / "größe €")


def test_no_home_variable() -> None:
    script = [sys.executable, "-m", "assay", "config", "show"]
    done = subprocess.run(script, check=False, capture_output=True, text=True, env={})
    assert (done.returncode, done.stderr) == (0, "")


def test_completion_knows_commands_and_verbs() -> None:
    def complete(words: str, at: int) -> list[str]:
        env = {"_ASSAY_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        return assay(env=env).stdout.split()

    assert "config" in complete("assay con", 1)
    assert complete("assay config ", 2) == ["show", "limits", "hash", "trust"]
