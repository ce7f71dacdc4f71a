"""How is the application assembled?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from assay.errors import AssayError
from assay.http.edge import problems
from assay.http.edge.exchange import Exchange
from assay.http.edge.frame import Frame
from assay.http.pages.problem_page import answer
from assay.http.pages.routers import PAGES
from assay.http.reference import route_paths
from assay.http.routes import ROUTERS
from assay.http.service import Service
from assay.version import __version__

_ABOUT = """Biomedical search with every score explained, and the evaluation that proves it.

Errors are `application/problem+json` with a `request_id` and one entry in `errors` per fault.
Where the service has API keys, send one as `Authorization: Bearer assay_...`.
"""


def create_app(service: Service) -> ASGIApp:
    """The whole application; the service starts and stops with the server."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        await service.start()
        yield
        await service.stop()

    app = FastAPI(
        title="Assay",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    # the routes themselves, not copies of them: making those takes the first request 0.2 s
    app.router.routes += [route for router in (*ROUTERS, *PAGES) for route in router.routes]
    static = resources.files("assay.http") / "static"
    app.mount("/static", StaticFiles(directory=str(static)), name="static")
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(_refused)
    app.exception_handler(AssayError)(_failed)
    app.exception_handler(Exception)(_broken)
    service.metrics.know_routes(route_paths(app))
    return Frame(app, service)


def _answer(problem: problems.Problem, request: Request) -> Response:
    """A page for a browser, problem+json for a program."""
    exchange: Exchange = request.scope["assay.exchange"]
    body, kind = answer(problem, exchange)
    headers = {**problem.headers, "content-type": kind}
    return Response(body, problem.status, headers=headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _answer(problems.of_validation(error.errors()), request)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(problems.of_http(error), request)


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, AssayError)
    return _answer(problems.of_error(error), request)


async def _broken(request: Request, error: Exception) -> Response:
    del error  # the frame logs it
    return _answer(problems.internal(), request)
