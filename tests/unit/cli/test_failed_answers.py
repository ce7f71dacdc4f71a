"""Does an answerer that fails look worse than one that answers, wherever a run is looked at?"""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run
from assay.store.run_rows import outcome, result_json
from tests.unit.http.conftest import client_of, service_of

DOCUMENTS = [
    ("K1", "Codeine relieves cough. Codeine may cause drowsiness."),
    ("L1", "Loratadine relieves sneezing. Loratadine rarely causes fatigue."),
    ("M1", "Morphine relieves pain. Morphine may slow breathing."),
]
QUERIES = [
    {"query_id": "a1", "query_text": "codeine cough",
     "relevant_docs": [{"doc_id": "K1", "grade": 2}],
     "must_contain": ["cough"], "forbidden": ["pain"]},
    {"query_id": "a2", "query_text": "loratadine sneezing",
     "relevant_docs": [{"doc_id": "L1", "grade": 2}], "must_contain": ["sneezing"]},
    {"query_id": "a3", "query_text": "morphine pain",
     "relevant_docs": [{"doc_id": "M1", "grade": 1}]},
    {"query_id": "r1", "query_text": "who won the race", "expect": "refusal"},
    {"query_id": "r2", "query_text": "morphine slow breathing", "expect": "refusal"},
]  # fmt: skip
ANSWERERS = """
import os

def good(question, passages):
    if question.startswith(("who", "morphine slow")):
        return {"text": "", "grounded": False, "refusal_reason": "not in there"}
    chunk = passages[0].chunk
    return {"text": chunk.text, "citations": [chunk.chunk_id]}

def breaks(question, passages):
    if "codeine" in question:
        return good(question, passages)
    raise RuntimeError("out of service")

def flaky(question, passages):
    if os.path.exists("down"):
        raise ConnectionError("try again")
    return good(question, passages)

def counts(question, passages):
    usage = {"prompt_tokens": 30, "completion_tokens": 5, "cost": 0.25}
    return {**good(question, passages), "usage": usage}

def wrong(question, passages):
    return 7 if "codeine" in question else good(question, passages)
"""
MEASURES = ("citation_coverage", "groundedness", "refusal_correctness", "empty_result_rate")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    monkeypatch.setenv("ASSAY_RESAMPLES", "200")
    (tmp_path / "drugs.jsonl").write_text(
        "".join(json.dumps({"doc_id": name, "text": text}) + "\n" for name, text in DOCUMENTS)
    )
    (tmp_path / "asked.yaml").write_text(
        "name: asked\nversion: v1\nqueries:\n"
        + "".join(f"  - {json.dumps(query)}\n" for query in QUERIES)
    )
    (tmp_path / "those_who_answer.py").write_text(ANSWERERS)
    paths = list(sys.path)
    sys.modules.pop("those_who_answer", None)
    importlib.invalidate_caches()
    assert run(["ingest", "drugs.jsonl"]) == 0
    yield tmp_path
    sys.path[:] = paths
    sys.modules.pop("those_who_answer", None)


def evaluate(who: str, *more: str) -> int:
    answerer = f"those_who_answer:{who}"
    return run(["eval", "run", "-t", "asked.yaml", "--answerer", answerer, "--tag", who, *more])


def shown(capsys: pytest.CaptureFixture[str], *command: str) -> dict[str, Any]:
    capsys.readouterr()
    run([*command, "--json"])
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


@pytest.mark.req("K4", "K5", "K6")
def test_a_failing_answerer_is_counted_and_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("good") == 0
    assert evaluate("breaks") == 4
    said = capsys.readouterr().err
    assert "4 of 5 queries could not be answered, which counts as wrong" in said
    assert "the first with those_who_answer:breaks failed: RuntimeError: out of service" in said
    for command in (["eval", "show"], ["eval", "report", "--format", "json"]):
        good, bad = (shown(capsys, *command, who) for who in ("good", "breaks"))
        assert [good["metrics"][name] for name in MEASURES] == [1.0, 1.0, 1.0, 0.2]
        assert [bad["metrics"][name] for name in MEASURES] == [0.3333, 0.5, 0.0, 0.2]
        assert [bad["answers"][name]["n"] for name in MEASURES] == [3, 2, 2, 5]
        assert (good["failed_queries"], good["failed_answers"]) == (0, 0)
        assert (bad["failed_queries"], bad["failed_answers"]) == (4, 4)
        assert any("out of service" in line for line in bad["warnings"])
        assert bad["metrics"]["recall_at_10"] == good["metrics"]["recall_at_10"] == 1.0
    run(["eval", "show", "breaks", "--query", "a2"])
    assert "not answered: those_who_answer:breaks failed" in capsys.readouterr().err


