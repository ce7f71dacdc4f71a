"""Does a key open what it should, and nothing else?"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from assay.errors import ConfigError, InputError, MissingFileError, UsageError
from assay.http.settings import is_loopback, refuse_open_bind
from assay.store.keys import KeyStore, matches, parse
from tests.unit.http.conftest import MakeService, assert_problem, client_of

pytestmark = pytest.mark.slow


@pytest.fixture
def store(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "assay.db")


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_only_the_hash_of_a_key_is_kept(store: KeyStore, tmp_path: Path) -> None:
    key, secret = store.create("ci", ["read"])
    store.close()
    found = parse(secret)
    assert found is not None
    assert found[0] == key.key_id
    assert matches(key, found[1])
    assert not matches(key, found[1][::-1])
    written = b"".join(path.read_bytes() for path in tmp_path.glob("assay.db*"))
    assert found[1].encode() not in written


def test_keys_without_sense_are_refused(store: KeyStore) -> None:
    with pytest.raises(UsageError, match="not a scope"):
        store.create("ci", ["write"])
    with pytest.raises(UsageError, match="needs a scope"):
        store.create("ci", [])
    with pytest.raises(InputError):
        store.create("a\nb", ["read"])
    with pytest.raises(MissingFileError):
        store.revoke("000000000000")


def test_without_keys_the_loopback_service_is_open(make_service: MakeService) -> None:
    with client_of(make_service()) as client:
        assert client.get("/metrics").status_code == 200


def test_with_a_key_everything_else_is_closed(
    make_service: MakeService, store: KeyStore, log: io.StringIO
) -> None:
    _, reader = store.create("reader", ["read"])
    _, annotator = store.create("annotator", ["annotate"])
    _, admin = store.create("admin", ["admin"])
    with client_of(make_service()) as client:
        refused = client.get("/metrics")
        assert_problem(refused, 401, "unauthorized")
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert client.get("/metrics", headers=bearer(reader)).status_code == 200
        assert client.get("/metrics", headers={"X-API-Key": reader}).status_code == 200
        assert client.get("/metrics", headers=bearer(admin)).status_code == 200
        assert_problem(client.get("/metrics", headers=bearer(annotator)), 403, "forbidden")
        assert client.get("/healthz").status_code == 200
        assert_problem(client.get(f"/metrics?api_key={reader}"), 401)
    assert reader not in log.getvalue()


@pytest.mark.parametrize(
    "header",
    ["Bearer nonsense", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer assay_000000000000_" + "a" * 43],
)
def test_a_wrong_key_is_refused_even_where_none_is_needed(
    make_service: MakeService, header: str
) -> None:
    with client_of(make_service()) as client:
        assert_problem(client.get("/metrics", headers={"Authorization": header}), 401)


def test_expired_and_revoked_keys_end(make_service: MakeService, store: KeyStore) -> None:
    store.create("other", ["read"])
    _, old = store.create("old", ["read"], days=0)
    key, gone = store.create("gone", ["read"])
    assert store.revoke(key.key_id).state() == "revoked"
    with client_of(make_service()) as client:
        assert_problem(client.get("/metrics", headers=bearer(old)), 401)
        assert_problem(client.get("/metrics", headers=bearer(gone)), 401)


def test_a_session_stands_for_its_key(make_service: MakeService, store: KeyStore) -> None:
    _, secret = store.create("person", ["read"])
    service = make_service()
    token = service.keyring.open_session(secret)
    with client_of(service, cookies={"assay_session": token}) as client:
        assert client.get("/metrics").status_code == 200
        service.keyring.close_session(token)
        assert_problem(client.get("/metrics"), 401)


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("10.0.0.7", False), ("search.example", False)],
)  # fmt: skip
def test_which_addresses_only_this_machine_reaches(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_an_open_public_service_does_not_start(make_service: MakeService, store: KeyStore) -> None:
    settings = make_service(host="0.0.0.0").settings
    with pytest.raises(ConfigError, match="no API key"):
        refuse_open_bind(settings, keys=0)
    refuse_open_bind(settings, keys=1)


def test_a_service_behind_a_proxy_does_not_start_open(make_service: MakeService) -> None:
    """Keys that are lost (another ``--home``, an empty volume) must not open every door."""
    service = make_service(allowed_hosts="localhost search.example")
    with pytest.raises(ConfigError, match=r"search\.example can be reached"):
        refuse_open_bind(service.settings, keys=0)
    refuse_open_bind(service.settings, keys=1)
    with client_of(service, client=("127.0.0.1", 50_000)) as client:
        for host in ("localhost", "search.example"):
            assert_problem(client.get("/metrics", headers={"Host": host}), 401)


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded",
        "Via",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Real-IP",
        "X-Forwarded-Proto",
        "X-Forwarded-Server",
        "X-Original-Forwarded-For",
        "X-Original-Host",
        "X-ProxyUser-IP",
        "CF-Connecting-IP",
        "True-Client-IP",
        "Fastly-Client-IP",
        "X-Client-IP",
        "X-Cluster-Client-IP",
        "X-Envoy-External-Address",
        "X-Azure-ClientIP",
        "CDN-Loop",
    ],
)
def test_an_open_service_trusts_no_request_that_a_proxy_passed_on(
    make_service: MakeService, header: str
) -> None:
    with client_of(make_service()) as client:
        assert client.get("/metrics").status_code == 200
        assert_problem(client.get("/metrics", headers={header: "203.0.113.7"}), 401)


def test_an_open_service_trusts_this_machine_only(make_service: MakeService) -> None:
    with client_of(make_service(), client=("203.0.113.7", 50_000)) as client:
        assert_problem(client.get("/metrics"), 401)


def test_a_public_service_whose_last_key_ends_stays_closed(
    make_service: MakeService, store: KeyStore
) -> None:
    with client_of(make_service(host="0.0.0.0")) as client:
        assert_problem(client.get("/metrics"), 401)


def test_a_service_of_this_machine_whose_last_key_ends_stays_closed(
    make_service: MakeService, store: KeyStore
) -> None:
    key, _ = store.create("only", ["read"])
    store.revoke(key.key_id)
    with client_of(make_service()) as client:
        assert_problem(client.get("/metrics"), 401)


def test_guessing_keys_is_slowed_down(make_service: MakeService) -> None:
    with client_of(make_service(rate_limit="2")) as client:
        answers = [client.get("/metrics", headers=bearer("assay_x_y")) for _ in range(3)]
        assert_problem(answers[0], 401)
        assert_problem(answers[-1], 429, "rate_limited")
        assert client.get("/metrics").status_code == 200  # who shows no key is somebody else


@pytest.mark.parametrize(("scheme", "secure"), [("https", True), ("http", False)])
def test_a_session_that_began_over_tls_never_leaves_it(
    make_service: MakeService, store: KeyStore, scheme: str, secure: bool
) -> None:
    """Also where a proxy ends the encryption: the page tells its own address."""
    _, secret = store.create("me", ["read"])
    with client_of(make_service()) as client:
        answer = client.post(
            "/sign-in",
            data={"key": secret},
            headers={"origin": f"{scheme}://localhost"},
            follow_redirects=False,
        )
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert ("secure" in cookie) is secure


def test_an_evaluator_does_not_cancel_work_on_the_index(
    make_service: MakeService, store: KeyStore
) -> None:
    _, secret = store.create("judge", ["evaluate"])
    service = make_service()
    service.jobs.store.create("index_1", "index", {"action": "update"}, owner="admin")
    with client_of(service) as client:
        assert_problem(client.delete("/v1/jobs/index_1", headers=bearer(secret)), 403)


def test_the_body_of_a_stranger_is_not_read(make_service: MakeService, store: KeyStore) -> None:
    """What is not JSON is a 400 to those who may ask, and nobody else makes us look."""
    _, secret = store.create("ci", ["read", "evaluate"])
    json_kind = {"content-type": "application/json"}
    with client_of(make_service()) as client:
        for path in ("/v1/score", "/v1/testsets", "/v1/evaluate"):
            assert_problem(client.post(path, content=b"[" * 100, headers=json_kind), 401)
        known = {**json_kind, **bearer(secret)}
        assert_problem(client.post("/v1/score", content=b"[" * 100, headers=known), 400)
