"""Does a service that once had keys stay closed, whatever becomes of them?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from assay.app.keys import create_key
from assay.app.layout import Layout
from assay.errors import CorruptError
from assay.store.backup import back_up, restore
from tests.unit.http.conftest import MakeService, client_of

Loss = Callable[[Path], None]


def no_rows(home: Path) -> None:
    _change(home, "DELETE FROM api_keys")


def no_table(home: Path) -> None:
    _change(home, "DROP TABLE api_keys")


def no_database(home: Path) -> None:
    for file in home.glob("assay.db*"):
        file.unlink()


def empty_database(home: Path) -> None:
    no_database(home)
    (home / "assay.db").touch()


def no_version(home: Path) -> None:
    _change(home, "UPDATE assay_schema SET version_num = 'x7'")


def _change(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "assay.db")) as database, database:
        database.execute(statement)


def refused(client: TestClient) -> bool:
    """Whether a caller without a key gets nothing, and the probes still answer."""
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code in {200, 503}
    asked = [client.get("/v1/documents"), client.get("/v1/backup"), client.get("/v1/keys")]
    return all(answer.status_code in {401, 500} for answer in asked)


@pytest.mark.parametrize("lose", [no_rows, no_table, no_database, empty_database, no_version])
def test_a_service_that_runs_does_not_open(make_service: MakeService, lose: Loss) -> None:
    service = make_service()
    home = service.settings.home
    create_key(Layout(home), "someone")
    with client_of(service) as client:
        service.keyring.read_again()
        assert refused(client)
        lose(home)
        service.keyring.read_again()
        assert refused(client)


@pytest.mark.parametrize("lose", [no_rows, no_database, empty_database])
def test_the_next_start_does_not_open_it_either(make_service: MakeService, lose: Loss) -> None:
    first = make_service()
    home = first.settings.home
    create_key(Layout(home), "someone")
    first.close()
    lose(home)
    again = make_service(home=home)
    with client_of(again) as client:
        assert refused(client)
        created = create_key(Layout(home), "another").key
        again.keyring.read_again()
        headers = {"authorization": f"Bearer {created}"}
        assert client.get("/v1/documents", headers=headers).status_code == 200


def test_keys_of_an_older_workspace_are_remembered_once_they_were_seen(
    make_service: MakeService,
) -> None:
    first = make_service()
    home = first.settings.home
    create_key(Layout(home), "someone")
    Layout(home).had_keys.unlink()
    assert not first.keyring.open
    first.close()
    no_rows(home)
    assert not make_service(home=home).keyring.open


@pytest.mark.parametrize("there", [True, False])
def test_a_restore_does_not_open_it_either(
    make_service: MakeService, tmp_path: Path, there: bool
) -> None:
    first = make_service()
    home = first.settings.home
    create_key(Layout(home), "someone")
    no_rows(home)
    first.close()
    back_up(home, tmp_path / "kept.tar.gz")
    restored = tmp_path / "restored"
    if there:
        restored.mkdir()
    restore(tmp_path / "kept.tar.gz", restored)
    with client_of(make_service(home=restored)) as client:
        assert refused(client)


def test_removing_the_mark_opens_it_to_this_machine_again(make_service: MakeService) -> None:
    first = make_service()
    home = first.settings.home
    create_key(Layout(home), "someone")
    first.close()
    no_rows(home)
    mark = Layout(home).had_keys
    assert "remove this file" in mark.read_text()
    mark.unlink()
    assert make_service(home=home).keyring.open


def test_a_version_that_is_no_number_is_damage(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    create_key(layout, "someone")
    no_version(tmp_path)
    with pytest.raises(CorruptError, match="x7"):
        create_key(layout, "another")
