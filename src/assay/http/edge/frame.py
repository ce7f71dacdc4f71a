"""What happens to every request before its route, and to every answer after it?

In this order: a request id; is it addressed to us; who calls; do they ask too often; a deadline; a
body that is counted; a watch for the client to leave; a slot at the gate of this kind of work. What
ends a request on the way ends in a problem; every end is counted and logged.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import AsyncExitStack

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from assay import limits
from assay.errors import AssayError
from assay.http.edge import problems
from assay.http.edge.admission import FullError
from assay.http.edge.auth import unknown_caller
from assay.http.edge.entrance import refusal
from assay.http.edge.exchange import Exchange
from assay.http.edge.inbound import Inbound
from assay.http.service import Service

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Answered whatever the load and whoever asks."""
SIGNING = frozenset({"/sign-in", "/sign-out"})
"""Where a body may come from somebody without a key; it must be small."""


class Frame:
    """The outermost layer of the application."""

    def __init__(self, app: FastAPI, service: Service) -> None:
        self.application = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's request."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1002})
            return
        exchange = Exchange(scope, receive, send)
        try:
            await self._guarded(exchange, receive)
        except HTTPException as problem:
            await exchange.refuse(problems.of_http(problem))
        except AssayError as error:
            await exchange.refuse(problems.of_error(error))
        except FullError as full:
            self._service.metrics.refused(full.gate)
            await exchange.refuse(problems.busy(f"too many requests wait for {full.gate}"))
        except TimeoutError:
            await exchange.refuse(self._late(exchange))
        except ClientDisconnect:
            pass  # left before all of the body was here: nobody to answer
        except asyncio.CancelledError:
            if not exchange.disconnected:
                raise
            _forget_cancellation()
        except Exception as error:
            self._service.log.exception("failed", request_id=exchange.request_id, exc_info=error)
            await exchange.refuse(problems.internal())
        finally:
            self._service.account(exchange)

    async def _guarded(self, exchange: Exchange, receive: Receive) -> None:
        service, scope = self._service, exchange.scope
        problem = refusal(exchange, service.allowed_hosts)
        if problem is not None:
            await exchange.refuse(problem)
            return
        address = scope["client"][0] if scope.get("client") else "unknown"
        path: str = scope["path"]
        try:
            caller = service.keyring.caller(exchange.headers, address)
        except HTTPException as wrong:
            # whoever guesses keys is slowed down as well
            often = self._asked_too_often(f"wrong key from {address}")
            await exchange.refuse(often or problems.of_http(wrong))
            return
        scope["assay.caller"] = caller
        often = None if _uncounted(path) else self._asked_too_often(caller.name)
        if often is not None:
            await exchange.refuse(often)
            return
        if not (caller.scopes or exchange.body_complete or path in SIGNING):
            # routes say this as well, but only after the body was read and parsed
            await exchange.refuse(unknown_caller("this service wants an API key").problem)
            return
        await self._admitted(exchange, receive, path)

    def _asked_too_often(self, caller: str) -> problems.Problem | None:
        wait = self._service.rates.wait_for(caller)
        if not wait:
            return None
        self._service.metrics.refused("rate")
        return problems.busy(
            "too many requests from this caller",
            status=429,
            code="rate_limited",
            after=max(1, math.ceil(wait)),
        )

    async def _admitted(self, exchange: Exchange, receive: Receive, path: str) -> None:
        service = self._service
        task = asyncio.current_task()
        assert task is not None
        most = limits.SMALL_BODY_BYTES if path in SIGNING else limits.MAX_BODY_BYTES
        inbound = Inbound(receive, exchange, task.cancel, most)
        async with AsyncExitStack() as stack:
            stack.callback(inbound.close)
            seconds = service.deadline(path)
            await stack.enter_async_context(asyncio.timeout(seconds))
            if not await inbound.begin():
                await stack.enter_async_context(service.gates["uploads"].slot())
                await inbound.rest()
            gate = service.gate(exchange.scope["method"], path)
            if gate is not None:
                await stack.enter_async_context(gate.slot())
            await self.application(exchange.scope, inbound.receive, exchange.send)

    def _late(self, exchange: Exchange) -> problems.Problem:
        """The deadline has passed: while the body was still coming, or while we worked."""
        if exchange.body_complete:
            return problems.Problem(
                504, "deadline", "the request took too long", "ask for less, or as a job"
            )
        return problems.Problem(408, "slow_body", "the body did not arrive in time", None)


def _uncounted(path: str) -> bool:
    """Whether a request is none of those that a caller has so many of: probes, parts of pages."""
    return path in OPEN_PATHS or path == "/ui/style.css" or path.startswith("/static/")


def _forget_cancellation() -> None:
    """The client is gone and the work has ended; the task that serves the connection goes on."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
