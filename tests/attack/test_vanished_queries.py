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


TWO_FAULTS = {
    "columns": (b"q1\t\n\n0.5 1\nf4 Q0 d4 1 0.5 1\n# Q0 d5 1 0.5 1", ":1: 1 columns instead of 6"),
    "score": (b"f1 Q0 d1 1 x 1\n#\tQ0\td2\t1\t0.5\t1\n", ":1: the score"),
    "later": (b"f1 Q0 d1 1 0.5 1\n# Q0 d5 1 0.5 1\nf2\n", ":2: a comment, or a row"),
}


@pytest.mark.parametrize("piece", [1, 16, 1 << 20])
@pytest.mark.parametrize("faults", TWO_FAULTS)
def test_of_two_faults_the_first_is_named_however_the_file_is_read(
    faults: str,
    piece: int,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, said = TWO_FAULTS[faults]
    monkeypatch.setattr("assay.limits.STREAM_CHUNK_BYTES", piece)
    (folder / "qrels").write_text("f1 0 d1 1\n")
    (folder / "run").write_bytes(run)
    for more in ([], ["--extra-columns"]):
        assert cli(["score", "-q", "qrels", "-r", "run", "-m", "RR", *more]) == 2
        assert f"run{said}" in capsys.readouterr().err
    if piece == 1:
        (folder / "run").write_text("f1 Q0 d1 1 0.5 1\n")
        (folder / "qrels").write_bytes(b"f1 0 d1 1 2 3 4\n# 0 d1 1\n")
        assert cli(["score", "-q", "qrels", "-r", "run", "-m", "RR"]) == 2
        assert "qrels:1: 7 columns instead of 4" in capsys.readouterr().err


def test_an_id_that_is_no_column_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "odd.yaml").write_text(TEST_SET)
    (folder / "blanks_in_ids.py").write_text("def ask(query):\n    return ['d1 of heart', 'd2']\n")
    assert cli(["eval", "run", "-t", "odd.yaml", "--retriever", "blanks_in_ids:ask"]) == 0
    assert cli(["eval", "export", "latest", "--trec"]) == 2
    assert "'d1 of heart' cannot be written to a TREC file" in capsys.readouterr().err
    assert cli(["eval", "export", "latest", "--json"]) == 0
