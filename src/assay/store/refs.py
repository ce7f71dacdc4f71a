"""Which run does a reference mean: an id, a tag, a name, ``latest~2``, the beginning of an id?

One word means one run: an id that is given to a run may not be the tag or name of another, and no
tag or name may be the id of another. Only ids that were made up can be shortened.
"""

from __future__ import annotations

import re
from itertools import islice

from sqlalchemy import Connection, select

from assay.errors import ConflictError, InputError, UnknownRunError
from assay.model.document import check_id
from assay.model.run_ids import is_made_up
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
    if _is_id(connection, ref):
        return ref
    tagged = connection.execute(select(eval_tags.c.run_id).where(eval_tags.c.tag == ref)).scalar()
    if tagged is not None:
        return str(tagged)
    return _name_or_beginning(connection, ref)


def check_tag(connection: Connection, tag: str, run_id: str) -> None:
    """Refuse a tag of this run that would be taken for another kind of reference."""
    check_id(tag, "tag")
    if _LATEST.fullmatch(tag):
        raise InputError(f"{tag!r} cannot be a tag", hint="it means the newest run")
    if tag != run_id and _is_id(connection, tag):
        raise ConflictError(f"{tag!r} is the id of another run", hint="choose another tag")


def check_new_id(connection: Connection, run_id: str) -> None:
    """Refuse the id of a new run that means another already, by its tag or name."""
    if _is_id(connection, run_id):
        return  # not new
    if _LATEST.fullmatch(run_id):
        raise ConflictError(
            f"{run_id!r} always means the newest run", hint="choose another id for this one"
        )
    tags = select(eval_tags.c.run_id).where(eval_tags.c.tag == run_id)
    names = select(eval_runs.c.run_id).where(eval_runs.c.name == run_id)
    for what, found in (("tag", tags), ("name", names.limit(1))):
        other = connection.execute(found).scalar()
        if other is not None:
            raise ConflictError(
                f"{run_id!r} is a {what} of the run {other}", hint="choose another id for this one"
            )


def check_name(connection: Connection, name: str, run_id: str) -> None:
    """Refuse a name under which another run would answer, since it is the id of that."""
    if name and name != run_id and _is_id(connection, name):
        raise ConflictError(f"{name!r} is the id of another run", hint="choose another name")


def _is_id(connection: Connection, text: str) -> bool:
    wanted = select(eval_runs.c.run_id).where(eval_runs.c.run_id == text)
    return connection.execute(wanted).first() is not None


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


def _name_or_beginning(connection: Connection, ref: str) -> str:
    """The newest run of that name, else the one whose made-up id begins so."""
    if ref and (named := _named(connection, ref)) is not None:
        return named
    begun = _begun(connection, ref) if len(ref) >= SHORTEST_BEGINNING else []
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise UnknownRunError(f"several runs begin with {ref!r}", hint="give more of the id")
    hint = "assay eval list shows ids, names and tags"
    if ref == BASELINE:
        hint += f"; assay eval tag RUN {BASELINE} says which run is meant"
    raise UnknownRunError(f"there is no run {ref!r:.80}", hint=hint)


def _begun(connection: Connection, ref: str) -> list[str]:
    """Up to two ids that were made up and begin so."""
    wanted = select(eval_runs.c.run_id).where(eval_runs.c.run_id.startswith(ref, autoescape=True))
    return list(islice(filter(is_made_up, connection.execute(wanted).scalars()), 2))


def _named(connection: Connection, name: str) -> str | None:
    wanted = select(eval_runs.c.run_id).where(eval_runs.c.name == name)
    return connection.execute(wanted.order_by(eval_runs.c.seq.desc()).limit(1)).scalar()
