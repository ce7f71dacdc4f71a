"""How does an assistant talk to the tools? JSON-RPC, one message a line, over stdin and stdout.

The Model Context Protocol as far as tools need it: the handshake, ``ping``, ``tools/list`` and
``tools/call`` (design/059). Calls run beside each other, so that a ping is answered during a long
one. What a caller gets wrong is an error of the protocol, or a result with ``isError``; nothing
that is sent ends the server but the end of its input.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any

from assay import limits
from assay.errors import AssayError
from assay.mcp.tools import INSTRUCTIONS, TOOLS
from assay.strict_json import values
from assay.version import __version__

if TYPE_CHECKING:
    from assay.app.interface import Assay

log = logging.getLogger("assay.mcp")

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions of the protocol that begin with a handshake, oldest first."""
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
_HIDDEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
"""Characters that nobody sees: they are written as escapes, so that no text hides in a text."""


class ProtocolError(Exception):
    """A request that cannot be carried out; the code is JSON-RPC's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """Serves the tools of a workspace or a service to one assistant."""

    def __init__(self, assay: Assay, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._assay = assay
        self._incoming = incoming
        self._outgoing = outgoing
        self._writing = threading.Lock()
        self._room = threading.BoundedSemaphore(limits.MAX_TOOL_CALLS)
        self._calls: dict[Any, threading.Thread] = {}
        self._methods: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "initialize": self._initialize,
            "ping": lambda params: {},
            "tools/list": lambda params: {"tools": [tool.describe() for tool in TOOLS.values()]},
        }

    def run(self) -> None:
        """Answer until the input ends, and let the calls under way end as well."""
        while (line := self._line()) is not None:
            if line.strip():
                self._take(line)
        for call in list(self._calls.values()):
            call.join()

    def _line(self) -> bytes | None:
        """The next line; one that is too long comes as nothing that can be read."""
        line = self._incoming.readline(limits.MAX_BODY_BYTES + 1)
        if len(line) <= limits.MAX_BODY_BYTES:
            return line or None
        while line and not line.endswith(b"\n"):
            line = self._incoming.readline(limits.MAX_BODY_BYTES)
        return b"{too long"

    def _take(self, line: bytes) -> None:
        try:
            ((_, message), *more) = values(line, "message")
        except AssayError as problem:
            self._send(_refusal(None, PARSE_ERROR, str(problem)))
            return
        if more or not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._send(_refusal(None, INVALID_REQUEST, "a line is one JSON-RPC 2.0 message"))
            return
        method, ident = message.get("method"), message.get("id")
        if not isinstance(method, str):
            if "result" not in message and "error" not in message:  # those answer nothing of ours
                self._send(_refusal(None, INVALID_REQUEST, "a request has a method"))
            return
        if "id" not in message:
            return  # a notification; what is cancelled may still come, and is then ignored
        if isinstance(ident, bool) or not isinstance(ident, (str, int)):
            self._send(_refusal(None, INVALID_REQUEST, "an id is a text or a whole number"))
            return
        params = message.get("params", {})
        if not isinstance(params, dict):
            self._send(_refusal(ident, INVALID_PARAMS, "params must be an object"))
        elif method == "tools/call":
            self._start(ident, params)
        else:
            self._answer(ident, method, params)

    def _answer(self, ident: str | int, method: str, params: Mapping[str, Any]) -> None:
        work = self._methods.get(method)
        if work is None:
            self._send(_refusal(ident, NO_METHOD, f"there is no method {method!r:.60}"))
            return
        try:
            self._send({"jsonrpc": "2.0", "id": ident, "result": work(params)})
        except ProtocolError as problem:
            self._send(_refusal(ident, problem.code, str(problem)))

    def _initialize(self, params: Mapping[str, Any]) -> dict[str, Any]:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise ProtocolError(INVALID_PARAMS, "initialize names a protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "assay", "title": "Assay", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def _start(self, ident: str | int, params: Mapping[str, Any]) -> None:
        """Let a tool work beside others; where too many do, wait for one of them."""
        name, given = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or name not in TOOLS:
            known = ", ".join(TOOLS)
            self._send(_refusal(ident, INVALID_PARAMS, f"no tool {name!r:.60}; known: {known}"))
            return
        if not isinstance(given, dict):
            self._send(_refusal(ident, INVALID_PARAMS, "arguments must be an object"))
            return
        self._room.acquire()
        call = threading.Thread(target=self._call, args=(ident, name, given), daemon=True)
        self._calls[id(call)] = call
        call.start()

    def _call(self, ident: str | int, name: str, given: Mapping[str, Any]) -> None:
        try:
            result = TOOLS[name].call(self._assay, given)
            content = {"content": [_as_text(result)], "structuredContent": result, "isError": False}
        except AssayError as problem:
            content = {"content": [_as_text(_problem(problem))], "isError": True}
        except Exception:  # a defect of ours must not end the server
            log.exception("the tool %s failed", name)
            defect = AssayError("assay failed unexpectedly", hint="see its log")
            content = {"content": [_as_text(_problem(defect))], "isError": True}
        try:
            self._send({"jsonrpc": "2.0", "id": ident, "result": content})
        finally:
            self._calls.pop(id(threading.current_thread()), None)
            self._room.release()

    def _send(self, message: Mapping[str, Any]) -> None:
        line = f"{_written(message)}\n".encode()
        with self._writing:
            try:
                self._outgoing.write(line)
                self._outgoing.flush()
            except (BrokenPipeError, ValueError):  # nobody listens any longer
                log.debug("the assistant is gone")


def _refusal(ident: str | int | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message}}


def _problem(problem: AssayError) -> dict[str, Any]:
    return {"error": {"code": problem.code, "message": problem.message, "hint": problem.hint}}


def _as_text(content: Mapping[str, Any]) -> dict[str, str]:
    return {"type": "text", "text": _written(content)}


def _written(content: Mapping[str, Any]) -> str:
    """JSON in one line, in which no character is invisible."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return _HIDDEN.sub(_escaped, text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]
