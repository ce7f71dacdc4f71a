"""Does the small base do what it should, and is it said which extra the rest needs?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from assay import extras
from assay.errors import MissingDependencyError
from tests.conftest import REPOSITORY

PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
OPTIONAL: dict[str, list[str]] = PROJECT["optional-dependencies"]
EXAMPLE = REPOSITORY / "src" / "assay" / "data" / "example"
FILES = [str(EXAMPLE / name) for name in ("judgments.jsonl", "bm25.trec", "hybrid.trec")]
NEVER = {"alembic", "pandas", "scipy"}  # that no extra brings, and the tests have


def without(*absent: str) -> str:
    """Python code after which these packages cannot be imported."""
    return f"import sys; sys.modules |= dict.fromkeys({sorted({*absent, *NEVER})!r})"


BASE = without(*extras.EXTRA_OF)


def python(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
        "PYTHONPATH": f"{REPOSITORY / 'src'}:{folder}",
        "ASSAY_HOME": str(folder / "home"),
        "ASSAY_RESAMPLES": "100",
    }
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def assay(folder: Path, *arguments: str, absent: str = BASE) -> subprocess.CompletedProcess[str]:
    code = f"{absent}\nfrom assay.cli.main import main; main()"
    return python(code, folder, *arguments)


def names(requirements: list[str]) -> set[str]:
    """The distributions that requirements name."""
    cut = (one.partition(";")[0] for one in requirements)
    return {one.partition(">")[0].partition("[")[0].strip() for one in cut}


def test_the_distribution_has_a_name_of_its_own() -> None:
    assert PROJECT["name"] == extras.DISTRIBUTION == "assay-search"
    assert PROJECT["scripts"] == {"assay": "assay.cli.main:main"}


def test_no_message_names_the_package_of_somebody_else() -> None:
    """``assay`` on the registry is another project."""
    other = re.compile(r"(?<![\w-])assay\[[a-z]+\]|pip install '?assay(?![\w-])")
    source = Path(extras.__file__).parent
    named = [file.name for file in source.rglob("*.py") if other.search(file.read_text())]
    assert named == []


def test_every_package_of_the_table_comes_with_its_extra() -> None:
    known = packages_distributions()
    brought = {"huggingface_hub": "tokenizers", "starlette": "fastapi"}  # by a package of ours
    brought["opentelemetry"] = "opentelemetry-api"
    for package, extra in extras.EXTRA_OF.items():
        asked = names(OPTIONAL[extra])
        found = {*known.get(package, ()), package.replace("_", "-"), brought.get(package, "")}
        assert {one.lower() for one in found} & asked, package


@pytest.mark.parametrize("extra", ["search", "serve", "frames"])
def test_every_package_of_an_extra_is_in_the_table(extra: str) -> None:
    modules: dict[str, set[str]] = {}
    for module, distributions in packages_distributions().items():
        for one in distributions:
            modules.setdefault(one.lower().replace("_", "-"), set()).add(module)
    for name in names(OPTIONAL[extra]) - {extras.DISTRIBUTION}:
        assert modules[name] & {one for one, of in extras.EXTRA_OF.items() if of == extra}, name


def test_all_of_them_are_in_all() -> None:
    assert OPTIONAL["all"] == ["assay-search[frames,search,serve]"]
    extra = [name for one in ("search", "serve", "frames") for name in OPTIONAL[one]]
    assert names(PROJECT["dependencies"]).isdisjoint(names(extra))


def test_a_missing_package_is_named_with_its_extra_and_the_command() -> None:
    error = extras.missing("Stemmer")
    assert error.message == "this needs the extra search: the package Stemmer is not installed"
    assert error.hint == f"pip install '{extras.installed_from()}[search]'"
    assert error.exit_code == 2
    assert extras.missing("onnx").hint == "pip install onnx"
    assert extras.explained(ImportError("no", name="nobody.knows")) is None
    assert extras.explained(ModuleNotFoundError(name="polars.series")) is not None


def test_a_package_that_is_here_and_broken_says_why() -> None:
    error = extras.missing("faiss", ImportError("libgomp.so.1 is not there"))
    assert "cannot be imported: libgomp.so.1" in error.message


def test_what_is_required_and_not_here_is_refused() -> None:
    extras.require("assay")
    assert not extras.is_here("no_such_package")
    with pytest.raises(MissingDependencyError, match="no_such_package"):
        extras.require("assay", "no_such_package")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a system to evaluate, and a run of it in the workspace, by the base alone."""
    made = tmp_path_factory.mktemp("base")
    (made / "mine.py").write_text("def search(query):\n    return ['label-nephrava:chunk_0']\n")
    done = assay(made, "eval", "run", "-t", "test_set_v1", "--retriever", "mine:search")
    assert done.returncode == 0, done.stderr
    assert assay(made, "eval", "tag", "latest", "baseline").returncode == 0
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("score", *FILES, "-m", "nDCG@10"),
        ("score", "--qrels", FILES[0], "--run", FILES[1], "--run", FILES[2]),
        ("measures",),
        ("eval", "list"),
        ("eval", "show", "latest"),
        ("eval", "compare", "baseline", "latest"),
        ("eval", "ab", "baseline", "latest"),
        ("eval", "gate", "--baseline", "baseline", "--current", "latest", "--junit", "j.xml"),
        ("eval", "report", "latest", "--format", "html", "--out", "report.html"),
        ("eval", "report", "latest", "--format", "json", "--out", "report.json"),
        ("eval", "gate", "--baseline", "report.json", "--current", "latest"),
        ("eval", "history", "test_set_v1"),
        ("eval", "export", "latest", "--trec"),
        ("eval", "rescore", "latest"),
        ("testset", "list"),
        ("testset", "validate", "test_set_v1"),
        ("testset", "diff", "test_set_v1", "test_set_v1"),
        ("testset", "schema"),
        ("testset", "heldout", "test_set_v1"),
        ("backup", "copy.zip"),
        ("corpus", "list"),
        ("models", "list"),
        ("keys", "create", "me"),
        ("doctor",),
    ],
    ids=" ".join,
)
def test_the_base_runs(arguments: tuple[str, ...], folder: Path) -> None:
    done = assay(folder, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("search", "aspirin"), "search"),
        (("answer", "aspirin?"), "search"),
        (("ingest", str(EXAMPLE)), "search"),
        (("eval", "run", "-t", "test_set_v1"), "search"),
        (("serve",), "serve"),
        (("eval", "publish"), "serve"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_what_needs_an_extra_says_which(
    arguments: tuple[str, ...], extra: str, folder: Path
) -> None:
    done = assay(folder, *arguments)
    assert done.returncode == 2, done.stderr
    assert f"error: this needs the extra {extra}: the package " in done.stderr
    assert f"hint: pip install '{extras.installed_from()}[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "package",
    [
        "anyio",
        "fastapi",
        "jinja2",
        "prometheus_client",
        "pydantic",
        "starlette",
        "structlog",
        "uvicorn",
    ],
)
def test_a_service_names_the_one_package_that_it_lacks(package: str, tmp_path: Path) -> None:
    code = f"{without(package)}\nfrom assay.cli.main import run\nraise SystemExit(run(['serve']))"
    done = python(code, tmp_path)
    assert done.returncode == 2, done.stderr
    assert re.search(rf"the package {package}(,? which)? is not installed", done.stderr)


