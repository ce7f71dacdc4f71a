"""Are held-out questions masked on every page about a run, until somebody asks and is noted?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.app.run_exchange import push, unpack
from assay.http.service import Service
from assay.model.answers import Answer
from assay.model.runs import QueryOutcome
from assay.model.testset import HeldOut
from assay.store.keys import KeyStore
from tests.unit.http.conftest import MakeService, client_of
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow

HIDDEN, OPEN = "headache", "diabetes drug"
PAIR = "a=held_a&b=held_b"
LISTS = [
    "/runs/held_b/queries",
    f"/compare?{PAIR}",
    f"/compare/export?{PAIR}&form=html",
]
PATHS = [
    *LISTS,
    "/runs/held_a/query/q1",
    "/runs/held_b/query/q1",
    "/runs/held_b/answer/q1",
    f"/compare/query?{PAIR}&query=q1",
    "/gate?baseline=held_b&current=held_a&limits=nDCG@10=5%25",
]


@dataclass
class Guarded:
    """A service with keys, and a browser in front of it."""

    service: Service
    client: TestClient
    keys: dict[str, str]

    def text(self, path: str, scope: str) -> str:
        """What a key of this scope sees."""
        headers = {"accept": "text/html", "authorization": f"Bearer {self.keys[scope]}"}
        shown = self.client.get(path, headers=headers)
        assert shown.status_code == 200, shown.text
        return shown.text

    def revealed(self, path: str, scope: str) -> str:
        """The same, where the address asks for what is held out."""
        return self.text(f"{path}{'&' if '?' in path else '?'}reveal=on", scope)

    @property
    def looks(self) -> int:
        """How many looks were noted."""
        return len(self.service.workspace.runs.held_out_uses("small"))


@pytest.fixture
def guarded(pages: TestClient, make_service: MakeService, tmp_path: Path) -> Iterator[Guarded]:
    """Two runs of a set whose first query is held out; in the first one it finds nothing."""
    place = tmp_path / "guarded"
    service = make_service(home=place)
    for name in ("run_a", "run_b"):
        run = unpack(pages.get(f"/v1/runs/{name}/export").json())
        held = replace(run.test_set, held_out=HeldOut(1, ("q1",)))
        info = replace(
            run.info, run_id=name.replace("run", "held"), test_set_checksum=held.checksum
        )
        outcomes = tuple(
            _telling(one, name) if one.query_id == "q1" else one for one in run.outcomes
        )
        push(service.workspace.runs, replace(run, info=info, test_set=held, outcomes=outcomes))
    store = KeyStore(place / "assay.db")
    scopes = {"read": ["read"], "evaluate": ["read", "evaluate"]}
    keys = {name: store.create(name, of)[1] for name, of in scopes.items()}
    store.close()
    with client_of(service) as client:
        yield Guarded(service, client, keys)


def _telling(one: QueryOutcome, run: str) -> QueryOutcome:
    """An outcome that quotes its query wherever it can; run_a fails."""
    if run == "run_a":
        return replace(one, results=(), error=f"no index for {HIDDEN}")
    answer = Answer(f"{HIDDEN}: aspirin", ("d1:chunk_0",))
    known = frozenset({"d1:chunk_0"})
    return replace(one, answer=answer, known_citations=known, warnings=(f"{HIDDEN} is short",))


@pytest.mark.parametrize("path", PATHS)
def test_a_reader_never_sees_the_words_of_a_held_out_query(guarded: Guarded, path: str) -> None:
    for text in (guarded.text(path, "read"), guarded.revealed(path, "read")):
        assert HIDDEN not in text
        assert "(held out)" in text
        assert "reveal=on" not in text
    assert guarded.looks == 0


@pytest.mark.parametrize("path", LISTS)
def test_the_other_queries_keep_their_words(guarded: Guarded, path: str) -> None:
    assert OPEN in guarded.text(path, "read")


@pytest.mark.parametrize("path", PATHS)
def test_whoever_may_evaluate_asks_for_them_and_the_look_is_noted(
    guarded: Guarded, path: str
) -> None:
    assert HIDDEN not in guarded.text(path, "evaluate")
    assert guarded.looks == 0
    assert HIDDEN in guarded.revealed(path, "evaluate")
    assert guarded.looks == 1


@pytest.mark.parametrize("path", ["/runs/held_b/query/q1", f"/compare/query?{PAIR}&query=q1"])
def test_judgments_of_a_held_out_query_are_masked_too(guarded: Guarded, path: str) -> None:
    assert 'class="pill g' in guarded.revealed(path, "evaluate")
    masked = guarded.text(path, "evaluate")
    assert 'class="pill g' not in masked
    assert "unjudged" not in masked


def test_a_filter_does_not_tell_the_words_either(guarded: Guarded) -> None:
    assert "No query matches" in guarded.text("/runs/held_b/queries?text=headache", "read")
    assert "No query matches" in guarded.text(f"/compare?{PAIR}&text=headache", "read")


def test_a_report_masks_what_the_pages_mask(guarded: Guarded) -> None:
    path = "/v1/runs/held_a/report?format=html"
    masked = guarded.text(path, "read")
    assert HIDDEN not in masked
    assert "(held out" in masked
    assert guarded.looks == 0
    assert HIDDEN in guarded.text(path, "evaluate")
    assert guarded.looks == 1


def test_a_waterfall_does_not_name_the_documents_of_a_held_out_query(guarded: Guarded) -> None:
    def misses(scope: str) -> set[str]:
        key = {"authorization": f"Bearer {guarded.keys[scope]}"}
        found = guarded.client.get("/v1/runs/held_a/scores?waterfall=true", headers=key).json()
        return {one["id"] for one in found["waterfall"]["misses"] if one["query_id"] == "q1"}

    assert all(name.startswith("(held out") for name in misses("read"))
    assert guarded.looks == 0
    assert not any(name.startswith("(held out") for name in misses("evaluate"))
    assert guarded.looks == 1
    assert "(held out)" in guarded.text("/runs/held_a/stages", "read")


def test_a_waterfall_does_not_say_where_the_documents_stood(guarded: Guarded) -> None:
    def misses(scope: str) -> list[dict[str, Any]]:
        text = guarded.text("/v1/runs/held_a/scores?waterfall=true", scope)
        found = json.loads(text)["waterfall"]["misses"]
        return [one for one in found if one["query_id"] == "q1"]

    places = ("best_component", "best_rank", "fused_rank", "final_rank")
    assert misses("read")
    assert not any(one[name] for one in misses("read") for name in places)
    assert any(one["best_rank"] for one in misses("evaluate"))


@pytest.mark.parametrize("path", ["queries", "queries/q1", "export"])
def test_what_quotes_a_held_out_query_is_for_those_who_may_evaluate(
    guarded: Guarded, path: str
) -> None:
    for run, told in (("held_a", "no index for headache"), ("held_b", "headache: aspirin")):
        looks = guarded.looks
        masked = guarded.text(f"/v1/runs/{run}/{path}", "read")
        assert HIDDEN not in masked
        assert guarded.looks == looks
        assert told in guarded.text(f"/v1/runs/{run}/{path}", "evaluate")
        assert guarded.looks == looks + 1
    assert "(held out" in guarded.text(f"/v1/runs/held_a/{path}", "read")  # it failed, no more


def test_a_whole_run_travels_with_the_key_of_an_evaluator(guarded: Guarded) -> None:
    run = unpack(json.loads(guarded.text("/v1/runs/held_b/export", "evaluate")))
    assert run.by_query["q1"].answer is not None
    assert run.by_query["q1"].known_citations == {"d1:chunk_0"}


@pytest.mark.parametrize("path", ["compare", "ab"])
def test_a_comparison_gives_readers_no_ranks_of_held_out_queries(
    guarded: Guarded, path: str
) -> None:
    def row(scope: str) -> dict[str, Any]:
        key = {"authorization": f"Bearer {guarded.keys[scope]}"}
        body = {"a": "held_a", "b": "held_b"}
        found = guarded.client.post(f"/v1/{path}", json=body, headers=key).json()
        rows = found.get("comparison", found)["per_query"]
        return next(one for one in rows if one["query_id"] == "q1")

    assert row("evaluate")["b_hit_rank"] == 1
    assert HIDDEN in row("evaluate")["note"]
    kind = row("evaluate")["kind"]
    blank = {"a_hit_rank": None, "b_hit_rank": None, "note": None}
    assert row("read") == {"query_id": "q1", "kind": kind, **blank}


@pytest.mark.parametrize("form", ["csv", "json", "md", "html"])
def test_a_file_of_a_comparison_quotes_no_held_out_query(guarded: Guarded, form: str) -> None:
    assert HIDDEN not in guarded.text(f"/compare/export?{PAIR}&form={form}", "evaluate")


def test_a_query_that_is_not_in_the_run_is_named(pages: TestClient) -> None:
    answer = pages.get("/runs/run_a/query/nowhere")
    assert answer.status_code == 404
    assert "nowhere" in answer.text


def test_a_diff_names_no_judgment_of_a_held_out_query(pages: TestClient, home: Path) -> None:
    first, second, _ = TEST_SET["queries"]
    judged = [{"doc_id": "d9:chunk_0", "grade": 3}]
    changed = [{**first, "relevant_docs": judged}, {**second, "relevant_docs": judged}]
    for name, queries in (("before", [first, second]), ("after", changed)):
        content = {**TEST_SET, "name": name, "queries": queries,
                   "held_out": {"seed": 1, "query_ids": ["q1"]}}  # fmt: skip
        path = home / "testsets" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    text = pages.get("/testsets/before/diff/after").text
    assert 'title="d5:chunk_0"' in text
    assert "d1:chunk_0" not in text
