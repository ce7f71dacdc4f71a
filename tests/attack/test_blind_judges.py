"""Does a judge whose key has two scopes see what the other judge said?"""

from __future__ import annotations

import pytest

from assay.app.keys import create_key
from assay.store.annotations import AnnotationStore
from tests.unit.http.conftest import MakeService, assert_problem, client_of
from tests.unit.store.test_annotations import ITEMS, QUERIES, a_round


@pytest.mark.parametrize("name", ["ann", "Ann"])
def test_a_judge_who_may_evaluate_stays_blind_while_the_round_is_open(
    make_service: MakeService, name: str
) -> None:
    service = make_service()
    layout = service.workspace.layout
    store = AnnotationStore(layout.database)
    store.create(a_round(), QUERIES, ITEMS)
    store.close()
    judge = create_key(layout, name, ["read", "annotate", "evaluate"]).key
    third = create_key(layout, "carol", ["read", "evaluate"]).key
    admin = create_key(layout, "ann", ["admin"]).key
    with client_of(service) as client:
        place = "/v1/rounds/2026q4/agreement"
        refused = client.get(place, headers={"x-api-key": judge})
        assert "must not see" in assert_problem(refused, 400)["detail"]
        for person in ("carol", name):
            address = "/v1/rounds/2026q4/disputes"
            found = client.get(address, params={"person": person}, headers={"x-api-key": judge})
            assert found.status_code in (400, 403), found.text
        for key in (third, admin):
            assert client.get(place, headers={"x-api-key": key}).status_code == 200
