"""What happens to every request before its route, and to every answer after it?

In this order: a request id, the checks of ``entrance``, the caller, the rate limit, a deadline, the
body within its limits, a watch for a client that leaves, and a slot at the gate of this kind of
work. Whatever fails on the way is answered with a problem; every request is counted and logged.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from assay import limits
from assay.errors import AssayError, StorageError
from assay.http.edge import problems
from assay.http.edge.admission import FullError, RateLimiter, payer
from assay.http.edge.auth import Caller, unknown_caller
from assay.http.edge.entrance import refusal
from assay.http.edge.exchange import Exchange
from assay.http.edge.inbound import Inbound
from assay.http.service import Service

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Answered under any load, to any caller."""
SIGN_IN_PATHS = frozenset({"/sign-in", "/sign-out"})
"""Paths that take a body from callers without a key; it must be small."""


class Frame:
    """The outermost layer of the application."""

    def __init__(self, app: FastAPI, service: Service) -> None:
        self.application = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
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
            await exchange.refuse(problems.busy(f"too many requests are waiting for {full.gate}"))
        except TimeoutError:
            await exchange.refuse(self._late(exchange))
        except ClientDisconnect:
            pass  # left before the whole body had arrived: nobody to answer
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
            # guessing keys is slowed down, too
            limited = self._over_rate(address, service.wrong_keys)
            await exchange.refuse(limited or problems.of_http(wrong))
            return
        except StorageError:
            if path not in OPEN_PATHS:
                raise
            caller = Caller(f"address {address}", frozenset())  # probes need no keys
        scope["assay.caller"] = caller
        limited = None if _unlimited(path) else self._over_rate(caller.name)
        if limited is not None:
            await exchange.refuse(limited)
            return
        if not (caller.scopes or exchange.body_complete or path in SIGN_IN_PATHS):
            # routes refuse this as well, but only after the body was read
            await exchange.refuse(unknown_caller("this service needs an API key").problem)
            return
        await self._admitted(exchange, receive, path)

    def _over_rate(
        self, caller: str, limiter: RateLimiter | None = None
    ) -> problems.Problem | None:
        wait = (limiter or self._service.rates).wait_for(caller)
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
        caller: str = exchange.scope["assay.caller"].name
        most = limits.SMALL_BODY_BYTES if path in SIGN_IN_PATHS else limits.MAX_BODY_BYTES
        inbound = Inbound(receive, exchange, task.cancel, most)
        async with AsyncExitStack() as stack:
            stack.callback(inbound.close)
            stack.callback(payer.reset, payer.set(caller))
            seconds = service.settings.request_seconds
            clock = await stack.enter_async_context(asyncio.timeout(seconds))
            with self._body_of(caller):
                if not await inbound.begin():
                    await stack.enter_async_context(service.gates["uploads"].slot(caller))
                    await inbound.rest()
            longer = service.deadline(path) - seconds  # for answers that are streams
            clock.reschedule((clock.when() or 0.0) + longer)
            gate = service.gate(exchange.scope["method"], path)
            if gate is not None:
                await stack.enter_async_context(gate.slot(caller))
            await self.application(exchange.scope, inbound.receive, exchange.send)

    @contextmanager
    def _body_of(self, caller: str) -> Iterator[None]:
        """Count a body; a caller who sends many slowly must not take every connection."""
        bodies = self._service.bodies
        if bodies[caller] >= limits.MAX_OWN_BODIES:
            raise FullError("uploads")
        bodies[caller] += 1
        try:
            yield
        finally:
            bodies[caller] -= 1
            if not bodies[caller]:
                del bodies[caller]

    def _late(self, exchange: Exchange) -> problems.Problem:
        """The deadline has passed, either while the body was arriving or during the work."""
        if exchange.body_complete:
            return problems.Problem(
                504,
                "deadline",
                "the request took too long",
                "ask for less, or send Prefer: respond-async where the route offers it",
            )
        return problems.Problem(408, "slow_body", "the body did not arrive in time", None)


def _unlimited(path: str) -> bool:
    """Whether a request is exempt from the rate limit: probes, and files of pages."""
    return path in OPEN_PATHS or path == "/ui/style.css" or path.startswith("/static/")


def _forget_cancellation() -> None:
    """The client has left and the work has ended; the task of the connection goes on."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
