"""Which test sets, in YAML and JSON, must be refused with a line, or taken as they were meant?"""

from __future__ import annotations

import json

from tests.badinputs.case import Entry, accepted, refused
from tests.badinputs.ways import (
    as_csv_set,
    as_indexed_set,
    as_json_set,
    as_lines_set,
    as_named_query,
    as_settings,
    as_two_runs,
    as_yaml_set,
)

HEAD = "name: t\nversion: v1\nqueries:\n"


def query(
    query_id: str = "q1",
    text: str = "warfarin dose",
    kind: str = "exact_term",
    grade: str = "3",
    doc: str = "d1",
) -> str:
    return (
        f"  - query_id: {query_id}\n    query_text: {text}\n    query_type: {kind}\n"
        f"    relevant_docs:\n      - {{doc_id: {doc}, grade: {grade}}}\n"
    )


def one(query_id: str = "q1", **fields: str) -> str:
    """A set of one query, with these things in it instead of sound ones."""
    return HEAD + query(query_id, **fields)


def in_json(**fields: object) -> str:
    sound = {
        "query_id": "q1",
        "query_text": "x",
        "query_type": "exact_term",
        "relevant_docs": [{"doc_id": "d1", "grade": 3}],
    }
    return json.dumps({"name": "t", "version": "v1", "queries": [{**sound, **fields}]})


def graded(grade: object) -> str:
    return in_json(relevant_docs=[{"doc_id": "d1", "grade": grade}])


def named(query_id: str) -> tuple[str, str]:
    return one(query_id), query_id


def constant() -> tuple[str, str, str]:
    """One run is better than the other by the same amount in every query."""
    names = [f"q{at}" for at in range(12)]
    return (
        "".join(f"{name} 0 a 1\n" for name in names),
        "".join(f"{name} Q0 a 1 2 t\n{name} Q0 x 2 1 t\n" for name in names),
        "".join(f"{name} Q0 x 1 2 t\n{name} Q0 a 2 1 t\n" for name in names),
    )


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nname: *c\n"
TWO = ("q1 0 a 1\nq2 0 b 1\n", "q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\n")

