"""Which runs are stored, with which outcomes, and which one does a reference mean?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Float,
    Row,
    Select,
    and_,
    case,
    cast,
    delete,
    func,
    insert,
    not_,
    null,
    or_,
    select,
    update,
)

from assay.errors import BusyError, ConflictError, CorruptError
from assay.model.run_store import NEWEST_FIRST, HeldOutUse, RunFilter, RunOrder, RunPage
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.testset import TestSet
from assay.model.testset_json import from_plain, to_plain
from assay.store import run_rows
from assay.store.database import open_database, paged, writing
from assay.store.owner import alive, ended
from assay.store.refs import check_name, check_new_id, check_tag, find
from assay.store.run_rows import UNFINISHED, bare_info, run_info, run_row
from assay.store.schema import (
    eval_held_out_uses,
    eval_query_results,
    eval_runs,
    eval_tags,
    eval_test_sets,
)
from assay.store.seals import UNREADABLE, damaged, sealed, unsealed
from assay.store.upsert import insert_or_replace, insert_unless_there, next_number

PAGE = 500


class SqlRunStore:
    """The runs of one workspace, in SQLite or PostgreSQL; see ``model/run_store.py``."""

    def __init__(self, place: Path | str) -> None:
        self._engine = open_database(place)

    def close(self) -> None:
        """Close files and connections."""
        self._engine.dispose()

    def begin(self, info: RunInfo, test_set: TestSet) -> RunInfo:
        """Create a run with its test set; an error if the id is taken."""
        with writing(self._engine) as connection:
            taken = select(eval_runs.c.run_id).where(eval_runs.c.run_id == info.run_id)
            if connection.execute(taken).first():
                raise ConflictError(
                    f"there is a run {info.run_id!r} already", hint="choose another id"
                )
            check_new_id(connection, info.run_id)
            check_name(connection, info.name, info.run_id)
            body = {
                "checksum": test_set.checksum,
                "name": test_set.name,
                "version": test_set.version,
                "body": sealed(json.dumps(to_plain(test_set), separators=(",", ":"))),
            }
            insert_unless_there(connection, eval_test_sets, [body])
            place = _place(connection, info.created_at)
            connection.execute(insert(eval_runs), {**run_row(info, test_set.checksum), **place})
            for tag in info.tags:
                _move_tag(connection, tag, info.run_id)
            return _by_id(connection, info.run_id)

    def check_new_id(self, run_id: str) -> None:
        """Refuse an id that means another run already, by its tag or name."""
        with self._engine.connect() as connection:
            check_new_id(connection, run_id)

    def append(self, run_id: str, outcomes: Sequence[QueryOutcome]) -> int:
        """Add outcomes in one commit; returns how many were new. A query's first outcome stays."""
        if not outcomes:
            return 0
        rows = [
            {
                "run_id": run_id,
                "query_id": one.query_id,
                "result_json": sealed(run_rows.head_json(one)),
                "tail_json": _sealed(run_rows.tail_json(one)),
                "stages_json": _sealed(run_rows.stages_json(one)),
            }
            for one in outcomes
        ]
        with writing(self._engine) as connection:
            count = (
                select(func.count())
                .select_from(eval_query_results)
                .where(eval_query_results.c.run_id == run_id)
            )
            before = connection.execute(count).scalar_one()
            placed = [{**row, "place": before + at} for at, row in enumerate(rows)]
            insert_unless_there(connection, eval_query_results, placed)
            return int(connection.execute(count).scalar_one()) - int(before)

    def claim(self, run_id: str, owner: str) -> RunInfo:
        """Take over an unfinished run; an error if the process making it is alive."""
        with writing(self._engine) as connection:
            info = _by_id(connection, run_id)
            if info.status is RunStatus.COMPLETE:
                raise ConflictError(f"the run {run_id} is complete", hint="there is nothing to do")
            if info.owner != owner and alive(info.owner):
                raise BusyError(
                    f"the run {run_id} is being made by process {info.owner.split('/')[1]}",
                    hint="wait for it, or make another with --no-cache",
                )
            _change(
                connection,
                run_id,
                owner=owner,
                status=RunStatus.RUNNING.value,
                seq=next_number(connection, eval_runs.c.seq),
            )
            return _by_id(connection, run_id)

    def finish(
        self,
        run_id: str,
        aggregate: Mapping[str, Any],
        *,
        status: RunStatus = RunStatus.COMPLETE,
        finished_at: str | None = None,
    ) -> RunInfo:
        """Record the result; also used to store a new aggregate for an old run."""
        changes: dict[str, Any] = {"status": status.value}
        if aggregate:
            changes["aggregate_json"] = sealed(json.dumps(aggregate, allow_nan=False))
        if finished_at is not None:
            changes["finished_at"] = finished_at
        with writing(self._engine) as connection:
            _change(connection, run_id, **changes)
            return _by_id(connection, run_id)

    def run(self, ref: str, *, suite: str | None = None) -> RunInfo:
        """The run that a reference names; ``suite`` narrows what ``latest`` looks at."""
        with self._engine.connect() as connection:
            return _by_id(connection, find(connection, ref, suite))

    def equal_runs(self, cache_key: str) -> tuple[RunInfo, ...]:
        """The sound runs with this key, newest first: complete ones, then those to be resumed."""
        with self._engine.connect() as connection:
            rows = connection.execute(
                select(eval_runs)
                .where(
                    eval_runs.c.cache_key == cache_key,
                    eval_runs.c.status.in_(["complete", *UNFINISHED]),
                )
                .order_by((eval_runs.c.status == "complete").desc(), eval_runs.c.seq.desc())
                .limit(PAGE)
            ).all()
            tags = _tags(connection, [row.run_id for row in rows])
            return tuple(info for info in _readable(rows, tags)[0] if info.sound)

    def renew(self, run_id: str) -> RunInfo:
        """Make a run count as the newest, since it was just reused."""
        with writing(self._engine) as connection:
            _change(connection, run_id, seq=next_number(connection, eval_runs.c.seq))
            return _by_id(connection, run_id)

    def outcomes(
        self,
        ref: str,
        *,
        depth: int | None = None,
        stages: bool = True,
        queries: Collection[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> tuple[QueryOutcome, ...]:
        """The outcome of each query, in the order run; see the protocol for the options."""
        table = eval_query_results
        whole = stages or depth is None or depth > run_rows.HEAD
        columns = (
            table.c.place,
            table.c.query_id,
            table.c.result_json,
            table.c.stages_json if stages else null().label("stages_json"),
            table.c.tail_json if whole else null().label("tail_json"),
        )
        with self._engine.connect() as connection:
            run_id = find(connection, ref)
            wanted = select(*columns).where(table.c.run_id == run_id).order_by(table.c.place)
            rows: Iterable[Row[Any]]
            if queries is None:
                rows = connection.execute(paged(wanted, limit, offset))
            else:
                parts = _parts(wanted, table.c.query_id, queries)
                named = [row for part in parts for row in connection.execute(part)]
                named.sort(key=lambda row: row.place)
                rows = named[offset : None if limit is None else offset + limit]
            return tuple(_outcome(run_id, row, depth) for row in rows)

    def answered(self, run_id: str) -> frozenset[str]:
        """The queries whose outcomes are stored."""
        table = eval_query_results
        with self._engine.connect() as connection:
            rows = connection.execute(select(table.c.query_id).where(table.c.run_id == run_id))
            return frozenset(row.query_id for row in rows)

    def naming(self, run_id: str, doc_id: str) -> dict[str, tuple[str, int]]:
        """The queries that found a document among their first results: its best chunk and rank.

        The database looks for the id; only rows that have it are read.
        """
        table = eval_query_results
        wanted = (
            select(table.c.query_id, table.c.result_json)
            .where(table.c.run_id == run_id)
            .where(table.c.result_json.contains(f'"{doc_id}', autoescape=True))
            .order_by(table.c.place)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        found: dict[str, tuple[str, int]] = {}
        for row in rows:
            outcome = run_rows.outcome(row.query_id, row.result_json)
            for rank, one in enumerate(outcome.results, 1):
                if doc_id in (one.doc_id, one.chunk_id):
                    found[row.query_id] = (one.chunk_id, rank)
                    break
        return found

    def test_set(self, ref: str) -> TestSet:
        """The queries and judgments that the run was made with."""
        with self._engine.connect() as connection:
            info = _by_id(connection, find(connection, ref))
            body = connection.execute(
                select(eval_test_sets.c.body).where(
                    eval_test_sets.c.checksum == info.test_set_checksum
                )
            ).scalar()
            try:
                return from_plain(unsealed(body or ""))
            except UNREADABLE as problem:
                raise damaged(f"the test set of the run {info.run_id}", problem) from None

    def runs(
        self,
        chosen: RunFilter | None = None,
        *,
        limit: int = 20,
        offset: int = 0,
        order: RunOrder = NEWEST_FIRST,
    ) -> RunPage:
        """Some runs in this order."""
        with self._engine.connect() as connection:
            conditions = _conditions(connection, chosen or RunFilter())
            total = connection.execute(
                select(func.count()).select_from(eval_runs).where(*conditions)
            ).scalar_one()
            rows = connection.execute(
                paged(
                    select(eval_runs).where(*conditions).order_by(*_sorted_by(connection, order)),
                    limit,
                    offset,
                )
            ).all()
            tags = _tags(connection, [row.run_id for row in rows])
            found, lost = _readable(rows, tags)
            return RunPage(found, total, lost)

    def suites(self) -> tuple[str, ...]:
        """The names of all test sets that runs were made with."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(eval_runs.c.suite).distinct().order_by("suite"))
            return tuple(rows.scalars())

    def tag(self, ref: str, tag: str) -> RunInfo:
        """Move a tag to this run."""
        with writing(self._engine) as connection:
            run_id = find(connection, ref)
            _move_tag(connection, tag, run_id)
            return _by_id(connection, run_id)

    def untag(self, tag: str) -> None:
        """Forget a tag."""
        with writing(self._engine) as connection:
            connection.execute(delete(eval_tags).where(eval_tags.c.tag == tag))

    def delete(self, ref: str) -> RunInfo:
        """Remove a run with its outcomes and tags, and its test set if no other run uses it."""
        with writing(self._engine) as connection:
            row = _row(connection, find(connection, ref))
            try:
                info = run_info(row, _tags(connection, [row.run_id]))
            except CorruptError:  # one that cannot be read can still go
                info = bare_info(row)
            connection.execute(delete(eval_runs).where(eval_runs.c.run_id == info.run_id))
            connection.execute(
                delete(eval_test_sets).where(
                    eval_test_sets.c.checksum == info.test_set_checksum,
                    ~select(eval_runs.c.seq)
                    .where(eval_runs.c.test_set_checksum == info.test_set_checksum)
                    .exists(),
                )
            )
            return info

    def log_held_out(self, use: HeldOutUse) -> None:
        """Record that a held-out part was used."""
        row = {
            "suite": use.suite,
            "version": use.version,
            "run_id": use.run_id,
            "purpose": use.purpose,
            "at": use.at,
        }
        with writing(self._engine) as connection:
            connection.execute(insert(eval_held_out_uses), row)

    def held_out_uses(self, suite: str | None = None) -> tuple[HeldOutUse, ...]:
        """Every use of the held-out part of a suite, or of any, oldest first."""
        table = eval_held_out_uses
        chosen = select(table) if suite is None else select(table).where(table.c.suite == suite)
        with self._engine.connect() as connection:
            rows = connection.execute(chosen.order_by(table.c.seq))
            return tuple(
                HeldOutUse(row.suite, row.version, row.run_id, row.purpose, row.at) for row in rows
            )


def _sealed(text: str | None) -> str | None:
    return None if text is None else sealed(text)


def _outcome(run_id: str, row: Row[Any], depth: int | None) -> QueryOutcome:
    try:
        return run_rows.outcome(
            row.query_id, row.result_json, row.stages_json, row.tail_json, depth
        )
    except UNREADABLE as problem:
        raise damaged(f"the outcome of {row.query_id} in the run {run_id}", problem) from None


def _readable(
    rows: Sequence[Row[Any]], tags: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[RunInfo, ...], tuple[str, ...]]:
    """The runs that can be read, and the ids of the others: one bad row hides no good one."""
    found: list[RunInfo] = []
    lost: list[str] = []
    for row in rows:
        try:
            found.append(run_info(row, tags))
        except CorruptError:
            lost.append(row.run_id)
    return tuple(found), tuple(lost)


def _by_id(connection: Connection, run_id: str) -> RunInfo:
    return run_info(_row(connection, run_id), _tags(connection, [run_id]))


def _row(connection: Connection, run_id: str) -> Row[Any]:
    row = connection.execute(select(eval_runs).where(eval_runs.c.run_id == run_id)).one_or_none()
    if row is None:
        find(connection, run_id)  # raises, and lists what there is
        raise AssertionError(run_id)
    return row


def _tags(connection: Connection, run_ids: list[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    rows: Sequence[Row[Any]] = connection.execute(
        select(eval_tags).where(eval_tags.c.run_id.in_(run_ids)).order_by(eval_tags.c.tag)
    ).all()
    for row in rows:
        found[row.run_id] = (*found.get(row.run_id, ()), row.tag)
    return found


def _move_tag(connection: Connection, tag: str, run_id: str) -> None:
    check_tag(connection, tag, run_id)
    insert_or_replace(connection, eval_tags, [{"tag": tag, "run_id": run_id}])


def _place(connection: Connection, created_at: str) -> dict[str, int]:
    """Where a run stands that was made before others: below them. Nothing where it is the newest.

    Runs keep their order in ``seq``; those above make room.
    """
    newer = select(func.min(eval_runs.c.seq)).where(eval_runs.c.created_at > created_at)
    place = connection.execute(newer).scalar()
    if place is None:
        return {}
    next_number(connection, eval_runs.c.seq)  # the topmost moves to it
    for condition, moved in (
        (eval_runs.c.seq >= place, -(eval_runs.c.seq + 1)),  # numbers are unique at every moment
        (eval_runs.c.seq < 0, -eval_runs.c.seq),
    ):
        connection.execute(update(eval_runs).where(condition).values(seq=moved))
    return {"seq": int(place)}


def _change(connection: Connection, run_id: str, **values: Any) -> None:
    changed = connection.execute(
        update(eval_runs).where(eval_runs.c.run_id == run_id).values(**values)
    )
    if not changed.rowcount:
        find(connection, run_id)


def _conditions(connection: Connection, chosen: RunFilter) -> list[ColumnElement[bool]]:
    runs = eval_runs.c
    conditions: list[ColumnElement[bool]] = []
    if chosen.suite is not None:
        conditions.append(runs.suite == chosen.suite)
    if chosen.status is not None:
        conditions.append(_has_status(connection, chosen.status))
    if chosen.config_hash is not None:
        conditions.append(runs.config_hash == chosen.config_hash)
    if chosen.tag is not None:
        tagged = select(eval_tags.c.run_id).where(eval_tags.c.tag == chosen.tag)
        conditions.append(runs.run_id.in_(tagged))
    if chosen.text is not None:
        text = chosen.text.lower()
        tagged = select(eval_tags.c.run_id).where(
            func.lower(eval_tags.c.tag).contains(text, autoescape=True)
        )
        conditions.append(
            or_(
                runs.run_id.in_(tagged),
                *(
                    func.lower(column).contains(text, autoescape=True)
                    for column in (runs.run_id, runs.name, runs.suite, runs.commit_hash)
                ),
            )
        )
    if chosen.newest_only:
        newest = (
            select(func.max(runs.seq))
            .where(*conditions)
            .group_by(runs.suite, runs.test_set_version, runs.part, runs.engine, runs.config_hash)
        )
        conditions.append(runs.seq.in_(newest))
    return conditions


def _sorted_by(connection: Connection, order: RunOrder) -> list[ColumnElement[Any]]:
    """The order of a list; what has no value comes last, whichever way it is sorted."""
    runs = eval_runs.c
    column: ColumnElement[Any]
    if order.by == "created":
        return [runs.seq.desc() if order.descending else runs.seq.asc()]
    if order.by in {"name", "suite", "status", "queries"}:
        column = runs[order.by]
        if order.by == "name":
            column = func.lower(func.coalesce(func.nullif(runs.name, ""), runs.run_id))
    else:
        path = ("latency_ms", "p95") if order.by == "latency" else ("metrics", order.by)
        column = _figure(connection, path)
    return [
        column.is_(None),
        column.desc() if order.descending else column.asc(),
        runs.seq.desc(),
    ]


def _figure(connection: Connection, path: tuple[str, str]) -> ColumnElement[Any]:
    """A number within the stored figures of a run."""
    text = eval_runs.c.aggregate_json
    if connection.dialect.name == "sqlite":
        found = func.json_extract(text, f'$."{path[0]}"."{path[1]}"')
        return case((func.json_valid(text) == 1, found))  # a damaged row has none
    return cast(cast(text, JSON)[path].as_string(), Float)


def _has_status(connection: Connection, status: RunStatus) -> ColumnElement[bool]:
    """The rows that are read with this status (``run_rows``): a dead owner interrupted its run."""
    column, owner = eval_runs.c.status, eval_runs.c.owner
    if status.value not in UNFINISHED:
        return column == status.value
    begun = column == RunStatus.RUNNING.value
    owners = connection.execute(select(owner).where(begun).distinct()).scalars()
    left = and_(begun, owner.in_([one for one in owners if ended(one)]))
    if status is RunStatus.RUNNING:
        return and_(begun, not_(left))
    return or_(column == status.value, left)


def _parts(
    wanted: Select[Any], column: ColumnElement[str], values: Collection[str] | None
) -> list[Select[Any]]:
    """One statement, or as many as it takes for all values."""
    if values is None:
        return [wanted]
    listed = sorted(values)
    return [
        wanted.where(column.in_(listed[start : start + PAGE]))
        for start in range(0, len(listed), PAGE)
    ]
