"""Under which names, for whom, and for how many searches at once does a service work?"""

from __future__ import annotations

import ipaddress
import os

from assay.errors import ConfigError
from assay.settings import Settings


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The names under which the service may be addressed, in lower case."""
    host = settings.host
    own = {host, f"[{host}]"} if ":" in host else {host}
    return frozenset(name.lower() for name in {*settings.allowed_hosts.split(), *own})


def search_slots(settings: Settings) -> int:
    """How many searches run at once: each asks three components and keeps two cores busy."""
    return settings.search_slots or max(1, (os.cpu_count() or 1) // 2)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; of names, that is localhost alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse_open_bind(settings: Settings, keys: int) -> None:
    """A service that other machines can reach needs API keys."""
    if not keys and not is_loopback(settings.host):
        raise ConfigError(
            f"{settings.host} can be reached from other machines, and there is no API key",
            hint="make a key first (assay keys create NAME --scope read), or listen on 127.0.0.1",
        )
