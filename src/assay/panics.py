"""How is what a panic of Rust prints kept from the terminal, when we tell the error ourselves?

polars panics on some damaged files: it raises, and prints lines of its source to standard error.
Only in the main thread, where a command runs: what other threads of a service print stays at once.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STDERR = 2


@contextmanager
def without_panic_text() -> Iterator[None]:
    """Hold back what is printed inside; it is shown afterwards unless a panic ended it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    sys.stderr.flush()
    kept = os.dup(STDERR)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), STDERR)
        panicked = False
        try:
            yield
        except BaseException as problem:
            panicked = type(problem).__name__ == "PanicException"
            raise
        finally:
            sys.stderr.flush()
            os.dup2(kept, STDERR)
            os.close(kept)
            held.seek(0)
            if not panicked and (text := held.read()):
                os.write(STDERR, text)
