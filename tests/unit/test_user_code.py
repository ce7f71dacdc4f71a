"""Is the code of a function told from every other state of that code?"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import limits
from assay.errors import UsageError
from assay.user_code import code_digest, load_function


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder whose modules are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    paths = list(sys.path)
    yield tmp_path
    sys.path[:] = paths
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]
    importlib.invalidate_caches()


def forget(folder: Path) -> None:
    """Another process would load these modules anew."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
    importlib.invalidate_caches()


def digest(folder: Path, spec: str = "mine:search") -> str | None:
    forget(folder)
    return load_function(spec).digest


FILES = {
    "mine.py": "import helper\nfrom pack import inner\ndef search(text):\n"
    "    import later\n    return []\n",
    "helper.py": "from deep import thing\n",
    "deep.py": "thing = 1\n",
    "later.py": "x = 1\n",
    "pack/__init__.py": "",
    "pack/inner.py": "from . import sibling\nfrom .sibling import y\n",
    "pack/sibling.py": "import importlib\ny = 1\nz = importlib.import_module('named')\n",
    "named.py": "w = 1\n",
}


def write(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.req("E7")
@pytest.mark.parametrize("edited", FILES)
def test_an_edit_in_any_file_that_takes_part_shows(folder: Path, edited: str) -> None:
    write(folder)
    before = digest(folder)
    assert before is not None
    assert digest(folder) == before
    with (folder / edited).open("a") as file:
        file.write("# edited\n")
    assert digest(folder) not in (None, before)


def test_other_files_do_not_count_nor_where_the_code_lies(folder: Path) -> None:
    write(folder)
    before = digest(folder)
    (folder / "unrelated.py").write_text("x = 1\n")
    (folder / "data.json").write_text("{}")
    assert digest(folder) == before


READERS = {
    "named": "open('prompt.txt').read()",
    "beside the module": "Path(__file__).parent.joinpath('prompt.txt').read_text()",
    "in a folder": "(Path(__file__).parent / 'prompts' / 'qa.txt').read_text()",
    "of a library": "sqlite3.connect('prompt.txt')",
    "to read": "open('prompt.txt', 'rb').read()",
}


@pytest.mark.req("E7")
@pytest.mark.parametrize("how", READERS)
def test_an_edit_of_a_data_file_that_the_code_names_shows(folder: Path, how: str) -> None:
    place = folder / ("prompts/qa.txt" if how == "in a folder" else "prompt.txt")
    place.parent.mkdir(exist_ok=True)
    place.write_text("answer briefly")
    (folder / "mine.py").write_text(
        f"import sqlite3\nfrom pathlib import Path\ndef search(text): return [{READERS[how]}]\n"
    )
    before = digest(folder)
    assert before is not None
    assert digest(folder) == before
    place.write_text("answer at length")
    assert digest(folder) not in (None, before)


@pytest.mark.parametrize(
    "line",
    ["open('log.txt', 'a').write(text)", "Path('log.txt').write_text(text)",
     "Path('log.txt').open(mode='a').write(text)", "Path('log.txt').exists()"],
)  # fmt: skip
def test_a_file_that_the_code_does_not_read_is_no_part_of_it(folder: Path, line: str) -> None:
    (folder / "mine.py").write_text(
        f"from pathlib import Path\ndef search(text):\n    {line}\n    return []\n"
    )
    (folder / "log.txt").write_text("one call")
    before = digest(folder)
    (folder / "log.txt").write_text("two calls")
    assert digest(folder) == before


def test_the_working_folder_itself_is_no_data_of_the_code(folder: Path) -> None:
    (folder / "mine.py").write_text(f"def search(text): return ['.', '/', {str(folder)!r}]\n")
    before = digest(folder)
    (folder / "other.txt").write_text("x")
    assert digest(folder) == before


def test_of_a_large_data_file_size_and_time_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_DATA_BYTES", 3)
    (folder / "mine.py").write_text("def search(text): return open('big.bin').read()\n")
    (folder / "big.bin").write_text("12345")
    before = digest(folder)
    (folder / "big.bin").write_text("123456")
    assert digest(folder) not in (None, before)


def test_of_an_installed_package_the_version_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.py").write_text("import numpy\ndef search(text): return []\n")
    before = digest(folder)
    monkeypatch.setattr("assay.user_code.version", lambda name: "99")
    assert digest(folder) not in (None, before)


def test_code_that_nobody_can_read_has_no_digest(folder: Path) -> None:
    assert load_function("time:sleep").digest is None  # built into Python
    assert load_function("json:dumps").digest is not None
    (folder / "mine.py").write_text("def search(text): return []\n")
    assert digest(folder) is not None


def test_a_file_that_was_edited_after_it_was_loaded_is_not_the_code_that_runs(
    folder: Path,
) -> None:
    path = folder / "mine.py"
    path.write_text("def search(text): return ['old']\n")
    first = digest(folder)
    path.write_text("def search(text): return ['new']\n")
    again = load_function("mine:search")
    assert again.function("q") == ["old"]
    assert again.digest is None
    importlib.reload(sys.modules["mine"])
    reloaded = load_function("mine:search")
    assert reloaded.function("q") == ["new"]
    assert reloaded.digest not in (None, first)


def test_more_files_than_may_be_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder)
    monkeypatch.setattr(limits, "MAX_CODE_FILES", 2)
    assert digest(folder) is None


def test_a_quick_edit_of_the_same_length_is_seen(folder: Path) -> None:
    path = folder / "mine.py"
    for word in ("one", "two"):  # Python's compiled copy would hold for a second
        path.write_text(f"def search(text): return ['{word}']\n")
        forget(folder)
        assert load_function("mine:search").function("q") == [word]
    assert not (folder / "__pycache__").exists()


@pytest.mark.parametrize("spec", ["", "mine", ":search", "mine:", "mine:none", "mine:number"])
def test_what_names_no_function_is_refused(folder: Path, spec: str) -> None:
    (folder / "mine.py").write_text("number = 3\n")
    forget(folder)
    with pytest.raises(UsageError):
        load_function(spec)


def test_what_cannot_be_imported_is_said(folder: Path) -> None:
    (folder / "mine.py").write_text("1 / 0\n")
    with pytest.raises(UsageError, match="mine cannot be imported: ZeroDivisionError"):
        load_function("mine:search")
    with pytest.raises(UsageError, match="ModuleNotFoundError"):
        load_function("no_such_module_here:f")
    assert code_digest("no_such_module_here") is None