def test_what_a_package_lacks_is_named_and_not_the_package() -> None:
    lacks = ModuleNotFoundError("No module named 'structlog.dev'", name="structlog.dev")
    said = str(extras.missing("fastapi", lacks))
    assert "the extra serve: the package structlog is not installed" in said
    of_none = ModuleNotFoundError("No module named 'idna'", name="idna")
    assert "the package idna is not installed" in str(extras.missing("fastapi", of_none))
    assert extras.explained(ModuleNotFoundError("no", name="assay.nothing")) is None


@pytest.mark.parametrize("missing", [("polars",), ("polars", "pandas")], ids=" ".join)
def test_without_frames_files_and_dicts_are_scored_and_frames_name_the_extra(
    missing: tuple[str, ...], tmp_path: Path
) -> None:
    code = f"""{without(*missing)}
import assay
print(assay.score({FILES[0]!r}, {FILES[1]!r}, "nDCG@10")["nDCG@10"])
try:
    assay.score({{"q": {{"d": 1}}}}, (["q"], ["d"], [1.0]), "RR")
except assay.AssayError as problem:
    print(problem)
"""
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0.4859")
    assert "the extra frames: the package polars is not installed" in done.stdout


def test_from_python_the_error_is_ours(folder: Path) -> None:
    code = f"""{BASE}
import assay
for ask in (lambda: assay.open("home").search("x"), lambda: assay.open("home").ingest(".")):
    try:
        ask()
    except assay.AssayError as problem:
        print(problem)
"""
    done = python(code, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"pip install '{extras.installed_from()}[search]'") == 2


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ('{"url": "file:///a%20b/assay_search-0.1.0.whl"}', "/a b/assay_search-0.1.0.whl"),
        ('{"url": "https://host/assay.git"}', "assay-search"),
        ("{}", "assay-search"),
        ("[", "assay-search"),
        (None, "assay-search"),
    ],
)
def test_an_extra_is_installed_from_where_the_package_came(
    told: str | None, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "assay_search-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-search\nVersion: 0.1.0\n")
    if told is not None:
        (about / "direct_url.json").write_text(told)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert extras.installed_from() == wanted


def test_a_clock_before_1970_is_named_instead_of_an_import_that_never_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    monkeypatch.setattr("assay.extras.time.time", lambda: -1.0)
    with pytest.raises(MissingDependencyError, match="before 1970"):
        extras.import_optional("onnxruntime")
    assert extras.import_optional("json") is not None
