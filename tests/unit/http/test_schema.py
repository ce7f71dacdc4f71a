"""Does every route keep the promises of the OpenAPI document, whatever is sent?

``make schema`` tries many more requests of each route than this does.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks
from starlette.types import ASGIApp, Receive, Scope, Send

from assay.http.app import create_app
from assay.http.edge.logs import service_log
from assay.http.service import Service
from assay.settings import configure
from tests.unit.http.conftest import SETTINGS

pytestmark = pytest.mark.slow

LOG = Path(tempfile.gettempdir()) / f"assay-schema-{os.getpid()}.log"
EXAMPLES = int(os.environ.get("ASSAY_SCHEMA_EXAMPLES", "6"))


def no_defect(context: Any, response: Any, case: Any) -> None:
    """A 503 is an answer here: the small workspace has no models for some components."""
    del context, case
    assert response.status_code != 500, LOG.read_text(encoding="utf-8")[-3000:]
    assert b"Traceback (most" not in response.content


CHECKS = [
    no_defect,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
]


def without_lifespan(app: ASGIApp) -> ASGIApp:
    """Each call of the tool begins and ends a lifespan; the service must outlive them all."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})

    return wrapped


@pytest.fixture(scope="module")
def api(small_home: Path) -> Any:
    """The OpenAPI document of a service over a copy of the small workspace."""
    place = Path(tempfile.mkdtemp(prefix="assay-schema-"))
    shutil.copytree(small_home, place / "home")
    flags = {"home": place / "home", **SETTINGS, "allowed_hosts": "localhost testserver"}
    with LOG.open("w", encoding="utf-8", buffering=1) as log:
        service = Service(configure(flags, environ={}, folder=place), service_log(log))
        service.jobs.start()
        yield schemathesis.openapi.from_asgi("/openapi.json", without_lifespan(create_app(service)))
        service.close()
    shutil.rmtree(place)
    LOG.unlink()


def operations(api: Any) -> list[Any]:
    return [found.ok() for found in api.get_all_operations()]


@pytest.mark.req("R15")
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: str(mode.value))
def test_every_route_keeps_its_promises(api: Any, mode: GenerationMode) -> None:
    """Data that fits the document, and data that does not."""
    tried = 0
    for operation in operations(api):
        try:
            strategy = operation.as_strategy(generation_mode=mode)
            strategy.validate()
        except Unsatisfiable:
            continue  # nothing of this route can be wrong

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=not os.environ.get("ASSAY_SCHEMA_EXAMPLES"),
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=strategy)
        def check(case: Any) -> None:
            nonlocal tried
            tried += 1
            case.call_and_validate(checks=CHECKS, timeout=120)

        try:
            check()
        except Unsatisfiable:
            continue
    assert tried > 20 * EXAMPLES


def test_every_route_is_documented_with_its_refusals(api: Any) -> None:
    paths = api.raw_schema["paths"]
    assert api.raw_schema["openapi"].startswith("3.1")
    for path, methods in paths.items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["description"], where
            assert "422" in operation["responses"], where
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    assert list(answer["content"]) == ["application/problem+json"], where
