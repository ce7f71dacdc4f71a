"""Do commands agree on what a hit is: across chunkers, for chunks and documents, runs and files?

Two documents of 120 characters; the first chunker cuts them in halves, the second otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run as cli

WORDS = {
    doc: [f"{doc}word{at:02}".ljust(11, "y") + " " for at in range(10)] for doc in ("one", "two")
}
HALVES = (0, 60, 120)
Said = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    monkeypatch.setenv("ASSAY_RESAMPLES", "200")
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """What a command writes as JSON, and its exit code."""

    def call(*arguments: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = cli([*arguments, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def ingest(cuts: Mapping[str, Sequence[int]], version: str) -> None:
    rows = []
    for doc, edges in cuts.items():
        text = "".join(WORDS[doc])
        for number, (start, end) in enumerate(pairwise(edges)):
            rows.append(
                {
                    "doc_id": doc,
                    "chunk_id": f"{doc}:chunk_{number}",
                    "text": text[start:end],
                    "spans": [[start, end]],
                    "chunker_version": version,
                }
            )
    Path(f"{version}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    assert cli(["ingest", f"{version}.jsonl"]) == 0


def expect_first_chunks() -> None:
    lines = []
    for doc in WORDS:
        lines += [
            f"- id: q-{doc}",
            f"  query: {WORDS[doc][0].strip()} {WORDS[doc][2].strip()}",
            f"  expected_doc_ids: [{doc}]",
            f'  expected_chunk_ids: ["{doc}:chunk_0"]',
        ]
    Path("first.yaml").write_text("\n".join(lines) + "\n")


def write(name: str, value: object) -> str:
    Path(name).write_text(json.dumps(value))
    return name


@pytest.mark.req("E9", "K14")
def test_a_gate_says_the_same_of_a_run_and_of_every_file_made_from_it(
    folder: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest({"one": HALVES, "two": HALVES}, "halves")
    expect_first_chunks()
    files = [write("run.json", said("eval", "run", "-t", "first.yaml", "--tag", "before")[1])]
    files.append(write("show.json", said("eval", "show", "before")[1]))
    assert cli(["eval", "report", "before", "--format", "json", "-o", "report.json"]) == 0
    files.append("report.json")
    # the chunk that comes first has less than half of the judged one, under the same id
    ingest({"one": HALVES, "two": (0, 24, 48, 120)}, "other")
    assert cli(["eval", "run", "-t", "first.yaml", "--tag", "after"]) == 0
    for baseline in ("before", *files):
        code, found = said("eval", "gate", "--baseline", baseline, "--current", "after")
        assert (code, found["outcome"]) == (3, "failed"), baseline
        assert [one["query_id"] for one in found["failing_queries"]] == ["q-two"]
    # where the run is not stored, its results cannot be matched
    monkeypatch.setenv("ASSAY_HOME", str(folder / "elsewhere"))
    ingest({"one": HALVES, "two": (0, 24, 48, 120)}, "other")
    assert cli(["eval", "run", "-t", "first.yaml", "--tag", "after"]) == 0
    for baseline in files:
        code, found = said("eval", "gate", "--baseline", baseline, "--current", "after")
        assert code == 4, baseline
        assert "chunkers differ" in found["blockers"][0]


@pytest.mark.req("E9")
def test_a_file_that_was_changed_is_not_taken_for_the_run_it_names(
    folder: Path, said: Said
) -> None:
    ingest({"one": HALVES, "two": HALVES}, "halves")
    expect_first_chunks()
    content = said("eval", "run", "-t", "first.yaml")[1]
    ingest({"one": HALVES, "two": (0, 24, 48, 120)}, "other")
    assert cli(["eval", "run", "-t", "first.yaml", "--tag", "after"]) == 0
    content["metrics"]["recall_at_10"] = 0.25
    path = write("changed.json", content)
    assert said("eval", "gate", "--baseline", path, "--current", "after")[0] == 4


@pytest.mark.req("E9")
def test_a_file_that_names_no_chunker_or_no_rule_is_inconclusive(folder: Path, said: Said) -> None:
    ingest({"one": HALVES, "two": HALVES}, "halves")
    expect_first_chunks()
    made = said("eval", "run", "-t", "first.yaml", "--tag", "now")[1]
    numbers = {"metrics": {"recall_at_10": 1.0}}
    rule: dict[str, Any] = {"scoring": {"match": "exact"}}
    chunker: dict[str, Any] = {"chunker_versions": ["halves"]}
    for more, words in (
        ({}, ("by which rule", "this one: halves", '"scoring": {"match": "exact"}')),
        (rule, ("with which chunker", '"chunker_versions": ["halves"]')),
        (chunker, ("by which rule",)),
    ):
        path = write("bare.json", {**numbers, **more})
        code, found = said("eval", "gate", "--baseline", path, "--current", "now")
        assert (code, found["warnings"]) == (4, [])
        (blocker,) = found["blockers"]
        assert all(word in blocker for word in words)
    for more in ({**rule, **chunker}, {"run_id": made["run_id"]}):  # a stored run tells the rest
        path = write("whole.json", {**numbers, **more})
        assert said("eval", "gate", "--baseline", path, "--current", "now")[0] == 0


@pytest.mark.req("E9", "K14")
def test_an_unrelated_document_of_another_chunker_stops_no_gate(folder: Path, said: Said) -> None:
    ingest({"one": HALVES, "two": HALVES}, "halves")
    expect_first_chunks()
    first = write("run.json", said("eval", "run", "-t", "first.yaml", "--tag", "before")[1])
    note = {"doc_id": "note", "text": f"a note that says {WORDS['one'][0]}"}
    Path("note.jsonl").write_text(json.dumps(note) + "\n")
    assert cli(["ingest", "note.jsonl"]) == 0
    found = said("eval", "run", "-t", "first.yaml", "--tag", "after")[1]
    assert len(found["chunker_versions"]) == 2
    for baseline in ("before", first):
        code, ruling = said("eval", "gate", "--baseline", baseline, "--current", "after")
        assert (code, ruling["blockers"]) == (0, []), baseline
    compared = said("eval", "compare", "before", "after", "--strict-chunker-version")[1]
    assert compared["deltas"]["chunker_version_match"] == "exact"


GOLDEN = """
- {id: q1, query: alpha, expected_doc_ids: [D1], expected_chunk_ids: ["D1:chunk_0"]}
- {id: q2, query: beta, expected_doc_ids: [D2, D5], expected_chunk_ids: ["D2:chunk_3"]}
- {id: q3, query: gamma, expected_doc_ids: [D3], expected_chunk_ids: ["D3:chunk_1"]}
- {id: q4, query: delta, expected_doc_ids: [D7, D8], expected_chunk_ids: []}
- {id: q5, query: none, expected_doc_ids: [], expected_chunk_ids: []}
"""
RANKED = {
    "q1": ["D1:chunk_0", "X1:chunk_0"],
    "q2": ["D5:chunk_9", "X1:chunk_1", "X2:chunk_0", "D2:chunk_3"],
    "q3": ["X1:chunk_0", "D3:chunk_7"],
    "q4": ["D7:chunk_0", "X:chunk_0", "D8:chunk_0"],
    "q5": [],
}
HITS = "hit@1 hit@3 hit@5 hit@10 RR@10 MRR Recall@10"


@pytest.mark.req("K1", "K2", "K3")
def test_hits_of_a_golden_list_are_chunks_on_every_command(folder: Path, said: Said) -> None:
    Path("golden.yaml").write_text(GOLDEN)
    path = write("ranked.json", RANKED)
    run = said("eval", "run", "-t", "golden.yaml", "--run", path, "--tag", "a", "-m", HITS)[1]
    shown, report = said("eval", "show", "a")[1], said("eval", "compare", "a", "a")[1]
    expected = {1: 0.3333, 3: 0.3333, 5: 0.6667, 10: 0.6667}
    for found in (run, shown):
        assert {k: found["metrics"][f"hit_at_{k}"] for k in expected} == expected
        assert found["metrics"]["mrr"] == found["metrics"]["mrr_at_10"] == 0.4167
        entry = found["aggregates"]["mrr"]
        assert (entry["n"], entry["undefined"]) == (3, 1)
        assert entry["reason"] == "the query expects documents and no chunk"
        assert found["aggregates"]["recall_at_10"]["n"] == 4
    side = report["aggregate_a"]
    assert side["hit_at_k"] == {str(k): value for k, value in expected.items()}
    assert side["mrr"] == 0.4167
    assert side["recall_at_k_doc"] == {"1": 0.5, "3": 0.875, "5": 1.0, "10": 1.0}


@pytest.mark.req("K11")
def test_wins_and_losses_of_a_golden_list_follow_its_chunks(folder: Path, said: Said) -> None:
    Path("golden.yaml").write_text(GOLDEN)
    other = {
        **RANKED,
        "q1": ["X1:chunk_0", "D1:chunk_0"],
        "q2": ["D2:chunk_3"],
        "q4": ["X:chunk_0"],
    }
    for tag, ranking in (("a", RANKED), ("b", other)):
        path = write(f"{tag}.json", ranking)
        assert cli(["eval", "run", "-t", "golden.yaml", "--run", path, "--tag", tag]) == 0
    found = said("eval", "compare", "a", "b")[1]
    kinds = {row["query_id"]: row["kind"] for row in found["per_query"]}
    assert kinds == {"q1": "Loss", "q2": "Win", "q3": "Draw"}
    assert found["left_out"] == ["q4"]
    assert cli(["eval", "ab", "a", "b", "--json"]) == 0


@pytest.mark.req("K1")
def test_a_golden_list_keeps_its_documents_in_our_own_form(folder: Path, said: Said) -> None:
    Path("golden.yaml").write_text(GOLDEN)
    assert cli(["testset", "export", "golden.yaml", "--form", "yaml", "-o", "own"]) == 0
    (own,) = Path("own").glob("*.yaml")
    path = write("ranked.json", RANKED)
    before, after = (
        said("eval", "run", "-t", str(name), "--run", path, "-m", HITS)[1]["metrics"]
        for name in ("golden.yaml", own)
    )
    assert before == after


@pytest.mark.req("E9")
def test_runs_of_different_rules_are_not_gated_silently(folder: Path, said: Said) -> None:
    Path("golden.yaml").write_text(GOLDEN)
    path = write("ranked.json", RANKED)
    made = {
        rule: said("eval", "run", "-t", "golden.yaml", "--run", path, "--match", rule)[1]
        for rule in ("exact", "doc")
    }
    ids = {rule: found["run_id"] for rule, found in made.items()}
    files = {rule: write(f"{rule}.json", found) for rule, found in made.items()}
    for baseline in (ids["exact"], files["exact"]):
        code, found = said("eval", "gate", "--baseline", baseline, "--current", ids["doc"])
        assert code == 4
        assert "by document" in found["blockers"][0]
    for baseline in (ids["doc"], files["doc"]):
        assert said("eval", "gate", "--baseline", baseline, "--current", ids["doc"])[0] == 0
    report = said("eval", "compare", ids["exact"], ids["doc"])[1]
    assert any("here both are scored by document" in line for line in report["warnings"])


OWN_AND_WHOLE = """
name: both
version: v1
queries:
  - query_id: q1
    query_text: alpha
    relevant_docs:
      - {doc_id: "D1:chunk_0", grade: 3}
      - {doc_id: "D1", grade: 3}
