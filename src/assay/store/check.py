"""Does the database hold what was written into it?

Everything is read once: SQLite checks the structure of the file, and every row but those of
``changes`` its checksum. Rows from before there were checksums are only read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, select

from assay.errors import CorruptError
from assay.model.testset_json import from_plain
from assay.store import run_rows
from assay.store.corpus import SEAL, document_seal
from assay.store.database import open_database, shown
from assay.store.run_rows import run_info
from assay.store.schema import (
    PRESENT,
    SEALED,
    chunks,
    documents,
    eval_query_results,
    eval_runs,
    eval_test_sets,
)
from assay.store.seals import UNREADABLE, is_sound, unsealed

MOST = 20  # problems listed
PAGE = 200


def problems(place: Path | str) -> list[str]:
    """What is wrong with a database; empty if it is intact."""
    engine = open_database(place)
    try:
        with engine.connect() as connection:
            if found := list(_structure(connection, shown(engine))):
                return found
            every = (_documents, _test_sets, _runs, _outcomes, _others)
            return [one for check in every for one in islice(check(connection), MOST)]
    finally:
        engine.dispose()


def _structure(connection: Connection, name: str) -> Iterator[str]:
    if connection.dialect.name != "sqlite":  # a server has its own tools
        return
    for (line,) in connection.exec_driver_sql(f"PRAGMA integrity_check({MOST})"):
        if line != "ok":
            yield f"{name} was damaged: {line}"
    for row in connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(MOST):
        yield f"{name} was damaged: a row of {row[0]} names a row of {row[2]} that is not there"


def _documents(connection: Connection) -> Iterator[str]:
    for page in connection.execute(select(documents).order_by(documents.c.doc_id)).partitions(PAGE):
        names = [row.doc_id for row in page]
        present = select(chunks).where(chunks.c.doc_id.in_(names), PRESENT)
        rows = connection.execute(present.order_by(chunks.c.doc_id, chunks.c.key))
        parts = {name: list(of) for name, of in groupby(rows, key=lambda row: str(row.doc_id))}
        for row in page:
            if not _sound(row, parts.get(row.doc_id, [])):
                yield f"the document {row.doc_id!r:.140} was damaged"


def _sound(row: Row[Any], parts: list[Row[Any]]) -> bool:
    try:
        body = json.loads(row.body)
        if SEAL not in body:
            return True
        written = [one._asdict() for one in parts]
        return bool(body[SEAL] == document_seal(row._asdict(), body, written))
    except UNREADABLE:
        return False


def _test_sets(connection: Connection) -> Iterator[str]:
    for row in connection.execute(select(eval_test_sets)):
        try:
            from_plain(unsealed(row.body))
        except UNREADABLE:
            yield f"the stored test set {row.name!r:.140} {row.version!r:.40} was damaged"


def _runs(connection: Connection) -> Iterator[str]:
    for row in connection.execute(select(eval_runs)):
        try:
            run_info(row, {})
        except CorruptError as problem:
            yield problem.message


def _outcomes(connection: Connection) -> Iterator[str]:
    table = eval_query_results
    for row in connection.execution_options(yield_per=PAGE).execute(select(table)):
        try:
            run_rows.outcome(row.query_id, row.result_json, row.stages_json, row.tail_json)
        except UNREADABLE:
            yield f"the outcome of {row.query_id!r:.140} in the run {row.run_id} was damaged"


def _others(connection: Connection) -> Iterator[str]:
    """Rows with a checksum of their own: keys, jobs, grades, tags, the query log."""
    for table in SEALED:
        key = [column.name for column in table.primary_key.columns]
        rows = connection.execution_options(yield_per=PAGE).execute(select(table)).mappings()
        for row in rows:
            if not is_sound(row):
                named = ", ".join(str(row[name]) for name in key)
                yield f"the row {named!r:.140} of {table.name} was damaged"
