"""Are claims of answers graded alike in Python, commands, HTTP, at a service and on pages?"""

from __future__ import annotations

import html
import io
import json
from pathlib import Path

import pytest

from assay.app import judges
from assay.app.judges import ClaimDesk
from assay.client import Client
from assay.errors import UsageError
from assay.model.codec import encode
from assay.model.judges import Support
from assay.store.keys import KeyStore
from tests.parity.test_testsets import Surfaces, sides  # noqa: F401 - a fixture
from tests.unit.http.conftest import (  # noqa: F401 - fixtures
    MakeService,
    assert_problem,
    client_of,
    home,
    log,
    make_service,
    small_home,
)

PEOPLE = ("python", "command", "http", "client", "page")


@pytest.fixture
def desk(sides: Surfaces) -> ClaimDesk:  # noqa: F811
    """The claims of a run that ``words`` judged."""
    sides.workspace.evaluate("small", judge="words", name="judged")
    return sides.workspace.claims("judged")


def test_a_claim_is_graded_the_same_way_on_every_surface(
    sides: Surfaces,  # noqa: F811
    desk: ClaimDesk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = Client(str(sides.http.base_url), transport=sides.http._transport).claims("judged")
    sheet = json.loads(json.dumps(judges.sheet(sides.workspace, "judged").to_dict()))
    assert sides.command("judge", "sheet", "judged") == sheet
    assert sides.get("/v1/runs/judged/claims") == client.sheet() == sheet
    assert "judged" in sides.page("/claims")

    first = desk.turn("python")
    assert first.task is not None
    claim = first.task.claim_id
    assert first.task.passages, "a claim is read beside what it cites"
    told = encode(first)
    assert sides.command("judge", "claims", "judged", "--as", "command") == told
    assert sides.get("/v1/runs/judged/claims/next", annotator="http") == told
    assert client.turn("client") == first
    page = sides.page("/claims/judged?as=page")
    for text in (first.task.question, first.task.claim, first.task.passages[0].text):
        assert html.escape(text, quote=False) in page
    assert f"<mark>{html.escape(first.task.claim.rstrip('.'), quote=False)}" in page

    graded = desk.grade("python", claim, Support.CONTRADICTED)
    monkeypatch.setattr("sys.stdin", io.StringIO("x\nc\nq\n"))
    from assay.cli.main import run

    assert run(["judge", "claims", "judged", "--as", "command"]) == 0
    body = {"annotator": "http", "claim_id": claim, "label": "contradicted"}
    assert sides.post("/v1/runs/judged/claims/grades", body) == encode(graded)
    assert client.grade("client", claim, "contradicted") == graded
    fields = {"as": "page", "claim_id": claim, "label": "contradicted"}
    assert f"1 of {len(desk.rows)}" in sides.form("/ui/claims/judged", **fields)
    assert desk.store.grades([claim])[claim] == dict.fromkeys(PEOPLE, Support.CONTRADICTED)
    assert desk.turn("page").task != first.task

    undone = desk.undo("python")
    assert undone.claim_id == claim
    assert sides.post("/v1/runs/judged/claims/undo", {"annotator": "http"}) == encode(undone)
    assert client.undo("client") == undone
    assert "Undone." in sides.form("/ui/claims/judged", **{"as": "page", "undo": "1"})
    assert "There is nothing to undo." in sides.form(
        "/ui/claims/judged", **{"as": "page", "undo": "1"}
    )
    assert set(desk.store.grades([claim])[claim]) == {"command"}


def test_the_judge_is_compared_with_people_everywhere(sides: Surfaces, desk: ClaimDesk) -> None:  # noqa: F811
    client = Client(str(sides.http.base_url), transport=sides.http._transport)
    with pytest.raises(UsageError, match="nobody has graded"):
        judges.check(sides.workspace, "judged")
    assert "Not compared yet" in sides.page("/claims/judged/agreement")
    while (task := desk.turn("ann").task) is not None:
        desk.grade("ann", task.claim_id, Support.SUPPORTED)
    assert "Every claim is graded" in sides.page("/claims/judged?as=ann")
    found = json.loads(json.dumps(sides.workspace.check_judge("judged").to_dict()))
    assert sides.command("judge", "check", "judged") == found
    assert sides.post("/v1/runs/judged/claims/check", None) == found
    assert client.check_judge("judged") == found
    assert found["claims"] == len(desk.rows)
    shown = sides.form("/ui/claims/judged/check")
    assert found["verdict"][1:] in shown  # which begins it with a capital
    assert "people and judge" in shown


def test_a_key_grades_under_its_own_name(
    home: Path,  # noqa: F811
    make_service: MakeService,  # noqa: F811
    desk: ClaimDesk,
) -> None:
    keys = KeyStore(home / "assay.db")
    _, secret = keys.create("ann", ["annotate"])
    keys.close()
    with client_of(
        make_service(home=home), headers={"authorization": f"Bearer {secret}"}
    ) as client:
        page = client.get("/claims/judged", headers={"accept": "text/html"})
        assert f"0 of {len(desk.rows)}" in page.text
        place = "/v1/runs/judged/claims"
        assert client.get(f"{place}/next", params={"annotator": "ann"}).json()["task"]
        other = client.get(f"{place}/next", params={"annotator": "bob"})
        assert "belongs to ann" in assert_problem(other, 403)["detail"]
        assert_problem(client.post(f"{place}/check"), 403)
        assert client.get("/claims/judged/agreement").status_code == 403
        for path in ("claims", "claims/next?annotator=ann"):
            said = client.get(f"/v1/runs/judged/{path}").text
            assert '"supported"' not in said, "what the judge said is not shown"


def test_what_was_not_drawn_is_not_graded(desk: ClaimDesk) -> None:
    small = ClaimDesk(desk.store, desk.run, answers=1)
    others = {row.key for row in desk.rows} - {row.key for row in small.rows}
    assert small.rows
    assert others
    with pytest.raises(UsageError, match="not one of the claims drawn"):
        small.grade("ann", others.pop(), Support.SUPPORTED)
    with pytest.raises(UsageError, match="automatic judge"):
        small.grade("judge:words", small.rows[0].key, Support.SUPPORTED)


def test_people_who_differ_leave_an_answer_in_the_sample(
    sides: Surfaces,  # noqa: F811
    desk: ClaimDesk,
) -> None:
    for row in desk.rows:
        desk.grade("ann", row.key, Support.SUPPORTED)
        desk.grade("bob", row.key, Support.UNSUPPORTED)
    found = judges.check(sides.workspace, "judged")
    assert found.claims == 0, "kappa needs what most people say"
    assert found.faithfulness.found.n == len({row.query_id for row in desk.rows})
    assert found.faithfulness.found.labelled == 0.5
