"""Do the examples of the pages run, as they stand there?

``sh`` blocks run in one folder in the order of the navigation, by words only so that it is quick;
``python`` blocks run in the same folder, and those that follow each other are cells of one
notebook. Of ``text`` blocks and of the README, each command runs on its own, unless ``ELSEWHERE``
says what it needs that is not here; ``tests/unit/test_docs.py`` looks at the words of those. ``py``
blocks need an extra or a project of the reader.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.docs.pages import BLOCK, NAV, PAGES, ROOT, WORDS_ONLY, blocks, programs
from tests.warm import warm

SHELL = ["bash", "-euo", "pipefail", "-c"]


def test_every_page_is_in_the_navigation_and_there() -> None:
    there = {page.relative_to(PAGES).as_posix() for page in PAGES.rglob("*.md")}
    assert sorted(NAV) == sorted(there)


@pytest.mark.parametrize("page", NAV)
def test_links_lead_somewhere(page: str) -> None:
    file = PAGES / page
    for target in re.findall(r"\]\(([^)#]*)[^)]*\)", file.read_text(encoding="utf-8")):
        assert "://" not in target, f"{page} needs a network: {target}"
        assert not target or (file.parent / target).exists(), f"{page}: {target}"


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The program ``assay``."""
    with warm(tmp_path_factory.mktemp("tool")) as program:
        yield program


Run = Callable[[list[str], Path], None]


@pytest.fixture(scope="module")
def run(tool: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a command as for a reader who has just installed assay: a clean home, and no model."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
        **WORDS_ONLY,
        "PATH": f"{tool.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(tmp_path_factory.mktemp("home")),
    }
    return partial(_run, environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all pages share."""
    return tmp_path_factory.mktemp("reader")


def _run(environment: dict[str, str], command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    said = f"{command[-1]}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, said
    assert "compared with itself" not in said  # which shows nothing


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in NAV if blocks(page, "sh", "python")])
def test_examples_run(page: str, folder: Path, run: Run) -> None:
    for language, body in programs(page):
        run([*SHELL, body] if language == "sh" else [sys.executable, "-c", body], folder)


ELSEWHERE = {
    "a model": r"--rerank\b|eval tune|models pull|--per-component|^optimum|assay encode|--vectors",
    "a public collection": r"scifact/|irds:|topics\.xml",
    "a service, or it is one": r"^assay (serve|mcp)|--server|--publish"
    r"|--(retriever|system|answerer) http",
    "two people who judge": r"testset (sample|pool|agreement|adjudicate|refresh)|ward_v2|annotate",
    "a database server": r"^pg_|DATABASE",
    "a cluster": r"^howto/cluster",
    "Docker": r"^docker",
    "root": r"^howto/systemd",
    "a registry, or make": r"^(pip|make)\b",
    "a place of its own": r"^export|/var/lib|^curl",
    "no shell": r"^(error|hint|note|workspace\.|#|[a-z_]+:|from |\{|[a-z]+ = |assay\.)",
}
GIVEN = """
cp -r "$(assay demo --corpus)" trials
cp -r trials documents
assay ingest trials
assay eval run -t test_set_v1 --tag baseline
assay eval export latest --trec > results.trec
assay eval run -t test_set_v1 --answers --judge words --tag judged
assay judge sheet judged --out graded.csv
sed -i 's/,\\r\\?$/,supported/' graded.csv
assay judge grade judged graded.csv --by bob
mkdir runs
set -- $(assay demo --paths)
cp "$1" judgments.jsonl; cp "$1" qrels.txt; cp "$2" "$3" runs; cp "$2" "$3" .
cat > ward.yaml <<END
name: ward
version: v1
queries:
- {query_id: q1, query_text: dose, relevant_docs: [{doc_id: label-nephrava, grade: 1}]}
END
sed 's/name: ward/name: my_test_set/' ward.yaml > my_test_set.yaml
assay testset import my_test_set.yaml
printf 'query,docid,rating\\ndose,label-nephrava,3\\n' > case.csv
echo '{"query": "dose", "relevant_docs": ["label-nephrava"]}' > golden.jsonl
printf 'def search(query):\\n    return ["label-nephrava"]\\n' > my_engine.py
"""


def single_commands() -> list[tuple[str, str]]:
    """Each command of a text block and of the README, with its page."""
    found = []
    sources = {page: PAGES / page for page in NAV if not page.startswith("reference/")}
    for name, file in {**sources, "README.md": ROOT / "README.md"}.items():
        text = file.read_text(encoding="utf-8")
        for _, language, body in BLOCK.findall(text):
            if language in ("text", ""):
                lines = re.sub(r"\\\n\s*", " ", body).splitlines()
                given = [line.strip() for line in lines if not line.startswith("$ ")]
                if not any(line.startswith("$ ") for line in lines):  # else it shows what comes
                    found += [(name, line) for line in given if line]
    return found


def elsewhere(page: str, line: str) -> str | None:
    """What a command needs that is not here."""
    known = ELSEWHERE.items()
    return next(
        (what for what, form in known if any(map(re.compile(form).search, (page, line)))), None
    )


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Path:
    """A folder with documents, runs and judgments, as whoever reads a how-to has them."""
    made = tmp_path_factory.mktemp("furnished")
    run([*SHELL, GIVEN], made)
    return made


HERE = [(page, line) for page, line in single_commands() if elsewhere(page, line) is None]


def test_what_needs_something_else_is_a_part_of_the_commands() -> None:
    every = single_commands()
    assert len(HERE) >= 15
    for what, form in ELSEWHERE.items():
        assert any(re.search(form, text) for one in every for text in one), f"nothing needs {what}"


@pytest.mark.slow
@pytest.mark.parametrize(("page", "line"), HERE, ids=[line[:50] for _, line in HERE])
def test_every_other_command_runs(page: str, line: str, furnished: Path, run: Run) -> None:
    assert page
    run([*SHELL, line], furnished)


@pytest.mark.slow
def test_the_tutorial_of_python_draws(folder: Path, run: Run) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    page = "tutorial/python.md"
    cells = [body for _, body in blocks(page, "python")]
    (plots,) = [body for _, body in blocks(page, "py") if body.startswith("from assay import")]
    (gate,) = [cell for cell in cells if "workspace.gate(" in cell]
    before = cells[: cells.index(gate)]
    place = folder / "drawn"
    place.mkdir()
    run([sys.executable, "-c", "\n".join([*before, plots])], place)
    for name in ("forest", "differences", "trend", "waterfall"):
        assert (place / f"{name}.png").read_bytes().startswith(b"\x89PNG")