"""


@pytest.mark.req("E1", "K14")
def test_a_result_that_brings_a_chunk_and_its_document_is_one_result_on_every_command(
    folder: Path, said: Said
) -> None:
    Path("both.yaml").write_text(OWN_AND_WHOLE)
    path = write("two.json", {"q1": ["D1:chunk_0", "D2:chunk_0"]})
    asked = ("-m", "P@2 P@5")
    run = said("eval", "run", "-t", "both.yaml", "--run", path, "--tag", "a", *asked)[1]
    shown = said("eval", "show", "a", *asked)[1]
    side = said("eval", "compare", "a", "a", *asked)[1]["aggregate_b"]["measures"]
    Path("both.qrels").write_text("q1 0 D1:chunk_0 3\nq1 0 D1 3\n")
    scored = said("score", "both.qrels", path, *asked)[1]
    expected = {"precision_at_2": 0.5, "precision_at_5": 0.2}
    for found in (run["metrics"], shown["metrics"]):
        assert {key: found[key] for key in expected} == expected
    assert scored["runs"][0]["metrics"] == expected
    assert side == {"P@2": 0.5, "P@5": 0.2}


QRELS = "q1 0 D1#0 2\nq2 0 D2#3 2\nq2 0 D5#1 1\nq3 0 D3 2\nq4 0 D4 1\nq4 0 D4:chunk_1 3\n"
CHUNKED = {
    "q1": ["D9#1", "D1#4"],
    "q2": ["D2#1", "D2#3", "D5#9"],
    "q3": ["X#1", "D3#7"],
    "q4": ["X#2", "D4:chunk_0", "D4:chunk_1"],
}


def own_form(qrels: str) -> str:
    lines = ["name: ids", "version: v1", "queries:"]
    judged: dict[str, list[str]] = {}
    for line in qrels.splitlines():
        query, _, name, grade = line.split()
        judged.setdefault(query, []).append(f'{{doc_id: "{name}", grade: {grade}}}')
    for query, marks in judged.items():
        lines.append(f"  - {{query_id: {query}, query_text: {query}, ")
        lines.append(f"     relevant_docs: [{', '.join(marks)}]}}")
    return "\n".join(lines) + "\n"


@pytest.mark.req("E1", "K1")
@pytest.mark.parametrize("rule", ["exact", "doc"])
@pytest.mark.parametrize("separator", [":chunk_", "#"])
def test_score_and_eval_run_agree_on_what_a_hit_is_whatever_form_a_run_has(
    folder: Path, said: Said, rule: str, separator: str
) -> None:
    Path("q.qrels").write_text(QRELS)
    Path("own.yaml").write_text(own_form(QRELS))
    write("lists.json", CHUNKED)
    scored = {
        query: {name: 9.0 - at for at, name in enumerate(names)} for query, names in CHUNKED.items()
    }
    write("scores.json", scored)
    Path("run.trec").write_text(
        "".join(
            f"{query} Q0 {name} 1 {score} t\n"
            for query, ranking in scored.items()
            for name, score in ranking.items()
        )
    )
    asked = ("-m", "MRR Recall@5 nDCG@10 P@2", "--match", rule, "--chunk-separator", separator)
    run = said("eval", "run", "-t", "own.yaml", "--run", "lists.json", *asked)[1]
    for name in ("lists.json", "scores.json", "run.trec"):
        (found,) = said("score", "q.qrels", name, *asked)[1]["runs"]
        assert found["metrics"] == {key: run["metrics"][key] for key in found["metrics"]}, name
        notes = found["summary"]["notes"]
        assert ("results are matched by document" in notes) == (rule == "doc")
        assert any('document and "#"' in note for note in notes) == (separator == "#")


@pytest.mark.req("E1")
def test_score_says_which_ids_may_be_of_judged_documents(folder: Path, said: Said) -> None:
    Path("q.qrels").write_text(QRELS)
    path = write("lists.json", CHUNKED)
    for rule in ("exact", "doc"):
        (found,) = said("score", "q.qrels", path, "--match", rule)[1]["runs"]
        (note,) = [one for one in found["summary"]["notes"] if "may be of judged" in one]
        assert "D3#7 (of D3?)" in note
        assert 'as in "#"' in note
