"""Do tables and JSON lines of queries and judgments become the test sets that they mean?"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import assay
from assay.app.layout import Layout
from assay.app.testsets import import_file, read_upload, upload
from assay.model.answers import Expect
from assay.model.testset import Judgment, TestSet
from assay.testsets.load import Reading, ReadOptions, load_test_set, parse_test_set, read_test_set

QUEPID = """query,docid,rating
heart attack,d1,3
heart attack,d2,0
"dose, renal",d3,2
"dose, renal",d4,
"""
WANTED = {"heart attack": {"d1": 3, "d2": 0}, "dose, renal": {"d3": 2}}


def read(text: str | bytes, name: str = "upload") -> Reading:
    return parse_test_set(text if isinstance(text, bytes) else text.encode(), source=name)


def grades(test_set: TestSet) -> dict[str, dict[str, int]]:
    return {
        one.query_text: {judged.id: judged.grade for judged in one.relevant_docs}
        for one in test_set.queries
    }


def lines(*rows: Any) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.mark.parametrize(("yes", "no"), [("yes", "no"), ("TRUE", "FALSE"), ("1", "0")])
def test_a_judgment_may_say_whether_a_document_is_relevant(yes: str, no: str) -> None:
    text = f"question;document;relevant\nheart attack;d1;{yes}\nheart attack;d2;{no}\n"
    assert grades(read(text, "a.csv").sound()) == {"heart attack": {"d1": 1, "d2": 0}}
    listed = lines({"query": "heart attack", "document": "a text", "relevant": ["d1"]})
    assert grades(read(listed, "a.jsonl").sound()) == {"heart attack": {"d1": 1}}


def test_columns_that_are_left_out_are_named_as_they_are_written() -> None:
    reading = read("query,docid,rating,Case Name\nitch,d1,3,x\n", "a.csv")
    assert [one.message for one in reading.warnings] == [
        "columns that a test set has no place for: Case Name"
    ]


def test_judgments_alone_are_told_where_they_belong() -> None:
    (problem,) = read("301 0 d1 1\n301 0 d2 0\n", "qrels.txt").problems
    assert problem.message == "these are judgments of TREC without the queries"
    assert "--qrels qrels.txt" in str(problem.hint)


def test_a_csv_of_quepid() -> None:
    reading = read(QUEPID, "case_7.csv")
    assert grades(reading.sound()) == WANTED
    assert [one.query_id for one in reading.sound().queries] == ["q0001", "q0002"]
    assert (reading.form, reading.sound().name) == ("rows", "case_7")
    assert [one.message for one in reading.warnings] == ["1 document without a rating: left out"]


def test_the_detailed_csv_of_quepid() -> None:
    text = (
        "Team Name,Case Name,Query Text,Doc ID,Doc Position,Rating\n"
        "ours,c,heart attack,d1,1,3\nours,c,heart attack,d2,2,0.0\n"
    )
    reading = read(text, "case.csv")
    assert grades(reading.sound()) == {"heart attack": {"d1": 3, "d2": 0}}
    assert "Team Name, Case Name, Doc Position" in reading.warnings[0].message


@pytest.mark.parametrize(
    "row",
    [
        {"query": "heart attack", "relevant_docs": ["d1", "d2"]},
        {"id": "q0001", "question": "heart attack", "relevant": ["d1", "d2"]},
        {"_id": "q0001", "text": "heart attack", "doc_ids": ["d1", "d2"]},
        {"query_text": "heart attack", "relevant_docs": [{"doc_id": "d1"}, {"doc_id": "d2"}]},
        {"query": "heart attack", "qrels": {"d1": 1, "d2": 1}},
        {"query": "heart attack", "positive_passages": [
            {"docid": "d1", "title": "t", "text": "x"}, {"docid": "d2"}]},
        {"user_input": "heart attack", "reference": "An answer.", "reference_contexts": ["x", "y"],
         "reference_context_ids": ["d1", "d2"], "retrieved_context_ids": ["d9"]},
    ],
)  # fmt: skip
def test_a_row_is_a_query_with_its_documents(row: dict[str, Any]) -> None:
    wanted = {"heart attack": {"d1": 1, "d2": 1}}
    changed = {"id": "other", "_id": "other"}
    changed |= dict.fromkeys(("query", "question", "text", "user_input", "query_text"), "fever")
    other = {**row, **{name: value for name, value in changed.items() if name in row}}
    for text, name in (
        (lines(row), "a.jsonl"),
        (json.dumps([row]), "a.json"),
        (json.dumps([row]), "upload"),
        (lines(row, other), "upload"),
    ):
        found = grades(read(text, name).sound())
        assert {"heart attack": found["heart attack"]} == wanted, (text, name)


@pytest.mark.parametrize(
    "row",
    [
        {"user_input": "heart attack", "reference": "Call for help.", "reference_contexts": ["x"]},
        {"question": "heart attack", "ground_truth": "Call for help."},
        {"question": "heart attack", "ground_truths": ["Call for help."]},
        {"input": "heart attack", "expected_output": "Call for help."},
    ],
)
def test_a_reference_answer_is_enough(row: dict[str, Any]) -> None:
    refusal = {"question": "price of beds", "expect": "refusal"}
    test_set = read(lines(row, refusal), "golden.jsonl").sound()
    asked, refused = test_set.queries
    assert (asked.reference, asked.relevant_docs) == ("Call for help.", ())
    assert refused.expect is Expect.REFUSAL


def test_a_row_without_documents_and_answer_is_left_out() -> None:
    rows = lines({"question": "a", "reference": "b c d"}, {"question": "e", "reference": ""})
    reading = read(rows, "golden.jsonl")
    assert [one.query_text for one in reading.sound().queries] == ["a"]
    assert "no reference answer" in reading.warnings[0].message
    wrong = read(lines({"question": "a", "expect": "silence"}), "golden.jsonl")
    assert "evidence, refusal, nothing" in (wrong.problems[0].hint or "")


def test_grades_and_numbers_as_ids() -> None:
    row = {"qid": 7, "query": "q", "judgments": [{"doc_id": 12, "relevance": 2.0}, {"id": "a"}]}
    (query,) = read(lines(row), "a.jsonl").sound().queries
    assert query.query_id == "7"
    assert query.relevant_docs == (Judgment("12", 2), Judgment("a", 1))


@pytest.mark.parametrize("cell", ["d1 d2", "d1,d2", "['d1', 'd2']", '["d1", "d2"]', "d1|d2"])
def test_ids_in_one_cell(cell: str) -> None:
    quoted = '"' + cell.replace('"', '""') + '"'
    reading = read(f"question;relevant_ids\nheart attack;{quoted}\n", "a.csv")
    assert grades(reading.sound()) == {"heart attack": {"d1": 1, "d2": 1}}


def test_queries_and_relevant_documents_by_id() -> None:
    """As LlamaIndex and sentence-transformers have them."""
    content = {
        "queries": {"a": "heart attack", "b": "fever"},
        "corpus": {"d1": "x"},
        "relevant_docs": {"a": ["d1"], "b": ["d2"]},
    }
    test_set = read(json.dumps(content), "pairs.json").sound()
    assert grades(test_set) == {"heart attack": {"d1": 1}, "fever": {"d2": 1}}
    assert list(test_set.by_id) == ["a", "b"]


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "rated.parquet"
    pl.DataFrame({"query": ["heart attack"] * 2, "doc_id": ["d1", "d2"], "rating": [3, 0]}
                 ).write_parquet(path)  # fmt: skip
    assert grades(load_test_set(path)) == {"heart attack": {"d1": 3, "d2": 0}}


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("query,docid,rating\nq,d1,9\n", "a.csv", "the grade of d1 is 9"),
        ("query,docid,rating\nq,d1,high\n", "a.csv", "d1 is 'high', not a whole number"),
        ("query,docid,rating\nq,d1,1.5\n", "a.csv", "is '1.5', not a whole number"),
        ("query,docid,rating\nq,d1,1\nq,d1,2\n", "a.csv", "d1 is judged twice, differently"),
        ("query,docid,rating\n,d1,1\n", "a.csv", "no query in this row"),
        ("query,docid,rating\nq,d1\n", "a.csv", "2 cells, but 3 columns"),
        ("qid,query,docid\n1,q,d1\n1,other,d2\n", "a.csv", "another text than on line 2"),
        ("name,value\na,1\n", "a.csv", "no query in this row (it has name, value)"),
        ("", "a.csv", "there is no row with a query"),
        (",,\nq,d1,1\n", "a.csv", "the first row does not name the columns"),
        (lines({"id": "1", "query": "q", "relevant": ["d"]}) * 2, "a.jsonl", "appears twice"),
        (lines({"query": "q", "relevant": [None]}), "a.jsonl", "None is not the id of a document"),
        (lines([1]), "a.jsonl", "a row is an object"),
        ('{"query": "q", "relevant": ["d"]', "a.jsonl", "JSON"),
        (lines({"user_input": "q", "reference_contexts": ["text"]}), "a.jsonl",
         "only their texts"),
        (b"query,docid\nq,\xff\n", "a.csv", "not UTF-8"),
        (b"PAR1 is not enough", "a.parquet", "not parquet"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(text: str | bytes, name: str, says: str) -> None:
    reading = read(text, name)
    assert reading.test_set is None
    assert any(says in str(problem) for problem in reading.problems)


def test_results_without_ratings_are_no_judgments() -> None:
    """As a snapshot of Quepid has them."""
    text = "Query Text,Doc ID,Doc Position\nheart attack,d1,1\n"
    with pytest.raises(assay.AssayError, match=r"these are results \(Doc Position\)"):
        read(text, "a.csv").sound()
    rated = "Query Text,Doc ID,Doc Position,Rating\nheart attack,d1,1,3\n"
    assert grades(read(rated, "a.csv").sound()) == {"heart attack": {"d1": 3}}


def test_a_golden_list_and_our_own_json_stay_what_they_are() -> None:
    listed = [{"id": "g1", "query": "q", "expected_doc_ids": ["d1"]}]
    assert read(json.dumps(listed), "a.json").form == "golden-list"
    native = {"name": "n", "version": "v1", "queries": [
        {"query_id": "a", "query_text": "q", "relevant_docs": [{"doc_id": "d"}]}]}  # fmt: skip
    assert read(json.dumps(native)).form == "native"
    assert read(json.dumps(native), "a.json").sound().name == "n"


def test_rows_come_in_by_file_by_upload_and_by_name(tmp_path: Path) -> None:
    path = tmp_path / "rated.csv"
    path.write_text(QUEPID)
    layout = Layout(tmp_path / "home")
    written, _ = import_file(layout, path)
    assert grades(load_test_set(written)) == WANTED
    assert grades(assay.load_test_set(path)) == WANTED
    assert grades(read_upload(QUEPID.encode()).sound()) == WANTED
    assert upload(Layout(tmp_path / "other"), QUEPID.encode()).queries == 2
    found = assay.evaluate(lambda text: ["d1"], path, "MRR")
    assert found["MRR"] == 0.5


@pytest.mark.parametrize("form", ["jsonl", "parquet", "parts", "default"])
def test_folders_of_mteb(tmp_path: Path, form: str) -> None:
    queries = [{"_id": "1", "text": "heart attack"}, {"_id": "2", "text": "fever"}]
    judged = [{"query-id": "1", "corpus-id": "d1", "score": 2},
              {"query-id": "2", "corpus-id": "d2", "score": 1.0}]  # fmt: skip
    tables: tuple[list[dict[str, Any]], ...] = (queries, judged)
    places = {
        "jsonl": ("queries.jsonl.gz", "qrels/test.jsonl"),
        "parquet": ("queries.parquet", "qrels/test.parquet"),
        "parts": ("queries/queries-00000-of-00001.parquet", "qrels/test-00000-of-00001.parquet"),
        "default": ("queries/test-00000-of-00001.parquet", "default/test-00000-of-00001.parquet"),
    }
    for rows, name in zip(tables, places[form], strict=True):
        path = tmp_path / "scifact" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".parquet":
            pl.DataFrame(rows).write_parquet(path)
        elif path.suffix == ".gz":
            path.write_bytes(gzip.compress(lines(*rows).encode()))
        else:
            path.write_text(lines(*rows))
    reading = read_test_set(tmp_path / "scifact")
    assert grades(reading.sound()) == {"heart attack": {"d1": 2}, "fever": {"d2": 1}}
    assert (reading.form, reading.sound().name) == ("beir", "scifact")
    with pytest.raises(assay.AssayError, match=r"no judgments dev\.tsv \(there: test\)"):
        read_test_set(tmp_path / "scifact", ReadOptions(split="dev")).sound()


def test_a_set_of_ir_datasets_by_its_name(tmp_path: Path) -> None:
    ir_datasets = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import BaseQrels, BaseQueries, GenericQuery, TrecQrel

    class Queries(BaseQueries):  # type: ignore[misc]
        def queries_iter(self) -> Any:
            return iter([GenericQuery("1", "heart attack"), GenericQuery("2", "fever")])

        def queries_cls(self) -> Any:
            return GenericQuery

    class Qrels(BaseQrels):  # type: ignore[misc]
        def qrels_iter(self) -> Any:
            return iter([TrecQrel("1", "d1", 2, "0"), TrecQrel("2", "d2", -1, "0")])

        def qrels_cls(self) -> Any:
            return TrecQrel

    ir_datasets.registry.register("ours/test", ir_datasets.Dataset(Queries(), Qrels()))
    ir_datasets.registry.register("ours", ir_datasets.Dataset(Queries()))
    reading = read_test_set(Path("irds:ours/test"))
    assert grades(reading.sound()) == {"heart attack": {"d1": 2}}
    assert (reading.form, reading.sound().name) == ("ir_datasets", "ours-test")
    written, _ = import_file(Layout(tmp_path), Path("irds:ours/test"))
    assert grades(load_test_set(written)) == {"heart attack": {"d1": 2}}
    assert grades(load_test_set("irds:ours/test")) == {"heart attack": {"d1": 2}}
    with pytest.raises(assay.AssayError, match=r"has no judgments.*ours/test"):
        load_test_set("irds:ours")
    with pytest.raises(assay.AssayError, match="ir_datasets has no set"):
        load_test_set("irds:no/such/set")


def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    reading = read_test_set(Path("irds:beir/scifact/test"))
    assert "pip install ir-datasets" in str(reading.problems[0])
