"""How does this service listen, whom does it answer, and how much at once?"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass

from assay.errors import ConfigError
from assay.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The settings of the service, as values that it can use."""

    host: str
    port: int
    allowed_hosts: frozenset[str]
    search_slots: int
    search_queue: int
    evaluation_slots: int
    rate_limit: int
    request_seconds: float
    shutdown_seconds: float
    query_log: str
    query_log_days: int
    query_log_rows: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return is_loopback(self.host)


def service_settings(config: Settings) -> ServiceSettings:
    """What the configuration says about the service."""
    # one search asks three components at once and keeps about two cores busy
    slots = config.search_slots or max(1, (os.cpu_count() or 1) // 2)
    own = {config.host, f"[{config.host}]"} if ":" in config.host else {config.host}
    return ServiceSettings(
        host=config.host,
        port=config.port,
        allowed_hosts=frozenset(name.lower() for name in {*config.allowed_hosts.split(), *own}),
        search_slots=slots,
        search_queue=slots * config.search_queue,
        evaluation_slots=config.evaluation_slots,
        rate_limit=config.rate_limit,
        request_seconds=config.request_seconds,
        shutdown_seconds=config.shutdown_seconds,
        query_log=config.query_log,
        query_log_days=config.query_log_days,
        query_log_rows=config.query_log_rows,
    )


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only; a name other than localhost is not."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse_open_bind(settings: ServiceSettings, keys: int) -> None:
    """A service that others can reach must know who is asking."""
    if not settings.loopback and not keys:
        raise ConfigError(
            f"{settings.host} can be reached from other machines, and there is no API key",
            hint="assay keys create NAME --scope read, or listen on 127.0.0.1",
        )
