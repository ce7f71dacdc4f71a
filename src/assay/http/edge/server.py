"""How does the service start, and how does it stop without losing anything?

On SIGTERM or Ctrl-C it accepts no new connections, finishes the requests it has accepted, marks
running jobs as interrupted (a later start resumes them), and closes its files.

Whoever starts it may hand it a socket that already listens, as systemd does. The socket outlives
the process, so connections wait in it during a restart, and none is refused.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
from dataclasses import replace
from types import FrameType

import uvicorn

from assay import garbage, limits
from assay.errors import ConfigError
from assay.http.app import create_app
from assay.http.edge.protocol import Protocol
from assay.http.service import Service
from assay.http.settings import refuse_open_bind

BACKLOG = 512
"""Connections that wait to be accepted, and so many are accepted at once."""
FEWEST_CONNECTIONS = 100
OTHER_FILES = 500
"""Files of the workspace and of processes that compute, which are open beside connections."""
FIRST_GIVEN = 3
"""The descriptor of a socket that is handed over."""
SWITCH_SECONDS = 0.0001
"""How long a searching thread may hold up the event loop; Python's default of 5 ms adds up."""


class _Server(uvicorn.Server):
    """Tells the service when it is about to stop, so that streams do not hold it up."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.stop_soon()
        super().handle_exit(sig, frame)


def serve(service: Service, listener: socket.socket) -> None:
    """Serve until a signal comes."""
    sys.setswitchinterval(SWITCH_SECONDS)
    garbage.for_service()
    Protocol.most_connections = connections()
    service.when_warm = garbage.spare_what_stays
    config = uvicorn.Config(
        create_app(service),
        http=Protocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=max(1, round(service.settings.shutdown_seconds)),
        h11_max_incomplete_event_size=limits.MAX_HEAD_BYTES,
        limit_concurrency=None,
        backlog=BACKLOG,
    )
    _Server(config, service).run(sockets=[listener])


def connections() -> int:
    """How many connections there may be, so that files can be opened beside them.

    Most systems let a process open 1,024 files, and more if it asks.
    """
    needed = limits.MAX_CONNECTIONS + BACKLOG + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(FEWEST_CONNECTIONS, limits.MAX_CONNECTIONS - (needed - soft))
    return limits.MAX_CONNECTIONS


def _given_socket() -> socket.socket | None:
    """The socket that was handed to this process and none of its parents; see sd_listen_fds(3)."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return None
    count = os.environ.get("LISTEN_FDS", "")
    try:
        given = socket.socket(fileno=FIRST_GIVEN) if count == "1" else None
    except OSError:
        given = None
    if given is None or given.family not in (socket.AF_INET, socket.AF_INET6):
        raise ConfigError(
            f"LISTEN_FDS={count}: one listening TCP socket is expected",
            hint="a socket unit for assay has one ListenStream with an address and a port",
        )
    given.set_inheritable(False)
    return given


def listen(service: Service) -> socket.socket:
    """A listening socket; refused if strangers could reach a service without keys."""
    settings = service.settings
    given = _given_socket()
    if given is not None:
        name = given.getsockname()[0]
        refuse_open_bind(replace(settings, host=name), service.keyring.active())
        return given
    refuse_open_bind(settings, service.keyring.active())
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # with the protocol named, asyncio switches Nagle's algorithm off: 40 ms for each answer
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host.strip("[]"), settings.port))
        listener.listen(BACKLOG)
    except OSError as problem:
        listener.close()
        raise ConfigError(
            f"cannot listen on {settings.host}:{settings.port}: {problem.strerror}",
            hint="choose another port with --port, or stop what listens there",
        ) from None
    return listener
