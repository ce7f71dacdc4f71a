"""What is to be judged, who judged what, and what was decided?

Grades are a log: a later one replaces an earlier one of the same annotator and item, undo marks the
last one, and nothing is deleted. When a method returns, its changes are on disk.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from assay import limits
from assay.errors import ConflictError, InputError, LimitError, MissingFileError, UsageError
from assay.model.annotation import (
    AUTOMATIC,
    Decision,
    Grade,
    Item,
    ItemKey,
    Plan,
    Purpose,
    Round,
    RoundQuery,
    check_people,
)
from assay.model.codec import decode, encode
from assay.model.document import check_id
from assay.model.moments import now
from assay.model.testset import QueryType
from assay.store.database import open_database, writing
from assay.store.schema import (
    annotation_decisions,
    annotation_grades,
    annotation_items,
    annotation_queries,
    annotation_rounds,
)
from assay.store.upsert import insert_or_replace

PLAN = "plan"


class AnnotationStore:
    """The rounds of one workspace, in SQLite or PostgreSQL."""

    def __init__(self, place: Path | str) -> None:
        self._engine = open_database(place)

    def close(self) -> None:
        """Close files and connections."""
        self._engine.dispose()

    def create(self, held: Round, queries: Sequence[RoundQuery], items: Sequence[Item]) -> Round:
        """Create a round with everything that is to be judged, in one transaction."""
        _check_round(held, queries, items)
        with writing(self._engine) as connection:
            if _found(connection, held.round_id) is not None:
                raise ConflictError(
                    f"there is a round {held.round_id!r} already", hint="choose another name"
                )
            connection.execute(insert(annotation_rounds), _round_row(held))
            connection.execute(
                insert(annotation_queries),
                [_query_row(held.round_id, at, query) for at, query in enumerate(queries)],
            )
            connection.execute(
                insert(annotation_items), [_item_row(held.round_id, item) for item in items]
            )
        return held

    def rounds(self) -> tuple[Round, ...]:
        """Every round, newest first."""
        table = annotation_rounds
        with self._engine.connect() as connection:
            found = connection.execute(
                select(table).order_by(table.c.created_at.desc(), table.c.round_id)
            )
            return tuple(_round_of(row) for row in found)

    def round(self, ref: str) -> Round:
        """A round by its name; ``latest`` is the newest."""
        if ref == "latest":
            every = self.rounds()
            if every:
                return every[0]
            raise MissingFileError(
                "there is no annotation round yet", hint="assay testset pool opens one"
            )
        with self._engine.connect() as connection:
            return _required(connection, ref)

    def queries(self, round_id: str) -> tuple[RoundQuery, ...]:
        """The queries of a round, in the order in which they were drawn."""
        table = annotation_queries
        with self._engine.connect() as connection:
            found = connection.execute(
                select(table).where(table.c.round_id == round_id).order_by(table.c.place)
            )
            return tuple(_query_of(row) for row in found)

    def items(self, round_id: str) -> tuple[Item, ...]:
        """Everything that is to be judged, ordered by query and chunk."""
        table = annotation_items
        with self._engine.connect() as connection:
            found = connection.execute(
                select(table)
                .where(table.c.round_id == round_id)
                .order_by(table.c.query_id, table.c.chunk_id)
            )
            return tuple(_item_of(row) for row in found)

    def grade(
        self,
        round_id: str,
        annotator: str,
        key: ItemKey,
        grade: int | None,
        comment: str = "",
    ) -> Grade:
        """Record a grade; None means that it cannot be judged. Repeating it changes nothing."""
        return self.enter(round_id, annotator, [(key, grade, comment)])[0]

    def enter(
        self, round_id: str, annotator: str, said: Sequence[tuple[ItemKey, int | None, str]]
    ) -> list[Grade]:
        """Record several grades: all of them or, if one is invalid, none."""
        for _, grade, comment in said:
            _check_grade(grade, comment)
        with writing(self._engine) as connection:
            held = _open_round(connection, round_id)
            if not annotator.startswith(AUTOMATIC):
                _check_annotator(held, annotator)
            return [_entered(connection, held, annotator, one) for one in said]

    def add_annotator(self, round_id: str, name: str, plan: Plan) -> Round:
        """Let a second person judge in a round that one began."""
        with writing(self._engine) as connection:
            held = _open_round(connection, round_id)
            if len(held.annotators) > 1:
                raise ConflictError(
                    f"{' and '.join(held.annotators)} judge in {round_id} already",
                    hint="two people judge a round, and a third decides where they differ",
                )
            changed = replace(held, annotators=(*held.annotators, name), plan=plan)
            check_people(changed.annotators, changed.purpose, round_id)
            return _changed(connection, changed)

    def change_plan(self, round_id: str, plan: Plan) -> Round:
        """Judge a round in another way from now on."""
        with writing(self._engine) as connection:
            return _changed(connection, replace(_open_round(connection, round_id), plan=plan))

    def undo(self, round_id: str, annotator: str) -> Grade | None:
        """Undo and return the annotator's last grade; None if there is none."""
        table = annotation_grades
        with writing(self._engine) as connection:
            held = _open_round(connection, round_id)
            _check_annotator(held, annotator)
            last = connection.execute(
                select(table)
                .where(
                    table.c.round_id == round_id,
                    table.c.annotator == annotator,
                    table.c.undone_at.is_(None),
                )
                .order_by(table.c.seq.desc())
                .limit(1)
            ).one_or_none()
            if last is None:
                return None
            connection.execute(update(table).where(table.c.seq == last.seq).values(undone_at=now()))
        return _grade_of(last)

    def grades(self, round_id: str, annotator: str | None = None) -> tuple[Grade, ...]:
        """The current grades, in the order in which they were given."""
        table = annotation_grades
        newest = (
            select(func.max(table.c.seq))
            .where(table.c.round_id == round_id, table.c.undone_at.is_(None))
            .group_by(table.c.annotator, table.c.query_id, table.c.chunk_id)
        )
        if annotator is not None:
            newest = newest.where(table.c.annotator == annotator)
        with self._engine.connect() as connection:
            found = connection.execute(
                select(table).where(table.c.seq.in_(newest)).order_by(table.c.seq)
            )
            return tuple(_grade_of(row) for row in found)

    def decide(self, round_id: str, decisions: Sequence[Decision]) -> None:
        """Record decisions in one transaction; a later one replaces an earlier one."""
        for one in decisions:
            _check_grade(one.grade, one.comment)
        with writing(self._engine) as connection:
            held = _open_round(connection, round_id)
            for one in decisions:
                _check_item(connection, round_id, one.key)
                if _folded(one.by) in map(_folded, held.annotators):
                    raise UsageError(
                        f"{one.by} judged in {round_id} and cannot decide there",
                        hint="a third person decides, or chooses the rule that does",
                    )
            insert_or_replace(
                connection,
                annotation_decisions,
                [_decision_row(round_id, one) for one in decisions],
            )

    def undecide(self, round_id: str, keys: Sequence[ItemKey]) -> None:
        """Take decisions back in one transaction; their items are open again."""
        table = annotation_decisions
        with writing(self._engine) as connection:
            _open_round(connection, round_id)
            for query_id, chunk_id in keys:
                connection.execute(
                    delete(table).where(
                        table.c.round_id == round_id,
                        table.c.query_id == query_id,
                        table.c.chunk_id == chunk_id,
                    )
                )

    def decisions(self, round_id: str) -> tuple[Decision, ...]:
        """Every decision of a round, by query and chunk."""
        table = annotation_decisions
        with self._engine.connect() as connection:
            found = connection.execute(
                select(table)
                .where(table.c.round_id == round_id)
                .order_by(table.c.query_id, table.c.chunk_id)
            )
            return tuple(_decision_of(row) for row in found)

    def close_round(self, round_id: str) -> Round:
        """Close a round: its grades and decisions can no longer change."""
        with writing(self._engine) as connection:
            held = _required(connection, round_id)
            if held.closed_at is None:
                table = annotation_rounds
                connection.execute(
                    update(table).where(table.c.round_id == round_id).values(closed_at=now())
                )
            return _required(connection, round_id)


