"""Are held-out questions masked on every page about a run, until somebody asks and is noted?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from assay.model.testset import HeldOut
from assay.serve.runs_exchange import push, unpack
from assay.serve.service import Service
from assay.store.keys import KeyStore
from tests.unit.serve.conftest import MakeService, client_of
from tests.unit.serve.small import TEST_SET

HIDDEN, OPEN = "headache", "diabetes drug"
PAIR = "a=held_a&b=held_b"
LISTS = [
    "/runs/held_b/queries",
    f"/compare?{PAIR}",
    f"/compare/export?{PAIR}&form=html",
]
PATHS = [
    *LISTS,
    "/runs/held_b/query/q1",
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
            replace(one, results=()) if (name, one.query_id) == ("run_a", "q1") else one
            for one in run.outcomes
        )
        push(service.workspace.runs, replace(run, info=info, test_set=held, outcomes=outcomes))
    store = KeyStore(place / "assay.db")
    scopes = {"read": ["read"], "evaluate": ["read", "evaluate"]}
    keys = {name: store.create(name, of)[1] for name, of in scopes.items()}
    store.close()
    with client_of(service) as client:
        yield Guarded(service, client, keys)


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
    assert "No query passes" in guarded.text(f"/compare?{PAIR}&text=headache", "read")


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
    assert "<code>d5:chunk_0</code>" in text
    assert "<code>d1:chunk_0</code>" not in text
