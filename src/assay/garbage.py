"""When does Python look for cycles of garbage, and when would that only cost time?

One policy for each of three moments: a command that is over soon, a service that answers for days,
and a stretch of work that makes very many values without a cycle among them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COMMAND_THRESHOLDS = (200_000, 20, 20)
"""Values made until Python looks for cycles: our values have hardly any, and commands end soon."""

SERVICE_THRESHOLDS = (1_000, 10, 10)
"""Requests leave cycles behind: many short searches hold up nobody, a rare long one does."""


def for_command() -> None:
    """Look seldom."""
    gc.set_threshold(*COMMAND_THRESHOLDS)


def for_service() -> None:
    """Look often, and briefly."""
    gc.set_threshold(*SERVICE_THRESHOLDS)


def spare_what_stays() -> None:
    """Stop looking among modules and models, which stay: all requests would wait meanwhile."""
    gc.collect()
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """Do not look meanwhile, nor right afterwards through everything that was made."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # what a service has frozen must stay so
                gc.freeze()  # and back: what is young now counts as old, without being looked at
                gc.unfreeze()
            gc.enable()
