"""Does the documentation say what the program does?"""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import pytest

import assay
from assay.cli import console
from assay.cli.lazy import build
from assay.cli.main import COMMANDS, run
from assay.testsets.load import load_test_set
from bench.make_example import FOLDER
from docs.generate import stale

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def test_the_output_in_the_readme_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = re.search(r"\$ assay (score .*?)\n\.\.\.\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("COLUMNS", "112")
    console._console.cache_clear()
    arguments = re.findall(r'"[^"]*"|\S+', shown[1])
    assert run([argument.strip('"') for argument in arguments]) == 0
    console._console.cache_clear()
    printed = words(capsys.readouterr().out)
    for line in words(shown[2]):
        assert line in printed


def test_the_python_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None
    names: dict[str, object] = {}
    exec(compile(code[1], "README.md", "exec"), names)  # our own file
    scores = names["scores"]
    assert isinstance(scores, assay.Scores)
    assert f"# {scores['nDCG@10']:.4f}..." in code[1]
    interval = scores.interval("nDCG@10")
    assert f"low={interval.low:.4f}..., high={interval.high:.4f}..." in code[1]


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *(ROOT / "design").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_command_is_mentioned_in_the_readme() -> None:
    for entry in COMMANDS:
        assert f"assay {entry.name}" in README, entry.name


def test_the_reference_is_what_the_code_says() -> None:
    assert not stale(), "the reference is older than the code: make docs-reference"


def test_every_folder_is_in_the_architecture() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for folder in (ROOT / "src" / "assay").iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert f"`{folder.name}/" in page, folder.name


@pytest.mark.parametrize("name", dir(assay))
def test_every_public_name_has_a_docstring(name: str) -> None:
    if name != "__version__":
        assert getattr(assay, name).__doc__


def _commands() -> list[tuple[str, str]]:
    """Every command line in a block or a table's cell of the README or the hand-written pages."""
    pages = [ROOT / "README.md", *(ROOT / "docs" / "pages").rglob("*.md")]
    found = []
    for page in pages:
        if page.parent.name == "reference":
            continue
        for block in re.findall(r"```(?:sh|text|console)\n(.*?)```", page.read_text(), re.DOTALL):
            lines = re.sub(r"\\\n\s*", " ", block).splitlines()
            found += [(page.name, line) for line in lines if re.match(r"\s*(\$ )?assay ", line)]
        cells = re.findall(r"(?m)(?<=\| )`(?:[A-Z_]+=\S+ )?(assay [^`]+)` \|", page.read_text())
        found += [(page.name, line) for line in cells]
    return found


@pytest.mark.parametrize(("page", "line"), _commands())
def test_every_command_of_the_pages_can_be_typed(page: str, line: str) -> None:
    words = shlex.split(line.replace("$ ", "", 1), comments=True)
    plain = itertools.takewhile(
        lambda word: word not in ("|", "||", ">", "&&", "&", ";"), words[1:]
    )
    context = build(COMMANDS).make_context("assay", list(plain))
    while (rest := [*context._protected_args, *context.args]) and context.command.commands:
        name, command, rest = context.command.resolve_command(context, rest)
        if "--help" in rest:
            return
        context = command.make_context(name, rest, parent=context)
        if not hasattr(command, "commands"):
            return
    assert not rest, f"{page}: {line}"


def test_hints_to_let_a_rule_decide_name_all_it_needs() -> None:
    for source in (ROOT / "src" / "assay").rglob("*.py"):
        for rest in re.findall(r"adjudicate --rule mean-down(.*)", source.read_text("utf-8")):
            assert rest.startswith(" --as NAME"), source


def test_the_engine_of_the_how_to_scores_what_the_page_says() -> None:
    page = (ROOT / "docs" / "pages" / "howto" / "engine.md").read_text(encoding="utf-8")
    ids = re.findall(r'"([\w-]+:chunk_\d+)"', page)
    queries = load_test_set("test_set_v1").evaluation_queries
    grades = {q.query_id: {j.id: j.grade for j in q.relevant_docs} for q in queries}
    found = {q.query_id: {name: 1.0 / rank for rank, name in enumerate(ids, 1)} for q in queries}
    scores = assay.score(grades, found, "nDCG@10")
    hit = sum(any(grades[q.query_id].get(name, 0) > 0 for name in ids) for q in queries)
    assert f"relevant for {hit} of the {len(queries)} queries" in page
    assert f"nDCG@10 is {scores['nDCG@10']:.4f}" in page


def test_every_public_name_of_python_is_explained() -> None:
    page = (ROOT / "docs" / "pages" / "reference" / "python.md").read_text(encoding="utf-8")
    names = {"open", *assay.__all__} - {"__version__"}
    assert [name for name in sorted(names) if f"### assay.{name}\n" not in page] == []
    verbs = "add add_frame delete search why answer evaluate compare ab gate show history runs"
    for verb in (*verbs.split(), "test_sets", "runs.tag", "assay.plots.forest"):
        _, _, about = page.partition(f"### {verb}\n")
        prose = re.sub(r"```.*?```", "", about.partition("\n### ")[0], flags=re.DOTALL)
        assert prose.strip(), verb


def test_every_parameter_of_http_has_a_kind() -> None:
    page = (ROOT / "docs" / "pages" / "reference" / "http.md").read_text(encoding="utf-8")
    assert "| null |" not in page
    assert "| `resamples` | integer |" in page
