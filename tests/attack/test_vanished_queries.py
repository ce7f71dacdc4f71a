"""Does a query vanish from a TREC file because of its id?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import run as cli

TEST_SET = """\
name: odd
version: 1
queries:
- query_id: q1
  query_text: heart failure
  relevant_docs: [{doc_id: d1, grade: 1}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("large", [False, True], ids=["careful", "in pieces"])
@pytest.mark.parametrize("query", ["#1", "##", "#", "#q2"])
def test_every_judged_query_counts_or_is_named(
    query: str, large: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of two queries fails: a mean of 1.0 would be that of the other alone."""
    rows = "".join(f"q1 Q0 x{at} 9 -{at} t\n" for at in range(2_000 if large else 1))
    (folder / "qrels").write_text(f"q1 0 d1 1\n{query} 0 d2 1\n")
    (folder / "run").write_text(f"q1 Q0 d1 1 9 t\n{rows}{query} Q0 d1 1 9 t\n")
    code = cli(["score", "-q", "qrels", "-r", "run", "-m", "RR", "--json"])
    out, err = capsys.readouterr()
    if query == "#":
        assert code == 2
        assert "qrels:2: a comment, or a row of a query with the id '#'?" in err
    else:
        assert json.loads(out)["metrics"] == {"mrr": 0.5}


def test_an_id_that_is_no_column_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "odd.yaml").write_text(TEST_SET)
    (folder / "blanks_in_ids.py").write_text("def ask(query):\n    return ['d1 of heart', 'd2']\n")
    assert cli(["eval", "run", "-t", "odd.yaml", "--retriever", "blanks_in_ids:ask"]) == 0
    assert cli(["eval", "export", "latest", "--trec"]) == 2
    assert "'d1 of heart' cannot stand in a TREC file" in capsys.readouterr().err
    assert cli(["eval", "export", "latest", "--json"]) == 0
