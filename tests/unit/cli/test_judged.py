"""Are answers judged claim by claim, stored, resumed and paid for once? Of ours and of others."""

from __future__ import annotations

import csv
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.errors import UsageError
from assay.judges.words import WordJudge
from assay.model.judges import Support
from assay.settings import configure
from tests.unit.judges.judge_server import by_words, judge_server
from tests.waiting import eventually

SETTINGS = {"components": "bm25", "dense_model": "none", "splade_model": "none"}
DOCUMENTS = [
    {
        "id": "label-1",
        "title": "EXAMPLOL",
        "text": "2 DOSAGE\nIn renal impairment the dose of examplol is 5 mg once daily. "
        "Take examplol with food. Do not exceed 10 mg of examplol a day.",
    },
    {
        "id": "trial-1",
        "title": "Examplol in migraine",
        "text": "Examplol 10 mg was given to 120 adults with migraine for a year. "
        "Nausea was seen in 14 adults with examplol.",
    },
]
QUERIES = """
name: rag
version: v1
queries:
  - query_id: q1
    query_text: What is the dose of examplol in renal impairment?
    query_type: exact_term
    relevant_docs: [{doc_id: label-1, grade: 3}]
    nuggets:
      - The dose of examplol in renal impairment is 5 mg once daily.
      - {text: Examplol is taken with food., vital: false}
  - query_id: q2
    query_text: How many adults had nausea with examplol?
    query_type: paraphrase
    relevant_docs: [{doc_id: trial-1, grade: 3}]
    reference: Nausea was seen in 14 adults with examplol.
  - query_id: q3
    query_text: Which lens suits cataract surgery?
    expect: refusal
"""
RAG = """
PASSAGES = [
    {"id": "label-1", "text": "In renal impairment the dose of examplol is 5 mg once daily."},
    {"id": "trial-1", "text": "Nausea was seen in 14 adults with examplol."},
]
SAID = {
    "What": "In renal impairment the dose of examplol is DOSE mg once daily [1].",
    "How": "Nausea was seen in 14 adults with examplol [2]. Headache was seen in most adults.",
}

def answer(question):
    found = next((text for start, text in SAID.items() if question.startswith(start)), None)
    return {"passages": PASSAGES, "answer": found, "refusal_reason": "nothing is about lenses",
            "usage": {"total_tokens": 12}}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    with Workspace(configure({"home": folder, **SETTINGS})) as workspace:
        workspace.add(DOCUMENTS)
    (tmp_path / "rag.yaml").write_text(QUERIES, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ASSAY_HOME", str(folder))
    for name, value in SETTINGS.items():
        monkeypatch.setenv(f"ASSAY_{name.upper()}", value)
    return folder


def write_rag(folder: Path, name: str, dose: int) -> str:
    (folder / f"{name}.py").write_text(RAG.replace("DOSE", str(dose)), "utf-8")
    return f"{name}:answer"


def said(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_our_answers_are_judged_and_stored(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "run", "-t", "rag.yaml", "--judge", "words", "--json"]) == 0
    found = said(capsys)
    metrics = found["metrics"]
    assert metrics["faithfulness"] == 1.0  # it quotes
    assert metrics["correctness"] is not None
    assert metrics["refusal_recall"] == 1.0
    assert found["answers_by_query_type"]["exact_term"]["faithfulness"]["n"] == 1
    with Workspace(configure({"home": home, **SETTINGS})) as workspace:
        (outcome, *_) = workspace.runs.outcomes("latest")
        assert outcome.judged is not None
        assert outcome.judged.claims[0].label is Support.SUPPORTED
        assert set(outcome.judged.claims[0].citations) <= set(outcome.passages)
        assert workspace.runs.run("latest").config["judge"].startswith("words(")


def test_a_language_model_judges_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with judge_server() as server:
        judge = ["--judge", server.url, "--judge-model", "tiny", "--json"]
        assert run(["eval", "run", "-t", "rag.yaml", *judge]) == 0
        first = said(capsys)
        asked = len(server.requests)
        assert first["judge_usage"] == {
            "cost": pytest.approx(0.001 * asked), "tokens": 110 * asked,
            "input_tokens": 100 * asked, "output_tokens": 10 * asked,
        }  # fmt: skip
        assert run(["eval", "run", "-t", "rag.yaml", "--no-cache", *judge]) == 0
        again = said(capsys)
        assert len(server.requests) == asked
        assert again["judge_usage"] is None
        assert again["metrics"] == first["metrics"]


def test_a_judge_that_fails_leaves_a_run_that_goes_on(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paid: list[str] = []
    mended = threading.Event()

    def reply(prompt: str) -> str | tuple[int, str]:
        if len(paid) >= 3 and not mended.is_set():
            return 402, "pay first"
        paid.append(prompt)
        return by_words(prompt)

    with judge_server(reply) as server:
        judge = ["--judge", server.url, "--judge-model", "tiny"]
        assert run(["eval", "run", "-t", "rag.yaml", "--name", "broken", *judge]) == 1
        assert "pay first" in capsys.readouterr().err
        mended.set()
        assert run(["eval", "run", "--resume", "broken", "--judge-model", "tiny", "--json"]) == 0
        whole = said(capsys)
    assert len(paid) == len(set(paid))
    assert whole["metrics"]["faithfulness"] == 1.0


def test_judging_that_is_killed_pays_nothing_twice(home: Path, tmp_path: Path) -> None:
    paid: list[str] = []
    stuck, freed = threading.Event(), threading.Event()

    def reply(prompt: str) -> str:
        if len(paid) == 4 and not freed.is_set():
            stuck.set()
            freed.wait(30)  # until the process is gone; this reply is lost, and was not paid
            return "{}"
        paid.append(prompt)
        return by_words(prompt)

    with judge_server(reply) as server:
        command = [sys.executable, "-m", "assay", "eval", "run", "-t", "rag.yaml"]
        command += ["--judge", server.url, "--judge-model", "tiny", "--json"]
        environ = {**os.environ, "ASSAY_JUDGE_CONCURRENCY": "1"}
        with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as process:
            eventually(stuck.is_set)
            process.send_signal(signal.SIGKILL)
        freed.set()
        done = subprocess.run(command, env=environ, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert len(paid) == len(set(paid)), "an opinion was paid for twice"
    assert found["judge_usage"]["tokens"] == 110 * len(paid), "what came before the kill counts"
    assert found["metrics"]["faithfulness"] == 1.0


def test_a_rag_of_ones_own_is_stored_judged_and_compared(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, dose in (("good_rag", 5), ("bad_rag", 50)):
        spec = write_rag(tmp_path, name, dose)
        command = ["eval", "run", "-t", "rag.yaml", "--system", spec, "--judge", "words"]
        assert run([*command, "--tag", name.replace("_", "-"), "--json"]) == 0
        metrics = said(capsys)["metrics"]
        assert metrics["citation_coverage"] == 1.0
        assert metrics["number_fidelity"] == (1.0 if dose == 5 else 0.5)
        assert metrics["faithfulness"] == (0.75 if dose == 5 else 0.25)
        assert metrics["citation_recall"] == 0.75
        assert metrics["refusal_correctness"] == 1.0
        assert metrics["correctness"] == pytest.approx(0.8333 if dose == 5 else 0.5, abs=1e-4)
    assert run(["eval", "compare", "good-rag", "bad-rag", "--json"]) == 0
    flipped = said(capsys)["claims"]
    assert [one["query_id"] for one in flipped] == ["q1"]
    assert flipped[0]["flipped"]
    assert flipped[0]["change"] == "worse"
    assert "5 mg" in flipped[0]["before"]["text"]
    assert flipped[0]["after"]["label"] == "contradicted"
    assert run(["eval", "compare", "good-rag", "bad-rag"]) == 0
    assert "Claims that changed (1 flipped)" in capsys.readouterr().out
    test = ["eval", "ab", "good-rag", "bad-rag", "-m", "Faithfulness", "-m", "nDCG@10", "--json"]
    assert run(test) == 0
    (ranks, faith) = said(capsys)["contrasts"]
    assert (ranks["measure"], faith["measure"]) == ("nDCG@10", "Faithfulness")
    assert faith["difference"] == pytest.approx(-0.5)


def test_reference_answers_alone_are_enough_for_measures_of_answers(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = "The dose of examplol in renal impairment is 5 mg once daily."
    rows = [
        {"user_input": "What is the dose of examplol in renal impairment?", "reference": right},
        {"user_input": "Which lens suits cataract surgery?", "expect": "refusal"},
    ]
    Path("golden.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert run(["testset", "import", "golden.jsonl"]) == 0
    name = write_rag(Path.cwd(), "rag_alone", 5)
    assert run(["eval", "run", "-t", "golden", "--system", name, "--judge", "words"]) == 0
    shown = capsys.readouterr()
    assert "median" not in shown.out  # there is no ranking to measure
    assert "only their answers are measured" in shown.err
    assert run(["eval", "show", "latest", "--json"]) == 0
    assert said(capsys)["metrics"]["correctness"] == 1.0


def graded_by(path: Path, label_of: Any) -> Path:
    """The sheet with labels filled in."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows({**row, "label": label_of(row["claim"])} for row in rows)
    return path


