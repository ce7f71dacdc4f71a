"""What have judges said of tasks, and people of the same claims?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select

from assay.errors import InputError
from assay.model.answers import Usage
from assay.model.codec import decode, encode
from assay.model.judges import Opinion, Support
from assay.model.moments import now
from assay.store.database import open_database, writing
from assay.store.schema import claim_grades, judge_opinions
from assay.store.seals import UNREADABLE, sealed, unsealed
from assay.store.upsert import insert_or_replace

PAGE = 500  # keys of one statement
UNCOUNTED = "uncounted"  # beside an opinion, until a run has counted what it took


class SqlOpinionStore:
    """The opinions of one workspace, in SQLite or PostgreSQL."""

    def __init__(self, place: Path | str) -> None:
        self._engine = open_database(place)

    def close(self) -> None:
        """Close files and connections."""
        self._engine.dispose()

    def opinions(self, judge: str, keys: Collection[str]) -> dict[str, Opinion]:
        """What a judge said of the tasks with these keys, as far as it is known.

        ``usage`` comes with those that no run has counted yet.
        """
        table = judge_opinions
        found: dict[str, Opinion] = {}
        with self._engine.connect() as connection:
            for part in _pages(keys):
                chosen = select(table).where(table.c.judge == judge, table.c.task.in_(part))
                for row in connection.execute(chosen):
                    opinion = _read(row.opinion_json)
                    if opinion is not None:
                        found[row.task] = opinion
        return found

    def keep(self, judge: str, key: str, opinion: Opinion) -> None:
        """Store an opinion; it is on the disk when this returns."""
        row = _row(
            judge, key, encode(opinion) | ({} if opinion.usage is None else {UNCOUNTED: True})
        )
        with writing(self._engine) as connection:
            insert_or_replace(connection, judge_opinions, [row])

    def count(self, judge: str, keys: Collection[str]) -> None:
        """Note that what these opinions took was counted; their usage is not given again."""
        table = judge_opinions
        with writing(self._engine) as connection:
            for part in _pages(keys):
                chosen = select(table).where(table.c.judge == judge, table.c.task.in_(part))
                found = [
                    (row.task, unsealed(row.opinion_json)) for row in connection.execute(chosen)
                ]
                rows = [
                    _row(judge, task, {k: v for k, v in content.items() if k != UNCOUNTED})
                    for task, content in found
                ]
                if rows:
                    insert_or_replace(connection, table, rows)

    def grade(self, annotator: str, grades: Mapping[str, Support]) -> None:
        """Store what a person said of claims, in one commit; a later grade replaces an earlier."""
        rows = [
            {"claim": claim, "annotator": annotator, "label": label.value, "at": now()}
            for claim, label in grades.items()
        ]
        with writing(self._engine) as connection:
            insert_or_replace(connection, claim_grades, rows)

    def take_back(self, annotator: str, claims: Collection[str]) -> str | None:
        """Remove the last grade that a person gave to one of these claims; the claim."""
        table = claim_grades
        with writing(self._engine) as connection:
            given = [
                (row.at, row.claim)
                for part in _pages(claims)
                for row in connection.execute(
                    select(table).where(table.c.annotator == annotator, table.c.claim.in_(part))
                )
            ]
            if not given:
                return None
            last = str(max(given)[1])
            connection.execute(
                delete(table).where(table.c.annotator == annotator, table.c.claim == last)
            )
        return last

    def grades(self, claims: Collection[str]) -> dict[str, dict[str, Support]]:
        """What people said of these claims, by claim and person."""
        table = claim_grades
        found: dict[str, dict[str, Support]] = {}
        with self._engine.connect() as connection:
            for part in _pages(claims):
                chosen = select(table).where(table.c.claim.in_(part)).order_by(table.c.annotator)
                for row in connection.execute(chosen):
                    found.setdefault(row.claim, {})[row.annotator] = Support(row.label)
        return found


def _row(judge: str, key: str, content: Mapping[str, Any]) -> dict[str, str]:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return {"judge": judge, "task": key, "opinion_json": sealed(text), "at": now("seconds")}


def _read(text: str) -> Opinion | None:
    """The opinion of a row; one that was damaged is asked for again."""
    try:
        content = unsealed(text)
        usage = content.get("usage") if content.get(UNCOUNTED) else None
        return Opinion(
            content["label"],
            content["score"],
            content["reason"],
            None if usage is None else decode(Usage, usage),
        )
    except (*UNREADABLE, InputError):
        return None


def _pages(keys: Collection[str]) -> Iterator[list[str]]:
    listed = sorted(keys)
    for start in range(0, len(listed), PAGE):
        yield listed[start : start + PAGE]
