"""Do annotators stay blind to each other, judge under their own name, and a third one decide?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.app.pool import pool
from assay.app.testsets import load, upload
from assay.app.workspace import Workspace
from assay.settings import configure
from assay.store.keys import KeyStore
from tests.unit.http.conftest import SETTINGS, MakeService, client_of
from tests.unit.http.pages.conftest import FORM, PERSON
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow


@pytest.fixture
def round_of_two(home: Path) -> Path:
    """A workspace with a round of two passages for ann and bob."""
    drawn = home / "drawn.jsonl"
    query = {"query_id": "q1", "query_text": "headache", "query_type": "exact_term"}
    drawn.write_text(json.dumps(query))
    with Workspace(configure({"home": home, **SETTINGS}, environ={}, folder=home)) as workspace:
        upload(workspace.layout, json.dumps(TEST_SET).encode())
        made = pool(
            workspace,
            load(workspace.layout, "small"),
            drawn,
            annotators=("ann", "bob"),
            round_id="round-1",
            depth=2,
        )
    assert [item.chunk_id for item in made.items] == ["d1:chunk_0", "d2:chunk_0"]
    return home


@pytest.fixture
def desk(make_service: MakeService, round_of_two: Path) -> Iterator[TestClient]:
    """A browser where no key is needed."""
    with client_of(make_service(home=round_of_two), headers=PERSON) as client:
        yield client


def _grade(client: TestClient, who: str, chunk: str, grade: str, path: str = "annotate") -> int:
    fields = {"as": who, "query_id": "q1", "chunk_id": f"{chunk}:chunk_0", "grade": grade}
    answer = client.post(f"/ui/{path}/round-1", content=urlencode(fields), headers=FORM)
    return answer.status_code


@pytest.mark.req("E12")
def test_two_judge_and_a_third_decides(desk: TestClient) -> None:
    assert "0 of 2" in desk.get("/annotate/round-1?as=ann").text
    for who, first, second in (("ann", "3", "2"), ("bob", "3", "0")):
        assert _grade(desk, who, "d1", first) == 200
        assert _grade(desk, who, "d2", second) == 200
    assert "Everything is judged" in desk.get("/annotate/round-1?as=bob").text
    agreement = desk.get("/annotate/round-1/agreement").text
    assert "judged by both</span><b>2</b>" in agreement
    dispute = desk.get("/annotate/round-1/decide?as=carol").text
    assert "Triptans end a migraine" in dispute
    assert not re.search(r"\b(ann|bob)\b", dispute)  # both grades, no names
    assert _grade(desk, "ann", "d2", "1", "decide") == 400  # who judged cannot decide
    assert _grade(desk, "carol", "d2", "1", "decide") == 200
    assert "Nothing waits" in desk.get("/annotate/round-1/decide?as=carol").text


def test_the_last_grade_is_taken_back(desk: TestClient) -> None:
    assert _grade(desk, "ann", "d1", "u") == 200
    body = urlencode({"as": "ann", "undo": "1"})
    answer = desk.post("/ui/annotate/round-1", content=body, headers=FORM)
    assert "0 of 2" in answer.text
    assert "Undone" in answer.text


@pytest.mark.parametrize(
    ("who", "chunk", "grade", "status"),
    [
        ("ann", "d1", "4", 422),
        ("ann", "d9", "1", 404),
        ("eve", "d1", "1", 400),
        ("", "d1", "1", 422),
    ],
)
def test_what_cannot_be_a_grade_is_refused(
    desk: TestClient, who: str, chunk: str, grade: str, status: int
) -> None:
    assert _grade(desk, who, chunk, grade) == status


def test_with_keys_nobody_judges_for_another_or_sees_the_other(
    make_service: MakeService, round_of_two: Path
) -> None:
    store = KeyStore(round_of_two / "assay.db")
    _, ann = store.create("ann", ["read", "annotate", "evaluate"])
    _, carol = store.create("carol", ["read", "evaluate"])
    store.close()
    with client_of(make_service(home=round_of_two), headers=PERSON) as client:
        client.headers["authorization"] = f"Bearer {ann}"
        assert _grade(client, "bob", "d1", "3") == 200  # entered as ann, whatever was asked
        assert "1 of 2" in client.get("/annotate/round-1?as=bob").text
        assert client.get("/annotate/round-1/agreement").status_code == 403
        assert client.get("/annotate/round-1/decide").status_code == 403
        assert "Judge as bob" not in client.get("/annotate").text
        client.headers["authorization"] = f"Bearer {carol}"
        assert client.get("/annotate/round-1?as=carol").status_code == 403
        assert client.get("/annotate/round-1/agreement").status_code == 200
