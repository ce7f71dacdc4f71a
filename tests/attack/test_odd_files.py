"""Does every command that takes a file end in words of ours, whatever the file is?

Every option and argument of every command that may name a file gets a device without an end, a pipe
that nobody writes to, a folder, bytes and names that cannot be: each in a process of its own, with
an end to its time and its memory. Every number gets values that no computation can hold.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.lazy import load
from assay.cli.main import COMMANDS, run
from assay.hits import sources

pytestmark = pytest.mark.slow

ODD = ("/dev/zero", "pipe", "folder", "/", "bytes", "circle", "a\udcffb", "~none/x")
NUMBERS = ("inf", "nan", "-1", "-0", "1e308", "9" * 32, "")
SECONDS, BYTES = 60, 4 << 30
FILES_BY_NAME = frozenset({"vectors", "test_set", "testset", "baseline", "synonyms", "lexicon"})
ENDLESS = {("serve",), ("mcp",), ("annotate",), ("demo",), ("models", "pull")}
GIVEN = {
    "files": ["qrels", "a.run"], "query": ["heart"], "question": ["heart"], "doc_id": ["d1"],
    "path": ["corpus.jsonl"], "paths": ["corpus.jsonl"], "source": ["corpus.jsonl"],
    "name": ["set.yaml"], "before": ["set.yaml"], "after": ["set.yaml"], "suite": ["s"],
}  # fmt: skip
CORPUS = '{"_id": "d1", "text": "heart failure"}\n{"_id": "d2", "text": "renal impairment"}\n'
TEST_SET = """\
name: s
version: 1
queries:
- query_id: q1
  query_text: heart failure
  relevant_docs: [{doc_id: d1, grade: 1}]
"""


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, one in getattr(command, "commands", {}).items():
        yield from _commands(one, (*path, name))
    if not hasattr(command, "commands") and path not in ENDLESS:
        yield path, command


LEAVES = [leaf for entry in COMMANDS for leaf in _commands(load(entry), (entry.name,))]


def _may_name_a_file(parameter: Any) -> bool:
    kind = str(parameter.type_descriptor.annotation)
    if getattr(parameter, "is_flag", False):
        return False
    named = parameter.param_type_name == "argument" or parameter.name in FILES_BY_NAME
    return "Path" in kind or ("str" in kind and named)


def _is_number(parameter: Any) -> bool:
    kind = str(parameter.type_descriptor.annotation)
    return ("int" in kind or "float" in kind) and not getattr(parameter, "is_flag", False)


def _lines(
    path: tuple[str, ...], command: Any, odd: str, meant: Callable[[Any], bool]
) -> Iterator[list[str]]:
    """The command once for each parameter that is meant."""
    for wrong in command.params:
        if not meant(wrong):
            continue
        line = [*path]
        for one in command.params:
            named = one.param_type_name == "option"
            value = [odd] if one is wrong else GIVEN.get(one.name, ["latest"])
            if one is wrong or one.required:
                line += (
                    [f"{one.opts[0]}={odd}"]
                    if named and one is wrong
                    else ([one.opts[0], *value] if named else value)
                )
        yield line


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("odd")
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DENSE", "SPLADE"):
            patch.setenv(f"ASSAY_{name}_MODEL", "none")
        patch.setenv("ASSAY_HOME", str(place / "home"))
        patch.setenv("ASSAY_RESAMPLES", "100")
        patch.setattr(sources, "PIPE_WAIT_S", 0.1)
        os.chdir(place)
        (place / "corpus.jsonl").write_text(CORPUS)
        (place / "set.yaml").write_text(TEST_SET)
        (place / "qrels").write_text("q1 0 d1 1\n")
        (place / "a.run").write_text("q1 Q0 d1 1 9 t\n")
        (place / "bytes").write_bytes(bytes(range(256)) * 40)
        (place / "folder").mkdir()
        os.mkfifo(place / "pipe")
        (place / "circle").symlink_to("circle")
        assert run(["ingest", "corpus.jsonl"]) == run(["eval", "run", "-t", "set.yaml"]) == 0
        yield place
        os.chdir(before)


def _said(line: list[str]) -> tuple[int, str]:
    """The exit code (negative: killed by a signal) and the words of a command line."""
    with tempfile.TemporaryFile() as out, open(os.devnull, "rb") as nothing:
        child = os.fork()
        if not child:
            code = 99
            try:
                resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
                signal.alarm(SECONDS)
                os.dup2(nothing.fileno(), 0)
                for number in (1, 2):
                    os.dup2(out.fileno(), number)
                sys.stdin = open(0, closefd=False)  # noqa: SIM115
                sys.stdout = open(1, "w", errors="replace", closefd=False)  # noqa: SIM115
                sys.stderr = open(2, "w", errors="replace", closefd=False)  # noqa: SIM115
                code = run(line)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        return code, out.read().decode(errors="replace")


def _without_words(odd: str, meant: Callable[[Any], bool]) -> list[tuple[list[str], int, str]]:
    """The command lines that were killed, hung, or ended in an error of Python."""
    wrong = []
    for path, command in LEAVES:
        for line in _lines(path, command, odd, meant):
            code, said = _said(line)
            if code < 0 or code == 99 or "failed unexpectedly" in said or "Traceback" in said:
                wrong.append((line, code, said[-300:]))
    return wrong


@pytest.mark.parametrize("odd", ODD)
def test_every_command_answers_in_words(odd: str, folder: Path) -> None:
    assert _without_words(odd, _may_name_a_file) == []
    assert Path("/dev/zero").is_char_device()


@pytest.mark.parametrize("odd", NUMBERS)
def test_every_number_is_taken_or_refused_in_words(odd: str, folder: Path) -> None:
    assert _without_words(odd, _is_number) == []


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("setting", ["SYNONYMS", "LEXICON", "CONFIG", "MODELS", "HOME", "SERVER"])
def test_every_setting_that_names_a_file(
    setting: str, odd: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"ASSAY_{setting}", odd)
    code, said = _said(["search", "heart"])
    assert code >= 0, said
    assert "failed unexpectedly" not in said
    assert "Traceback" not in said