def _entered(
    connection: Connection, held: Round, annotator: str, said: tuple[ItemKey, int | None, str]
) -> Grade:
    key, grade, comment = said
    _check_item(connection, held.round_id, key)
    before = _last_of_item(connection, held.round_id, annotator, key)
    if before is not None and (before.grade, before.comment) == (grade, comment):
        return _grade_of(before)
    row = {
        "round_id": held.round_id,
        "query_id": key[0],
        "chunk_id": key[1],
        "annotator": annotator,
        "grade": grade,
        "comment": comment,
        "at": now(),
    }
    connection.execute(insert(annotation_grades), row)
    return Grade(*key, annotator, grade, comment, str(row["at"]))


def _check_round(held: Round, queries: Sequence[RoundQuery], items: Sequence[Item]) -> None:
    check_id(held.round_id, "round")
    check_people(held.annotators, held.purpose, held.round_id)
    if not items:
        raise InputError("there is nothing to judge", hint="pool deeper, or draw other queries")
    if len(items) > limits.MAX_ROUND_ITEMS:
        raise LimitError(
            f"{len(items):,} passages, and {limits.MAX_ROUND_ITEMS:,} are allowed in a round",
            hint="fewer queries, or a smaller depth",
        )
    known = {query.query_id for query in queries}
    assert all(item.query_id in known for item in items), "an item of no query"


