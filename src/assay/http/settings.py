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


def public_names(settings: Settings) -> list[str]:
    """Under which names other machines may address the service, itself or behind a proxy."""
    return sorted(name for name in allowed_hosts(settings) if not is_loopback(name))


def refuse_open_bind(settings: Settings, keys: int) -> None:
    """A service that other machines can reach, also through a proxy, needs API keys."""
    names = public_names(settings)
    if names and not keys:
        raise ConfigError(
            f"{names[0]} can be reached from other machines, and there is no API key",
            hint="make a key first (assay keys create NAME --scope read), check --home if there "
            "were keys, or take the name out of host and allowed_hosts",
        )