def test_a_judge_that_people_disagree_with_decides_no_gate(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write_rag(tmp_path, "judged_rag", 5)
    command = ["eval", "run", "-t", "rag.yaml", "--system", spec, "--judge", "words"]
    assert run([*command, "--tag", "baseline"]) == 0
    gate = ["eval", "gate", "--baseline", "baseline", "--limit", "Faithfulness=5%"]
    assert run(gate) == 0
    assert "nobody has compared the judge" in " ".join("".join(capsys.readouterr()).split())

    sheet = tmp_path / "claims.csv"
    assert run(["judge", "sheet", "baseline", "--out", str(sheet)]) == 0
    assert "supported" not in sheet.read_text("utf-8")  # people do not see what the judge said
    graded_by(sheet, lambda claim: "supported" if "Headache" not in claim else "unsupported")
    capsys.readouterr()
    for name in ("judge:words", "Judge:anna"):
        assert run(["judge", "grade", "baseline", str(sheet), "--by", name]) == 2
        assert "the name of an automatic judge" in capsys.readouterr().err
    assert run(["judge", "grade", "baseline", str(sheet), "--by", "anna", "--json"]) == 0
    found = said(capsys)
    assert found["kappa"] == 1.0
    assert found["confusion"] == [[2, 0], [0, 1]]
    assert not found["passed"], "three claims are too few to tell"
    assert run(["judge", "check", "baseline"]) == 0
    shown = capsys.readouterr().out
    assert "Records(" not in shown
    assert shown.splitlines()[1].split() == ["query_type", "kappa", "agreement", "n", "reason"]
    assert shown.splitlines()[2].split()[:4] == ["all", "1.0000", "1.0000", "3"]
    assert "3 claims are graded, and 30 are needed" in shown
    assert run(gate) == 0
    assert "3 claims are graded, and 30 are needed" in "".join(capsys.readouterr())
    assert run(["eval", "show", "baseline"]) == 0
    shown = " ".join("".join(capsys.readouterr()).split())
    assert "claims are judged by words(rules=" in shown
    assert "beside people: kappa 1.0000 exceeds 0.6, but 3 claims" in shown
    assert "Faithfulness by people and judge" in shown

    graded_by(sheet, lambda claim: "supported" if "Headache" in claim else "unsupported")
    assert run(["judge", "grade", "baseline", str(sheet), "--by", "anna"]) == 0
    assert "decides no gate" in " ".join(capsys.readouterr().out.split())
    assert run(gate) == 3
    assert "does not exceed 0.6" in capsys.readouterr().err


def ids_only(folder: Path, module: str, name: str) -> str:
    listed = [{"id": name}]
    text = f"def answer(question):\n    return {{'passages': {listed}, 'answer': {QUOTED!r}}}\n"
    (folder / f"{module}.py").write_text(text, "utf-8")
    return f"{module}:answer"


QUOTED = "In renal impairment the dose of examplol is 5 mg once daily [1]."


def test_passages_without_text_are_looked_up_in_our_corpus(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = ["--judge", "words", "--json", "--system", ids_only(tmp_path, "ours", "label-1")]
    assert run(["eval", "run", "-t", "rag.yaml", *judged]) == 0
    found = said(capsys)["metrics"]
    assert found["faithfulness"] == 1.0
    assert found["number_fidelity"] == 1.0
    assert found["context_precision"] is not None


def test_passages_that_nobody_can_read_leave_their_measures_undefined(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = ["--judge", "words", "--json", "--system", ids_only(tmp_path, "alien", "pmc-1")]
    assert run(["eval", "run", "-t", "rag.yaml", *judged]) == 0
    found = said(capsys)
    for name in ("faithfulness", "citation_precision", "context_recall", "number_fidelity"):
        assert found["metrics"][name] is None
    reason = found["answers"]["faithfulness"]["reason"]
    assert reason == "3 answers cited passages whose text did not come back"
    assert any("return passages with their text" in one for one in found["warnings"])


def test_a_gate_shows_measures_of_answers_by_type(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, right = write_rag(tmp_path, "rag_wrong", 15), write_rag(tmp_path, "rag_right", 5)
    for tag, system in (("before", right), ("after", wrong)):
        command = ["eval", "run", "-t", "rag.yaml", "--system", system, "--judge", "words"]
        assert run([*command, "--tag", tag]) == 0
    assert run(["eval", "show", "before", "--json"]) == 0
    *_, shown = capsys.readouterr().out.rpartition("\n{")
    (tmp_path / "before.json").write_text("{" + shown, "utf-8")
    for baseline in ("before", "before.json"):
        limits = ["--current", "after", "--limit", "Faithfulness=5%", "--json"]
        run(["eval", "gate", "--baseline", baseline, *limits])
        found = said(capsys)["per_query_type"]
        assert found["exact_term"]["Faithfulness"] == {"baseline": 1.0, "current": 0.0}
        assert found["paraphrase"]["Faithfulness"] == {"baseline": 0.5, "current": 0.5}


def test_python_judges_a_system_as_the_command_does(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = write_rag(tmp_path, "python_rag", 50)
    assert (
        run(["eval", "run", "-t", "rag.yaml", "--system", spec, "--judge", "words", "--json"]) == 0
    )
    expected = said(capsys)["metrics"]
    rag = importlib.import_module("python_rag")
    with assay.open(home, **SETTINGS) as workspace:
        kept = workspace.evaluate("rag.yaml", system=rag.answer, judge="words")
        assert workspace.runs.run("latest").run_id == kept.run_id
    assert kept.to_dict()["metrics"] == expected
    found = assay.evaluate(rag.answer, "rag.yaml", judge="words")
    assert found.to_dict()["metrics"]["faithfulness"] == expected["faithfulness"]
    yes = assay.evaluate(rag.answer, "rag.yaml", judge=lambda kind, text, passage: 1)
    assert yes.to_dict()["metrics"]["faithfulness"] == 1.0
    with assay.open(home, **SETTINGS) as workspace:
        agreed = workspace.evaluate("rag.yaml", system=rag.answer, judge=lambda *task: 1)
        assert agreed.to_dict()["metrics"]["faithfulness"] == 1.0
        named, given = (workspace.evaluate("rag.yaml", judge=one) for one in ("words", WordJudge()))
        assert given.to_dict()["metrics"] == named.to_dict()["metrics"]
        with pytest.raises(UsageError, match="is not a judge"):
            workspace.evaluate("rag.yaml", judge=3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="there is no judge 'nobody'"):
        assay.evaluate(rag.answer, "rag.yaml", judge="nobody")
