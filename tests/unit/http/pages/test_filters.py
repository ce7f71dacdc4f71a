"""Can people filter, group and count on the page of a search, and programs over HTTP?"""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from starlette.testclient import TestClient

from assay.app.workspace import Workspace
from assay.ingest.corpus import read_corpus
from assay.settings import configure
from tests.unit.http.conftest import SETTINGS, client_of, service_of
from tests.unit.http.pages.conftest import PERSON

ROWS = [
    {
        "doc_id": f"t{at}",
        "title": f"Trial {at}",
        "text": f"Aspirin eased the headache of {at + 20} patients.",
        "source": ("registry", "label")[at % 2],
        "metadata": {"year": 2018 + at, "phase": ["PHASE2", "PHASE3"][: 1 + at % 2]},
    }
    for at in range(6)
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("filters")
    corpus = home / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    with Workspace(configure({"home": home, **SETTINGS}, environ={}, folder=home)) as workspace:
        workspace.store_documents(read_corpus(corpus))
        workspace.update_index()
    service = service_of(home, io.StringIO())
    with client_of(service, headers=PERSON) as opened:
        yield opened
    service.close()


def shown(page: str) -> list[str]:
    return re.findall(r'data-chunk="(t\d):', page)


def test_conditions_stand_in_the_form_and_in_the_address(client: TestClient) -> None:
    page = client.get(
        "/search", params={"q": "headache", "filter": ["year>=2020", "phase=phase 3"]}
    )
    assert sorted(shown(page.text)) == ["t3", "t5"]
    values = re.findall(r'name="filter" value="([^"]*)"', page.text)
    assert [*map(html.unescape, values)] == ["year>=2020", "phase=phase 3", ""]
    assert "--filter &#39;year&gt;=2020&#39;" in page.text


def test_a_facet_leads_to_the_documents_that_it_counts(client: TestClient) -> None:
    asked = {"q": "headache", "facets": "year, phase,source", "filter": "year<2023", "k": "5"}
    page = client.get("/search", params=asked).text
    links = re.findall(r'<a class="chip" href="([^"]+)" title="only these">([^<]+) <span', page)
    found = {value: html.unescape(link) for link, value in links}
    assert {"2018", "PHASE2", "PHASE3", "registry", "label"} <= found.keys()
    assert sorted(shown(client.get(found["PHASE3"]).text)) == ["t1", "t3"]
    assert sorted(shown(client.get(found["label"]).text)) == ["t1", "t3"]
    pairs = parse_qsl(urlsplit(found["2018"]).query)
    assert ("filter", "year<2023") in pairs
    assert ("filter", "year=2018") in pairs


def test_programs_filter_by_the_same_text(client: TestClient) -> None:
    asked = {"q": "headache", "filter": ["year=2019..2022", "phase!=PHASE3"], "facets": ["year"]}
    body = client.get("/v1/search", params=asked).json()
    assert sorted(hit["doc_id"] for hit in body["results"]) == ["t2", "t4"]
    values = [{"value": "2020", "count": 1}, {"value": "2022", "count": 1}]
    assert body["facets"] == [{"field": "year", "values": values, "more": 0, "missing": 0}]


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"filter": "colour=red"}, 400, "no document has 'colour'"),
        ({"filter": "year=>2020"}, 422, "a field and what it may hold"),
        ({"filter": ["a=1"] * 33}, 422, "at most 32 of them"),
        ({"filter": f"year={'1' * 3_000}"}, 422, "a field and what it may hold"),
        ({"facets": "colour"}, 400, "no document has 'colour'"),
        ({"facets": ",".join("abcdefghijklmnopqrstuvwxyz")}, 422, "at most 20 of them"),
        ({"group_by": "author"}, 422, "chunk or document"),
    ],
)
def test_what_cannot_be_is_refused(
    client: TestClient, asked: dict[str, str], status: int, said: str
) -> None:
    answer = client.get("/v1/search", params={"q": "headache", **asked})
    assert answer.status_code == status, answer.text
    assert said in answer.text


def test_the_fields_there_are_stand_in_the_refusal(client: TestClient) -> None:
    answer = client.get("/v1/search", params={"q": "headache", "filter": "colour=red"})
    assert "phase" in answer.text
    assert "year" in answer.text


def test_nothing_about_a_query_is_said_once_and_has_no_next_page(reading: TestClient) -> None:
    text = reading.get("/search?q=headache+tofacitinib+dose").text
    assert text.lower().count("nothing here is about") == 1
    assert 'class="pager"' not in text
