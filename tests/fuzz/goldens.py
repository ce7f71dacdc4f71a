"""Which test sets, samples, grades and baselines are fuzzed?"""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from assay.annotation.exchange import read_grades
from assay.annotation.sample_file import read_sample
from assay.app.drafts import add_query
from assay.app.layout import Layout
from assay.evaluation.baseline import side_of_file
from assay.mcp.server import Server
from assay.measures.parse import parse_measures
from assay.model.testset import HeldOut
from assay.testsets.load import Reading, ReadOptions, parse_test_set, read_test_set
from assay.testsets.write import as_plain, as_yaml
from tests.fuzz.harness import Harness
from tests.unit.testsets.samples import fifty, golden

if TYPE_CHECKING:
    from assay.app.interface import Assay

THREE = replace(fifty(), queries=fifty().queries[:3], held_out=HeldOut(1, ("q001",)))
YAML = as_yaml(THREE).encode()
GOLDEN = [{"id": "g1", "query": "x", "expected_doc_ids": ["d1"], "expected_chunk_ids": ["d1:chunk_0"],
           "must_contain": ["a"], "forbidden": []}]  # fmt: skip
WORKFLOW = {
    "dataset_id": "w",
    "interview_ids": ["i1"],
    "test_queries": [
        {"query_id": "q1", "query_text": "x", "relevant_segment_ids": ["s1"],
         "speaker_filter": "PATIENT"}
    ],
    "total_queries": 1,
}  # fmt: skip
TOPICS = (
    b"<top>\n<num> Number: 1\n<title> pain\n<desc> Description:\nwhere\n</top>\n",
    b'<topics><topic number="1"><query>pain</query><question>where?</question></topic></topics>',
    b"1\tpain\n2\tfever\n",
)
GRADES = (
    b"query_id,query,chunk_id,grade,comment\nq1,x,c1,2,'=1\nq1,x,c2,cannot judge,\n",
    json.dumps([{"data": {"query_id": "q1", "chunk_id": "c1"}, "annotations": [{"result": [
        {"from_name": "grade", "value": {"choices": ["2"]}},
        {"from_name": "comment", "value": {"text": ["x"]}}]}]}]).encode(),
)  # fmt: skip
SAMPLE = (
    json.dumps({"query_id": "q1", "query_text": "x", "query_type": "paraphrase", "origin": {}})
    + "\n"
).encode()
BASELINE = json.dumps(
    {"metrics": {"recall_at_10": 0.8, "mrr": None}, "per_query_type": {"x": {"recall_at_10": 1}},
     "per_query": {"q1": {"recall_at_10": 1.0}}, "degraded_queries": 0,
     "test_set": {"name": "t", "version": "v1", "checksum": "c"},
     "provenance": {"chunker_versions": ["a"]},}
).encode()  # fmt: skip


def _told(reading: Reading) -> str:
    assert (reading.test_set is None) == bool(reading.problems)
    assert all(problem.message for problem in reading.problems)
    return "problems" if reading.problems else "set"


ROWS = (
    b'query,docid,rating\nheart attack,d1,3\n"dose, renal",d2,0\n',
    b'{"user_input": "x", "reference_context_ids": ["d1", "d2"]}\n{"query": "y", "qrels": {"d": 1}}\n',
    b'{"queries": {"a": "x"}, "relevant_docs": {"a": ["d1"]}}\n',
)
MESSAGES = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}\n',
    b'{"jsonrpc": "2.0", "id": "a", "method": "tools/list"}\n',
    b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"k": 3}}}\n',
)


def read_set(path: Path, rng: random.Random) -> str:
    """As YAML, as JSON, and as an upload whose form is told by content."""
    source = rng.choice(("t.yaml", "t.json", "upload"))
    return _told(parse_test_set(path.read_bytes(), source=source))


def read_set_rows(path: Path, rng: random.Random) -> str:
    """As a table, as JSON lines, and as an upload whose form is told by content."""
    source = rng.choice(("t.csv", "t.jsonl", "t.parquet", "upload"))
    return _told(parse_test_set(path.read_bytes(), source=source))


def read_message(path: Path, rng: random.Random) -> str:
    """What an assistant sends, to a server without a workspace."""
    del rng
    said = io.BytesIO()
    Server(cast("Assay", None), io.BytesIO(path.read_bytes()), said).run()
    return "answered" if said.getvalue() else "nothing"


def read_beir_set(path: Path, rng: random.Random) -> str:
    """A folder; the input is its queries or its judgments."""
    folder = path.parent / "beir"
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    queries, judged = folder / "queries.jsonl", folder / "qrels" / "test.tsv"
    queries.write_bytes(b'{"_id": "q1", "text": "x"}\n')
    judged.write_bytes(b"query-id\tcorpus-id\tscore\nq1\ta\t1\n")
    rng.choice((queries, judged)).write_bytes(path.read_bytes())
    return _told(read_test_set(folder))


def read_topics(path: Path, rng: random.Random) -> str:
    """Topics with sound judgments."""
    qrels = path.with_name("qrels")
    qrels.write_bytes(b"1 0 a 1\n2 0 b 1\n")
    field = rng.choice(("title", "desc", "question"))
    return _told(read_test_set(path, ReadOptions(qrels=qrels, field=field)))


def add_to_set(path: Path, rng: random.Random) -> str:
    """A query that is saved from the playground into a set that somebody edited."""
    del rng
    target = path.parent / "testsets" / "mine.yaml"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(path.read_bytes())
    add_query(Layout(path.parent), "mine", golden("new"))
    return "added"


def read_annotations(path: Path, rng: random.Random) -> str:
    """Grades from another tool."""
    del rng
    return "grades" if read_grades(path.read_bytes(), "input") else "nothing"


def read_drawn(path: Path, rng: random.Random) -> str:
    """A sample of queries that somebody looked through."""
    del rng
    return "sample" if read_sample(path.read_bytes(), "input") else "nothing"


def read_baseline(path: Path, rng: random.Random) -> str:
    """What a gate holds a run against."""
    del rng
    side_of_file(path, parse_measures("Recall@10 MRR"))
    return "baseline"


HARNESSES = (
    Harness("yaml-set", "testset.load, strict_yaml", "written by hand; aliases, tags, odd scalars",
            read_set, (YAML,), share=2),
    Harness("json-set", "testset.load, json_nodes: three forms", "uploaded over HTTP", read_set,
            (json.dumps(as_plain(THREE), indent=1).encode(), json.dumps(GOLDEN).encode(),
             json.dumps({"golden": GOLDEN}).encode(), json.dumps(WORKFLOW).encode()), share=2),
    Harness("beir-set", "testset.public: BEIR", "public collections", read_beir_set,
            (b'{"_id": "q1", "text": "x"}\n', b"query-id\tcorpus-id\tscore\nq1\ta\t1\n")),
    Harness("set-rows", "testset.rows: Quepid, ragas, JSON lines", "exported by other tools", read_set_rows,
            ROWS),
    Harness("mcp", "mcp.server", "sent by an assistant", read_message, MESSAGES),
    Harness("trec-set", "testset.public: topics", "three forms told by content", read_topics, TOPICS),
    Harness("saved-query", "app.drafts.add_query", "a page appends to what a person edits", add_to_set,
            (YAML,)),
    Harness("grades", "refresh.exchange", "spreadsheets and Label Studio", read_annotations, GRADES),
    Harness("sample", "refresh.sample_file", "edited by hand before judging", read_drawn, (SAMPLE,)),
    Harness("baseline", "evaluation.baseline", "comes from another branch", read_baseline,
            (BASELINE,)),
)  # fmt: skip
