"""What did people search for, without knowing who they are?

Query text is stored only if the settings say so, and only after obvious identifiers were removed.
Old rows are deleted by age and by number. Searches made by evaluations are not logged. The
candidates of a test-set refresh come from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete, func, insert, select

from assay.model.identifiers import scrub
from assay.model.moments import days_ago
from assay.store.database import open_database, writing
from assay.store.schema import query_log


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """One search: when, what (None if query text is not stored) and how it went."""

    at: str
    query: str | None
    query_type: str
    results: int
    top_score: float | None
    degraded: bool
    latency_ms: float


@dataclass(frozen=True, slots=True)
class QueryCount:
    """One wording and its statistics; case and blanks are ignored."""

    query: str
    times: int
    zero_results: int
    mean_top_score: float | None
    last_at: str


class QueryLog:
    """The log of one workspace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = open_database(path)

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def add(self, entries: Sequence[LoggedQuery]) -> None:
        """Write entries in one transaction."""
        rows = [
            {
                "at": entry.at,
                "query": None if entry.query is None else scrub(entry.query),
                "query_type": entry.query_type,
                "results": entry.results,
                "top_score": entry.top_score,
                "degraded": int(entry.degraded),
                "latency_ms": entry.latency_ms,
            }
            for entry in entries
        ]
        if rows:
            with writing(self._engine) as connection:
                connection.execute(insert(query_log), rows)

    def trim(self, *, days: float, rows: int) -> int:
        """Delete rows that are too old or too many; returns the number deleted."""
        with writing(self._engine) as connection:
            old = connection.execute(delete(query_log).where(query_log.c.at < days_ago(days)))
            newest = connection.execute(select(func.max(query_log.c.seq))).scalar() or 0
            many = connection.execute(delete(query_log).where(query_log.c.seq <= newest - rows))
        return old.rowcount + many.rowcount

    def count(self) -> int:
        """The number of searches in the log."""
        with self._engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(query_log)).scalar_one()

    def wordings(
        self, *, since: str = "", limit: int = 10_000, degraded: bool = True
    ) -> list[QueryCount]:
        """Every stored wording, most frequent first; ``degraded`` includes degraded answers."""
        key = func.lower(func.trim(query_log.c.query))
        times = func.count()
        with self._engine.connect() as connection:
            found = connection.execute(
                select(
                    func.min(query_log.c.query),
                    times,
                    func.sum(query_log.c.results == 0),
                    func.avg(query_log.c.top_score),
                    func.max(query_log.c.at),
                )
                .where(query_log.c.query.is_not(None), query_log.c.at >= since)
                .where(query_log.c.degraded <= int(degraded))
                .group_by(key)
                .order_by(times.desc(), key)
                .limit(limit)
            )
            return [QueryCount(*row) for row in found]