CASES: tuple[Entry, ...] = (
    refused("alias-bomb", as_yaml_set, BOMB, "input.yaml:1: the anchor &a is not allowed"),
    refused("alias-bomb/2", as_yaml_set, BOMB, "input.yaml:4: the alias *c is not allowed"),
    refused("self-alias", as_yaml_set, "name: &a [*a]\n", "input.yaml:1: the anchor &a"),
    refused(
        "duplicate-key", as_yaml_set, one() + "    query_id: q2\n", "input.yaml:9: the key 'query_id'"
    ),
    refused("duplicate-key/json", as_json_set, '{"name": "a",\n"name": "b"}', "input.json:2"),
    accepted("id-no", as_named_query, named("no"), "no  warfarin"),
    accepted("id-no/yes", as_named_query, named("Yes"), "Yes  warfarin"),
    accepted("id-012", as_named_query, named("012"), "012  warfarin"),
    accepted("id-1_000", as_named_query, named("1_000"), "1_000  warfarin"),
    accepted("id-time", as_named_query, named("12:30:45"), "12:30:45  warfarin"),
    accepted("id-date", as_named_query, named("2024-03-15"), "2024-03-15  warfarin"),
    accepted("id-1e3", as_named_query, named("1e3"), "1e3  warfarin"),
    accepted("id-pmid", as_named_query, named("31452104"), "31452104  warfarin"),
    refused("id-tilde", as_yaml_set, one("~"), "input.yaml:4: query 1: query_id is missing"),
    refused("id-tilde/null", as_yaml_set, one("null"), "input.yaml:4: query 1: query_id is missing"),
    refused("nan", as_yaml_set, one(grade=".nan"), "input.yaml:8: q1: the grade is .nan"),
    refused("nan/json", as_json_set, graded(float("nan")), "input.json:1"),
    refused("inf", as_yaml_set, one(grade="-.inf"), "input.yaml:8: q1: the grade is -.inf"),
    refused("inf/json", as_json_set, graded(float("-inf")), "input.json:1"),
    refused("1e999", as_yaml_set, one(grade="1e999"), "the grade is 1e999"),
    refused("1e999/json", as_json_set, in_json().replace("3}", "1e999}"), "input.json:1"),
    refused("5000-digits", as_yaml_set, one(grade="9" * 5000), "input.yaml:8: q1: the grade is 99"),
    refused("5000-digits/json", as_json_set, in_json().replace("3}", "9" * 5000 + "}"), "input.json"),
    refused("tag-timestamp", as_yaml_set, one("!!timestamp foo"), "input.yaml:4: the tag"),
    refused(
        "tag-python", as_yaml_set, one('!!python/object/apply:os.system ["id"]'), "python/object"
    ),
    refused("tag-binary", as_yaml_set, one("!!binary ==="), "input.yaml:4: the tag"),
    refused("nested-1000", as_yaml_set, "queries: " + "[" * 1000, "input.yaml:1: nested deeper"),
    refused("json-depth-5000", as_json_set, '{"queries": ' + "[" * 5000, "input.json:1: "),
    refused("two-documents", as_yaml_set, one() + "---\n" + one(), "input.yaml:9: a second document"),
    refused("two-documents/json", as_json_set, in_json() + "\n" + in_json(), "input.json:2: "),
    refused("empty-file", as_yaml_set, "", "the file is empty"),
    refused("empty-file/comments", as_yaml_set, "# nothing\n", "the file is empty"),
    refused("empty-file/json", as_json_set, "", "input.json"),
    refused("top-list", as_yaml_set, "- 1\n- 2\n", "input.yaml:1"),
    refused("top-scalar", as_yaml_set, "warfarin\n", "input.yaml:1: a test set is a mapping"),
    refused("top-scalar/json", as_json_set, "3", "input.json:1: a test set is a mapping"),
    refused("nul", as_yaml_set, one("a\0b"), "input.yaml:4: the character U+0000"),
    refused("nul/json", as_json_set, in_json(query_id="a\0b"), "U+0000"),
    refused("tab", as_yaml_set, "name: t\n\tversion: v1\n", "input.yaml:2: not valid YAML"),
    accepted("bom", as_yaml_set, b"\xef\xbb\xbf" + one().encode(), "sound; 1 query, 1 judgment"),
    refused("utf-16", as_yaml_set, one().encode("utf-16"), "input.yaml:1: the file is not UTF-8"),
    refused("latin-1", as_yaml_set, one(text="caf\xe9").encode("latin-1"), "input.yaml:5: the file"),
    refused("lone-surrogate", as_json_set, in_json(query_text="\ud800"), "input.json:1: "),
    refused("lone-surrogate/yaml", as_yaml_set, one(text='"\\uD800"'), "input.yaml:5: "),
    refused("grade-2**63", as_yaml_set, one(grade=str(2**63)), "the grade is 9223372036854775808"),
    refused("grade-2**63/json", as_json_set, graded(2**63), "the grade is 9223372036854775808"),
    refused("grade-true", as_yaml_set, one(grade="true"), "input.yaml:8: q1: the grade is true"),
    refused("grade-true/json", as_json_set, graded(True), "the grade is true"),
    refused("grade-quoted", as_yaml_set, one(grade='"3"'), 'input.yaml:8: q1: the grade is "3"'),
    refused("grade-quoted/json", as_json_set, graded("3"), 'the grade is "3"'),
    refused("grade-4", as_yaml_set, one(grade="4"), "input.yaml:8: q1: the grade is 4"),
    refused("grade-negative", as_yaml_set, one(grade="-1"), "input.yaml:8: q1: the grade is -1"),
    refused("grade-fraction", as_yaml_set, one(grade="2.5"), "input.yaml:8: q1: the grade is 2.5"),
    refused("weights-nan", as_settings, 'weights: "bm25=nan,dense=1"\n', "assay.yaml:1"),
    refused("no-relevant", as_yaml_set, one().partition("      - {")[0], "input.yaml:"),
    refused("all-grades-0", as_yaml_set, one(grade="0"), "q1: "),
    refused(
        "judged-twice", as_yaml_set, one() + "      - {doc_id: d1, grade: 1}\n",
        "input.yaml:9: q1: d1 is judged twice with the grades 3 and 1, first on line 8",
    ),
    refused("id-twice", as_yaml_set, one() + query(), "input.yaml:9: q1: the query_id 'q1' appears"),
    refused("id-case-twin", as_yaml_set, one() + query("Q1"), "'Q1' and 'q1' differ in case only"),
    refused(
        "id-nfc-twin", as_yaml_set,
        one(doc="é1") + "      - {doc_id: e\u03011, grade: 3}\n", "input.yaml:9: q1: ",
    ),
    refused("id-nfc-twin/query", as_yaml_set, one("é1") + query("e\u03011"), "is not allowed"),
    refused("trailing-spaces", as_yaml_set, one('"q1 "'), "input.yaml:4: the query_id 'q1 '"),
    accepted("trailing-spaces/plain", as_yaml_set, one("q1   "), "sound; 1 query"),
    refused("text-empty", as_yaml_set, one(text='""'), "input.yaml:5: q1: query_text is missing"),
    refused("text-empty/blank", as_yaml_set, one(text='"  "'), "input.yaml:5: q1: the query text is"),
    refused("text-1mb", as_yaml_set, lambda: one(text="x" * 2**20), "1,048,576 characters, and 8,192"),
    accepted("text-emoji", as_yaml_set, one(text="🤕 after 💊"), "sound"),
    accepted("text-right-to-left", as_yaml_set, one(text="صداع שלום"), "sound"),
    refused("unknown-type", as_yaml_set, one(kind="riddle"), "input.yaml:6: q1: query_type 'riddle'"),
    refused("not-in-corpus", as_indexed_set, one(doc="d9"), "input.yaml:8: q1: d9 is not in the index"),
    accepted(
        "10k-queries", as_yaml_set,
        lambda: HEAD + "".join(query(f"q{at}") for at in range(10_000)), "10,000 queries",
    ),
    refused("0-queries", as_yaml_set, "name: t\nversion: v1\nqueries: []\n", "holds no query"),
    refused("csv/no-query", as_csv_set, "docid,rating\nd1,3\n", "input.csv:2: no query in this row (it has docid"),
    refused("csv/ragged", as_csv_set, "query,docid,rating\nq,d1\n", "input.csv:2: 2 cells, but 3 columns"),
    refused("csv/grade", as_csv_set, "query,docid,rating\nq,d1,10\n", "input.csv:2: q0001: the grade of d1 is 10"),
    refused("csv/grade-nan", as_csv_set, "query,docid,rating\nq,d1,nan\n", "is 'nan', not a whole number"),
    refused("csv/latin-1", as_csv_set, b"query,docid\nq\xe9,d1\n", "input.csv:2: not UTF-8"),
    refused("csv/nul", as_csv_set, b"query,docid\nq\0,d1\n", "input.csv:2: a NUL character"),
    refused("csv/quote-open", as_csv_set, 'query,docid\n"q,d1\n', "not CSV"),
    refused("csv/twice", as_csv_set, "query,docid,rating\nq,d1,1\nq,d1,2\n", "input.csv:3: q0001: d1 is judged twice"),
    accepted("csv/bom-and-crlf", as_csv_set, b"\xef\xbb\xbfQuery Text;Doc ID;Rating\r\nq;d1;3\r\n", "sound; 1 query"),
    refused("lines/cut", as_lines_set, '{"query": "q", "relevant": ["d1"]}\n{"query"', "input.jsonl:2"),
    refused("lines/key-twice", as_lines_set, '{"query": "q", "query": "r", "relevant": ["d1"]}\n', "twice"),
    refused("lines/nested", as_lines_set, '{"query": "q", "relevant": [["d1"]]}\n', "is not the id of a document"),
    refused("lines/texts-only", as_lines_set, '{"user_input": "q", "reference_contexts": ["x"]}\n', "only their texts"),
    refused("lines/list", as_lines_set, "[1]\n", "input.jsonl:1: a row is an object"),
    accepted(
        "1-query", as_two_runs,
        ("q1 0 a 1\n", "q1 Q0 a 1 1 t\n", "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n"), "RR@10",
    ),
    accepted("identical-runs", as_two_runs, (*TWO, TWO[1]), "RR@10"),
    accepted("constant-difference", as_two_runs, constant(), "RR@10"),
)  # fmt: skip
