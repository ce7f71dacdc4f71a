"""Many values at once that hold no cycles: how is no time spent on looking for some?"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """No search for cycles meanwhile, nor right after it through all that was made."""
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
