"""Does the whole cycle of a test set work in the browser, and is each page for the right people?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.app.keys import create_key
from assay.app.layout import Layout
from assay.app.testsets import upload
from assay.model.testset import QueryType
from tests.unit.http.conftest import MakeService, client_of
from tests.unit.http.pages.conftest import FORM, PERSON
from tests.unit.http.small import TEST_SET
from tests.waiting import eventually

pytestmark = pytest.mark.slow

QUESTIONS = "what ends a migraine headache\ncholesterol in the blood\nblood sugar in diabetes"
GRADES = {"d1": 1, "d2": 3, "d3": 3, "d4": 2, "d5": 0}


@pytest.fixture
def site(make_service: MakeService, home: Path) -> Iterator[TestClient]:
    """A browser where no key is needed, and a test set to refresh."""
    upload(Layout(home), json.dumps(TEST_SET).encode())
    with client_of(make_service(home=home), headers=PERSON, follow_redirects=False) as client:
        yield client


def _post(client: TestClient, path: str, **fields: str) -> tuple[int, str, str]:
    answer = client.post(path, content=urlencode(fields), headers=FORM)
    return answer.status_code, answer.headers.get("location", ""), unescape(answer.text)


def _rows(text: str) -> dict[str, str]:
    """The fields of the drawn questions, as a browser would send them."""
    found = {}
    for tag in re.findall(r"<input[^>]*>", text):
        name, value = (re.search(rf'{one}="([^"]*)"', tag) for one in ("name", "value"))
        if name and value and re.match(r"(use|text|origin)-", name[1]):
            found[name[1]] = unescape(value[1])
    for name, options in re.findall(
        r'<select name="(type-[^"]+)".*?>(.*?)</select>', text, re.DOTALL
    ):
        chosen = re.search(r'value="([^"]+)" selected', options)
        assert chosen is not None
        found[name] = chosen[1]
    return found


def _opened(site: TestClient, name: str = "winter", depth: str = "2") -> None:
    """A round of typed questions for ann and bob."""
    fields = urlencode({"set": "small", "questions": QUESTIONS})
    shown = site.post("/ui/rounds/draw", content=fields, headers=FORM)
    assert shown.status_code == 200
    rows = _rows(shown.text)
    for field, kind in zip(
        [one for one in rows if one.startswith("type-")], QueryType, strict=True
    ):
        rows[field] = kind.value  # as somebody corrects them: one of each
    rows |= {"from": "typed", "set": "small", "depth": depth, "round_id": name}
    status, place, text = _post(site, "/ui/rounds", first="ann", second="bob", **rows)
    assert (status, place) == (303, f"/annotate/{name}/agreement"), text


def _judge(site: TestClient, who: str, name: str = "winter", shift: int = 0) -> int:
    """Judge everything by its document, the first ``shift`` passages one grade off."""
    for turn in range(100):
        text = unescape(site.get(f"/annotate/{name}?as={who}").text)
        if "Everything is judged" in text:
            return turn
        fields = dict(re.findall(r'name="(query_id|chunk_id)" value="([^"]*)"', text))
        grade = GRADES[fields["chunk_id"][:2]]
        if turn < shift:
            grade = 2 if grade == 3 else grade + 1
        status, _, problem = _post(site, f"/ui/annotate/{name}", **fields, grade=str(grade),
                                   **{"as": who})  # fmt: skip
        assert status == 200, problem
    raise AssertionError("judging does not end")


def test_a_set_is_refreshed_without_a_terminal(site: TestClient, home: Path) -> None:
    _opened(site)
    assert 'href="/annotate/winter?as=ann"' in site.get("/annotate").text
    too_early = site.get("/annotate/winter/next").text
    assert "judged by both annotators" in too_early
    assert "Write small" not in too_early
    count = _judge(site, "ann")
    assert _judge(site, "bob", shift=1) == count > 3
    home_page = unescape(site.get("/annotate/winter/agreement").text)
    assert "1 difference waits" in home_page
    _decide_by_hand(site)
    preview = unescape(site.get("/annotate/winter/next").text)
    assert "Coming in" in preview
    assert "migraine" in preview
    checksum = re.search(r'name="checksum" value="([^"]+)"', preview)
    replaced = re.search(r'name="replace" value="(\d+)"', preview)
    assert checksum
    assert replaced
    stale = _post(site, "/ui/next/winter", checksum="0", replace=replaced[1])
    assert stale[0] == 409
    assert "changed since this page was shown" in stale[2]
    done = _post(site, "/ui/next/winter", checksum=checksum[1], replace=replaced[1])
    assert done[:2] == (303, "/testsets/small_v2")
    assert (home / "testsets" / "small_v2.yaml").exists()
    closed = unescape(site.get("/annotate/winter/next").text)
    assert 'href="/testsets/small_v2"' in closed
    assert "Write small" not in closed
    assert "This round is closed" in site.get("/annotate/winter?as=ann").text
    assert site.get("/testsets/small/diff/small_v2").status_code == 200


def _decide_by_hand(site: TestClient) -> None:
    """The one difference: decided, taken back, decided by a rule, taken back, decided again."""
    text = unescape(site.get("/annotate/winter/decide?as=carol").text)
    assert "How to judge" in text
    key = dict(re.findall(r'name="(query_id|chunk_id)" value="([^"]*)"', text))
    who = {"as": "carol"}
    assert "Nothing waits" in _post(site, "/ui/decide/winter", grade="1", **key, **who)[2]
    again = _post(site, "/ui/decide/winter", undo="last", **who)[2]
    assert "Taken back: decide again" in again
    assert "1 difference waits" in again
    assert "nothing to undo" in _post(site, "/ui/decide/winter", undo="last", **who)[2]
    ruled = _post(site, "/ui/decide/winter", rule="lower", **who)[2]
    assert "The rule decided 1" in ruled
    assert "1 difference waits" in _post(site, "/ui/decide/winter", unrule="1", **who)[2]
    assert "Nothing waits" in _post(site, "/ui/decide/winter", grade="3", **key, **who)[2]
    place = f"/annotate/winter/decide?{urlencode({**who, **key})}"
    seen = unescape(site.get(place).text)
    assert "carol decided" in seen
    assert "Leave it undecided" in seen


def test_a_cell_and_a_query_open_their_passages(site: TestClient) -> None:
    _opened(site)
    _judge(site, "ann")
    _judge(site, "bob", shift=1)
    whole = unescape(site.get("/annotate/winter/agreement").text)
    cell = re.search(r'href="(/annotate/winter/passages\?first=\d&second=\d)"', whole)
    query = re.search(r'href="(/annotate/winter/passages\?query=[^"]+)"', whole)
    assert cell
    assert query
    for place in (cell[1], query[1]):
        assert '<details class="docs">' in site.get(place).text
    differ = unescape(site.get("/annotate/winter/passages?differ=on").text)
    assert "1 passage judged by both" in differ
    assert "decide?query_id=" in differ
    assert site.get("/annotate/winter/passages?first=9").status_code == 422


def test_a_judge_goes_back_as_far_as_they_like_and_changes_a_grade(site: TestClient) -> None:
    _opened(site)
    total = _judge(site, "ann")
    text = unescape(site.get("/annotate/winter?as=ann").text)
    for _ in range(3):  # three steps back, each by the address of a passage
        back = re.search(r'href="([^"]+)" data-key="b"', text)
        assert back is not None
        text = unescape(site.get(back[1]).text)
        assert "You graded this passage" in text
    fields = dict(re.findall(r'name="(query_id|chunk_id)" value="([^"]*)"', text))
    changed = _post(site, "/ui/annotate/winter", **fields, grade="u", comment="cut off",
                    **{"as": "ann"})  # fmt: skip
    assert changed[0] == 200
    mine = unescape(site.get("/annotate/winter/mine?as=ann").text)
    assert f"{total} of {total} judged" in mine
    assert "cut off" in mine
    assert "cannot judge" in mine
    undone = _post(site, "/ui/annotate/winter", undo="1", **{"as": "ann"})[2]
    assert "Undone" in undone
    assert "You graded this passage" in undone, "what it was before counts again"


def test_questions_of_the_log_are_drawn(site: TestClient) -> None:
    for words in ("migraine attack", "blood sugar", "pills that lower cholesterol"):
        assert site.get("/v1/search", params={"q": words}).status_code == 200
    eventually(lambda: "migraine attack" in site.get("/annotate/new?set=small&count=3").text)
    nothing = unescape(site.get("/annotate/new?set=small&since=2027-01-01").text)
    assert "type questions yourself" in nothing


def test_questions_that_the_set_has_are_left_out(site: TestClient) -> None:
    text = _post(site, "/ui/rounds/draw", set="small", questions="headache\n")[2]
    assert "No question is left" in text
    status, _, problem = _post(site, "/ui/rounds", set="small", first="ann", second="ANN",
                               **{"from": "unjudged"})  # fmt: skip
    assert status == 400
    assert "cannot be both" in problem
    alone = _post(site, "/ui/rounds", set="small", first="ann", **{"from": "unjudged"})
    assert alone[0] == 422
    none = _post(site, "/ui/rounds", set="small", first="ann", second="bob", **{"from": "log"})
    assert none[0] == 422
    assert "no question is chosen" in none[2].lower()


def test_a_first_set_begins_with_one_person_and_a_second_checks(
    site: TestClient, home: Path
) -> None:
    opened = _post(site, "/ui/rounds", name="ward", questions=QUESTIONS, first="ann", depth="2",
                   **{"from": "first"})  # fmt: skip
    assert opened[:2] == (303, "/annotate/ward/agreement"), opened[2]
    _judge(site, "ann", "ward")
    shown = unescape(site.get("/annotate/ward/next").text)
    assert "Write ward v1" in shown
    added = _post(site, "/ui/rounds/ward/second", name="bob", share="100")
    assert added[:2] == (303, "/annotate/ward/agreement")
    assert "bob" in site.get("/annotate/ward/agreement").text
    written = _post(site, "/ui/next/ward", close="on")
    assert written[:2] == (303, "/testsets/ward")
    assert (home / "testsets" / "ward.yaml").exists()
    assert "This round is closed" in site.get("/annotate/ward?as=ann").text


def test_unjudged_results_get_judgments_and_the_queries_stay(site: TestClient, home: Path) -> None:
    opened = _post(site, "/ui/rounds", set="small", first="ann", second="bob", depth="3",
                   round_id="holes", **{"from": "unjudged"})  # fmt: skip
    assert opened[0] == 303, opened[2]
    _judge(site, "ann", "holes")
    _judge(site, "bob", "holes")
    shown = unescape(site.get("/annotate/holes/next").text)
    assert "kappa" in shown.lower()


@pytest.fixture
def people(make_service: MakeService, home: Path) -> Iterator[dict[str, TestClient]]:
    """A round of ann and bob, and browsers of people with different rights."""
    layout = Layout(home)
    upload(layout, json.dumps(TEST_SET).encode())
    service = make_service(home=home)
    with client_of(service, headers=PERSON, follow_redirects=False) as site:
        _opened(site)
        scopes = {
            "reader": ["read"],
            "ann": ["read", "annotate", "evaluate"],
            "bob": ["read", "annotate"],
            "carol": ["read", "evaluate"],
            "Ann": ["read", "annotate", "evaluate"],
            "chief": ["admin"],
        }
        keys = {name: create_key(layout, name, rights).key for name, rights in scopes.items()}
        service.keyring.read_again()
        found = {
            name: client_of(
                service,
                headers={**PERSON, "authorization": f"Bearer {key}"},
                follow_redirects=False,
            )
            for name, key in keys.items()
        }
        nobody = client_of(service, headers=PERSON, follow_redirects=False)
        yield {**found, "nobody": nobody}


PAGES = ("agreement", "passages", "decide", "next")
FORMS = {
    "/ui/rounds": {"set": "small", "from": "unjudged"},
    "/ui/rounds/draw": {"set": "small"},
    "/ui/rounds/winter/second": {"name": "eve"},
    "/ui/decide/winter": {"undo": "last"},
    "/ui/next/winter": {"checksum": "0"},
}


def test_roles_hold_on_every_page_of_a_round(people: dict[str, TestClient]) -> None:
    for page in PAGES:
        place = f"/annotate/winter/{page}"
        assert people["nobody"].get(place).status_code == 401, page
        for name in ("reader", "bob", "ann", "Ann"):
            assert people[name].get(place).status_code == 403, (name, page)
        assert people["carol"].get(place).status_code == 200, page
    assert people["reader"].get("/annotate/new").status_code == 403
    assert people["carol"].get("/annotate/new").status_code == 200
    assert people["reader"].get("/annotate").status_code == 200
    assert people["reader"].get("/annotate/winter/mine").status_code == 403
    assert people["carol"].get("/annotate/winter").headers["location"].endswith("/agreement")
    assert people["bob"].get("/annotate/winter").status_code == 200
    mine = people["bob"].get("/annotate/winter/mine?as=ann").text
    assert "Grades of bob" in mine, "nobody reads another's list"


@pytest.mark.parametrize("path", FORMS)
def test_roles_hold_on_every_form_of_a_round(people: dict[str, TestClient], path: str) -> None:
    assert _post(people["nobody"], path, **FORMS[path])[0] == 401
    for name in ("reader", "bob"):
        assert _post(people[name], path, **FORMS[path])[0] == 403
    assert _post(people["carol"], path, **FORMS[path])[0] not in {401, 403}
    if "winter" in path and "second" not in path:
        assert _post(people["ann"], path, **FORMS[path])[0] in {400, 403}


def test_a_judge_who_is_revoked_is_told_so_and_their_grades_stay(
    people: dict[str, TestClient],
) -> None:
    bob, chief = people["bob"], people["chief"]
    text = unescape(bob.get("/annotate/winter").text)
    fields = dict(re.findall(r'name="(query_id|chunk_id)" value="([^"]*)"', text))
    assert _post(bob, "/ui/annotate/winter", **fields, grade="2")[0] == 200
    me = bob.get("/v1/whoami").json()
    assert _post(chief, f"/ui/keys/{me['key_id']}/revoke")[0] == 303
    assert _post(bob, "/ui/annotate/winter", **fields, grade="3")[0] == 401
    assert "has no key to judge with" in people["carol"].get("/annotate").text
    made = _post(chief, "/ui/keys", name="bob", role="annotate")[2]
    key = re.search(r"assay_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", made)
    assert key is not None
    bob.headers["authorization"] = f"Bearer {key[0]}"
    assert "1 of" in bob.get("/annotate/winter").text, "a new key of the same name goes on"