def test_what_answers_took_is_kept_with_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("counts") == 0
    said = capsys.readouterr().err
    assert "cost, as the system says: 1.25 in all, 0.25 a query; 175 tokens" in said
    kept = shown(capsys, "eval", "show", "counts")["usage"]
    assert kept == {"cost": 1.25, "tokens": 175, "input_tokens": 150, "output_tokens": 25}


def test_an_answer_of_the_wrong_form_is_a_failed_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("wrong") == 4
    assert "1 of 5 queries could not be answered" in capsys.readouterr().err


@pytest.mark.req("E9")
@pytest.mark.parametrize("sides", [("good", "breaks"), ("breaks", "good"), ("breaks", "breaks")])
def test_a_gate_of_failed_answers_is_inconclusive(
    folder: Path, capsys: pytest.CaptureFixture[str], sides: tuple[str, str]
) -> None:
    for who in set(sides):
        evaluate(who)
    before, now = sides
    gate = ["eval", "gate", "--current", now, "--baseline"]
    assert run([*gate, before]) == 4
    assert "4 queries of" in capsys.readouterr().err
    for command in (["eval", "show", before], ["eval", "report", before, "--format", "json"]):
        file = folder / "before.json"
        file.write_text(json.dumps(shown(capsys, *command)))
        assert run([*gate, str(file)]) == 4
        assert "could not be answered" in capsys.readouterr().err


def test_a_gate_of_good_answers_passes(folder: Path) -> None:
    evaluate("good")
    limit = ["--limit", "Groundedness=1%"]
    assert run(["eval", "gate", "--current", "good", "--baseline", "good", *limit]) == 0


@pytest.mark.req("E7")
def test_a_run_with_failed_answers_is_made_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "down").touch()
    assert evaluate("flaky") == 4
    assert shown(capsys, "eval", "show", "flaky")["failed_answers"] == 5
    (folder / "down").unlink()
    assert evaluate("flaky") == 0
    found = shown(capsys, "eval", "show", "flaky")
    assert (found["failed_answers"], found["metrics"]["groundedness"]) == (0, 1.0)


def test_too_many_failed_answers_end_a_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("breaks", "--max-errors", "2") == 1
    said = capsys.readouterr().err
    assert "3 queries failed" in said
    assert "out of service" in said


def test_a_comparison_names_what_failed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate("good")
    evaluate("breaks")
    found = shown(capsys, "eval", "compare", "good", "breaks")
    assert (found["aggregate_a"]["failed_queries"], found["aggregate_b"]["failed_queries"]) == (
        0,
        4,
    )
    assert found["deltas"]["citation_coverage"] == -0.6667
    assert any("could not be answered" in line for line in found["warnings"])
    notes = {one["query_id"]: one["note"] for one in found["per_query"]}
    assert "b not answered: those_who_answer:breaks failed" in notes["a2"]
    assert any(one["kind"] == "prompt" for one in found["differences"])


def test_pages_show_it(folder: Path) -> None:
    evaluate("breaks")
    service = service_of(folder / ".assay", io.StringIO())
    with client_of(service) as client:
        assert "failed 4" in client.get("/runs").text
        page = client.get("/runs/breaks").text
        assert "4 of 5 queries could not be answered" in page
        assert "not answered: those_who_answer:breaks" in client.get("/runs/breaks/query/a2").text
    service.close()


@pytest.mark.req("K6", "K7")
def test_notes_and_figures_on_answers_agree(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measures = ["-m", "RefusalCorrectness EmptyResultRate Recall@10"]
    assert run(["eval", "run", "-t", "asked.yaml", "--tag", "silent", *measures]) == 0
    said = capsys.readouterr().err
    assert "RefusalCorrectness is undefined: no query that should be refused has an answer" in said
    assert "RefusalCorrectness looks at" not in said
    found = shown(capsys, "eval", "show", "silent")
    rate = found["answers"]["empty_result_rate"]
    assert found["empty_queries"] == round(rate["value"] * rate["n"]) == 1  # r1, to be refused
    assert not any("found nothing" in line for line in found["warnings"])


def test_a_failed_answer_of_an_older_run_is_recognised() -> None:
    older = '{"ids":["K1"],"warnings":["slow","not answered: gone"]}'
    read = outcome("a1", older)
    assert read.answer_error == "gone"
    assert outcome("a1", result_json(read)) == read