def _changed(connection: Connection, held: Round) -> Round:
    row = _round_row(held)
    table = annotation_rounds
    connection.execute(
        update(table)
        .where(table.c.round_id == held.round_id)
        .values(second_annotator=row["second_annotator"], source=row["source"])
    )
    return held


def _folded(name: str) -> str:
    return name.casefold()


def _check_grade(grade: int | None, comment: str) -> None:
    whole = isinstance(grade, int) and not isinstance(grade, bool)
    if grade is not None and not (whole and 0 <= grade <= limits.MAX_GOLDEN_GRADE):
        raise InputError(
            f"{grade!r:.40} is not a grade", hint=f"0 to {limits.MAX_GOLDEN_GRADE}, or cannot judge"
        )
    if len(comment) > limits.MAX_COMMENT_CHARS or "\0" in comment:
        raise InputError(
            "the comment is too long, or holds U+0000",
            hint=f"{limits.MAX_COMMENT_CHARS} characters at most",
        )


def _check_annotator(held: Round, annotator: str) -> None:
    if annotator not in held.annotators:
        raise UsageError(
            f"{annotator!r:.80} does not judge in {held.round_id}",
            hint=f"its annotators are {' and '.join(held.annotators)}",
        )


def _check_item(connection: Connection, round_id: str, key: ItemKey) -> None:
    query_id, chunk_id = key
    table = annotation_items
    wanted = select(table.c.doc_id).where(
        table.c.round_id == round_id,
        table.c.query_id == query_id,
        table.c.chunk_id == chunk_id,
    )
    if connection.execute(wanted).first() is None:
        raise MissingFileError(
            f"{chunk_id!r:.80} is not to be judged for {query_id!r:.80} in {round_id}",
            hint="only pooled passages are judged",
        )


def _found(connection: Connection, round_id: str) -> Round | None:
    table = annotation_rounds
    row = connection.execute(select(table).where(table.c.round_id == round_id)).one_or_none()
    return None if row is None else _round_of(row)


def _required(connection: Connection, round_id: str) -> Round:
    held = _found(connection, round_id)
    if held is None:
        raise MissingFileError(
            f"there is no round {round_id!r:.80}", hint="assay testset rounds lists them"
        )
    return held


def _open_round(connection: Connection, round_id: str) -> Round:
    held = _required(connection, round_id)
    if held.closed_at is not None:
        raise ConflictError(
            f"the round {round_id} was closed on {held.closed_at[:10]}",
            hint="its grades are part of a test set; open a new round",
        )
    return held


