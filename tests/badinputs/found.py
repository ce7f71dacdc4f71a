"""Which inputs did fuzzing find that once ended in something else than a typed error?"""

from __future__ import annotations

from tests.badinputs.case import Entry

CASES: tuple[Entry, ...] = ()
