"""Which HTTP requests must be answered with a problem that names the field, and never with a 500?"""

from __future__ import annotations

import gzip

from tests.badinputs.case import Covered, Entry, accepted, refused
from tests.badinputs.ways import Request, get, over_http, post, search
from tests.unit.http.small import DOCUMENTS, TEST_SET

OK, BAD, WRONG = 200, 400, 422
SERVER = "tests/unit/http/test_server.py"
JSON = {"Content-Type": "application/json"}


def weighted(weights: str, components: str = "bm25") -> Request:
    return search(fusion_method="weighted", components=components, weights=weights)


def upload(count: int) -> Request:
    query = {"query_text": "x", "relevant_docs": [{"doc_id": "d1:chunk_0", "grade": 1}]}
    queries = [{**query, "query_id": f"q{at}"} for at in range(count)]
    return post("/v1/evaluate", json={"name": "many", "version": "v1", "queries": queries})


def twins() -> list[Request]:
    """Documents that no score tells apart, and a search for them."""
    rows = [
        {**DOCUMENTS[0], "doc_id": f"twin{at}", "text": "zebra", "title": ""} for at in range(3)
    ]
    return [post("/v1/documents", json={"documents": rows}), search(q="zebra")]


def saved(total: int) -> Request:
    body = {
        "evaluation_id": "bad-inputs",
        "dataset_id": "small",
        "overall_metrics": {"recall_at_10": 0.8},
        "total_queries": total,
    }
    return post("/api/evaluation/save", json=body)


CASES: tuple[Entry, ...] = (
    refused("k-negative", over_http, search(k="-1"), "query.k", WRONG),
    refused("k-0", over_http, search(k="0"), "query.k", WRONG),
    refused("k-1e9", over_http, search(k="1000000000"), "query.k", WRONG),
    refused("k-10abc", over_http, search(k="10abc"), "query.k", WRONG),
    refused("k-repeated", over_http, search(k=["1", "2"]), "query.k", WRONG),
    refused("components-empty", over_http, search(components=""), "query.components", WRONG),
    refused("components-twice", over_http, search(components="bm25,bm25"), "query.components", WRONG),
    refused("components-unknown", over_http, search(components="xyz"), "no component 'xyz'", BAD),
    refused(
        "components-1000", over_http, search(components=",".join(["bm25"] * 1000)), "components",
        WRONG,
    ),
    refused("weights-missing", over_http, weighted("bm25=1", "bm25,dense"), "weights", BAD),
    refused("weights-missing/empty", over_http, weighted(""), "query.weights", WRONG),
    refused("weights-0", over_http, weighted("bm25=0"), "weights", BAD),
    refused("weights-negative", over_http, weighted("bm25=-1"), "query.weights", WRONG),
    refused("weights-unknown", over_http, weighted("xyz=1"), "weights", BAD),
    refused("weights-unknown/nan", over_http, weighted("bm25=nan"), "query.weights", WRONG),
    refused("rrf_k-negative", over_http, search(rrf_k="-1"), "rrf_k", WRONG),
    refused("rrf_k-0", over_http, search(rrf_k="0"), "rrf_k", WRONG),
    refused("rrf_k-1e18", over_http, search(rrf_k=str(10**18)), "rrf_k", WRONG),
    refused("fusion-RRF2", over_http, search(fusion_method="RRF2"), "fusion_method", WRONG),
    refused("q-1mb", over_http, search(q="x" * 60_000), "query.q", WRONG),
    Covered("q-1mb/whole", f"{SERVER}::test_what_is_not_http_is_refused_in_the_same_shape"),
    refused("q-nul", over_http, get("/v1/search?q=%00"), "bad_address", BAD),
    refused("q-ff", over_http, get("/v1/search?q=%ff"), "bad_address", BAD),
    accepted("q-regex", over_http, search(q="(a+)+" * 500 + "!"), '"results"', OK),
    accepted("q-regex/brackets", over_http, search(q="(" * 5000), '"results"', OK),
    accepted("equal-scores", over_http, twins, '"results"', OK),
    Covered("length-lies", f"{SERVER}::test_a_length_that_promises_too_little_is_refused"),
    Covered("length-lies/more", f"{SERVER}::test_a_body_larger_than_allowed_is_refused_without_being_read"),
    Covered("slow-body", "tests/timing/test_http.py::test_a_length_that_promises_too_much_ends_at_the_deadline"),
    Covered("no-end", f"{SERVER}::test_a_body_without_an_end_is_refused"),
    refused(
        "content-type", over_http,
        post("/v1/evaluate", content=b"{}", headers={"Content-Type": "text/plain"}),
        "unsupported_media_type", 415,
    ),
    refused(
        "compressed-bomb", over_http,
        lambda: post(
            "/v1/evaluate", content=gzip.compress(b" " * 50_000_000),
            headers={**JSON, "Content-Encoding": "gzip"},
        ),
        "compressed", 415,
    ),
    refused("100k-queries", over_http, lambda: upload(100_000), "more than 10,000 entries", WRONG),
    refused("100k-queries/10k", over_http, lambda: upload(10_001), "more than 10,000 entries", WRONG),
    refused("dataset-dotdot", over_http, get("/api/evaluation/dataset/..%2f..%2fetc"), "404", 404),
    refused("dataset-dots", over_http, get("/api/evaluation/dataset/%2e%2e"), "path.dataset_id", WRONG),
    refused("dataset-nul", over_http, get("/api/evaluation/dataset/a%00b"), "bad_address", BAD),
    refused("dataset-5000", over_http, get("/api/evaluation/dataset/" + "a" * 5000), "path.dataset_id", WRONG),
    refused("id-with-another-body", over_http, [saved(50), saved(51)], "conflict", 409),
    accepted("id-with-another-body/same", over_http, [saved(50), saved(50)], "saved", OK),
    Covered("client-gone", f"{SERVER}::test_a_client_that_leaves_does_no_harm"),
    Covered("client-gone/work", "tests/unit/http/test_frame.py::test_a_client_that_leaves_ends_the_work"),
    refused(
        "spoofed-host", over_http,
        Request("/healthz", "GET", {"headers": {"Host": "evil.example"}}), "unknown_host", 421,
    ),
    accepted(
        "rerank-without-gpu", over_http, search(rerank="true", reranker="bge-reranker-base"),
        '"reranked":false', OK,
    ),
    refused("aggregate-nothing", over_http, post("/api/evaluation/aggregate", json=[]), "", WRONG),
    refused("body-none", over_http, post("/v1/evaluate", content=b"", headers=JSON), "", WRONG),
    refused("body-deep", over_http, post("/v1/evaluate", content=b"[" * 5000, headers=JSON), "", WRONG),
    refused("body-nan", over_http, post("/v1/evaluate", content=b'{"a":NaN}', headers=JSON), "", WRONG),
    refused("body-twice", over_http, post("/v1/evaluate", content=b'{"a":1,"a":2}', headers=JSON), "", WRONG),
    refused("set-no-queries", over_http, post("/v1/evaluate", json={**TEST_SET, "queries": []}), "", WRONG),
)  # fmt: skip