def _last_of_item(
    connection: Connection, round_id: str, annotator: str, key: ItemKey
) -> Row[Any] | None:
    table = annotation_grades
    return connection.execute(
        select(table)
        .where(
            table.c.round_id == round_id,
            table.c.annotator == annotator,
            table.c.query_id == key[0],
            table.c.chunk_id == key[1],
            table.c.undone_at.is_(None),
        )
        .order_by(table.c.seq.desc())
        .limit(1)
    ).one_or_none()


def _round_row(held: Round) -> dict[str, Any]:
    """A round as a row; its plan stands beside its source, and nobody is an empty name."""
    source = dict(held.source)
    if held.plan != Plan():
        source[PLAN] = encode(held.plan)
    first, *second = held.annotators
    return {
        "round_id": held.round_id,
        "purpose": held.purpose.value,
        "test_set": held.test_set,
        "version": held.version,
        "checksum": held.checksum,
        "first_annotator": first,
        "second_annotator": "".join(second),
        "seed": held.seed,
        "source": json.dumps(source, ensure_ascii=False, allow_nan=False),
        "created_at": held.created_at,
        "closed_at": held.closed_at,
    }


def _round_of(row: Row[Any]) -> Round:
    """The round of a row."""
    source = json.loads(row.source)
    plan = source.pop(PLAN, None)
    return Round(
        round_id=row.round_id,
        purpose=Purpose(row.purpose),
        test_set=row.test_set,
        version=row.version,
        checksum=row.checksum,
        annotators=tuple(filter(None, (row.first_annotator, row.second_annotator))),
        seed=row.seed,
        created_at=row.created_at,
        source=source,
        closed_at=row.closed_at,
        plan=Plan() if plan is None else decode(Plan, plan),
    )


def _query_row(round_id: str, place: int, query: RoundQuery) -> dict[str, Any]:
    """A query as a row."""
    return {
        "round_id": round_id,
        "query_id": query.query_id,
        "place": place,
        "query_text": query.query_text,
        "query_type": None if query.query_type is None else query.query_type.value,
        "origin": json.dumps(dict(query.origin), ensure_ascii=False, allow_nan=False),
    }


def _item_row(round_id: str, item: Item) -> dict[str, Any]:
    """An item as a row."""
    return {
        "round_id": round_id,
        "query_id": item.query_id,
        "chunk_id": item.chunk_id,
        "doc_id": item.doc_id,
        "text": item.text,
        "title": item.title,
        "section_label": item.section_label,
        "table_html": item.table_html,
        "spans": json.dumps(item.spans),
        "chunker_version": item.chunker_version,
        "found_by": json.dumps(dict(item.found_by)),
    }


def _item_of(row: Row[Any]) -> Item:
    """The item of a row."""
    return Item(
        query_id=row.query_id,
        chunk_id=row.chunk_id,
        doc_id=row.doc_id,
        text=row.text,
        title=row.title,
        section_label=row.section_label,
        table_html=row.table_html,
        spans=tuple((start, end) for start, end in json.loads(row.spans)),
        chunker_version=row.chunker_version,
        found_by=json.loads(row.found_by),
    )


def _grade_of(row: Row[Any]) -> Grade:
    """The grade of a row."""
    return Grade(row.query_id, row.chunk_id, row.annotator, row.grade, row.comment, row.at)


def _decision_row(round_id: str, one: Decision) -> dict[str, Any]:
    """A decision as a row."""
    return {
        "round_id": round_id,
        "query_id": one.query_id,
        "chunk_id": one.chunk_id,
        "grade": one.grade,
        "decided_by": one.by,
        "rule": one.rule,
        "comment": one.comment,
        "at": one.at or now(),
    }


def _query_of(row: Row[Any]) -> RoundQuery:
    """The query of a row."""
    kind = None if row.query_type is None else QueryType(row.query_type)
    return RoundQuery(row.query_id, row.query_text, kind, json.loads(row.origin))


def _decision_of(row: Row[Any]) -> Decision:
    """The decision of a row."""
    return Decision(
        row.query_id, row.chunk_id, row.grade, row.decided_by, row.rule, row.comment, row.at
    )
