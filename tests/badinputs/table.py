"""Where are all cases, group by group?"""

from __future__ import annotations

from tests.badinputs import commands, corpora, found, http, security, settings, testsets, trec
from tests.badinputs.case import Entry

TABLE: dict[str, tuple[Entry, ...]] = {
    "test sets": testsets.CASES,
    "trec": trec.CASES,
    "corpora": corpora.CASES,
    "http": http.CASES,
    "commands": commands.CASES,
    "security": security.CASES,
    "settings": settings.CASES,
    "found by fuzzing": found.CASES,
}
