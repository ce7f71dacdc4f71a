"""Which run does a reference mean: an id, a prefix of one, a tag, a name, ``latest~2``?"""

from __future__ import annotations

import re

from sqlalchemy import Connection, select

from assay.errors import InputError, UnknownRunError
from assay.model.document import check_id
from assay.model.run_store import BASELINE
from assay.model.runs import WITHOUT_RANKINGS
from assay.store.schema import eval_runs, eval_tags

LATEST = "latest"
_LATEST = re.compile(rf"{LATEST}(?:~([0-9]{{1,6}}))?")
SHORTEST_BEGINNING = 6


def find(connection: Connection, ref: str, suite: str | None = None) -> str:
    """The id of the run that a reference means."""
    if latest := _LATEST.fullmatch(ref):
        return _latest(connection, int(latest[1] or 0), suite)
    exact = connection.execute(select(eval_runs.c.run_id).where(eval_runs.c.run_id == ref)).scalar()
    tagged = connection.execute(select(eval_tags.c.run_id).where(eval_tags.c.tag == ref)).scalar()
    if found := exact or tagged:
        return str(found)
    return _beginning_or_name(connection, ref)


def check_tag(tag: str) -> str:
    """The tag, if it cannot be confused with another kind of reference."""
    check_id(tag, "tag")
    if _LATEST.fullmatch(tag):
        raise InputError(f"{tag!r} cannot be a tag", hint="it means the newest run")
    return tag


def _latest(connection: Connection, back: int, suite: str | None) -> str:
    """The newest complete run, or one ``back`` from it; saved figures are no run."""
    wanted = select(eval_runs.c.run_id).where(
        eval_runs.c.status == "complete", eval_runs.c.engine.not_in(WITHOUT_RANKINGS)
    )
    if suite is not None:
        wanted = wanted.where(eval_runs.c.suite == suite)
    found = connection.execute(
        wanted.order_by(eval_runs.c.seq.desc()).limit(1).offset(back)
    ).scalar()
    if found is None:
        which = "" if suite is None else f" of {suite}"
        raise UnknownRunError(
            f"there are no {back + 1} complete runs{which}"
            if back
            else f"no run{which} is complete",
            hint="assay eval list shows what there is",
        )
    return str(found)


def _beginning_or_name(connection: Connection, ref: str) -> str:
    """The run by id prefix, else the newest run of that name."""
    begun: list[str] = []
    if len(ref) >= SHORTEST_BEGINNING:
        wanted = select(eval_runs.c.run_id).where(
            eval_runs.c.run_id.startswith(ref, autoescape=True)
        )
        begun = list(connection.execute(wanted.limit(2)).scalars())
    if len(begun) == 1:
        return begun[0]
    if ref and (named := _named(connection, ref)) is not None:
        return named
    if begun:
        raise UnknownRunError(f"several runs begin with {ref!r}", hint="give more of the id")
    hint = "assay eval list shows ids, names and tags"
    if ref == BASELINE:
        hint += f"; assay eval tag RUN {BASELINE} says which run is meant"
    raise UnknownRunError(f"there is no run {ref!r:.80}", hint=hint)


def _named(connection: Connection, name: str) -> str | None:
    wanted = select(eval_runs.c.run_id).where(eval_runs.c.name == name)
    return connection.execute(wanted.order_by(eval_runs.c.seq.desc()).limit(1)).scalar()
