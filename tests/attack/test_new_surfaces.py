"""Do uploads, sheets, pages and jobs give away, or let in, what they should not?"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.app.judges import ClaimSheet
from assay.app.keys import create_key
from assay.evaluation.judge_quality import ClaimRow
from assay.http.service import Service
from assay.http.templating import environment as page_templates
from assay.model.judges import JudgedClaim
from assay.render.escape import visible_on_page
from assay.render.pages import environment as report_templates
from assay.testsets.load import load_test_set
from tests.unit.http.conftest import MakeService, client_of

NASTY = "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>\u202e\x1b[31m"
FORMULAS = ("=HYPERLINK(1)", "+cmd|1", "-2+3", "@SUM(1)", "\t=1")
ROLES = ("read", "evaluate", "annotate", "admin")


class Team:
    """A service and a key for each scope."""

    def __init__(self, service: Service, keys: dict[str, str], client: TestClient) -> None:
        self.service, self._keys, self._client = service, keys, client

    def ask(self, role: str, method: str, path: str, **more: Any) -> Any:
        headers = {"authorization": f"Bearer {self._keys[role]}", **more.pop("headers", {})}
        return self._client.request(method, path, headers=headers, **more)

    def send(self, name: str, data: bytes) -> Any:
        kind = {"content-type": "application/octet-stream"}
        return self.ask(
            "admin", "POST", "/v1/files", params={"name": name}, content=data, headers=kind
        )


@pytest.fixture
def team(make_service: MakeService) -> Iterator[Team]:
    service = make_service()
    keys = {role: create_key(service.workspace.layout, role, [role]).key for role in ROLES}
    with client_of(service) as client:
        yield Team(service, keys, client)


def _zipped(**members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("..", b"x"),
        ("\\..\\x.jsonl", b"no json"),
        ("x\u202etxt.csv", b"a"),
        ("bomb.zip", _zipped(**{"../../evil.txt": b"x", "big.txt": bytes(300 << 20)})),
        ("bomb.txt.gz", gzip.compress(bytes(600 << 20), 1)),
        ("bomb.docx", _zipped(**{"word/document.xml": b"<a>" + bytes(300 << 20)})),
    ],
    ids=["dots", "backslashes", "bidi", "zip", "gzip", "docx"],
)
def test_a_file_that_was_sent_is_named_and_not_where_it_is_kept(
    team: Team, name: str, data: bytes
) -> None:
    answer = team.send(name, data)
    assert answer.status_code in (200, 422)
    home = str(team.service.workspace.home)
    assert home not in answer.text
    assert "uploads" not in answer.text
    assert home not in team.ask("read", "GET", "/v1/jobs").text
    kept = {path.name for path in Path(home).rglob("*")}
    assert not any("evil" in one for one in kept)
    left = [path for path in team.service.workspace.layout.uploads.rglob("*") if path.is_file()]
    assert left == [], "a file that was read or cannot be read does not stay"


def test_a_sheet_of_claims_runs_no_formula() -> None:
    """The words of a claim are those of a document or of a language model."""
    rows = tuple(
        ClaimRow(f"k{at}", "q1", "", text, JudgedClaim(text), (text,))
        for at, text in enumerate(FORMULAS)
    )
    read = list(csv.reader(io.StringIO(ClaimSheet("r1", rows).to_csv())))
    assert len(read) == 1 + len(FORMULAS)
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for row in read for cell in row)


@pytest.mark.parametrize("templates", [page_templates, report_templates])
def test_no_page_lets_a_text_reorder_or_steer_what_is_around_it(templates: Any) -> None:
    shown = templates().from_string("{{ text }}|{{ text|safe }}").render(text="a\u202eb\x1b[1m\nc")
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    assert "a\\u202eb\\x1b[1m\nc" in shown
    assert visible_on_page(7) == 7


@pytest.mark.slow
def test_nothing_of_a_hostile_document_is_live_on_any_page(team: Team) -> None:
    document = {"doc_id": "bad-1", "title": NASTY, "text": f"heart failure {NASTY}"}
    document |= {"url": "javascript:alert(3)", "source": "javascript:alert(4)"}
    assert team.ask("admin", "POST", "/v1/documents", json={"documents": [document]}).is_success
    sent = {
        "name": "s",
        "version": "1",
        "queries": [
            {
                "query_id": "q1",
                "query_text": NASTY.partition("\x1b")[0],
                "relevant_docs": [{"doc_id": "bad-1"}],
            }
        ],
    }
    made = team.ask("evaluate", "POST", "/v1/evaluate?evaluation_id=r1", json=sent)
    assert made.is_success, made.text
    pages = (
        "/search?q=heart", "/search/why?q=heart&document=bad-1", "/answer?q=heart", "/documents",
        "/documents/bad-1", "/documents/bad-1/uses", "/runs", "/runs/r1", "/runs/r1/queries",
        "/runs/r1/query/q1", "/runs/r1/stages", "/testsets", "/jobs", "/keys", "/evaluate",
    )  # fmt: skip
    for path in pages:
        text = team.ask("admin", "GET", path, headers={"accept": "text/html"}).text
        for live in ("<script>alert", "<img src=x", 'href="javascript', "\x1b", "\u202e"):
            assert live not in text, path


def test_held_out_words_reach_no_reader_through_uses_jobs_forks_or_lists(team: Team) -> None:
    document = {"doc_id": "d1", "text": "heart failure"}
    assert team.ask("admin", "POST", "/v1/documents", json={"documents": [document]}).is_success
    queries = [
        {"query_id": f"q{at}", "query_text": f"secret{at} heart", "relevant_docs": ["d1"]}
        for at in range(6)
    ]
    body = {"name": "held", "version": "1", "queries": queries}
    assert team.ask("evaluate", "POST", "/v1/testsets", json=body).is_success
    split = team.ask("evaluate", "POST", "/v1/testsets/held/split", json={"share": 0.5}).json()
    hidden = [f"secret{name[1:]} " for name in split["parts"]["held_out"]]
    asked = team.ask("evaluate", "POST", "/v1/evaluate?part=all", json={"dataset_id": "held"})
    assert asked.is_success, asked.text
    run = team.ask("read", "GET", "/v1/runs").json()["runs"][0]["run_id"]
    assert team.ask("evaluate", "POST", "/v1/testsets/held/fork", json={"name": "f"}).is_success
    for path in (
        "/v1/jobs", asked.headers["location"], "/v1/documents/d1/uses", "/v1/testsets",
        "/v1/testsets/held", "/v1/testsets/f", "/v1/testsets/f/diff/held", f"/v1/runs/{run}",
        f"/v1/runs/{run}/queries", f"/v1/runs/{run}/testset", f"/v1/runs/{run}/export",
        f"/v1/runs/{run}/report?format=html", f"/v1/runs/{run}/scores?waterfall=true",
        "/documents/d1/uses", "/testsets/held", "/testsets/f", f"/runs/{run}/queries", "/jobs",
    ):  # fmt: skip
        text = team.ask("read", "GET", path).text
        assert not [word for word in hidden if word in text], path


def test_grades_that_many_give_at_once_are_all_there(team: Team) -> None:
    def grade(at: int) -> int:
        body = {"query_text": f"question {at % 4}", "grades": {f"d{at}": 1 + at % 3}}
        return int(team.ask("evaluate", "PUT", "/v1/testsets/draft/grades", json=body).status_code)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(grade, range(40))) == {200}
    kept = load_test_set(team.service.workspace.layout.test_set("draft"))
    found = {one.id: one.grade for query in kept.queries for one in query.relevant_docs}
    assert found == {f"d{at}": 1 + at % 3 for at in range(40)}


@pytest.mark.parametrize(
    ("method", "path", "needs"),
    [
        ("POST", "/v1/files?name=x.txt", "admin"),
        ("GET", "/v1/keys", "admin"),
        ("POST", "/v1/keys", "admin"),
        ("DELETE", "/v1/keys/x", "admin"),
        ("POST", "/v1/publish", "evaluate"),
        ("POST", "/v1/jobs/x/resume", "evaluate"),
        ("DELETE", "/v1/jobs/x", "evaluate"),
        ("GET", "/v1/runs/latest/claims", "annotate"),
        ("POST", "/v1/runs/latest/claims/check", "evaluate"),
        ("PUT", "/v1/testsets/d/grades", "evaluate"),
        ("POST", "/v1/testsets/d/fork", "evaluate"),
        ("DELETE", "/v1/runs/x", "admin"),
        ("GET", "/v1/documents/x/uses", "read"),
    ],
)
def test_only_the_right_scope_gets_in(team: Team, method: str, path: str, needs: str) -> None:
    for role in ROLES:
        body = {"name": "x", "scopes": ["admin"]}
        kind = "application/octet-stream" if "files" in path else "application/json"
        headers = {"content-type": kind}
        status = team.ask(role, method, path, content=json.dumps(body), headers=headers).status_code
        allowed = role in (needs, "admin")
        assert (status not in (401, 403)) == allowed, (role, status)
