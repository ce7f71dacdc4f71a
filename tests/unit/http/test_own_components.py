"""Does a component of the settings answer over HTTP and on pages, and can nobody bring code?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.unit.http.conftest import MakeService, assert_problem, client_of
from tests.unit.http.small import TEST_SET

CODE = '''
from assay import Filters, Hit, best_hits

class Letters:
    """Chunks by the letters that they share with the query."""

    name = "letters"

    def __init__(self, chunks):
        self.rows = [(row, set(row.chunk.text.lower())) for row in chunks]

    def search(self, query, k, filters=None):
        wanted, allowed = set(query), filters or Filters()
        return best_hits(
            [Hit(row.key, row.chunk.chunk_id, len(wanted & has) / len(wanted | has))
             for row, has in self.rows if allowed.admit(row.chunk)], k)

class Wild(Letters):
    def search(self, query, k, filters=None):
        return [Hit(-1, "nowhere", 1.0)]
'''


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "letters_of_mine.py").write_text(CODE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    yield
    sys.modules.pop("letters_of_mine", None)


@pytest.fixture
def served(code: None, make_service: MakeService, home: Path) -> Iterator[TestClient]:
    """A service with two components of its own, one of which is only asked by name."""
    own = {"letters": "letters_of_mine:Letters", "wild_one": "letters_of_mine:Wild"}
    service = make_service(
        home=home, own_components=own, components="bm25,letters", component_timeout_ms=20_000
    )
    with client_of(service) as client:
        yield client


def search(client: TestClient, **parameters: Any) -> dict[str, Any]:
    response = client.get("/v1/search", params={"q": "headache", **parameters})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_it_is_part_of_every_search(served: TestClient) -> None:
    found = search(served)
    assert found["components_used"] == ["bm25", "letters"]
    first = found["results"][0]
    shares = [share for share in first["contributions"].values() if share is not None]
    assert first["fused"] == pytest.approx(sum(shares))
    heavy = search(served, weights="bm25=1,letters=3")
    assert heavy["fusion_metadata"]["weights"] == {"bm25": 0.5, "letters": 1.5}
    only = search(served, components="letters")
    assert only["components_used"] == ["letters"]


def test_one_that_breaks_its_promise_is_named(served: TestClient) -> None:
    found = search(served, components="bm25,wild_one")
    assert found["component_errors"] == ["wild_one_error"]
    assert found["degraded"]
    assert any(one.startswith("wild_one: ") for one in found["warnings"])
    assert [hit["chunk_id"] for hit in found["results"]]
    text = served.get("/metrics").text
    errors = "medicalkg_retrieval_component_errors_total"
    assert f'{errors}{{component="wild_one",reason="error"}} 1.0' in text
    assert 'medicalkg_retrieval_component_used_total{component="letters"}' in text
    nothing = served.get("/v1/search", params={"q": "headache", "components": "wild_one"})
    assert_problem(nothing, 503, "search_unavailable")


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"components": "bm25,other"}, 400),
        ({"components": "letters_of_mine:Letters"}, 422),
        ({"weights": "bm25=1,letters=1,other=1"}, 400),
        ({"type_weights": "paraphrase:bm25=1,letters=1,other=1"}, 400),
        ({"own_components": "evil=os:system"}, 422),
    ],
)
@pytest.mark.parametrize("path", ["/v1/search", "/v1/answer", "/v1/search/why"])
def test_nobody_brings_code(
    served: TestClient, path: str, parameters: dict[str, str], status: int
) -> None:
    more = {"document": "d1"} if path.endswith("why") else {}
    response = served.get(path, params={"q": "headache", **more, **parameters})
    assert response.status_code == status, response.text
    if status == 400:
        assert "there is no component 'other'" in response.json()["detail"]
        assert response.json()["hint"] == "known: bm25, splade, dense, letters, wild_one"


def test_an_evaluation_knows_it(served: TestClient) -> None:
    done = served.post("/v1/evaluate", params={"evaluation_id": "own"}, json=TEST_SET)
    assert done.status_code == 200, done.text
    config = served.get("/v1/runs/own").json()["config"]
    assert config["components"] == ["bm25", "letters"]
    assert config["component_code"]["letters"].startswith("sha256:")
    for wrong, said in (
        ({"components": "bm25,other"}, "there is no component 'other'"),
        ({"filter": "colour=red"}, "no document has 'colour'"),
    ):
        refused = served.post("/v1/evaluate", params={"evaluation_id": "x", **wrong}, json=TEST_SET)
        assert_problem(refused, 400, "usage")
        assert said in refused.json()["detail"]


def test_weights_by_type_of_one_request(served: TestClient) -> None:
    weights = "exact_term:bm25=3,letters=1"
    found = search(served, type_weights=weights)
    assert found["query_type"] == "exact_term"
    assert found["fusion_metadata"]["weights"] == {"bm25": 1.5, "letters": 0.5}
    assert found["fusion_metadata"]["weights_for"] == "exact_term"
    other = search(served, type_weights=weights, query_type="paraphrase")
    assert other["fusion_metadata"]["weights"] == {"bm25": 1.0, "letters": 1.0}
    assert "weights_for" not in other["fusion_metadata"]


def test_the_page_offers_it(served: TestClient) -> None:
    text = served.get("/search?q=headache&weighting=own&w_letters=0.9").text
    assert '<input type="checkbox" name="c" value="letters" checked> letters' in text
    assert '<input type="checkbox" name="c" value="wild_one"> wild_one' in text
    assert 'name="w_letters" min="0" max="1" step="0.05" value="0.9"' in text
    assert "--weights bm25=0.4,letters=0.9" in text
    broken = served.get("/search?q=headache&c=bm25&c=wild_one").text
    assert "wild_one_error" in broken


def test_the_page_keeps_weights_by_type_until_others_are_chosen(served: TestClient) -> None:
    part = {"hx-request": "true"}
    given = "type_weights=exact_term%3Abm25%3D3%2Cletters%3D1"

    def place(address: str) -> str:
        return served.get(address, headers=part).headers["hx-push-url"]

    assert place(f"/search?q=headache&{given}") == f"/search?q=headache&{given}"
    assert place(f"/search?q=headache&{given}&weighting=type") == f"/search?q=headache&{given}"
    assert place(f"/search?q=headache&{given}&weighting=default") == "/search?q=headache"
    text = served.get(f"/search?q=headache&{given}").text
    assert '<option value="type" selected>' in text
    assert "bm25=1.50 letters=0.50 for exact term" in text


def test_weights_by_type_in_the_settings_can_be_left(
    code: None, make_service: MakeService, home: Path
) -> None:
    usual = {"exact_term": {"bm25": 3, "letters": 1}}
    own = {"letters": "letters_of_mine:Letters"}
    service = make_service(home=home, own_components=own, type_weights=usual)
    with client_of(service) as client:
        assert search(client)["fusion_metadata"]["weights"] == {"bm25": 1.5, "letters": 0.5}
        plain = search(client, weights="default")["fusion_metadata"]
        assert plain["weights"] == {"bm25": 1.0, "letters": 1.0}
        part = {"hx-request": "true"}
        address = "/search?q=headache&weighting=default"
        place = client.get(address, headers=part).headers["hx-push-url"]
        assert place == "/search?q=headache&type_weights=default"
        assert "rrf k=60 ·" in client.get(place).text
        back = client.get(f"{place}&weighting=type", headers=part).headers["hx-push-url"]
        assert back == "/search?q=headache"
